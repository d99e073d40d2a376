"""Built-in scenes and scene files: worlds, runs and their metrics."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Union

from ._convert import UNSET
from ._generated import StepStatus
from ._native import ffi, lib
from ._world import World

_SETTINGS = ("method", "sleeping", "sleep_speed", "sleep_time", "play", "substeps", "iterations", "threads", "lanes")


def _text(value: Any) -> str:
    return str(ffi.string(value).decode()) if value else ""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a scene."""

    name: str
    meaning: str
    lo: float
    hi: float
    value: float
    """default"""
    whole: bool
    """integers only"""


@dataclass(frozen=True)
class Scene:
    """A built-in scene."""

    name: str
    title: str
    source: str
    """the figure or table it reproduces"""
    seconds: float
    """usual time, s"""
    substeps: int
    parameters: Dict[str, Parameter]


def scenes() -> Dict[str, Scene]:
    """All built-in scenes by name."""
    found = {}
    for i in range(lib.tnp_scene_count()):
        s = lib.tnp_scene_at(i)
        parameters = {}
        for k in range(s.parameter_count):
            p = lib.tnp_parameter_at(i, k)
            name = _text(p.name)
            parameters[name] = Parameter(name, _text(p.meaning), p.lo, p.hi, p.value, p.whole)
        name = _text(s.name)
        found[name] = Scene(name, _text(s.title), _text(s.source), s.seconds, s.substeps, parameters)
    return found


class SceneWorld(World):
    """The world of a scene. Steps drive it as the scene says."""

    __slots__ = ("name",)

    def __init__(self, name: str, settings: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
        threads = settings.get("threads", 1)
        self._prepare(threads if isinstance(threads, int) else 1)
        definition = self._definition(settings)
        names = [ffi.new("char[]", key.encode()) for key in parameters]
        values = [float(value) for value in parameters.values()]
        ok = lib.tnp_scene_create(
            self._native, str(name).encode(), definition, settings.get("substeps", UNSET) is UNSET,
            len(names), ffi.new("char *[]", names), ffi.new("double[]", values),
        )
        if not ok:
            self._raise(f"the scene '{name}' could not be made")
        self._opened()
        self.name = str(name)

    @property
    def seconds(self) -> float:
        """Usual time of the scene, s."""
        return float(lib.tnp_scene_seconds(self._native)) if self._ptr else 0.0

    @property
    def metrics(self) -> Dict[str, float]:
        """Measures of the scene: of all frames that run() has observed, and of now."""
        names, values = ffi.new("char *[64]"), ffi.new("double[64]")
        count = self._invoke_native(lib.tnp_scene_metrics, names, values, 64)
        return {_text(names[i]): values[i] for i in range(min(count, 64))}

    def run(self, seconds: float) -> StepStatus:
        """Advances by frames of 1/60 s and observes each of them."""
        if not (math.isfinite(seconds) and seconds >= 0.0):
            raise ValueError(f"seconds must be 0 or more, not {seconds!r}")
        left = max(int(seconds * 60.0 + 0.5), 1) if seconds > 0.0 else 0
        if self._unwatched:
            self._read_poses()
        status = ffi.new("uint32_t *")
        while left > 0:  # in pieces, so that Ctrl-C is seen
            done = self._invoke_native(lib.tnp_scene_run, 1.0 / 60.0, left, 50.0, status)
            left -= done
            self._time += done / 60.0
        self._stepped()
        return self._step_status(status[0]) if status[0] else StepStatus.OK


def _split(options: Mapping[str, Any]) -> Any:
    settings = {k: v for k, v in options.items() if k in _SETTINGS}
    return settings, {k: v for k, v in options.items() if k not in _SETTINGS}


def scene(name: str, **options: Any) -> SceneWorld:
    """The world of a built-in scene or of a scene file (.json).

    Options are the parameters of the scene, and substeps, iterations, method, threads, lanes and
    sleeping of the world.
    """
    settings, parameters = _split(options)
    return SceneWorld(name, settings, parameters)


@dataclass
class Run:
    """A scene after some time."""

    scene: str
    seconds: float
    metrics: Dict[str, float]
    hash: int
    status: StepStatus
    world: SceneWorld

    def __repr__(self) -> str:
        return f"<Run of {self.scene}, {self.seconds:g} s, hash {self.hash:016x}>"


def run(name: str, *, seconds: Union[float, None] = None, **options: Any) -> Run:
    """Simulates a scene, as `tenon run` does; options are those of scene()."""
    world = scene(name, **options)
    time = world.seconds if seconds is None else float(seconds)
    status = world.run(time)
    return Run(world.name, time, world.metrics, world.hash, status, world)


__all__: List[str] = ["Parameter", "Run", "Scene", "SceneWorld", "run", "scene", "scenes"]

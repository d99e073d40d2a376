"""Random arguments everywhere: an exception with a useful text that changes nothing, or a result.

Never a crash, and never silence: what is NaN, dead or of another world is refused wherever it is given.
"""

import inspect
import os

import numpy as np
import pytest
from robots import ARM

import tenon

DRAWS = 4000 if os.environ.get("TENON_LONG") else 250
REFUSALS = (tenon.Error, TypeError, ValueError, KeyError, IndexError, OverflowError, MemoryError, OSError)
# These end or show things, wait, write files, or take anything by their nature.
LEFT_OUT = {"close", "show", "plot", "serve", "save", "record_calls", "html", "world", "for_each", "camera"}
# Texts of Python or cffi about what is inside.
INSIDE = ("cdata", "ctype", "subscriptable", "'NoneType' object has", "unexpected keyword argument '_")


class Scene:
    """A world with one of everything, and what to give its methods."""

    def __init__(self):
        self.world = w = tenon.World(substeps=2)
        w.add_plane()
        bodies = [w.add_body(tenon.Box(0.2), position=(i, 1, 0), name=str(i)) for i in range(3)]
        kinematic = w.add_body(tenon.Sphere(0.2), type="kinematic", position=(9, 1, 0))
        hinge = w.add_joint("hinge", bodies[0], bodies[1], point=(0.5, 1, 0), axis=(0, 0, 1))
        ball = w.add_joint("ball", None, bodies[2], point=(2, 2, 0))
        soft = w.add_soft(tenon.cloth(3, 3, 1, 1), position=(0, 3, 0))
        tie = w.attach(soft, 0)
        robot = w.load(ARM, position=(5, 0, 0))
        gear = w.add_coupling(axes=[tenon.CouplingAxis(joint=hinge, axis=3, coefficients=(1.0,))])
        shapes = [bodies[0].shapes[0], kinematic.shapes[0], w.add_shape(tenon.Wire(np.eye(3), radius=0.1))]
        chain = w.articulation(bodies[0])
        w.step()
        self.batch = tenon.Batch(w, 2)
        self.things = [w, *bodies, kinematic, hinge, ball, soft, tie, robot, gear, *shapes, chain,
                       robot.actuator("e"), self.batch, tenon.Film(w)]
        gone = w.add_body(tenon.Sphere(0.1))
        gone.destroy()
        other = tenon.World()
        with tenon.World() as closed:
            shut = closed.add_body(tenon.Sphere(0.1))
        self.refused = [gone, other.add_body(tenon.Sphere()), shut, np.nan, (np.nan, 0, 0), (0, 0, 0, np.nan),
                        np.full((4, 3), np.nan), {"mass": np.nan}, ((0, 0, 0), (np.nan, 0, 0, 1))]
        self.values = [None, 0, 1, -1, 2**31, 2**70, -(2**70), 1.5, np.inf, 1e300, True, "x", "0", "", "hinge", b"x",
                       (), (1, 2), (1, 2, 3), [0, 0, 0, 1], {}, {"mask": 1}, {"no such": 1}, 1j, object(),
                       np.zeros((2, 3)), np.zeros((0, 3)), np.zeros((3, 3), "U1"), np.arange(7.0), np.ones(2, bool),
                       ((0, 0, 0), (0, 0, 0, 1)), np.float32(0.5), np.int8(3), range(3), bodies[0], hinge, soft,
                       shapes[0], tenon.Sphere(0.3), tenon.Material(restitution=0.5), tenon.cloth(2, 2, 1, 1),
                       tenon.BodyType.STATIC, tenon.Camera(), bodies]


def _members(thing):
    for name in sorted(set(dir(type(thing)))):
        member = inspect.getattr_static(type(thing), name)
        if name.startswith("_") or name in LEFT_OUT:
            continue
        if isinstance(member, property):
            if member.fset is not None:
                yield name, None
        elif callable(member):
            yield name, list(inspect.signature(member).parameters.values())[1:]


def _arguments(rng, parameters, draw):
    """Values for the parameters that have to be given, and for some of the others."""
    positional, named = [], {}
    for p in parameters:
        wanted = p.default is p.empty or rng.random() < 0.15
        if p.kind is p.VAR_POSITIONAL:
            positional += [draw() for _ in range(rng.integers(3))]
        elif p.kind is p.KEYWORD_ONLY and wanted:
            named[p.name] = draw()
        elif p.kind is p.POSITIONAL_OR_KEYWORD and wanted and len(named) == 0:
            positional.append(draw())
    return positional, named


def _fingerprint(scene):
    return scene.world.hash, scene.batch.hash.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_random_arguments(seed):
    rng = np.random.default_rng(seed)
    scene, problems = Scene(), []
    for _ in range(DRAWS):
        thing = scene.things[rng.integers(len(scene.things))]
        members = list(_members(thing))
        name, parameters = members[rng.integers(len(members))]
        must_refuse = []

        def draw():
            if rng.random() < 0.25:
                must_refuse.append(True)
                return scene.refused[rng.integers(len(scene.refused))]
            return scene.values[rng.integers(len(scene.values))]

        before = _fingerprint(scene)
        if parameters is None:
            positional, named = [draw()], {}
        else:
            positional, named = _arguments(rng, parameters, draw)
        call = f"{type(thing).__name__}.{name}({positional}, {named})"
        try:
            if parameters is None:
                setattr(thing, name, positional[0])
            else:
                getattr(thing, name)(*positional, **named)
        except REFUSALS as error:
            if not str(error) or any(text in str(error) for text in INSIDE):
                problems.append(f"{call}: {type(error).__name__} '{error}'")
            if _fingerprint(scene) != before:
                problems.append(f"{call}: changed something and raised {error!r}")
                scene = Scene()
            continue
        except Exception as error:
            problems.append(f"{call}: {error!r}")
            continue
        if must_refuse:
            problems.append(f"{call}: was accepted")
        scene = Scene()  # it may have changed anything
    assert not problems, "\n".join(problems)
    scene.world.step()


def test_every_property_and_keyword_refuses_nan_and_the_dead():
    """Each by itself, with everything else left to the engine."""
    scene, problems, calls = Scene(), [], 0

    def refuse(what, call, *arguments, **named):
        nonlocal calls
        calls += 1
        try:
            call(*arguments, **named)
        except REFUSALS as error:
            if not str(error) or any(text in str(error) for text in INSIDE):
                problems.append(f"{what}: {type(error).__name__} '{error}'")
            return
        problems.append(f"{what}: was accepted")

    before = _fingerprint(scene)
    for thing in scene.things:
        for name, parameters in _members(thing):
            for bad in scene.refused:
                what = f"{type(thing).__name__}.{name} of {bad!r}"
                if parameters is None:
                    refuse(what, setattr, thing, name, bad)
                    continue
                needed = [p for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
                if len(needed) == 1:
                    refuse(what, getattr(thing, name), bad)
                for p in parameters:
                    if p.kind is p.KEYWORD_ONLY and not needed:
                        refuse(f"{what} as {p.name}", getattr(thing, name), **{p.name: bad})
    assert _fingerprint(scene) == before
    assert not problems, "\n".join(problems)
    assert calls > 3000


# Setting these has an effect though the value is the same: bodies wake, positions of particles end their rest.
EFFECTS = {"awake", "mass", "transform", "position", "rotation", "positions", "poses", "rotations", "velocities", "velocity",
           "angular_velocity", "q", "qd", "enabled", "type", "kind", "density"}
# A kinematic body has no mass that could be set, a cloth without air no pressure.
NOT_ALWAYS = ("must be positive", "made without pressure")


def test_every_property_takes_what_it_gives():
    scene, problems, count = Scene(), [], 0
    for thing in scene.things:
        for name, member in inspect.getmembers(type(thing), lambda m: isinstance(m, property)):
            try:
                value = getattr(thing, name)
            except tenon.Error as error:  # such as the one axis of a ball joint
                assert str(error)
                continue
            if member.fset is None or name in LEFT_OUT:
                continue
            count += 1
            before = scene.world.hash
            try:
                setattr(thing, name, value)
            except REFUSALS as error:
                if not any(text in str(error) for text in NOT_ALWAYS):
                    problems.append(f"{type(thing).__name__}.{name} = {value!r}: {error}")
                continue
            again = getattr(thing, name)
            if repr(again) != repr(value) and name not in EFFECTS:
                problems.append(f"{type(thing).__name__}.{name}: {value!r} became {again!r}")
            if scene.world.hash != before and name not in EFFECTS:
                problems.append(f"{type(thing).__name__}.{name} = {value!r} changed the state")
    assert not problems, "\n".join(problems)
    assert count > 150


MAKERS = [tenon.World, tenon.Sphere, tenon.Box, tenon.Capsule, tenon.Hull, tenon.Mesh, tenon.HeightField, tenon.Wire,
          tenon.cloth, tenon.rope, tenon.soft_box, tenon.soft_ball, tenon.soft_tube, tenon.balloon, tenon.soft_triangles,
          tenon.soft_solid, tenon.Camera, tenon.Batch, tenon.Film]


@pytest.mark.parametrize("seed", range(3))
def test_random_makers(seed):
    """What is made of random arguments is refused, then or when it is used, or works."""
    rng, scene, problems = np.random.default_rng(seed), Scene(), []
    small = [v for v in scene.values if not isinstance(v, int) or abs(v) < 5]  # so that nothing huge is made
    for _ in range(DRAWS):
        make = MAKERS[rng.integers(len(MAKERS))]
        refused = []

        def draw():
            if rng.random() < 0.1:
                refused.append(True)
                return scene.refused[rng.integers(len(scene.refused))]
            return small[rng.integers(len(small))]

        positional, named = _arguments(rng, list(inspect.signature(make).parameters.values()), draw)
        call = f"{make.__name__}({positional}, {named})"
        before = scene.world.hash
        try:
            made = make(*positional, **named)
            if isinstance(made, tenon.ShapeSpec):
                scene.world.add_body(made, type="static")
            elif isinstance(made, tenon.SoftMesh):
                scene.world.add_soft(made)
            elif isinstance(made, tenon.Camera):
                made.width = made.height = 4
                scene.world.depth(made)
            elif isinstance(made, (tenon.World, tenon.Batch)):
                made.step()
            elif isinstance(made, tenon.Film):
                made.take()
        except REFUSALS as error:
            if not str(error) or any(text in str(error) for text in INSIDE):
                problems.append(f"{call}: {type(error).__name__} '{error}'")
            if scene.world.hash != before:
                problems.append(f"{call}: changed something and raised {error!r}")
                scene = Scene()
            continue
        except Exception as error:
            problems.append(f"{call}: {error!r}")
            continue
        if refused:
            problems.append(f"{call}: was accepted")
        scene = Scene()
    assert not problems, "\n".join(problems)

"""Tasks for learning on batches of worlds, in the form of gymnasium's vector environments.

    environment = tenon.learn.make("pole", 32)
    observations, _ = environment.reset(seed=0)
    observations, rewards, terminated, truncated, _ = environment.step(actions)

gymnasium itself is used if it is installed; otherwise spaces are plain records with the same fields.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from ._batch import Batch
from ._convert import Array
from ._world import World

try:
    from gymnasium.vector import AutoresetMode

    _AUTORESET: Any = AutoresetMode.SAME_STEP
except ImportError:
    _AUTORESET = "SameStep"

try:
    from gymnasium.spaces import Box as _Space
    from gymnasium.vector import VectorEnv as _Base
    from gymnasium.vector.utils import batch_space as _many
except ImportError:
    _Base = object

    class _Space:  # type: ignore[no-redef]
        """Bounds of arrays, as gymnasium.spaces.Box has them."""

        def __init__(self, low: Any, high: Any, shape: Tuple[int, ...], dtype: Any) -> None:
            self.low, self.high = np.full(shape, low, dtype), np.full(shape, high, dtype)
            self.shape, self.dtype = shape, np.dtype(dtype)

        def sample(self) -> Array:
            """Random numbers within the bounds."""
            lo, hi = np.clip(self.low, -1, 1), np.clip(self.high, -1, 1)
            made: Array = np.random.uniform(lo, hi).astype(self.dtype)
            return made

        def contains(self, value: Any) -> bool:
            """Whether an array has the shape and is within the bounds."""
            x = np.asarray(value)
            return x.shape == self.shape and bool(((x >= self.low) & (x <= self.high)).all())

    def _many(space: Any, n: int) -> Any:
        return _Space(space.low.flat[0], space.high.flat[0], (n, *space.shape), space.dtype)


class Task(_Base):  # type: ignore[misc]
    """A task in many worlds: the interface of gymnasium.vector.VectorEnv, with autoreset.

    A world whose episode has ended starts anew in the same call of step(); its last observation is in
    info["final_obs"].
    """

    observations = 0
    actions = 0
    steps = 200  # of an episode
    repeat = 2  # steps of the world for an action
    dt = 1.0 / 60.0

    def __init__(self, num_envs: int, *, threads: Optional[int] = None) -> None:
        self.batch = Batch(self.build(), num_envs, threads=threads)
        self.num_envs = len(self.batch)
        self.single_observation_space = _Space(-np.inf, np.inf, (self.observations,), np.float32)
        self.single_action_space = _Space(-1.0, 1.0, (self.actions,), np.float32)
        self.observation_space = _many(self.single_observation_space, self.num_envs)
        self.action_space = _many(self.single_action_space, self.num_envs)
        self.metadata: Dict[str, Any] = {"render_modes": [], "autoreset_mode": _AUTORESET}
        self.render_mode = None
        self.spec = None
        self.closed = False
        self._random = np.random.default_rng()
        self._count = np.zeros(self.num_envs, int)

    # -- What a task says

    def build(self) -> World:
        """The world that all copies start from."""
        raise NotImplementedError

    def begin(self, mask: Array) -> None:
        """Random starts of worlds: writes q, qd or parameters."""

    def act(self, actions: Array) -> None:
        """Actions from -1 to 1 to targets of actuators."""
        self.batch.target[:] = actions

    def observe(self) -> Array:
        """Observations of all worlds."""
        raise NotImplementedError

    def judge(self, actions: Array) -> Tuple[Array, Array]:
        """Rewards of the last step, and which worlds have failed."""
        raise NotImplementedError

    # -- The interface

    def _start(self, mask: Array) -> None:
        self.batch.reset(mask)
        self.begin(mask)
        self._count[mask] = 0

    def reset(self, *, seed: Any = None, options: Any = None) -> Tuple[Array, Dict[str, Any]]:
        """Starts episodes; returns observations (worlds, k) and an empty record.

        seed: of the random numbers of all later starts
        options: "reset_mask" (worlds,) selects the worlds that start anew; all without it
        """
        if seed is not None:
            self._random = np.random.default_rng(seed)
        mask = np.asarray((options or {}).get("reset_mask", np.ones(self.num_envs, bool)))
        if mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            raise ValueError(f"reset_mask must be {self.num_envs} truth values")
        self._start(mask)
        return self.observe().astype(np.float32), {}

    def step(self, actions: Any) -> Tuple[Array, Array, Array, Array, Dict[str, Any]]:
        """Acts; returns observations, rewards, terminated, truncated and a record."""
        given = np.asarray(actions, float)
        if given.shape != (self.num_envs, self.actions):
            raise ValueError(f"actions must have the shape {(self.num_envs, self.actions)}, not {given.shape}")
        if not np.isfinite(given).all():
            raise ValueError("actions must be finite")
        given = np.clip(given, -1.0, 1.0)
        self.act(given)
        self.batch.step(self.dt, self.repeat)
        self._count += 1
        rewards, terminated = self.judge(given)
        truncated = (self._count >= self.steps) & ~terminated
        seen = self.observe().astype(np.float32)
        info: Dict[str, Any] = {}
        ended = terminated | truncated
        if ended.any():
            info = {"final_obs": seen, "_final_obs": ended}
            self._start(ended)
            seen = self.observe().astype(np.float32)
        return seen, rewards, terminated, truncated, info

    def close(self, **_: Any) -> None:
        """Gives the worlds back."""
        self.batch.close()
        self.closed = True


# ---- Balance a pole ------------------------------------------------------------------------------

_POLE = """<mujoco model='pole'><worldbody>
  <body name='cart' pos='0 0 1'>
    <joint name='slide' type='slide' axis='1 0 0'/>
    <geom type='box' size='.15 .1 .08' mass='1' contype='0' conaffinity='0'/>
    <body name='pole'>
      <joint name='hinge' axis='0 1 0'/>
      <geom type='capsule' fromto='0 0 0 0 0 1' size='.03' mass='.2' contype='0' conaffinity='0'/>
    </body>
  </body></worldbody>
  <actuator><motor joint='slide' gear='10'/></actuator></mujoco>"""


class Pole(Task):
    """Keeps a pole upright on a cart that is pushed along a rail."""

    observations, actions, steps, repeat = 4, 1, 200, 1

    def build(self) -> World:
        w = World(substeps=4, sleeping=False)
        w.load(_POLE)
        return w

    def begin(self, mask: Array) -> None:
        n = int(mask.sum())
        self.batch.q[mask] = self._random.uniform(-0.15, 0.15, (n, 2))
        self.batch.qd[mask] = self._random.uniform(-0.15, 0.15, (n, 2))
        self.batch.write(mask)

    def observe(self) -> Array:
        return np.hstack([self.batch.q, self.batch.qd])

    def judge(self, actions: Array) -> Tuple[Array, Array]:
        x, angle = self.batch.q.T
        failed = (np.abs(angle) > 0.6) | (np.abs(x) > 2.0)
        rewards: Array = np.where(failed, 0.0, np.cos(angle) - 0.1 * np.abs(x))
        return rewards, failed


# ---- Reach with an arm ---------------------------------------------------------------------------

_REACH = """<mujoco model='reach'><worldbody>
  <body name='upper' pos='0 0 .5'>
    <joint name='shoulder' axis='0 0 1' frictionloss='.02'/>
    <geom type='capsule' fromto='0 0 0 .5 0 0' size='.04' mass='1' contype='0' conaffinity='0'/>
    <body name='lower' pos='.5 0 0'>
      <joint name='elbow' axis='0 0 1' frictionloss='.02'/>
      <geom type='capsule' fromto='0 0 0 .5 0 0' size='.04' mass='1' contype='0' conaffinity='0'/>
    </body>
  </body></worldbody>
  <actuator><motor joint='shoulder' gear='5'/><motor joint='elbow' gear='2'/></actuator></mujoco>"""


class Reach(Task):
    """Brings the tip of an arm of two links to a random point of a plane."""

    observations, actions, steps, repeat = 8, 2, 120, 1

    def build(self) -> World:
        w = World(substeps=4, sleeping=False)
        w.load(_REACH)
        return w

    def begin(self, mask: Array) -> None:
        n = int(mask.sum())
        if not hasattr(self, "goal"):
            self.goal = np.zeros((self.num_envs, 2))
        radius, angle = self._random.uniform(0.4, 0.9, n), self._random.uniform(-1.5, 1.5, n)
        self.goal[mask] = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
        self.batch.q[mask] = self._random.uniform(-0.2, 0.2, (n, 2)) + [-0.4, 0.8]
        self.batch.qd[mask] = 0.0
        self.batch.write(mask)

    def _tip(self) -> Tuple[Array, Array]:
        """Where the tip is, and the error by the Jacobian's transpose."""
        a, b = self.batch.q[:, 0], self.batch.q.sum(1)
        tip = 0.5 * np.stack([np.cos(a) + np.cos(b), np.sin(a) + np.sin(b)], 1)
        error = self.goal - tip
        lower = 0.5 * (-np.sin(b) * error[:, 0] + np.cos(b) * error[:, 1])
        upper = 0.5 * (-np.sin(a) * error[:, 0] + np.cos(a) * error[:, 1])
        return tip, np.stack([upper + lower, lower], 1)

    def observe(self) -> Array:
        tip, pull = self._tip()
        return np.hstack([self.batch.q, self.batch.qd, self.goal - tip, pull])

    def judge(self, actions: Array) -> Tuple[Array, Array]:
        tip, _ = self._tip()
        distance = np.linalg.norm(self.goal - tip, axis=1)
        return -distance - 0.01 * (actions**2).sum(1), np.zeros(self.num_envs, bool)


# ---- Walk with four legs -------------------------------------------------------------------------


def _leg(name: str, x: float, y: float) -> str:
    return f"""
    <body name='{name} thigh' pos='{x} {y} 0'>
      <joint name='{name} hip' axis='0 1 0' range='-1 1' limited='true' frictionloss='.1'/>
      <geom type='capsule' fromto='0 0 0 -.05 0 -.15' size='.02' mass='.15'/>
      <body name='{name} shin' pos='-.05 0 -.15'>
        <joint name='{name} knee' axis='0 1 0' range='-1 1' limited='true' frictionloss='.1'/>
        <geom type='capsule' fromto='0 0 0 .05 0 -.15' size='.02' mass='.1' friction='1'/>
      </body>
    </body>"""


_LEGS = {"fl": (0.2, 0.1), "fr": (0.2, -0.1), "hl": (-0.2, 0.1), "hr": (-0.2, -0.1)}
_WALK = f"""<mujoco model='walk'><compiler angle='radian'/><worldbody>
  <body name='torso' pos='0 0 .33'><freejoint/>
    <geom type='box' size='.25 .08 .05' mass='2'/>{''.join(_leg(n, *p) for n, p in _LEGS.items())}
  </body></worldbody>
  <actuator>{''.join(f"<position joint='{n} {j}' kp='15' forcerange='-6 6'/>" for n in _LEGS for j in ('hip', 'knee'))}
  </actuator></mujoco>"""


class Walk(Task):
    """Walks forward, along x, on four legs with hips and knees; servos follow the actions."""

    observations, actions, steps, repeat = 26, 8, 150, 2
    dt = 1.0 / 120.0

    def build(self) -> World:
        w = World(substeps=4, sleeping=False)
        w.add_plane(material={"static_friction": 1.0, "dynamic_friction": 1.0})
        self._torso = w.load(_WALK).body("torso").row
        return w

    def begin(self, mask: Array) -> None:
        n = int(mask.sum())
        self.batch.q[mask, 7:] += self._random.uniform(-0.05, 0.05, (n, 8))
        self.batch.write(mask)

    def act(self, actions: Array) -> None:
        self.batch.target[:] = 0.6 * actions

    def _rhythm(self) -> Array:
        phase = 2 * np.pi * 2.0 * self._count * self.dt * self.repeat
        return np.stack([np.sin(phase), np.cos(phase)], 1)

    def _up(self) -> Array:
        """The up axis of the torso, z of its frame, in the world."""
        x, y, z, w = self.batch.rotations[:, self._torso].T
        return np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], 1)

    def observe(self) -> Array:
        q, qd = self.batch.q, self.batch.qd
        lean = self._up()
        return np.hstack([q[:, 1:2] - 0.33, lean, q[:, 7:], 0.3 * qd[:, :4], 0.1 * qd[:, 6:], self._rhythm()])

    def judge(self, actions: Array) -> Tuple[Array, Array]:
        speed = self.batch.velocities[:, self._torso, 0]
        failed = (self.batch.positions[:, self._torso, 1] < 0.15) | (self._up()[:, 1] < 0.5)
        rewards: Array = np.where(failed, -1.0, np.clip(speed, -1.0, 1.0) + 0.1 - 0.01 * (actions**2).sum(1))
        return rewards, failed


TASKS: Dict[str, Callable[..., Task]] = {"pole": Pole, "reach": Reach, "walk": Walk}


def make(name: str, num_envs: int, **options: Any) -> Task:
    """A task by name: "pole", "reach" or "walk"."""
    if name not in TASKS:
        raise ValueError(f"the tasks are {', '.join(TASKS)}, not {name!r}")
    return TASKS[name](num_envs, **options)


# ---- A small learner -----------------------------------------------------------------------------


class Search:
    """Augmented random search (Mania, Guy and Recht 2018): a linear policy, without gradients.

    Each world tries one perturbation of the policy; the policy moves along those whose two signs
    differ most in reward. Observations are normalized by their mean and deviation so far.
    """

    def __init__(self, task: Task, *, seed: int = 0, step: float = 0.05, noise: float = 0.1, best: float = 0.5) -> None:
        if task.num_envs % 2:
            raise ValueError(f"the number of worlds must be even, not {task.num_envs}")
        self.task = task
        self.weights = np.zeros((task.actions, task.observations))
        self.noise, self.rate = noise, step
        self.best = max(int(best * task.num_envs / 2), 1)
        self._random = np.random.default_rng(seed)
        self._count, self._mean = 1e-3, np.zeros(task.observations)
        self._square = np.ones(task.observations) * 1e-3
        self.rewards: List[float] = []

    def _normal(self, observations: Array, learns: bool) -> Array:
        if learns:
            n = len(observations)
            self._count += n
            delta = observations - self._mean
            self._mean = self._mean + delta.sum(0) / self._count
            self._square = self._square + (delta * (observations - self._mean)).sum(0)
        deviation = np.sqrt(self._square / self._count) + 1e-3
        normal: Array = (observations - self._mean) / deviation
        return normal

    def run(self, weights: Array, seed: int, learns: bool = False) -> Array:
        """Rewards of an episode of each world, with a policy for each (worlds, actions, observations)."""
        task = self.task
        observations, _ = task.reset(seed=seed)
        total, alive = np.zeros(task.num_envs), np.ones(task.num_envs, bool)
        for _ in range(task.steps):
            actions = np.einsum("nao,no->na", weights, self._normal(observations.astype(float), learns))
            observations, rewards, terminated, truncated, _ = task.step(actions)
            total += np.where(alive, rewards, 0.0)
            alive &= ~(terminated | truncated)
            if not alive.any():
                break
        return total

    def improve(self) -> float:
        """One update; returns the mean reward of all tries."""
        half = self.task.num_envs // 2
        tries = self._random.standard_normal((half, *self.weights.shape))
        both = np.concatenate([tries, -tries])
        seed = int(self._random.integers(2**31))
        total = self.run(self.weights + self.noise * both, seed, learns=True)
        plus, minus = total[:half], total[half:]
        chosen = np.argsort(-np.maximum(plus, minus))[: self.best]
        scale = np.concatenate([plus[chosen], minus[chosen]]).std() + 1e-6
        change = ((plus - minus)[chosen, None, None] * tries[chosen]).mean(0)
        self.weights = self.weights + self.rate / scale * change
        self.rewards.append(float(total.mean()))
        return self.rewards[-1]

    def score(self, seed: int = 12345) -> float:
        """Mean reward of the policy itself over all worlds."""
        shape = (self.task.num_envs, *self.weights.shape)
        return float(self.run(np.broadcast_to(self.weights, shape), seed).mean())

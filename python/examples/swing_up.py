"""A cart swings a hanging pole up and balances it: iterative LQR, then LQR, with derivatives of steps.

    python swing_up.py

Plans the forces on the cart (iterative LQR: derivatives along the present path, a backward pass, and tries of
several lengths side by side in the worlds of a batch), follows the plan with its feedback, and holds the pole
upright with the regulator of the upright position.
"""

from __future__ import annotations

from typing import List, Tuple

import numpy as np
import numpy.typing as npt

import tenon

Array = npt.NDArray[np.float64]

CART = """<mujoco><worldbody><body name="cart" pos="0 0 1">
<joint name="slide" type="slide" axis="1 0 0" damping="0.05"/><geom type="box" size=".2 .1 .1" mass="1" contype="0" conaffinity="0"/>
<body name="pole"><joint name="hinge" axis="0 1 0" damping="0.005"/>
<geom type="capsule" fromto="0 0 0 0 0 -.6" size=".03" mass=".2"/></body></body></worldbody></mujoco>"""
DT = 1 / 60
KNOTS = 100
TOP = np.array([0.0, np.pi, 0.0, 0.0])  # place of the cart, angle of the pole, and their rates
EFFORT, LAST = 1e-3, np.diag([200.0, 200.0, 20.0, 20.0])
LENGTHS = 0.6 ** np.arange(16)


def put(batch: tenon.Batch, state: Array) -> None:
    """Puts all worlds into a state."""
    batch.q[:], batch.qd[:] = state[:2], state[2:]
    batch.write()


def step(batch: tenon.Batch, forces: Array) -> Array:
    """A step with a force on the cart of each world; the states after it."""
    push = np.zeros((len(batch), 2))
    push[:, 0] = forces
    batch.put("q_forces", push)
    batch.step(DT)
    return np.hstack([batch.q, batch.qd])


def cost(states: Array, forces: Array) -> Array:
    off = states[:, -1] - TOP
    total: Array = EFFORT * (forces**2).sum(1) + ((off @ LAST) * off).sum(1)
    return total


def follow(
    batch: tenon.Batch, states: Array, forces: Array, gains: Array, changes: Array
) -> Tuple[Array, Array]:
    """One try for each length of the change, each in a world of its own."""
    put(batch, states[0])
    x = np.tile(states[0], (len(batch), 1))
    path, used = [x], []
    for k in range(KNOTS):
        u = forces[k] + LENGTHS * changes[k] + (x - states[k]) @ gains[k]
        x = step(batch, u)
        path.append(x)
        used.append(u)
    return np.stack(path, 1), np.stack(used, 1)


def derivatives(batch: tenon.Batch, states: Array, forces: Array) -> List[Tuple[Array, Array]]:
    """A and B of every step along a path."""
    found = []
    for state, force in zip(states[:-1], forces):
        put(batch, state)
        a, b = batch.derivatives(DT, forces=[force, 0.0])
        found.append((a, b[:, 0]))
    return found


def backward(
    parts: List[Tuple[Array, Array]], states: Array, forces: Array, regular: float
) -> Tuple[Array, Array]:
    """Gains and changes of the forces that lower the cost most, by its second derivatives."""
    gains, changes = np.zeros((KNOTS, 4)), np.zeros(KNOTS)
    slope, bend = 2 * LAST @ (states[-1] - TOP), 2 * LAST
    for k in reversed(range(KNOTS)):
        a, b = parts[k]
        qu, quu = 2 * EFFORT * forces[k] + b @ slope, 2 * EFFORT + b @ bend @ b + regular
        qxu = a.T @ bend @ b
        gains[k], changes[k] = -qxu / quu, -qu / quu
        slope = a.T @ slope + gains[k] * qu + qxu * changes[k] + quu * gains[k] * changes[k]
        bend = a.T @ bend @ a + np.outer(qxu, gains[k]) + np.outer(gains[k], qxu) + quu * np.outer(gains[k], gains[k])
    return gains, changes


def plan(batch: tenon.Batch) -> Tuple[Array, Array, Array]:
    """States, forces and gains of a swing from the lowest position to the top."""
    forces, gains, regular = 0.5 * np.sin(4.0 * DT * np.arange(KNOTS)), np.zeros((KNOTS, 4)), 1e-3
    start = np.zeros((KNOTS + 1, 4))
    paths, used = follow(batch, start, forces, gains, np.zeros(KNOTS))
    states, value = paths[0], cost(paths[:1], used[:1])[0]
    for turn in range(100):
        parts = derivatives(batch, states, forces)
        gains, changes = backward(parts, states, forces, regular)
        paths, used = follow(batch, states, forces, gains, changes)
        values = cost(paths, used)
        best = int(np.argmin(values))
        if turn % 10 == 0:
            print(f"{turn:3d}: cost {value:10.4f}, pole {np.abs(states[-1, 1] - np.pi):.3f} rad from the top")
        if values[best] > value * (1 - 1e-3):
            if regular > 1e3:
                break
            regular *= 10
            continue
        states, forces, value = paths[best], used[best], values[best]
        regular = max(regular / 3, 1e-6)
    return states, forces, gains


def regulator(a: Array, b: Array, effort: float = 0.1) -> Array:
    """Gains of the linear quadratic regulator: the discrete Riccati equation, by iteration."""
    p = np.eye(4)
    for _ in range(2000):
        k = (b @ p @ a) / (effort + b @ p @ b)
        p = np.eye(4) + a.T @ p @ (a - np.outer(b, k))
        p = (p + p.T) / 2
    return -k


def main() -> int:
    world = tenon.World(substeps=8)
    world.load(CART)
    batch = tenon.Batch(world, len(LENGTHS), threads=1)
    states, forces, gains = plan(batch)
    put(batch, TOP)
    a, b = batch.derivatives(DT)
    upright = regulator(a, b[:, 0])

    robot = world.robots[0]
    for k in range(KNOTS + 300):
        x = np.r_[robot.q, robot.qd]
        force = forces[k] + (x - states[k]) @ gains[k] if k < KNOTS else (x - TOP) @ upright
        robot.apply_forces([force, 0.0])
        world.step(DT)
        if k % 40 == 39:
            print(f"{(k + 1) * DT:4.1f} s: cart at {robot.q[0]:6.3f} m, pole {robot.q[1] - np.pi:8.4f} rad from the top")
    off = abs(robot.q[1] - np.pi)
    print(f"{'balanced' if off < 1e-3 else 'fallen'}: {off:.1e} rad")
    return 0 if off < 1e-3 else 1


if __name__ == "__main__":
    raise SystemExit(main())

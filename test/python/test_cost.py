"""What steps and reads do not do again, and memory over many steps. cost.py prints times."""

import resource

import numpy as np
import pytest

import tenon


def _count_fills(world, monkeypatch):
    """A list that grows with every read of poses from the engine."""
    fills = []
    fill = world._fill_poses
    monkeypatch.setattr(world, "_fill_poses", lambda rows: (fills.append(1), fill(rows)))
    return fills


def test_arrays_are_filled_once_a_step(world, monkeypatch):
    ball = world.add_body(tenon.Sphere(0.1), position=(0, 5, 0))
    fills = _count_fills(world, monkeypatch)
    world.positions, world.rotations, world.poses
    assert len(fills) == 1
    world.step()
    world.positions, world.rotations
    assert len(fills) == 2  # by the step
    world.step()
    world.step()
    world.step()
    assert len(fills) == 3  # nobody has looked since
    assert world.positions[0, 1] == ball.position[1] and len(fills) == 4


def test_the_first_read_after_bodies_came_is_filled_by_the_step(world, monkeypatch):
    fills = _count_fills(world, monkeypatch)
    world.add_body(tenon.Sphere(0.1), position=(0, 5, 0))
    world.step()
    assert len(fills) == 1
    assert world.positions.shape == (1, 3) and len(fills) == 1
    world.step()
    assert len(fills) == 2  # it was read
    for _ in range(3):
        world.step()
    assert len(fills) == 2  # it was not


def test_arrays_of_a_world_at_rest_are_not_filled_again(world, monkeypatch):
    ball = world.add_body(tenon.Box(0.1), position=(0, 0.1, 0))
    fills = _count_fills(world, monkeypatch)
    held = world.positions
    while world.awake.any():
        world.step()
    count = len(fills)
    for _ in range(10):
        world.step()
    assert len(fills) == count
    ball.position = (0, 2, 0)
    world.step()
    assert len(fills) == count + 1 and held[0] == pytest.approx(ball.position, abs=0)
    for _ in range(5):
        world.step(1 / 60, repeat=3)
    assert held[0] == pytest.approx(ball.position, abs=0) and held[0, 1] < 1.9


def test_views_of_random_histories_are_those_of_the_engine():
    """Steps, sleep, moves, restored states: held arrays after each step equal what handles say."""
    rng = np.random.default_rng(4)
    w = tenon.World(substeps=2)
    w.add_plane()
    for i in range(8):
        w.add_body(tenon.Box(0.1, 0.2, 0.15), position=(i, 0.3, 0))
    state = w.save()
    for _ in range(400):
        choice = rng.integers(8)
        body = w.bodies[rng.integers(8)]
        if choice == 0:
            body.position = (*rng.uniform(0, 8, 2), 0)
        elif choice == 1:
            body.velocity = rng.uniform(-1, 1, 3)
        elif choice == 2 and rng.random() < 0.2:
            w.restore(state)
        held = w.poses, w.velocities
        w.step(1 / 60, repeat=int(rng.integers(1, 4)))
        for i, body in enumerate(w.bodies):
            assert np.array_equal(held[0][i, :3], body.position)
            assert np.array_equal(held[0][i, 3:].astype(np.float32), body.rotation.astype(np.float32))
            assert np.array_equal(held[1][i], np.r_[body.velocity, body.angular_velocity])


def _memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kB


def _steps(count):
    w = tenon.World()
    w.add_plane()
    robot = w.load(
        "<mujoco><worldbody><body pos='0 0 1'><joint axis='0 1 0'/><geom size='.1' pos='.3 0 0'/></body>"
        "</worldbody><actuator><motor/></actuator></mujoco>".replace("<motor/>", "")
    )
    w.add_body(tenon.Box(0.1), position=(0, 0.1, 3), can_sleep=False)
    for i in range(count):
        w.step(1 / 60)
        w.positions, w.velocities, robot.q, w.contacts
        if i == count // 10:
            start = _memory()
    return _memory() - start


def test_memory_stays():
    assert _steps(20000) < 2000


@pytest.mark.long
def test_memory_stays_over_a_million_steps():
    assert _steps(1000000) < 4000

"""What steps and reads do not do again, and memory over many steps. cost.py prints times."""

import gc
import resource
import time
import weakref

import numpy as np
import pytest
from robots import ARM

import tenon
from tenon._native import lib


def test_a_step_of_ten_bodies_costs_python_below_2_us():
    """Over the engine's own step; arrays in use. The best of many, for busy machines."""
    w = tenon.World()
    w.add_plane()
    for i in range(10):
        w.add_body(tenon.Box(0.1), position=(i, 0.1, 0))
    w.step(1 / 60, repeat=300)
    assert not w.awake.any()  # the engine has next to nothing to do
    held = w.positions, w.velocities
    step, pointer = lib.tn_world_step, w._ptr

    def best(call):
        found = []
        for _ in range(40):
            start = time.perf_counter()
            for _ in range(100):
                call()
            found.append((time.perf_counter() - start) / 100)
        return 1e6 * min(found)

    assert best(lambda: w.step(1 / 60)) - best(lambda: step(pointer, 1 / 60)) < 2.0
    assert len(held[0]) == 10


def _flying(count):
    w = tenon.World(gravity=(0, 0, 0), sleeping=False, substeps=1)
    for i in range(count):
        w.add_body(tenon.Box(0.1, 0.2, 0.3), position=(i, 0, 0), velocity=(0, 0.01, 0))
    return w


@pytest.mark.parametrize("unread", [0, 1, 2, 7])
def test_reading_all_poses_of_10000_bodies_takes_below_20_us(unread):
    """However many steps were not read; the first read as well. The best of some, for busy machines."""
    w, taken = _flying(10000), []
    for _ in range(6):
        w.step(1 / 60, repeat=1 + unread)
        start = time.perf_counter()
        w.positions, w.rotations
        taken.append(time.perf_counter() - start)
    assert 1e6 * min(taken) < 20.0
    assert w.positions[77] == pytest.approx(w.bodies[77].position, abs=0)


def test_steps_refresh_only_what_moved():
    w = tenon.World(sleeping=False)
    w.add_plane()
    for i in range(40):
        w.add_body(tenon.Box(0.1), type="static", position=(i, 1, 0))
    ball = w.add_body(tenon.Sphere(0.1), position=(0, 5, 0))
    w.step()
    held = w.positions
    w._poses[3, 0] = 99.0  # nothing has moved it: no step writes it
    w.step()
    assert held[3, 0] == 99.0 and held[40] == pytest.approx(ball.position, abs=0)
    w.bodies[3].position = (7, 1, 0)
    w.step()
    assert held[3, 0] == 7.0 and w.positions is held


def test_views_of_random_histories_are_those_of_the_engine():
    """Steps, sleep, moves, restored states: held arrays after each step equal what handles say."""
    rng = np.random.default_rng(4)
    w = tenon.World(substeps=2)
    w.add_plane()
    for i in range(8):
        w.add_body(tenon.Box(0.1, 0.2, 0.15), position=(i, 0.3, 0))
    for i in range(16):
        w.add_body(tenon.Sphere(0.1), type="static" if i % 3 else "kinematic", position=(i, -2, 0))
    w.add_soft(tenon.cloth(3, 3, 1, 1), position=(20, 3, 0))
    state = w.save()
    for _ in range(400):
        choice = rng.integers(10)
        body = w.bodies[rng.integers(len(w.bodies))]
        if choice == 0:
            body.position = (*rng.uniform(0, 8, 2), 0)
        elif choice == 1 and body.type is not tenon.BodyType.STATIC:
            body.velocity = rng.uniform(-1, 1, 3)
        elif choice == 2 and rng.random() < 0.2:
            w.restore(state)
        elif choice == 3 and rng.random() < 0.2:
            body.destroy()
        elif choice == 4 and rng.random() < 0.2:
            w.add_body(tenon.Box(0.1), position=(*rng.uniform(0, 8, 2), 0))
        elif choice == 5 and body.type is tenon.BodyType.KINEMATIC:
            body.move_to(((*rng.uniform(0, 8, 2), 0), (0, 0, 0, 1)))
        held = w.poses, w.velocities
        w.step(1 / 60, repeat=int(rng.integers(1, 4)))
        for i, body in enumerate(w.bodies):
            assert np.array_equal(held[0][i, :3], body.position)
            assert np.array_equal(held[0][i, 3:].astype(np.float32), body.rotation.astype(np.float32))
            assert np.array_equal(held[1][i], np.r_[body.velocity, body.angular_velocity])


def _with(what):
    w = tenon.World()
    w.add_plane()
    body = w.add_body(tenon.Box(0.2), position=(0, 1, 0))
    held = {
        "robot": lambda: w.load(ARM),
        "articulation": lambda: w.articulation(body),
        "arrays": lambda: (w.positions, w.velocities),
        "recording": lambda: w.record(),
        "page": lambda: w.show(opens=False),
        "film": lambda: tenon.Film(w).take(),
        "batch": lambda: tenon.Batch(w, 2)[1],
        "copy": lambda: w.copy(),
    }[what]()
    w.step()
    return weakref.ref(w), held


@pytest.mark.parametrize("what", ["robot", "articulation", "arrays", "recording", "page", "film", "batch", "copy"])
def test_worlds_are_given_back(what):
    world, held = _with(what)
    if what in ("arrays", "film"):  # these are only numbers
        gc.collect()
        assert world() is None
    del held
    gc.collect()
    assert world() is None


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

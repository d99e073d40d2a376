"""What a call from Python costs beside the engine, and memory over many steps."""

import resource
import time

import pytest

import tenon
from tenon._native import lib


def best(call, count, rounds=15):
    """The fastest of some rounds, s for each call: other processes only add to it."""
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(count):
            call()
        found.append((time.perf_counter() - start) / count)
    return min(found)


def test_step_costs_less_than_two_microseconds():
    w = tenon.World()
    w.add_plane()
    for i in range(10):
        w.add_body(tenon.Box(0.1), position=(i, 0.1, 0))
    for _ in range(300):
        w.step()
    assert not w.awake.any()  # so that the engine has next to nothing to do
    step, pointer = lib.tn_world_step, w._ptr
    held = w.positions
    plain = best(lambda: step(pointer, 1 / 60), 500)
    own = best(lambda: w.step(1 / 60), 500)
    assert held is not None
    assert own - plain < 2e-6, f"{own * 1e6:.2f} us instead of {plain * 1e6:.2f} us"


def test_poses_of_ten_thousand_bodies_in_twenty_microseconds():
    w = tenon.World()
    for i in range(10000):
        w.add_body(position=(i, 0, 0))
    w.positions
    w.step()

    def read():
        return w.positions, w.rotations

    assert best(read, 200) < 20e-6
    assert w.positions[9999, 0] == 9999


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

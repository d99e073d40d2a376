"""Prints what calls from Python cost beside the engine: python cost.py, in an environment with tenon.

Each figure is the fastest of some rounds, since other processes only add to it.
"""

import time

import tenon
from tenon._native import lib


def best(call, count, rounds=15):
    """Microseconds for each call."""
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(count):
            call()
        found.append((time.perf_counter() - start) / count)
    return 1e6 * min(found)


def steps_of_ten_bodies():
    w = tenon.World()
    w.add_plane()
    for i in range(10):
        w.add_body(tenon.Box(0.1), position=(i, 0.1, 0))
    for _ in range(300):
        w.step()
    step, pointer = lib.tn_world_step, w._ptr  # all sleep: the engine has next to nothing to do
    plain = best(lambda: step(pointer, 1 / 60), 500)
    print(f"step of 10 bodies asleep, over the engine's {plain:.2f} us")
    print(f"  no array in use     {best(lambda: w.step(1 / 60), 500) - plain:6.2f} us")
    held = [w.positions]
    print(f"  positions held      {best(lambda: w.step(1 / 60), 500) - plain:6.2f} us")
    held += [w.velocities]
    print(f"  velocities as well  {best(lambda: w.step(1 / 60), 500) - plain:6.2f} us")


def reads_of_ten_thousand_bodies():
    w = tenon.World(gravity=(0, 0, 0), sleeping=False)
    for i in range(10000):
        half = (0.1, 0.1, 0.1) if i % 2 else (0.1, 0.2, 0.3)
        w.add_body(tenon.Box(*half), position=(i, 0, 0), velocity=(0, 0.01, 0))
    reads = {}
    for unread in (0, 1, 5):
        reads[unread] = []
        for _ in range(10):
            w.step(1 / 60, repeat=1 + unread)
            start = time.perf_counter()
            w.positions
            reads[unread].append(1e6 * (time.perf_counter() - start))
    print("10,000 boxes in flight, every second one a cube")
    for unread, taken in reads.items():
        print(f"  read of positions after {unread} unread steps           {min(taken):7.1f} us")
    print(f"  positions and rotations after a step             {best(lambda: (w.positions, w.rotations), 200):7.1f} us")
    print(f"  refresh in the step, positions and rotations     {best(w._read_poses, 20):7.1f} us")
    w.velocities
    print(f"  refresh in the step, velocities                  {best(w._rates.refresh, 20):7.1f} us")
    step, pointer = lib.tn_world_step, w._ptr
    print(f"  the engine's step                                {best(lambda: step(pointer, 1 / 60), 3):7.1f} us")


if __name__ == "__main__":
    steps_of_ten_bodies()
    reads_of_ten_thousand_bodies()

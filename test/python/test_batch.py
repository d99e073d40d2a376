"""Batches: many copies of a world, with the results of each alone."""

import threading

import numpy as np
import pytest
from robots import ARM

import tenon


def _falling():
    w = tenon.World(substeps=4)
    w.add_plane()
    for i in range(3):
        w.add_body(tenon.Box(0.2), position=(0.1 * i, 0.3 + 0.5 * i, 0), name=str(i))
    return w


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_each_world_goes_as_alone(threads):
    w = _falling()
    batch = tenon.Batch(w, 7, threads=threads)
    assert len(batch) == 7 and batch.poses.shape == (7, 3, 7) and batch.velocities.shape == (7, 3, 6)
    batch.set("world", "gravity", [(0, -1.0 - i, 0) for i in range(7)])
    batch.step(1 / 60, repeat=30)
    for i in range(7):
        alone = _falling()
        alone.gravity = (0, -1.0 - i, 0)
        alone.step(1 / 60, repeat=30)
        assert batch.hash[i] == alone.hash
        assert np.array_equal(batch.positions[i], alone.positions)
        assert np.array_equal(batch.velocities[i], alone.velocities)
    assert len(set(batch.hash.tolist())) == 7


def test_reset_of_some():
    batch = tenon.Batch(_falling(), 4)
    start = batch.hash
    assert len(set(start.tolist())) == 1
    batch.step(1 / 60, repeat=10)
    moved = batch.hash
    mask = np.array([True, False, True, False])
    batch.reset(mask)
    assert (batch.hash[mask] == start[mask]).all() and (batch.hash[~mask] == moved[~mask]).all()
    assert batch.positions[0] == pytest.approx(_falling().positions)
    batch.reset()
    assert (batch.hash == start).all()


def test_parameters_of_each_world():
    w = _falling()
    batch = tenon.Batch(w, 3)
    batch.set(w.body("1"), "gravity_scale", [0.0, 0.5, 1.0])
    assert [world.body("1").gravity_scale for world in batch] == [0.0, 0.5, 1.0]
    batch.keep()
    batch.step()
    batch.reset()
    assert batch[1].body("1").gravity_scale == 0.5
    with pytest.raises(ValueError):
        batch.set("world", "substeps", [1, 2])


def test_robots_in_batches():
    w = tenon.World(substeps=8)
    w.load(ARM)
    batch = tenon.Batch(w, 5)
    assert batch.q.shape == (5, 2) and batch.target.shape == (5, 2)
    start = batch.hash
    for k in range(20):
        batch.target[:] = np.outer(np.arange(5), [0.1, 0.05 * k])
        batch.step()
    alone = tenon.World(substeps=8)
    robot = alone.load(ARM)
    for k in range(20):
        robot.target[:] = np.multiply(3, [0.1, 0.05 * k])
        alone.step()
    assert batch.hash[3] == alone.hash and np.array_equal(batch.q[3], robot.q)
    assert np.array_equal(batch.qd[3], robot.qd)
    batch.reset()
    assert (batch.hash == start).all() and not batch.target.any()
    batch.q[:] = np.outer(np.arange(5), [0.2, 0.1])
    batch.write(np.arange(5) > 2)
    assert batch.q[4] == pytest.approx([0.8, 0.4], abs=1e-5) and batch.q[2] == pytest.approx([0, 0], abs=1e-6)
    assert batch[4].robots[0].q == pytest.approx(batch.q[4], abs=0)
    batch.target[:] = 0.0
    batch.step()


def test_poses_can_be_written():
    batch = tenon.Batch(_falling(), 2)
    batch.positions[1, :, 0] += 10.0
    batch.write(bodies=True)
    assert batch[1].positions[:, 0] == pytest.approx([10.0, 10.1, 10.2])
    batch.poses[0, 0, 3:] = 0.0
    with pytest.raises(tenon.Error, match="world 0"):
        batch.write(bodies=True)


def test_dlpack():
    batch = tenon.Batch(_falling(), 2)
    shared = np.from_dlpack(batch.poses)
    batch.step(1 / 60, repeat=10)
    assert np.shares_memory(shared, batch.poses) and np.array_equal(shared, batch.poses)


def test_bad_use():
    w = _falling()
    with pytest.raises(ValueError):
        tenon.Batch(w, 0)
    with pytest.raises(TypeError):
        tenon.Batch("world", 2)
    batch = tenon.Batch(w, 3)
    with pytest.raises(ValueError):
        batch.reset([True])
    with pytest.raises(ValueError):
        batch.reset([1, 0, 1])
    with pytest.raises(tenon.Error, match="dt|step"):
        batch.step(float("nan"))
    batch.reset()
    batch[1].close()
    with pytest.raises(tenon.Error, match="closed"):
        batch.step()
    batch.close()
    with pytest.raises(tenon.Error, match="closed"):
        batch.step()
    assert batch.poses.shape == (3, 3, 7)


def test_threads_may_not_share_a_batch():
    batch = tenon.Batch(_falling(), 200)
    refused = []

    def work():
        for _ in range(20):
            try:
                batch.step(1 / 60, repeat=3)
            except tenon.Error as error:
                refused.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all("another thread" in text for text in refused)

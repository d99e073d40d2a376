"""Batches: many copies of a world, with the results of each alone."""

import gc
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


LIMB = """<mujoco><worldbody><body pos='0 0 1'><joint name='a' axis='0 1 0'/>
<geom type='capsule' fromto='0 0 0 .4 0 0' size='.03'/><body pos='.4 0 0'><joint name='b' axis='0 1 0'/>
<geom type='capsule' fromto='0 0 0 .4 0 0' size='.03'/></body></body></worldbody>
<actuator><intvelocity joint='a' kp='40' actrange='-2 2'/>
<general joint='b' dyntype='filter' dynprm='.3' gainprm='3'/></actuator></mujoco>"""


def test_integrators_and_filters_are_of_each_world():
    w = tenon.World(substeps=8)
    w.load(LIMB, prefix="x ")
    w.load(ARM, position=(3, 0, 0))
    w.step()
    batch = tenon.Batch(w, 6, threads=3)

    def go():
        for k in range(30):
            batch.target[:] = np.outer(np.arange(6), [0.3, 0.05 * k])
            batch[4].robots[1].target[:] = 0.2
            batch.step()
        return batch.hash

    once = go()
    batch.reset()
    assert np.array_equal(go(), once)  # the integrators begin anew
    alone = tenon.World(substeps=8)
    limb, arm = alone.load(LIMB, prefix="x "), alone.load(ARM, position=(3, 0, 0))
    alone.step()
    for k in range(30):
        limb.target[:] = np.multiply(4, [0.3, 0.05 * k])
        arm.target[:] = 0.2
        alone.step()
    assert alone.hash == once[4] and batch[4].robots[1].q == pytest.approx(arm.q, abs=0)
    assert batch[4].robots[0].named_bodies.keys() == limb.named_bodies.keys()
    assert batch[4].robots[1].joints[0].world is batch[4]


def test_arrays_of_all_worlds():
    w = _falling()
    batch = tenon.Batch(w, 4)
    masses = batch.get("masses")
    assert masses.shape == (4, 3) and masses == pytest.approx(w.bodies[0].mass.mass)
    batch.put("frictions", np.linspace(0.1, 0.4, 4)[:, None])
    assert [b.bodies[0].shapes[0].material.static_friction for b in batch] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    batch.put("gravity", [[[0, -9.81, 0]]], np.ones(4, bool))
    push = np.zeros((4, 3, 6))
    push[2, 0, 0] = masses[2, 0]
    batch.put(tenon.BatchField.FORCES, push)
    batch.step(1 / 60)
    speed = batch.velocities[:, 0, 0]
    assert speed[2] == pytest.approx(1 / 60, rel=0.1) and abs(speed[[0, 1, 3]]).max() < 1e-3
    for _ in range(300):
        batch.step(1 / 60)
    weight = masses.sum(1) * 9.81
    forces = batch.get("contact_forces")  # each body pushes on the one below: the ground carries all
    assert forces.shape == (4, 3, 3) and forces[:, :, 1].sum(1) == pytest.approx(weight, rel=0.02)
    with pytest.raises(tenon.Error):
        batch.put("masses", -1.0)
    with pytest.raises(tenon.Error):
        batch.put("contact_forces", 0.0)
    with pytest.raises(ValueError):
        batch.get("colours")
    with pytest.raises(ValueError):
        batch.put("masses", np.zeros((4, 9)))
    with pytest.raises(tenon.Error, match="articulation"):
        batch.get("q")


def test_derivatives_are_those_of_a_pendulum():
    w = tenon.World(substeps=32, gravity=(0, -10, 0))
    w.load("<mujoco><worldbody><body><joint axis='0 1 0'/><inertial pos='0 0 -1' mass='2' "
           "diaginertia='.3 .5 .3'/></body></worldbody></mujoco>")
    batch = tenon.Batch(w, 5)
    a, b = batch.derivatives(0.1)
    inertia, rate = 2.5, np.sqrt(2 * 10 / 2.5)
    c, s = np.cos(0.1 * rate), np.sin(0.1 * rate)
    assert a == pytest.approx(np.array([[c, s / rate], [-s * rate, c]]), abs=2e-4)
    assert b[:, 0] == pytest.approx([(1 - c) / (rate**2 * inertia), s / (rate * inertia)], abs=2e-4)
    assert batch.qd == pytest.approx(0) and len(set(batch.hash.tolist())) == 1
    with pytest.raises(ValueError):
        batch.derivatives(0.1, forces=[1, 2])
    with pytest.raises(tenon.Error):
        batch.derivatives(float("nan"))
    with pytest.raises(tenon.Error, match="articulation"):
        tenon.Batch(_falling(), 2).derivatives()


def test_worlds_of_a_batch_live_as_long_as_needed():
    batch = tenon.Batch(_falling(), 3)
    world, poses = batch[1], batch.poses
    assert world is batch[1] and batch[-1] is batch[2] and len(list(batch)) == 3
    copied = world.copy()
    del batch
    gc.collect()
    world.step()
    copied.step()
    assert world.hash == copied.hash and poses.shape == (3, 3, 7)
    with pytest.raises(tenon.Error, match="radius"):
        world.add_body(tenon.Sphere(-1))
    del world
    gc.collect()
    with pytest.raises(IndexError):
        tenon.Batch(_falling(), 2)[2]


def test_worlds_that_changed_are_named():
    batch = tenon.Batch(_falling(), 3)
    batch[1].bodies[0].destroy()
    with pytest.raises(tenon.Error, match="world 1"):
        batch.step()
    with pytest.raises(tenon.Error, match="world 1"):
        batch.reset()


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

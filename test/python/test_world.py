"""Worlds, handles, arrays, states: what the package adds to the engine."""

import copy
import pickle

import numpy as np
import pytest

import tenon


def test_falls_as_galilei_says():
    w = tenon.World(gravity=(0, -10, 0))
    ball = w.add_body(tenon.Sphere(0.1), position=(0, 100, 0))
    for _ in range(60):
        w.step(1 / 60)
    assert ball.position == pytest.approx((0, 95, 0), abs=1e-3)
    assert ball.velocity == pytest.approx((0, -10, 0), abs=1e-4)
    assert w.time == pytest.approx(1.0)


def test_defaults_are_those_of_the_definitions():
    w = tenon.World()
    assert w.substeps == 8 and w.sleeping and w.method is tenon.Method.TENON
    assert w.gravity == pytest.approx((0, -9.81, 0))
    body = w.add_body(tenon.Sphere())
    assert body.gravity_scale == 1.0 and body.max_speed == 1000.0 and body.can_sleep
    assert body.mass.mass == pytest.approx(1000 * 4 / 3 * np.pi * 0.5**3, rel=1e-5)
    shape = body.shapes[0]
    assert shape.material.static_friction == pytest.approx(0.6) and shape.density == 1000
    changed = w.add_body(tenon.Sphere(material={"restitution": 0.5})).shapes[0].material
    assert changed.restitution == 0.5 and changed.static_friction == pytest.approx(0.6)


def test_every_setting_can_be_read_back(world):
    body = world.add_body(tenon.Box(0.1), position=(0, 1, 0))
    for name, value in dict(linear_damping=0.5, max_speed=10.0, gravity_scale=2.0, bullet=True).items():
        setattr(body, name, value)
        assert getattr(body, name) == value
    body.configure(angular_damping=0.25, can_sleep=False)
    assert body.angular_damping == 0.25 and not body.can_sleep and body.linear_damping == 0.5
    body.position, body.rotation = (1, 2, 3), (0, 1, 0, 0)
    assert body.position == pytest.approx((1, 2, 3)) and body.rotation == pytest.approx((0, 1, 0, 0))
    body.mass = tenon.Mass(mass=2.0, center=(0, 0, 0), inertia=np.diag([1, 1, 1]))
    assert body.mass.mass == 2.0 and not body.mass_from_shapes
    shape = body.shapes[0]
    shape.material = {"static_friction": 0.9, "dynamic_friction": 0.8}
    assert shape.material.dynamic_friction == pytest.approx(0.8)
    assert shape.material.rolling_friction == 0.0
    shape.half_extents = (0.2, 0.3, 0.4)
    lower, upper = shape.box
    assert upper - lower == pytest.approx((0.4, 0.6, 0.8), abs=1e-5)


def test_views_follow_steps_and_rows_are_bodies(world):
    bodies = [world.add_body(tenon.Sphere(0.1), position=(i, 5, 0)) for i in range(3)]
    held, rates = world.positions, world.velocities
    part = held[1]
    assert held.shape == (3, 3) and world.rotations.shape == (3, 4) and rates.shape == (3, 6)
    assert not held.flags.writeable
    world.step(1 / 60, repeat=10)
    assert held[:, 1] == pytest.approx([b.position[1] for b in bodies]) and held[0, 1] < 4.95
    assert part[1] == held[1, 1] and rates[0, 1] == pytest.approx(bodies[0].velocity[1])
    assert np.shares_memory(held, world.positions)
    bodies[1].destroy()
    assert world.positions.shape == (2, 3) and held.shape == (3, 3)
    assert [b.row for b in (bodies[0], bodies[2])] == [0, 1]
    assert world.positions[1, 0] == 2.0


def test_views_outlive_the_world():
    w = tenon.World()
    w.add_body(tenon.Sphere(), position=(1, 2, 3))
    held = w.positions
    w.close()
    assert held[0] == pytest.approx((1, 2, 3))
    with pytest.raises(tenon.Error, match="closed"):
        w.positions
    w = tenon.World()
    w.add_body(tenon.Sphere(), position=(4, 5, 6))
    held = w.positions
    del w
    assert held[0] == pytest.approx((4, 5, 6))


def test_writes_of_many_bodies(world):
    n = 5
    for i in range(n):
        world.add_body(tenon.Sphere(0.1), position=(i, 5, 0))
    poses = world.poses.copy()
    poses[:, 1] += 1.0
    world.set_poses(poses)
    assert world.positions[:, 1] == pytest.approx(6.0)
    world.set_velocities(np.tile([1.0, 0, 0, 0, 2, 0], (n, 1)))
    assert world.velocities[:, 4] == pytest.approx(2.0)
    before = world.velocities[0, 2]
    force = np.zeros((1, 6))
    force[0, 2] = world.bodies[0].mass.mass
    world.apply_forces(force, [world.bodies[0]])
    world.step(1 / 60)
    assert world.velocities[0, 2] - before == pytest.approx(1 / 60, rel=1e-3)


def test_contacts_balance_the_weight(world):
    box = world.add_body(tenon.Box(0.5), position=(0, 0.5, 0), can_sleep=False)
    for _ in range(120):
        world.step()
    contacts = world.contacts
    assert len(contacts) == 1 and contacts["count"][0] == 4
    force = contacts["points"]["normal_force"][0].sum()
    assert force == pytest.approx(box.mass.mass * 9.81, rel=1e-3)
    assert (contacts["body_b"] == box.id).all() or (contacts["body_a"] == box.id).all()
    assert len(box.contacts) == 1


def test_contact_forces_balance_random_piles(world):
    """Each body at rest: contacts carry its weight, and what they push on the ground is the whole weight."""
    rng = np.random.default_rng(8)
    for i in range(12):
        spec = tenon.Box(*rng.uniform(0.1, 0.3, 3)) if i % 2 else tenon.Cylinder(0.2, rng.uniform(0.05, 0.2))
        world.add_body(spec, position=(0.9 * (i % 4), 0.3 + 0.8 * (i // 4), 0), can_sleep=False)
    world.add_body(tenon.Sphere(0.1), position=(50, 5, 0))  # in flight
    for _ in range(400):
        world.step()
    weights = 9.81 * np.array([body.mass.mass for body in world.bodies])
    forces = world.contact_forces
    assert forces.shape == (13, 3)
    moving = np.abs(world.velocities).max(1) > 1e-3
    assert (~moving).sum() >= 10
    for row in np.nonzero(~moving)[0]:
        assert forces[row] == pytest.approx((0, weights[row], 0), abs=0.02 * weights[:12].sum())
        assert world.bodies[row].contact_force == pytest.approx(forces[row], abs=1e-9)
    assert forces[:12, 1].sum() == pytest.approx(weights[:12].sum(), rel=0.02)
    assert tenon.World().contact_forces.shape == (0, 3)


def test_arrays_can_be_set(world):
    for i in range(4):
        world.add_body(tenon.Box(0.1), position=(i, 5, 0), rotation=(0, 0, np.sin(0.1), np.cos(0.1)))
    held, turns = world.positions, world.rotations.copy()
    world.positions = held + (0, 1, 0)
    assert world.positions[:, 1] == pytest.approx(6.0) and world.rotations == pytest.approx(turns)
    world.rotations = np.tile((0, 0, 0, 1.0), (4, 1))
    assert world.positions[:, 1] == pytest.approx(6.0) and world.rotations[:, 3] == pytest.approx(1.0)
    world.velocities = np.ones((4, 6))
    world.poses = np.hstack([np.zeros((4, 3)) + np.arange(4)[:, None] * 2, world.rotations])
    assert world.velocities == pytest.approx(1.0) and world.positions[3] == pytest.approx((6, 6, 6))
    for name, width in (("positions", 3), ("rotations", 4), ("poses", 7), ("velocities", 6)):
        with pytest.raises(ValueError, match=name):
            setattr(world, name, np.zeros((3, width)))
        with pytest.raises(tenon.Error):
            setattr(world, name, np.full((4, width), np.nan))
    assert world.positions[3] == pytest.approx((6, 6, 6))


@pytest.mark.parametrize("kind, axis", [("hinge", (0, 0, 1)), ("prismatic", (0, 1, 0))])
def test_a_servo_is_a_damped_spring(kind, axis):
    """Random stiffness and damping: the motion after a push is that of the linear oscillator."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        w = tenon.World(gravity=(0, 0, 0), substeps=32)
        body = w.add_body(tenon.Box(0.2), can_sleep=False)
        joint = w.add_joint(kind, None, body, point=(0, 0, 0), axis=axis)
        inertia = body.mass.mass if kind == "prismatic" else body.mass.inertia[2, 2]
        rate, ratio = rng.uniform(2, 6), rng.uniform(0.1, 0.9)
        joint.servo(inertia * rate**2, 2 * ratio * rate * inertia)
        if kind == "prismatic":
            body.velocity = (0, 0.3, 0)
        else:
            body.angular_velocity = (0, 0, 0.3)
        damped = rate * np.sqrt(1 - ratio**2)
        for i in range(1, 41):
            w.step(1 / 60)
            exact = 0.3 / damped * np.exp(-ratio * rate * i / 60) * np.sin(damped * i / 60)
            assert joint.position == pytest.approx(exact, abs=1e-5)
        assert joint.rate == joint.state.rate[3 * (kind == "hinge")]
        joint.target = 0.1
        w.step(1 / 60, repeat=2000)
        assert joint.target == pytest.approx(0.1) and joint.position == pytest.approx(0.1, abs=1e-4)


def test_motors_and_limits_of_joints():
    w = tenon.World(gravity=(0, 0, 0), substeps=32)
    wheel = w.add_body(tenon.Cylinder(0.2, 0.05), can_sleep=False)
    hinge = w.add_joint("hinge", None, wheel, point=(0, 0, 0), axis=(0, 1, 0))
    hinge.servo(0.0, 1e4, max_force=0.5)
    hinge.target_rate = 3.0
    w.step(1 / 60, repeat=60)
    inertia = wheel.mass.inertia[1, 1]
    assert hinge.rate == pytest.approx(0.5 * 1.0 / inertia, rel=1e-3) and hinge.drive_force == pytest.approx(0.5)
    hinge.range = (-0.5, 1.0)
    assert hinge.range == pytest.approx((-0.5, 1.0))
    w.step(1 / 60, repeat=900)
    assert hinge.position == pytest.approx(1.0, abs=0.01)
    ball = w.add_joint("ball", None, w.add_body(tenon.Sphere(0.1), position=(3, 0, 0)), point=(3, 1, 0))
    for use in (lambda: ball.position, lambda: setattr(ball, "target", 1.0), lambda: ball.range, lambda: ball.servo(1, 1)):
        with pytest.raises(tenon.Error, match="ball joint"):
            use()
    for bad in (np.nan, "x", None):
        with pytest.raises((tenon.Error, TypeError)):
            hinge.target = bad


def test_colors(world):
    box = world.add_body(tenon.Box(0.1), position=(0, 1, 0))
    before = box.color
    box.color = "#ff8000"
    assert box.color == pytest.approx((1.0, 128 / 255, 0.0)) and before != box.color
    box.color = "red"
    assert world.copy().bodies[0].color == box.color == pickle.loads(pickle.dumps(world)).bodies[0].color
    for bad in ("reddish", (1, 2, 3), (0, 1), 3, "#12345"):
        with pytest.raises((ValueError, TypeError)):
            box.color = bad


def test_events(world):
    ball = world.add_body(tenon.Sphere(0.1, hit_events=True, material={"restitution": 0.5}), position=(0, 1, 0))
    hits = begins = 0
    for _ in range(120):
        world.step()
        hits += len(world.events.hits)
        begins += len(world.events.begins)
        for hit in world.events.hits:
            assert hit["speed"] > 0 and world.body(hit["body_b"]) == ball
    assert hits > 0 and begins >= hits
    assert world.events.softs.shape == (0,) and world.events.breaks.shape == (0,)


def test_queries(world):
    ball = world.add_body(tenon.Sphere(0.5), position=(0, 2, 0))
    hits = world.rays([[0, 5, 0], [3, 5, 0], [3, 5, 0]], [[0, -10, 0], [0, -10, 0], [0, -1, 0]])
    assert list(hits["hit"]) == [True, True, False]
    assert hits["point"][0] == pytest.approx((0, 2.5, 0)) and hits["fraction"][1] == pytest.approx(0.5)
    assert world.body(hits["body"][0]) == ball
    hit = world.ray((0, 5, 0), (0, -10, 0))
    assert hit is not None and hit.body == ball and hit.normal == pytest.approx((0, 1, 0))
    assert world.ray((0, 5, 0), (0, 1, 0)) is None
    moved = world.cast(tenon.Sphere(0.5), ((0, 5, 0), (0, 0, 0, 1)), (0, -10, 0))
    assert moved is not None and moved.fraction == pytest.approx(0.2, abs=1e-4)
    assert world.overlap(tenon.Box(1), ((0, 2, 0), (0, 0, 0, 1))) == [ball.shapes[0]]
    near = world.closest_point((0, 4, 0), 5.0)
    assert near is not None and near.distance == pytest.approx(1.5)


def test_shapes_of_all_kinds(world):
    cube = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.5
    hull = tenon.Hull(cube)
    for spec in (tenon.Sphere(), tenon.Box(), tenon.Capsule(), tenon.Cylinder(), tenon.Cone(), hull, hull):
        body = world.add_body(spec, position=(0, 5, 0))
        points, triangles = body.shapes[0].mesh()
        assert len(points) > 3 and triangles.max() < len(points)
    assert world.counters.geometries == 1  # the hull is shared
    assert world.bodies[-1].mass.mass == pytest.approx(1000.0, rel=1e-5)
    floor = world.add_body(tenon.Mesh([[-5, 0, -5], [5, 0, -5], [0, 0, 5]], [[0, 2, 1]]), type="static")
    assert floor.type is tenon.BodyType.STATIC
    world.add_shape(tenon.HeightField(np.zeros((3, 4)), (1.0, 2.0)))
    angle = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], 1)
    world.add_shape(tenon.Wire(ring, radius=0.1, closed=True))


def test_hinge_swings_with_the_period_of_a_pendulum():
    w = tenon.World(substeps=20)
    bob = w.add_body(tenon.Sphere(0.01), position=(0.05, -1, 0), can_sleep=False)
    hinge = w.add_joint("hinge", None, bob, point=(0, 0, 0), axis=(0, 0, 1))
    crossings, last = [], 0.05
    for _ in range(600):
        w.step(1 / 60)
        x = bob.position[0]
        if last < 0 <= x:
            crossings.append(w.time - x / (x - last) / 60)
        last = x
    length = np.hypot(0.05, 1)
    period = 2 * np.pi * np.sqrt(length / 9.81) * (1 + 0.05**2 / 16)
    assert np.diff(crossings) == pytest.approx(period, rel=2e-3)
    assert hinge.body_b == bob and hinge.body_a is None and hinge.kind.name == "HINGE"
    assert abs(hinge.state.elongation) < 1e-4


def test_soft_bodies(world):
    cloth = world.add_soft(tenon.cloth(8, 8, 1, 1), position=(0, 2, 0), pinned=[0, 7], mass=0.5)
    box = world.add_body(tenon.Box(0.1), position=(0, 3, 0), type="static")
    tie = world.attach(cloth, 63, box)
    assert cloth.masses.sum() == pytest.approx(0.5) and cloth.is_pinned(0)
    start = cloth.positions
    for _ in range(60):
        world.step()
    assert cloth.positions[0] == pytest.approx(start[0]) and cloth.positions[40, 1] < start[40, 1]
    assert tie.state.force[1] != 0 and not tie.state.broken
    cloth.positions = start
    assert cloth.positions == pytest.approx(start)
    ball = world.add_soft(tenon.balloon(2, 0.3), pressure=1.2, position=(3, 1, 0))
    world.step()
    assert ball.volume > 0.9 * 4 / 3 * np.pi * 0.3**3


def _busy_world():
    w = tenon.World(substeps=4)
    w.add_plane()
    for i in range(6):
        w.add_body(tenon.Box(0.2), position=(0.05 * i, 0.3 + 0.45 * i, 0), name=f"box {i}")
    for _ in range(20):
        w.step()
    return w


def test_save_restore_pickle_and_copy():
    w = _busy_world()
    state = w.save()
    assert w.hash == state.hash
    copies = [pickle.loads(pickle.dumps(w)), copy.deepcopy(w), w.copy()]
    for _ in range(30):
        for each in (w, *copies):
            each.step()
    assert len({each.hash for each in (w, *copies)}) == 1 and w.hash != state.hash
    assert all(each.substeps == 4 and each.time == pytest.approx(w.time) for each in copies)
    w.restore(state)
    assert w.hash == state.hash
    again = pickle.loads(pickle.dumps(state))
    assert again == state and again.hash == state.hash
    body = pickle.loads(pickle.dumps(w.body("box 3")))
    assert body.name == "box 3" and body.world is not w
    both = pickle.loads(pickle.dumps((w, w.bodies[1], w.shapes[0])))
    assert both[1].world is both[0] and both[1].name == "box 1" and both[2].is_valid


def test_handles_of_a_world_without_bodies():
    w = tenon.World()
    hull = w.add_shape(tenon.Hull(np.random.default_rng(0).normal(size=(20, 3))))
    copied, shape = pickle.loads(pickle.dumps((w, hull)))
    assert shape.is_valid and shape.geometry.is_valid and copied.hash == w.hash
    hull.destroy()
    copied, geometry = pickle.loads(pickle.dumps((w, w._geometries.popitem()[1][1])))
    assert geometry.is_valid and copied.hash == w.hash


def test_threads_and_lanes_change_nothing():
    hashes = set()
    for threads in (1, 2):
        w = tenon.World(threads=threads, substeps=4)
        w.add_plane()
        for i in range(200):
            w.add_body(tenon.Box(0.2), position=(0.5 * (i % 20), 0.25 + 0.5 * (i // 20), 0))
        w.step(1 / 60, repeat=20)
        hashes.add(w.hash)
    assert len(hashes) == 1


def test_inverse_kinematics():
    w = tenon.World()
    upper = w.add_body(tenon.Capsule(0.05, 0.5), position=(0, 0.5, 0), name="upper")
    lower = w.add_body(tenon.Capsule(0.05, 0.5), position=(0, 1.5, 0), name="lower")
    w.add_joint("hinge", None, upper, point=(0, 0, 0), axis=(0, 0, 1))
    w.add_joint("hinge", upper, lower, point=(0, 1, 0), axis=(0, 0, 1))
    result = w.reach(lower, (1.0, 1.0, 0.0), point=(0, 0.5, 0))
    assert result.ok and result.distance < 0.01
    assert lower.world_point((0, 0.5, 0)) == pytest.approx((1, 1, 0), abs=0.01)


def test_repr_helps(world):
    box = world.add_body(tenon.Box(0.5), position=(0, 3, 0), name="crate")
    assert repr(box) == "<Body #1 'crate' dynamic at (0, 3, 0)>" or "crate" in repr(box)
    assert "1 bodies" in repr(world) and "box" in repr(box.shapes[0])
    assert "static_friction=0.8" in repr(tenon.Material(static_friction=0.8))
    box.destroy()
    assert repr(box) == "<Body, gone>" and not box.is_valid


def test_handles_are_values(world):
    a = world.add_body(tenon.Sphere(0.1))
    assert world.bodies[0] == a and hash(world.bodies[0]) == hash(a) and a in world.bodies
    assert {a: 1}[world.body(a.row)] == 1
    assert a != world.add_body(tenon.Sphere(0.1))


def test_coupling_is_a_gear():
    w = tenon.World(gravity=(0, 0, 0), substeps=20)
    wheels = [w.add_body(tenon.Cylinder(0.2, 0.05), position=(x, 0, 0), can_sleep=False) for x in (0, 1)]
    hinges = [w.add_joint("hinge", None, wheel, point=wheel.position, axis=(0, 1, 0)) for wheel in wheels]
    gear = w.add_coupling(
        axes=[tenon.CouplingAxis(joint=hinges[0], axis=3, coefficients=(1.0,)),
              {"joint": hinges[1], "axis": 3, "coefficients": (2.0,)}]
    )
    wheels[0].angular_velocity = (0, 3, 0)
    w.step(1 / 60, repeat=30)
    # Momentum along the constraint 1, 2 of equal inertias: 3 (1 - 1/5) and -3 * 2/5.
    assert wheels[0].angular_velocity[1] == pytest.approx(3 * 0.8, rel=0.02)
    assert wheels[1].angular_velocity[1] == pytest.approx(-3 * 0.4, rel=0.02)
    assert w.couplings == [gear] and gear.is_valid
    gear.destroy()
    assert not gear.is_valid

"""Robots from files, and reduced coordinates."""

import copy
import pickle

import numpy as np
import pytest
from robots import ARM, WALKER

import tenon


def test_arm_goes_to_its_keyframe(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    w = tenon.World(substeps=20)
    robot = w.load(str(path))
    assert robot.name == "arm" and robot.actuators == ["s", "e"] and "honoured" in robot.report
    assert robot.q.shape == (2,) and robot.qd.shape == (2,) and robot.force.shape == (2,)
    assert list(robot.keyframes) == ["home"] and robot.keyframes["home"].target == pytest.approx([0.3, 0.4])
    q = robot.q
    for i in range(400):
        robot.target[:] = robot.keyframes["home"].target
        if i % 4 == 0:
            robot.qd = np.zeros(2)  # so that it comes to rest soon
        w.step(1 / 60)
    assert q == pytest.approx(robot.q)
    assert robot.qd == pytest.approx([0, 0], abs=1e-3)
    # Static balance: the servo's error is the torque of gravity over its gain.
    torque = robot.bias_forces()
    assert robot.q - [0.3, 0.4] == pytest.approx(-torque / [400, 200], rel=0.02, abs=1e-4)


def test_starts_in_a_keyframe():
    w = tenon.World()
    robot = w.load(ARM, keyframe="home", position=(1, 0, 0))
    assert robot.q == pytest.approx([0.3, 0.4], abs=1e-5)
    assert robot.target == pytest.approx([0.3, 0.4])
    assert set(robot.named_bodies) == {"upper", "lower"} and set(robot.named_joints) == {"shoulder", "elbow"}
    assert robot.body("upper").position == pytest.approx((1, 1, 0), abs=1e-6)


def test_free_base_comes_first():
    w = tenon.World()
    robot = w.load(WALKER, position=(0, 0.5, 0))
    assert robot.q.shape == (8,) and robot.qd.shape == (7,)
    assert robot.q[:3] == pytest.approx((0, 0.9, 0), abs=1e-6)
    assert robot.joints[0] is None and robot.joints[1] == robot.named_joints["hip"]
    robot.q = np.r_[0, 2, 0, 0, 0, 0, 1, 0.5]
    assert robot.q[1] == pytest.approx(2) and robot.q[7] == pytest.approx(0.5, abs=1e-5)
    robot.qd = np.r_[np.zeros(6), 3.0]
    assert robot.qd[6] == pytest.approx(3.0, rel=1e-5)


def test_motor_force_turns_by_the_mass_matrix():
    w = tenon.World(gravity=(0, 0, 0), substeps=20)
    robot = w.load(ARM.replace("position", "motor").replace("kp='400'", "").replace("kp='200'", ""))
    mass = robot.mass_matrix()
    assert mass == pytest.approx(mass.T) and np.linalg.eigvalsh(mass).min() > 0
    robot.target[:] = [0.2, -0.1]
    w.step(1 / 240)
    before = robot.qd.copy()
    w.step(1 / 240)
    expected = np.linalg.solve(mass, [0.2, -0.1]) / 240
    assert robot.qd - before == pytest.approx(expected, rel=1e-3)
    assert robot.forward_dynamics([0.2, -0.1]) == pytest.approx(expected * 240, rel=1e-2)


def test_jacobian_is_the_derivative():
    w = tenon.World()
    robot = w.load(ARM, keyframe="home")
    linear, _ = robot.jacobian(robot.body("lower"), (0.4, 0, 0))
    q = robot.q.copy()
    for k in range(2):
        ends = []
        for sign in (-1, 1):
            robot.q = q + sign * 1e-3 * np.eye(2)[k]
            ends.append(robot.body("lower").world_point((0.4, 0, 0)))
        assert (ends[1] - ends[0]) / 2e-3 == pytest.approx(linear[:, k], abs=1e-3)


def test_robots_survive_pickling():
    w = tenon.World(substeps=10)
    w.add_plane()
    w.add_body(tenon.Box(0.1), position=(3, 1, 0))
    first = w.load(ARM)
    second = w.load(WALKER, position=(2, 0.5, 0), prefix="w ")
    chain = w.articulation(w.bodies[0])
    for i in range(20):
        first.target[:] = [0.1 * i, -0.05 * i]
        w.step()
    other = pickle.loads(pickle.dumps(w))
    assert other.hash == w.hash
    for each in (w, other):
        a, b = each.robots
        a.target[:] = [1.0, 0.5]
        b.target[:] = 0.3
        for _ in range(30):
            each.step()
    assert other.hash == w.hash and other.robots[0].q == pytest.approx(first.q, abs=0)
    assert other._robots[2].q == pytest.approx(chain.q, abs=0)
    assert second.q.shape == (8,)


def test_robots_and_their_world_are_copied_together():
    w = tenon.World()
    robot = w.load(ARM)
    chain = w.articulation(robot.body("upper"))
    for copied, arm, other in (pickle.loads(pickle.dumps((w, robot, chain))), copy.deepcopy((w, robot, chain))):
        assert arm.world is copied and arm is copied.robots[0] and other.world is copied and copied is not w
        arm.target[:] = 0.5
        copied.step()
        assert not robot.target.any() and np.array_equal(other.q, arm.q)
    assert pickle.loads(pickle.dumps(robot)).q == pytest.approx(robot.q)


def test_integrators_survive_pickling():
    w = tenon.World(substeps=8)
    robot = w.load("<mujoco><worldbody><body pos='0 0 1'><joint name='a' axis='0 1 0'/>"
                   "<geom type='capsule' fromto='0 0 0 .4 0 0' size='.03'/></body></worldbody>"
                   "<actuator><intvelocity joint='a' kp='40' actrange='-2 2'/></actuator></mujoco>")
    robot.target[:] = 1.0
    w.step(1 / 60, repeat=20)
    other = pickle.loads(pickle.dumps(w))
    for each in (w, other):
        each.robots[0].target[:] = 0.5
        each.step(1 / 60, repeat=20)
    assert other.hash == w.hash


SENSED = ARM.replace("axis='0 1 0'/>", "axis='0 1 0' damping='20'/>").replace("</actuator>", """</actuator><sensor>
  <jointpos name='at' joint='elbow'/><jointvel name='fast' joint='elbow'/><actuatorfrc name='pull' actuator='s'/>
  <framepos name='tip' objtype='body' objname='lower'/></sensor>""")


def test_parts_are_found_by_name():
    w = tenon.World()
    robot = w.load(SENSED)
    robot.actuator("e").target = 0.4
    assert robot.target == pytest.approx([0, 0.4]) and robot.actuator("e").name == "e" and "e" in repr(robot.actuator("e"))
    for _ in range(300):
        w.step()
    assert robot.joint("elbow").position == pytest.approx(robot.q[1], rel=1e-5)
    assert robot.q[1] == pytest.approx(0.4 + 1.962 * np.cos(robot.q.sum()) / 200, abs=1e-4)  # it sags
    assert robot.sensor("at") == pytest.approx(robot.q[1:], rel=1e-5) and robot.sensor("fast") == pytest.approx(robot.qd[1:], abs=1e-6)
    assert robot.sensor("pull") == pytest.approx([robot.force[0]], rel=1e-3)
    assert set(robot.sensors) == {"at", "fast", "pull", "tip"} and robot.sensor("tip").shape == (3,)
    assert robot.mass == pytest.approx(2.0) and robot.ranges.shape == (2, 2)
    lower, upper = robot.body("lower"), robot.body("upper")
    assert robot.center_of_mass == pytest.approx(0.5 * (np.asarray(lower.center) + upper.center))
    robot.apply_keyframe("home")
    assert robot.q == pytest.approx([0.3, 0.4], abs=1e-6) and robot.target == pytest.approx([0.3, 0.4])
    state = robot.jacobian("lower")
    assert np.array_equal(state[0], robot.jacobian(lower)[0])
    for use in (robot.joint, robot.actuator, robot.sensor, robot.body, robot.apply_keyframe):
        with pytest.raises(KeyError):
            use("elbows")
        with pytest.raises(KeyError):
            use(3)
    with pytest.raises(KeyError, match="elbow"):
        robot.joint("elbo")
    for bad in (np.nan, np.inf):
        with pytest.raises(tenon.Error, match="target must"):
            robot.actuator("e").target = bad


@pytest.mark.parametrize("name", ["arm", "humanoid", "quadruped", "quadruped.xml", "quadruped.urdf"])
def test_models_of_the_package(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    w = tenon.World()
    w.add_plane()
    robot = w.load(name, position=(0, 0.5, 0))
    assert len(robot.q) >= 8
    w.step(1 / 60, repeat=5)
    assert np.isfinite(robot.q).all()
    finite = np.isfinite(robot.ranges).all(1)
    assert finite.sum() >= 8 and (robot.ranges[finite, 0] < robot.ranges[finite, 1]).all()


def test_refused_files_say_where():
    w = tenon.World()
    with pytest.raises(tenon.Error, match="text:1"):
        w.load("<mujoco><worldbody><body>")
    with pytest.raises(tenon.Error, match="no_such_file"):
        w.load("no_such_file.xml")
    with pytest.raises(KeyError, match="away"):
        w.load(ARM, keyframe="away")
    robot = w.load(ARM)
    with pytest.raises(ValueError, match="target"):
        robot.target = [1, 2, 3]
    robot.target[0] = np.nan
    with pytest.raises(tenon.Error, match="target 0"):
        w.step()
    robot.target[0] = 0.0
    w.step()


LINK = """<link name="{0}"><inertial><mass value="1"/><inertia ixx=".5" iyy=".5" izz=".5" ixy="0" ixz="0" iyz="0"/>
</inertial></link>"""
TURNTABLE = f"""<robot name="table"><link name="world"/>{LINK.format("top")}<joint name="spin" type="continuous">
<parent link="world"/><child link="top"/><axis xyz="0 0 1"/><limit effort="2" velocity="9"/></joint></robot>"""


def test_joints_of_urdf_have_motors():
    w = tenon.World()
    robot = w.load(TURNTABLE)
    assert robot.target.shape == (1,)
    robot.target[0] = 5.0  # N m, of which the joint gives 2
    w.step(1 / 60, repeat=30)
    assert robot.qd[0] == pytest.approx(2.0 * 0.5 / 0.5, rel=1e-3)

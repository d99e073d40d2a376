"""Bad input: an exception with a useful text, never a crash."""

import copy
import os
import pickle
import threading

import numpy as np
import pytest

from robots import ARM

import tenon


def test_engine_messages_are_raised(world):
    with pytest.raises(tenon.Error, match="radius must be"):
        world.add_body(tenon.Sphere(-1))
    assert world.bodies == []  # nothing is left behind
    with pytest.raises(tenon.Error, match="substeps"):
        tenon.World(substeps=0)
    with pytest.raises(tenon.Error):
        world.add_body(position=(np.nan, 0, 0))
    with pytest.raises(tenon.Error):
        world.step(float("nan"))
    with pytest.raises(tenon.Error):
        world.step(-1)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda w: w.add_body(tenon.Sphere(), position=(1, 2)), ValueError),
        (lambda w: w.add_body(tenon.Sphere(), position="here"), TypeError),
        (lambda w: w.add_body(tenon.Sphere(), colour="red"), TypeError),
        (lambda w: w.add_body("sphere"), TypeError),
        (lambda w: w.add_body(tenon.Sphere(), type="flying"), ValueError),
        (lambda w: w.add_body(tenon.Sphere(), name=3), TypeError),
        (lambda w: w.add_body(tenon.Sphere(), name="a\0b"), ValueError),
        (lambda w: w.add_body(tenon.Sphere(material={"fricton": 1})), TypeError),
        (lambda w: w.add_body(tenon.Sphere(material=tenon.Filter(mask=1))), TypeError),
        (lambda w: w.add_body(tenon.Sphere(filter={"mask": -1})), ValueError),
        (lambda w: w.add_body(tenon.Sphere("big")), TypeError),
        (lambda w: w.add_joint("hinge", "a"), TypeError),
        (lambda w: w.add_joint("glue", None), ValueError),
        (lambda w: w.set_poses(np.zeros((1, 3))), ValueError),
        (lambda w: w.set_poses("poses"), (TypeError, ValueError)),
        (lambda w: w.set_poses(np.zeros((0, 7), complex)), (TypeError, ValueError)),
        (lambda w: w.rays([[0, 0]], [[0, 0, 1]]), ValueError),
        (lambda w: w.rays([[0, 0, 0]], np.zeros((2, 3))), ValueError),
        (lambda w: w.rays([[np.nan, 0, 0]], [[0, 0, 1]]), ValueError),
        (lambda w: w.rays([["a", "b", "c"]], [[0, 0, 1]]), TypeError),
        (lambda w: w.restore(b"not a state"), tenon.Error),
        (lambda w: w.restore(3), TypeError),
        (lambda w: w.step("soon"), TypeError),
        (lambda w: w.step(1 / 60, repeat=2**40), OverflowError),
        (lambda w: setattr(w, "substeps", 2.5), TypeError),
        (lambda w: setattr(w, "gravity", 9.81), TypeError),
        (lambda w: w.add_body(tenon.Hull([[0, 0, 0]])), tenon.Error),
        (lambda w: w.add_body(tenon.Mesh([[0, 0, 0]], [[0, 1, 2]]), type="static"), tenon.Error),
        (lambda w: w.add_body(tenon.Mesh([[0, 0, 0]], [[0.5, 1, 2]]), type="static"), TypeError),
        (lambda w: w.add_soft(tenon.cloth(0, 2, 1, 1)), tenon.Error),
        (lambda w: w.add_soft(tenon.cloth(2, 2, 1, 1), pinned=[7]), tenon.Error),
        (lambda w: w.body("nobody"), KeyError),
        (lambda w: w.articulation(None), tenon.Error),
        (lambda w: tenon.run("no such scene"), tenon.Error),
        (lambda w: tenon.run("pyramid", base=0), tenon.Error),
        (lambda w: tenon.run("pyramid", bass=3), tenon.Error),
        (lambda w: tenon.run("pyramid", seconds=float("nan")), ValueError),
    ],
)
def test_bad_arguments(world, call, error):
    before = world.hash
    with pytest.raises(error) as info:
        call(world)
    assert str(info.value)
    assert world.hash == before
    world.step()


def test_near_names_are_suggested(world):
    with pytest.raises(TypeError, match="restitution"):
        world.add_body(tenon.Sphere(material={"restitutoin": 1}))


def test_dead_handles(world):
    body = world.add_body(tenon.Sphere(0.1))
    shape = body.shapes[0]
    body.destroy()
    for use in (
        lambda: body.position,
        lambda: body.destroy(),
        lambda: setattr(body, "velocity", (1, 0, 0)),
        lambda: body.add_shape(tenon.Sphere()),
        lambda: shape.material,
        lambda: body.row,
        lambda: world.add_joint("ball", body, point=(0, 0, 0)),
        lambda: world.set_poses(np.zeros((1, 7)), [body]),
    ):
        with pytest.raises(tenon.Error):
            use()
    other = tenon.World()
    foreign = other.add_body(tenon.Sphere())
    with pytest.raises(tenon.Error):
        world.add_joint("ball", foreign, point=(0, 0, 0))
    with pytest.raises(KeyError):
        world.body(foreign.id)


def test_closed_world():
    with tenon.World() as w:
        body = w.add_body(tenon.Sphere())
        robot = w.articulation(body)
    for use in (w.step, lambda: w.hash, lambda: body.position, lambda: w.contacts, lambda: robot.q, w.save):
        with pytest.raises(tenon.Error, match="closed"):
            use()
    assert not body.is_valid and repr(w) == "<World, closed>"
    w.close()


def test_two_threads_in_one_world():
    w = tenon.World()
    w.add_plane()
    for i in range(400):
        w.add_body(tenon.Box(0.2), position=(0.3 * (i % 20), 0.25 + 0.45 * (i // 20), 0))
    refused, failed = [], []

    def work():
        try:
            for _ in range(40):
                try:
                    w.step(1 / 60)
                    w.positions
                except tenon.Error as error:
                    refused.append(str(error))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed and refused and all("another thread" in text for text in refused)
    w.step()


def test_different_worlds_in_threads():
    hashes = []

    def work():
        w = tenon.World()
        w.add_plane()
        for i in range(20):
            w.add_body(tenon.Box(0.2), position=(0, 0.3 + 0.5 * i, 0))
        w.step(1 / 60, repeat=30)
        hashes.append(w.hash)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(hashes) == 4 and len(set(hashes)) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_fork():
    plain, threaded = tenon.World(), tenon.World(threads=2)
    for w in (plain, threaded):
        w.add_body(tenon.Sphere())
        w.step()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        answer = b"no exception"
        try:
            plain.step()
            threaded.step()
        except tenon.Error as error:
            answer = str(error).encode()
        finally:
            os.write(write, answer)
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    assert b"parent" in os.read(read, 200)
    threaded.step()


def test_pickles_of_another_version(world):
    data = pickle.dumps(world)
    other = data.replace(tenon.__version__.encode(), b"9.9.9", 1)
    assert other != data
    with pytest.raises(tenon.Error, match="9.9.9"):
        pickle.loads(other)
    state = bytearray(world.save())
    state[len(state) // 2] ^= 255
    before = world.hash
    with pytest.raises(tenon.Error):
        world.restore(bytes(state))
    assert world.hash == before
    with pytest.raises(tenon.Error):
        copy.copy(world)


def test_what_cannot_be_pickled_says_so(world):
    for thing in (tenon.Batch(world, 2), world.record(), world.show(opens=False)):
        for use in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(tenon.Error, match="pickled"):
                use(thing)


def test_misspelt_attributes_are_errors(world):
    body = world.add_body(tenon.Box(0.2), position=(0, 1, 0))
    robot = world.load(ARM)
    batch = tenon.Batch(world, 2)
    things = [world, body, body.shapes[0], robot, robot.actuator("e"), batch, tenon.scene("stack"), world.articulation(body)]
    for thing in things:
        with pytest.raises(AttributeError, match="gravty"):
            thing.gravty = (0, 0, 0)
        with pytest.raises(AttributeError, match="gravty"):
            thing.gravty


def test_arrays_of_batches_keep_their_memory():
    w = tenon.World()
    robot = w.load(ARM)
    batch = tenon.Batch(w, 3)
    held = batch.target
    batch.target = np.arange(6.0).reshape(3, 2)
    assert batch.target is held and held[2, 1] == 5.0
    batch.q = robot.q
    batch.poses, batch.velocities, batch.qd = batch.poses + 1.0, 0.0, 0.5
    assert batch.qd == pytest.approx(0.5) and batch.q.shape == (3, 2)
    for name in ("target", "q", "qd", "poses", "velocities"):
        with pytest.raises(ValueError, match="shape"):
            setattr(batch, name, np.zeros((5, 5)))
        with pytest.raises(TypeError):
            setattr(batch, name, "x")

"""Batches on a card: the bits of the CPU, and arrays that a learner takes without a copy.

On a machine without a card these run with the driver that the C tests use (run.sh); with a card:
    environment/bin/python -m pytest tests/test_card.py
"""

import ctypes
import gc
import os

import numpy as np
import pytest
from robots import ARM

import tenon

FAKE = "driver_whole" in os.environ.get("LD_LIBRARY_PATH", "")
needs_card = pytest.mark.skipif(not tenon.cuda_available(), reason="no card, and no driver made for tests")


class Tensor(ctypes.Structure):
    """DLManagedTensor of the specification of DLPack."""


Tensor._fields_ = [
    ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
    ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
    ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
    ("context", ctypes.c_void_p), ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
]


class Learner:
    """What a library on the same card does with an array: takes its memory, reads and writes it there."""

    def __init__(self, array):
        assert array.__dlpack_device__() == (2, 0)
        capsule = array.__dlpack__(stream=1)
        python = ctypes.pythonapi
        python.PyCapsule_GetPointer.restype = ctypes.c_void_p
        python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
        self.pointer = python.PyCapsule_GetPointer(capsule, b"dltensor")
        python.PyCapsule_SetName(capsule, b"used_dltensor")
        self.tensor = Tensor.from_address(self.pointer)
        assert (self.tensor.device_type, self.tensor.device_id, self.tensor.code) == (2, 0, 2)
        assert self.tensor.lanes == 1 and not self.tensor.strides and self.tensor.offset == 0
        self.shape = tuple(self.tensor.shape[: self.tensor.ndim])
        self.dtype = np.dtype(f"f{self.tensor.bits // 8}")
        self.driver = ctypes.CDLL("libcuda.so.1")

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.tensor.data, False), "version": 3}

    def read(self):
        out = np.empty(self.shape, self.dtype)
        function = self.driver.cuMemcpyDtoH_v2
        function.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t]
        assert function(out.ctypes.data, self.tensor.data, out.nbytes) == 0
        return out

    def write(self, values):
        values = np.ascontiguousarray(values, self.dtype)
        function = self.driver.cuMemcpyHtoD_v2
        function.argtypes = [ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t]
        assert values.shape == self.shape and function(self.tensor.data, values.ctypes.data, values.nbytes) == 0

    def end(self):
        self.tensor.deleter(self.pointer)


def _random_world(seed):
    rng = np.random.default_rng(seed)
    w = tenon.World(substeps=int(rng.integers(2, 6)))
    w.add_plane()
    for i in range(int(rng.integers(2, 5))):
        shape = [tenon.Sphere(0.2), tenon.Box(0.2, 0.1, 0.3), tenon.Capsule(0.1, 0.2)][rng.integers(3)]
        w.add_body(shape, position=(*rng.uniform(-0.3, 0.3, 2) + (0, 0.6 + 0.6 * i), 0))
    joint = w.add_joint("hinge", None, w.bodies[0], point=(0, 2, 0), axis=(0, 0, 1))
    joint.set_drive("ang_a" if "ang_a" in tenon.JointAxis.__members__ else 3, {"stiffness": 50.0, "damping": 1.0})
    return w


@needs_card
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_worlds_on_a_card_have_the_bits_of_the_cpu(seed, dtype):
    w = _random_world(seed)
    there, here = tenon.Batch(w, 3, device="cuda", dtype=dtype), tenon.Batch(w, 3)
    assert isinstance(there, tenon.CardBatch) and len(there) == 3 and "cuda" in repr(there)
    poses = Learner(there.poses)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        gravity, forces = rng.uniform(-9, 0, (3, 1, 3)), rng.uniform(-3, 3, here.velocities.shape)
        mask = rng.random(3) < 0.5
        for batch in (there, here):
            batch.put("gravity", gravity)
            batch.put("forces", forces, mask)
            batch.put("targets", 0.3)
            batch.step(1 / 60, repeat=4)
        assert np.array_equal(there.hash, here.hash)
        assert np.array_equal(poses.read(), here.poses.astype(dtype))
        assert np.array_equal(there.velocities.numpy(), here.velocities.astype(dtype))
        reset = rng.random(3) < 0.3
        there.reset(reset)
        here.reset(reset)
        assert np.array_equal(there.hash, here.hash) and np.array_equal(poses.read(), here.poses.astype(dtype))
    there.keep()
    moved = there.hash
    there.step()
    there.reset()
    assert np.array_equal(there.hash, moved)
    poses.end()


@needs_card
def test_a_learner_writes_where_the_worlds_read():
    w = _random_world(1)
    there, here = tenon.Batch(w, 4, device="cuda", dtype="float32"), tenon.Batch(w, 4)
    targets = Learner(there.get("targets"))  # the array itself is gone: the learner has its memory
    gc.collect()
    rng = np.random.default_rng(0)
    for _ in range(4):
        values = rng.uniform(-1, 1, targets.shape).astype("f4")
        targets.write(values)
        there.put("targets", targets)
        here.put("targets", values)
        there.step(1 / 60, repeat=3)
        here.step(1 / 60, repeat=3)
        assert np.array_equal(there.hash, here.hash)
    out = tenon.CardArray(there.poses.shape, "float64")
    assert there.get("poses", out=out) is out and np.array_equal(out.numpy(), here.poses)
    host = np.zeros(there.poses.shape)
    there.get("poses", out=host)
    assert np.array_equal(host, here.poses)
    poses = here.poses.copy()
    poses[:, :, 1] += 2.0
    there.poses.set(poses)
    there.write()
    assert there.poses.numpy()[:, :, 1] == pytest.approx(poses[:, :, 1], abs=1e-5)
    targets.end()


@needs_card
@pytest.mark.skipif(FAKE, reason="the card of the driver made for tests is none for learners")
@pytest.mark.parametrize("library", ["torch", "cupy", "jax"])
def test_libraries_take_the_memory(library):
    module = pytest.importorskip(library)
    w = _random_world(3)
    there, here = tenon.Batch(w, 64, device="cuda", dtype="float32"), tenon.Batch(w, 64)
    take = module.dlpack.from_dlpack if library == "jax" else module.from_dlpack
    for batch in (there, here):
        batch.step(1 / 60, repeat=10)
    taken = take(there.poses)
    host = {"torch": lambda: taken.cpu().numpy(), "cupy": lambda: module.asnumpy(taken), "jax": lambda: np.asarray(taken)}
    assert np.array_equal(host[library](), here.poses.astype("f4"))
    if library == "torch":  # and what it writes in memory of its own is read there
        targets = module.full(there.get("targets").shape, 0.25, device="cuda")
        module.cuda.synchronize()
        there.put("targets", targets)
        here.put("targets", 0.25)
        there.step(1 / 60, repeat=10)
        here.step(1 / 60, repeat=10)
        assert taken.data_ptr() == there.poses.address and np.array_equal(there.hash, here.hash)
        assert np.array_equal(host[library](), here.poses.astype("f4"))


@needs_card
@pytest.mark.skipif(not FAKE, reason="a card does not say how much is in use")
def test_memory_of_the_card_is_given_back():
    counts = ctypes.CDLL("libcuda.so.1")
    counts.fake_bytes.restype = ctypes.c_size_t
    gc.collect()
    before = counts.fake_bytes(), counts.fake_contexts()
    batch = tenon.Batch(_random_world(2), 3, device="cuda")
    batch.poses.__dlpack__()  # nobody takes it
    learner, held = Learner(batch.poses), batch.velocities
    assert counts.fake_bytes() > before[0]
    batch.close()
    assert held.numpy().shape == learner.read().shape[:2] + (6,)
    with pytest.raises(tenon.Error, match="closed"):
        batch.step()
    del batch, held
    gc.collect()
    learner.end()
    assert (counts.fake_bytes(), counts.fake_contexts()) == before


@needs_card
def test_worlds_that_outgrow_their_memory_go_on_on_the_cpu():
    w = tenon.World()
    for i in range(40):
        w.add_body(tenon.Box(0.2), position=(0.4 * (i % 5), 1 + 0.9 * (i // 5), 0))
    w.add_plane()
    with pytest.raises(tenon.Error, match="world_bytes"):
        tenon.Batch(w, 2, device="cuda", world_bytes=4096)
    batch = None
    for size in range(2**17, 2**21, 2**14):  # the least that is enough for the start
        try:
            batch = tenon.Batch(w, 2, device="cuda", world_bytes=size)
            break
        except tenon.Error:
            continue
    here = tenon.Batch(w, 2)
    start = batch.hash
    for _ in range(120):
        batch.step()
        here.step()
    assert np.array_equal(batch.hash, here.hash)
    batch.reset()
    assert np.array_equal(batch.hash, start)


@needs_card
def test_bad_use():
    w = _random_world(0)
    batch = tenon.Batch(w, 2, device="cuda")
    for use in (lambda: batch[0], lambda: list(batch), lambda: batch.q, lambda: batch.target,
                lambda: batch.set("world", "gravity", [(0, 0, 0)] * 2), lambda: batch.derivatives(),
                lambda: batch.get("q"), lambda: batch.positions):
        with pytest.raises(tenon.Error, match="on a card"):
            use()
    assert not hasattr(batch, "colours")
    with pytest.raises(tenon.Error, match="dt"):
        batch.step(float("nan"))
    with pytest.raises(ValueError):
        batch.put("poses", tenon.CardArray((2, 1, 7)))
    with pytest.raises(tenon.Error):
        batch.put("masses", -1.0)
    with pytest.raises(TypeError):
        tenon.CardArray((2,), "int32")
    with pytest.raises(TypeError):
        np.asarray(batch.poses)
    with pytest.raises(BufferError):
        batch.poses.__dlpack__(copy=True)
    with pytest.raises(BufferError):
        batch.poses.__dlpack__(dl_device=(1, 0))
    here = tenon.Batch(w, 2)
    with pytest.raises(tenon.Error, match="device"):
        here.put("poses", batch.poses)
    robots = tenon.World()
    robots.load(ARM)
    tenon.Batch(robots, 2, device="cuda").step()


@needs_card
@pytest.mark.skipif(not FAKE, reason="of the driver made for tests")
@pytest.mark.parametrize("how", ["no card", "no memory", "killed"])
def test_what_fails_is_said(how, monkeypatch):
    w = _random_world(0)
    if how == "killed":
        batch = tenon.Batch(w, 2, device="cuda")
        monkeypatch.setenv("FAKE_CUDA", how)
        with pytest.raises(tenon.Error, match="card"):
            batch.step()
        return
    monkeypatch.setenv("FAKE_CUDA", how)
    with pytest.raises(tenon.Error, match="card|memory"):
        tenon.Batch(w, 2, device="cuda")


@pytest.mark.skipif(tenon.cuda_available(), reason="there is a card")
def test_without_a_card_the_reason_is_said():
    with pytest.raises(tenon.Error, match="no card|no module for cards|driver"):
        tenon.Batch(_random_world(0), 2, device="cuda")
    with pytest.raises(tenon.Error, match="no card|no module for cards|driver"):
        tenon.CardArray((2, 3))


def test_devices_have_names():
    w = _random_world(0)
    with pytest.raises(ValueError, match="device"):
        tenon.Batch(w, 2, device="tpu")
    with pytest.raises(ValueError, match="float64"):
        tenon.Batch(w, 2, dtype="float32")

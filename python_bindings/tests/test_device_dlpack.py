# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Device arrays and those of other libraries share memory: DLPack and the CUDA array interface, by the structures that the
protocols have. The emulated GPU is an extension device of DLPack; a driver that computes nothing stands in for CUDA."""

import ctypes
import gc
import os
import pathlib

import adjoint
import ml_dtypes
import numpy as np
import pytest
from adjoint import _adjoint

EXTENSION = 12
X = np.arange(6, dtype=np.float32).reshape(2, 3)

DOUBLE = """
func.func @main(%x: tensor<2x3xf32> {ad.name = "x"}) -> tensor<2x3xf32> {
  %y = ad.add %x, %x : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
"""


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("rank", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("owner", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("owner", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Tensor)]


def content(capsule):
    """What a capsule points to."""
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    called = name(capsule)
    kind = {b"dltensor": Managed, b"dltensor_versioned": Versioned}[called]
    return kind.from_address(get(capsule, called))


class Foreign:
    """An array of another library in the memory of the emulated GPU. `change` gets the structure of each capsule."""

    def __init__(self, array, change=lambda managed: None, device=(EXTENSION, 0), is_old=False):
        self.array, self.change, self.device, self.is_old = array, change, device, is_old
        self.asked = []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        self.asked.append(options)
        if self.is_old and "max_version" in options:
            raise TypeError("the protocol before 2023")
        capsule = self.array.__dlpack__(**options)
        self.change(content(capsule))
        return capsule


def put(array):
    return adjoint.device_put(array, "gpu-sim")


def program():
    return adjoint.compile(DOUBLE, target="gpu-sim")


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (2, 0)])
def test_the_structure_of_a_capsule(version):
    array = put(X)
    assert array.__dlpack_device__() == (EXTENSION, 0)
    managed = content(capsule := array.__dlpack__(max_version=version))
    is_versioned = version is not None and version[0] >= 1
    assert isinstance(managed, Versioned if is_versioned else Managed)
    if is_versioned:
        assert (managed.major, managed.flags) == (1, 0)
    tensor = managed.tensor
    assert tensor.data == array._tensor.address and list(tensor.device) == [EXTENSION, 0] and tensor.offset == 0
    assert (tensor.code, tensor.bits, tensor.lanes, tensor.rank) == (2, 32, 1, 2)
    assert tensor.shape[:2] == [2, 3] and tensor.strides[:2] == [3, 1]
    del capsule


@pytest.mark.parametrize(
    ("dtype", "code", "bits"),
    [(np.float64, 2, 64), (np.float16, 2, 16), (ml_dtypes.bfloat16, 4, 16), (ml_dtypes.float8_e4m3fn, 10, 8),
     (ml_dtypes.float8_e5m2, 12, 8), (np.bool_, 6, 8), (np.int8, 0, 8), (np.int32, 0, 32), (np.int64, 0, 64)],
)
def test_element_types_go_out_and_in(dtype, code, bits):
    x = np.array([[0, 1], [1, 0]]).astype(dtype)
    array = put(x)
    tensor = content(capsule := array.__dlpack__()).tensor
    assert (tensor.code, tensor.bits) == (code, bits)
    del capsule
    back = put(Foreign(array))
    assert back.dtype == x.dtype and np.asarray(back).tobytes() == x.tobytes()


@pytest.mark.parametrize("is_old", [False, True])
def test_arrays_of_others_are_not_copied(is_old):
    array = put(X)
    double = program()
    double(array)
    before = adjoint.transfer_counts()
    shared = put(Foreign(array, is_old=is_old))
    result = double(Foreign(array, is_old=is_old))
    traced = adjoint.jit(lambda x: x + x, target="gpu-sim")(Foreign(array, is_old=is_old))
    assert adjoint.transfer_counts() == before
    assert shared._tensor.address == array._tensor.address
    for made in (result, traced):
        np.testing.assert_array_equal(made, 2 * X)


def test_what_is_asked_of_others():
    foreign = Foreign(put(X))
    put(foreign)
    assert foreign.asked == [{"stream": None, "max_version": (1, 1)}]


def test_memory_lives_as_long_as_somebody_uses_it():
    gc.collect()
    before = _adjoint.device_memory("gpu-sim")["used"]
    array = put(X)
    capsule = array.__dlpack__()
    shared = put(Foreign(array))
    del array
    np.testing.assert_array_equal(shared, X)
    del capsule
    np.testing.assert_array_equal(shared, X)
    del shared
    gc.collect()
    assert _adjoint.device_memory("gpu-sim")["used"] == before


def test_donation_of_shared_memory_is_seen_by_all():
    step = adjoint.jit(lambda w: w + 1, target="gpu-sim", donate_argnames="w")
    array = put(X)
    shared = put(Foreign(array))
    result = step(array)
    assert array.is_donated and result._tensor.address == shared._tensor.address
    np.testing.assert_array_equal(shared, X + 1)


def read_only(managed):
    managed.flags |= 1


def strided(managed):
    managed.tensor.strides[0], managed.tensor.strides[1] = 1, 2


def on_another_device(managed):
    managed.tensor.device[1] = 3


def with_lanes(managed):
    managed.tensor.lanes = 4


def in_a_type_of_its_own(managed):
    managed.tensor.code, managed.tensor.bits = 5, 64


def of_a_later_version(managed):
    managed.major = 2


def outside(managed):
    managed.tensor.data = ctypes.addressof(managed)


@pytest.mark.parametrize(
    ("change", "text"),
    [(strided, "it is not in row-major order; make it contiguous first"),
     (on_another_device, r"it is on device \(12, 3\) of DLPack, gpu-sim is \(12, 0\)"),
     (with_lanes, "DLPack type 2 of 32 bits has no element type"),
     (in_a_type_of_its_own, "DLPack type 5 of 64 bits has no element type"),
     (of_a_later_version, "it is of version 2 of DLPack"),
     (outside, "it is not in the memory of the emulated GPU")],
)
def test_what_cannot_be_shared_is_refused_and_freed(change, text):
    gc.collect()
    before = _adjoint.device_memory("gpu-sim")["used"]
    for use in (put, program()):
        with pytest.raises(adjoint.ArgumentTypeError, match=f"a .*Foreign cannot be shared with 'gpu-sim': .*{text}"):
            use(Foreign(put(X), change))
    gc.collect()
    assert _adjoint.device_memory("gpu-sim")["used"] == before


def test_wrong_shapes_and_types_of_others():
    with pytest.raises(adjoint.ArgumentShapeError, match="'x': expected tensor<2x3xf32>, got an array of float32"):
        program()(Foreign(put(X[:1])))
    with pytest.raises(adjoint.ArgumentTypeError, match="'x': expected tensor<2x3xf32>, got an array of float64"):
        program()(Foreign(put(X.astype(np.float64))))
    with pytest.raises(adjoint.ArgumentTypeError, match="in the memory of another device"):
        adjoint.compile(DOUBLE)(Foreign(put(X)))


def test_read_only_memory_is_read_and_not_donated():
    shared = put(Foreign(put(X), read_only))
    assert shared.is_read_only
    np.testing.assert_array_equal(program()(shared), 2 * X)
    assert content(shared.__dlpack__(max_version=(1, 0))).flags == 1
    with pytest.raises(BufferError, match="needs version 1"):
        shared.__dlpack__()
    with pytest.raises(adjoint.ArgumentMemoryError, match="donated, got read-only memory; give a copy"):
        adjoint.jit(lambda w: w + 1, target="gpu-sim", donate_argnames="w")(shared)


def test_memory_that_begins_anywhere_is_copied_on_the_device():
    rows = put(np.arange(40, dtype=np.float32).reshape(8, 5))

    def second(managed):
        managed.tensor.offset = 20
        managed.tensor.shape[0] = 7

    before = adjoint.transfer_counts()
    shared = put(Foreign(rows, second))
    assert adjoint.transfer_counts() == before and shared._tensor.address % 64 == 0
    np.testing.assert_array_equal(shared, np.arange(5, 40, dtype=np.float32).reshape(7, 5))


def test_requests_of_consumers():
    array = put(X)
    np.testing.assert_array_equal(np.from_dlpack(Foreign(np.array(array), device=(1, 0), change=lambda _: None).array), X)
    host = array.__dlpack__(dl_device=(1, 0))
    assert list(content(host).tensor.device) == [1, 0]
    copied = content(other := array.__dlpack__(copy=True))
    assert copied.tensor.data != array._tensor.address
    del other
    with pytest.raises(BufferError, match="without a copy"):
        array.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError, match=r"cannot be on device \(2, 0\)"):
        array.__dlpack__(dl_device=(2, 0))
    assert not hasattr(array, "__cuda_array_interface__")


# CUDA, by a driver that computes nothing.

FAKE = pathlib.Path(os.environ.get("ADJOINT_BIN", pathlib.Path(__file__).resolve().parents[2] / "build/release/bin"))
FAKE = FAKE.parent / "lib/libad-fake-cuda.so"
needs_fake = pytest.mark.skipif(not FAKE.exists(), reason="the stand-in driver is not built")

PRELUDE = f"""
import os, sys
os.environ["ADJOINT_LIBCUDA"] = {str(FAKE)!r}
import adjoint, numpy as np
X = np.arange(6, dtype=np.float32).reshape(2, 3)
def say(text):
    print(text, file=sys.stderr, flush=True)
"""


def calls(stderr, begin, end):
    part = stderr.partition(f"{begin}\n")[2].partition(f"{end}\n")[0]
    return [line.removeprefix("fake: ") for line in part.splitlines() if line.startswith("fake: ")]


@needs_fake
def test_cuda_arrays_go_out_and_in(run_script):
    done = run_script(PRELUDE + """
array = adjoint.device_put(X, "cuda")
assert (np.asarray(array) == X).all() and array.__dlpack_device__() == (2, 0)
about = array.__cuda_array_interface__
assert about == {"shape": (2, 3), "typestr": "<f4", "data": (array._tensor.address, False), "strides": None,
                 "stream": None, "version": 3}, about
assert not hasattr(adjoint.device_put(X.astype(adjoint.spec("", "bf16").dtype), "cuda"), "__cuda_array_interface__")

class Interface:
    def __init__(self, **changes):
        self.__cuda_array_interface__ = about | changes

class Capsule:
    asked = []
    def __dlpack_device__(self):
        return 2, 0
    def __dlpack__(self, **options):
        self.asked.append(options)
        return array.__dlpack__(**options)

for stream in (None, 1, 2, 5):
    try:
        array.__dlpack__(stream=stream)
    except ValueError:
        raise SystemExit("refused")
try:
    array.__dlpack__(stream=0)
except ValueError as error:
    assert "ambiguous" in str(error)
else:
    raise SystemExit("0 is no stream")

before = adjoint.transfer_counts()
say("begin 7")
shared = adjoint.device_put(Interface(stream=7), "cuda")
say("end 7")
assert shared._tensor.address == array._tensor.address and shared.shape == (2, 3)
say("begin capsule")
shared = adjoint.device_put(Capsule(), "cuda")
say("end capsule")
assert shared._tensor.address == array._tensor.address and Capsule.asked == [{"stream": 1, "max_version": (1, 1)}]
assert adjoint.device_put(Interface(data=(array._tensor.address, True)), "cuda").is_read_only
assert adjoint.device_put(Interface(strides=(12, 4)), "cuda").shape == (2, 3)
assert adjoint.transfer_counts() == before
for changes, text in (({"strides": (4, 8)}, "row-major"), ({"typestr": "<u4"}, "no element type"),
                      ({"data": (64, False)}, "not in the memory of the GPU")):
    try:
        adjoint.device_put(Interface(**changes), "cuda")
    except adjoint.ArgumentTypeError as error:
        assert text in str(error), error
    else:
        raise SystemExit(f"{changes} was taken")
""")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cuStreamSynchronize foreign stream 7" in calls(done.stderr, "begin 7", "end 7")
    assert "cuStreamSynchronize legacy stream" in calls(done.stderr, "begin capsule", "end capsule")
    assert "something unknown" not in done.stderr and "without a context" not in done.stderr


@needs_fake
def test_calls_with_cuda_arrays_launch_and_copy_nothing(run_script):
    """The driver logs each call; it computes nothing, so that values mean nothing here."""
    done = run_script(PRELUDE + """
step = adjoint.jit(lambda w, x: (w - x, (w * x).sum()), target="cuda", donate_argnames="w", cache="off")
w, x = adjoint.device_put((X, X), "cuda")
address = w._tensor.address
for run in range(6):
    say(f"begin {run}")
    before = adjoint.transfer_counts()
    w, value = step(w, x)
    assert adjoint.transfer_counts() == before
    say(f"end {run}")
assert w._tensor.address == address
say("begin read")
float(value)
say("end read")
del w, x, value, step
""")
    assert done.returncode == 0, done.stdout + done.stderr
    for run in range(6):
        made = calls(done.stderr, f"begin {run}", f"end {run}")
        assert any(call.startswith(("cuLaunchKernel", "cuGraphLaunch")) for call in made)
        assert not any(call.startswith("cuMemcpy") for call in made), made
        if run >= 4:  # two results that alternate, each in a graph of its own: nothing is made or updated
            assert {call.split()[0] for call in made} <= {"cuPointerGetAttribute", "cuGraphLaunch", "cuStreamSynchronize"}, made
    assert [call.split()[0] for call in calls(done.stderr, "begin read", "end read")].count("cuMemcpyDtoHAsync") == 1


@needs_fake
def test_arrays_of_one_device_are_not_those_of_another(run_script):
    done = run_script(PRELUDE + """
there = adjoint.device_put(X, "gpu-sim")
try:
    adjoint.jit(lambda x: x + x, target="cuda", cache="off")(there)
except adjoint.ArgumentTypeError as error:
    print(error)
moved = adjoint.device_put(there, "cuda")
assert moved.target == "cuda" and (np.asarray(moved) == X).all()
""")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "on cuda, got a device array on gpu-sim; adjoint.device_put(x, 'cuda') copies it" in done.stdout


def test_without_a_gpu(run_script):
    done = run_script("""
import os
os.environ["ADJOINT_LIBCUDA"] = "/missing/libcuda.so"
import adjoint, numpy as np
try:
    adjoint.device_put(np.ones(3), "cuda")
except adjoint.TargetUnavailableError as error:
    print(error)
""")
    assert "target 'cuda' is not available: the driver cannot be loaded" in done.stdout, done

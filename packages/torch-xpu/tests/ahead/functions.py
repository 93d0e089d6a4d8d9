"""The C functions that compiled code calls, from Python."""

import ctypes
from contextlib import contextmanager
from pathlib import Path

import torch

from torch_xpu.torch_version import COMPILED_FOLDER

LIBRARY = ctypes.CDLL(str(COMPILED_FOLDER / "lib" / "libtorch_xpu_device.so"))
_TORCH = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"))
_TORCH.torch_exception_get_what_without_backtrace.restype = ctypes.c_char_p
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = (
    ctypes.py_object,
    (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p),
)


class Failure(RuntimeError):
    """A function failed, with the reason that PyTorch has."""


class Argument(ctypes.Structure):
    """XpuArgument of torch_xpu/aoti/runtime.h."""

    _fields_ = (("offset", ctypes.c_uint16), ("size", ctypes.c_uint16), ("pointer", ctypes.c_bool))


def call(name, *arguments):
    """Call a function; raise Failure if it does not succeed."""
    if getattr(LIBRARY, name)(*arguments) != 0:
        raise Failure(_TORCH.torch_exception_get_what_without_backtrace().decode())


def result_of(name, kind, *arguments):
    """Return what a function writes to the address that is its last argument."""
    result = kind()
    call(name, *arguments, ctypes.byref(result))
    return result.value


@contextmanager
def handles(*tensors):
    """Own handles of tensors in the block."""
    owned = [
        ctypes.c_void_p(_pointer_of(capsule, None))
        for capsule in torch._C._aoti.unsafe_alloc_void_ptrs_from_tensors([*tensors])
    ]
    try:
        yield owned
    finally:
        for handle in owned:
            take(handle)


def take(*results):
    """Return the tensors of handles, which are used up."""
    capsules = [_capsule(each.value, None, None) for each in results]
    return torch._C._aoti.alloc_tensors_by_stealing_from_void_ptrs(capsules)


def current_stream():
    """Return the handle of the current stream."""
    return ctypes.c_void_p(
        result_of("aoti_torch_get_current_xpu_stream", ctypes.c_void_p, torch.xpu.current_device())
    )

"""The C functions of operators: what PyTorch's wheel declares for xpu, and all that compiled code calls."""

import ctypes
import re
from pathlib import Path

import torch
from torchgen.aoti.fallback_ops import inductor_fallback_ops

import torch_xpu
from torch_xpu.torch_version import COMPILED_FOLDER

OURS = Path(torch_xpu.__file__).parent
GENERATED = COMPILED_FOLDER / "include" / "torch_xpu" / "aoti" / "c_shim_xpu.h"
TORCH = Path(torch.__file__).parent / "include" / "torch" / "csrc" / "inductor" / "aoti_torch"


def declarations(header):
    """Return the declarations of a header, by name."""
    text = re.sub(r"\s+", " ", re.sub(r"//[^\n]*|#[^\n]*", "", header.read_text()))
    found = re.findall(r"AOTI_TORCH_EXPORT AOTITorchError (\w+) ?\(([^;]*)\);", text)
    return {name: re.sub(r"\b(\w+)_t\b", r"\1_t", arguments.strip()) for name, arguments in found}


def library():
    return ctypes.CDLL(str(COMPILED_FOLDER / "lib" / "libtorch_xpu_device.so"))


def test_what_pytorch_declares_has_its_signature():
    theirs = declarations(TORCH / "generated" / "c_shim_xpu.h")
    ours = declarations(GENERATED)
    assert len(theirs) > 50
    different = {
        name: (theirs[name], ours.get(name)) for name in theirs if ours.get(name) != theirs[name]
    }
    assert not different


def test_every_operator_that_compiled_code_calls_so_has_a_function():
    ours = declarations(GENERATED)
    for name in inductor_fallback_ops:
        _, operator, overload = name.split(".")
        suffix = "" if overload == "default" else f"_{overload}"
        assert f"aoti_torch_xpu_{operator}{suffix}" in ours


def test_what_the_headers_declare_is_exported():
    names = [*declarations(GENERATED)]
    names += declarations(OURS / "include" / "torch_xpu" / "aoti" / "runtime.h")
    names += [
        name for name in declarations(TORCH / "c" / "shim_xpu.h") if not re.search("mkldnn", name)
    ]
    assert len(names) > 200
    missing = [name for name in names if not hasattr(library(), name)]
    assert not missing


def test_our_operators_have_functions():
    ours = declarations(GENERATED)
    for name in (
        "fused_gemm",
        "fused_convolution",
        "low_bit_linear",
        "dynamic_linear",
        "quantize_rows",
    ):
        assert f"aoti_torch_xpu_torch_xpu_{name}" in ours

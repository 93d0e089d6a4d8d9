"""Makes the helpers beside the tests importable."""

import functools
import re
import sys
from pathlib import Path

import pytest

HELPERS = ("", "accuracy", "codegen", "compile", "dnn", "kernels")
sys.path[:0] = [str(Path(__file__).parent / folder) for folder in HELPERS]


@functools.cache
def types_without_primitives() -> frozenset[str]:
    """Return the types of which oneDNN has no primitives on this CPU, or none whose results are right."""
    import xpu_runtime

    if xpu_runtime.Device(0).type != "cpu":
        return frozenset()
    flags = set(Path("/proc/cpuinfo").read_text().partition("flags")[2].partition("\n")[0].split())
    needed = {
        "f16": {"avx512_fp16", "avx_ne_convert"},
        "bf16": {"avx512bw", "avx_ne_convert"},
        "i8": {"avx512_vnni", "avx_vnni"},
        "u8": {"avx512_vnni", "avx_vnni"},
    }
    return frozenset(name for name, any_of in needed.items() if flags.isdisjoint(any_of))


@pytest.fixture(autouse=True)
def _types_of_onednn(request):
    """Skips what forces oneDNN to do what it cannot on this CPU; the default choice is tested beside."""
    given = getattr(request.node, "callspec", None)
    values = [str(value) for value in given.params.values()] if given else []
    if not any(value.startswith("onednn") for value in values):
        return
    for name in re.findall(r"\b(?:f16|bf16|i8|u8)\b", " ".join(values)):
        if name in types_without_primitives():
            pytest.skip(f"oneDNN has no primitives of {name} for this CPU")

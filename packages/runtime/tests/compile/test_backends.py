"""What kernels may call: each backend's library lacks some builtins, which stand in one header."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted([*ROOT.glob("device/xpu/*.h"), *ROOT.glob("kernels/*.sycl")])

# Not in the library for NVPTX, or there only for 32 bits.
MISSING = ("__spirv_SubgroupShuffleINTEL", "__spirv_AtomicCompareExchange")


@pytest.mark.parametrize("builtin", MISSING)
def test_builtins_that_a_backend_lacks_are_called_in_one_place(builtin):
    calling = [source.name for source in SOURCES if builtin in source.read_text()]
    assert calling == ["backend.h"]
    text = (ROOT / "device" / "xpu" / "backend.h").read_text()
    assert text.index("#ifdef __NVPTX__") < text.index(builtin)

"""Makes the helpers beside the tests importable."""

import functools
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@functools.cache
def onednn_has_f16() -> bool:
    """False on CPUs without instructions for it, for which oneDNN makes no primitive of f16."""
    import xpu_runtime

    if xpu_runtime.Device(0).type != "cpu":
        return True
    flags = Path("/proc/cpuinfo").read_text().partition("flags")[2].partition("\n")[0].split()
    return not {"avx512_fp16", "avx_ne_convert"}.isdisjoint(flags)


@pytest.fixture(autouse=True)
def _f16_of_onednn(request):
    """Skips what forces oneDNN to do what it cannot on this CPU; the default choice is tested beside."""
    given = getattr(request.node, "callspec", None)
    values = [str(value) for value in given.params.values()] if given else []
    forced = any(value.startswith("onednn") for value in values)
    if forced and any(value in ("f16", "bf16-f16") for value in values) and not onednn_has_f16():
        pytest.skip("oneDNN makes no primitives of f16 for this CPU")

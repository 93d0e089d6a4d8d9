"""What importing does, and that other devices are left as they are."""

import importlib

import pytest
import torch
from inductor_xpu import patches
from xpu_testing import run_child

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")


def test_import_torch_imports_nothing_of_inductor():
    run_child(
        """
import sys, torch
loaded = [name for name in sys.modules if name.startswith(("torch._inductor", "inductor_xpu.reader"))]
assert not loaded, loaded
assert "torch_xpu._device" not in sys.modules
"""
    ).check()


@pytest.mark.parametrize("patch", patches.PATCHES, ids=lambda patch: patch.name)
def test_a_patch_has_a_target_and_a_reason(patch):
    target = importlib.import_module(patch.module)
    for name in patch.name.split("."):
        target = getattr(target, name)
    assert patch.reason


def test_compiling_for_the_cpu_loads_no_device():
    run_child(
        """
import sys, torch
x = torch.ones(5)
torch.testing.assert_close(torch.compile(lambda x: x.sin() + 1)(x), x.sin() + 1)
assert "torch_xpu._device" not in sys.modules
""",
        timeout=300,
    ).check()


def test_no_triton_is_needed():
    run_child(
        """
import sys
sys.modules["triton"] = None
import torch
x = torch.ones(5, device="xpu")
out = torch.compile(lambda x: x.sin() + 1)(x)
assert out.shape == (5,)
""",
        timeout=300,
    ).check()

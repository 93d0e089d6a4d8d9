"""When torchao is changed, and when it is not."""

import importlib

import pytest
from xpu_testing import run_child

from ao_xpu import patches

# torchao's module for GPTQ imports Inductor.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")

IS_CHANGED = """
def is_changed():
    from torchao.quantization import Int4Tensor
    return Int4Tensor.from_hp.__func__.__module__ == "ao_xpu.int4.quantizers"
"""


def lines_of_errors(child):
    return [line for line in child.check().err.splitlines() if "torchao is unchanged" in line]


@pytest.mark.parametrize("patch", patches.PATCHES, ids=lambda patch: f"{patch.name}")
def test_a_patch_has_a_target_and_a_reason(patch):
    target = importlib.import_module(patch.module)
    for name in patch.name.split("."):
        target = getattr(target, name)
    assert patch.reason


def test_import_torch_registers_a_hook_and_no_more():
    """The fastest of ten imports takes a millisecond at most."""
    run_child(
        """
import sys, time, torch
from torch_xpu import import_hooks

loaded = [name for name in sys.modules if name.startswith(("torchao", "ao_xpu."))]
assert loaded == ["ao_xpu._autoload"], loaded
assert "torch_xpu._device" not in sys.modules

def seconds():
    for name in [name for name in sys.modules if name.startswith("ao_xpu")]:
        del sys.modules[name]
    begin = time.perf_counter()
    from ao_xpu._autoload import load
    load()
    return time.perf_counter() - begin

assert min(seconds() for _ in range(10)) < 1e-3
"""
    ).check()


def test_importing_torchao_changes_it_in_silence():
    child = run_child(
        IS_CHANGED
        + """
import torchao
assert is_changed()
import ao_xpu
assert is_changed()
"""
    ).check()
    assert "Failed to load" not in child.err


def test_torchao_may_be_imported_first():
    run_child(
        IS_CHANGED
        + """
import torch
from ao_xpu import _autoload
from torch_xpu import import_hooks
import_hooks._finder.changes.clear()
import torchao
assert not is_changed()
_autoload._is_loaded = False
_autoload.load()
assert is_changed()
"""
    ).check()


def test_modules_that_torchao_imports_later_are_changed_then():
    run_child(
        """
import torchao, sys
assert "torchao.prototype.quantized_training.int8_mixed_precision" not in sys.modules
from torchao.prototype.quantized_training import int8_mixed_precision
import torch
cls = int8_mixed_precision.Int8MixedPrecisionTrainingLinearWeight
assert torch.nn.functional.linear in cls._TORCH_FN_TABLE[cls]
"""
    ).check()


def test_another_version_of_torchao_is_left_as_it_is(tmp_path):
    package = tmp_path / "torchao"
    package.mkdir()
    (package / "__init__.py").write_text("__version__ = '0.19.0'\n")
    child = run_child(
        """
import sys, torch, torchao
assert torchao.__version__ == "0.19.0"
assert "ao_xpu.patches" not in sys.modules
""",
        env={"PYTHONPATH": str(tmp_path)},
    )
    assert lines_of_errors(child) == ["torchao is unchanged: ao-xpu is for 0.18.0, this is 0.19.0"]


def test_without_a_device_torchao_is_left_as_it_is():
    child = run_child(
        IS_CHANGED
        + """
import logging, torch
logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
torch.xpu.is_available = lambda: False
import torchao
assert not is_changed()
"""
    )
    assert lines_of_errors(child) == ["ao_xpu: torchao is unchanged: there is no xpu device"]


def test_a_target_that_is_missing_is_logged(caplog):
    from types import ModuleType

    from ao_xpu.patch_kinds import Patch

    module = ModuleType("some_module")
    Patch("some_module", "function", "a reason", lambda stock: stock).apply(module)
    assert caplog.messages == ["some_module has no function: it is unchanged"]

"""What importing does, and that other devices are left as they are."""

import importlib
from pathlib import Path

import pytest
import torch
from xpu_testing import run_child

from inductor_xpu import patches

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


def test_another_version_of_pytorch_is_left_as_it_is(monkeypatch):
    from torch_xpu import import_hooks, torch_version
    from xpu_runtime.framework_version import find_mismatch

    from inductor_xpu import _autoload

    wrong = find_mismatch("torch-xpu", "torch", "2.16.0+cpu")
    assert wrong
    monkeypatch.setattr(torch_version, "mismatch", lambda: wrong)
    monkeypatch.setattr(import_hooks, "change", None)  # which would fail
    _autoload.load()


# The code that Inductor makes of each program on the CPU. The C++ is not built.
CODE_OF_THE_CPU = """
import sys, torch
sys.path.insert(0, {folder!r})
from programs import PROGRAMS
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.graph import GraphLowering
from torch.nn.attention.flex_attention import flex_attention

GraphLowering.save_output_code = staticmethod(print)
AsyncCompile.cpp_pybinding = lambda *_, **__: lambda *_: None
torch.manual_seed(0)
for function, inputs in PROGRAMS.values():
    torch.compile(function)(*inputs(50))
torch.compile(flex_attention)(*(torch.randn(1, 2, 128, 32) for _ in range(3)))
"""


def test_code_of_the_cpu_is_the_same_without_this_package():
    program = CODE_OF_THE_CPU.format(folder=str(Path(__file__).parent))
    no_cache = {"TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}
    ours = run_child(program, env=no_cache, timeout=400).check().out
    stock = run_child(program, env=no_cache | {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}, timeout=400)
    assert len(ours) > 50000
    assert ours == stock.check().out


@pytest.mark.parametrize("threads", ["1", "2"])
def test_kernels_are_built_with_any_number_of_compile_threads(threads):
    run_child(
        """
import torch
f = torch.compile(lambda x: torch.softmax(x.sin() + 1, 0))
assert f(torch.ones(5, device="xpu")).shape == (5,)
""",
        env={"TORCHINDUCTOR_COMPILE_THREADS": threads},
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


def test_a_graph_on_xpu_starts_no_workers_for_triton():
    run_child(
        """
import torch
from torch._inductor.async_compile import AsyncCompile
pools = lambda: AsyncCompile.process_pool.cache_info().currsize
torch.compile(lambda x: x.sin() + 1)(torch.ones(5, device="xpu"))
assert pools() == 0
AsyncCompile.wakeup()
assert pools() == 1
""",
        env={"TORCHINDUCTOR_COMPILE_THREADS": "2", "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"},
        timeout=300,
    ).check()


def test_workers_for_triton_start_when_inputs_are_on_cuda():
    from inductor_xpu import workers

    class OnCuda(torch.Tensor):
        device = torch.device("cuda")

    started = []
    use_workers = workers.unless_prevented(lambda: started.append(1) or True)
    on_xpu = torch.empty(2, device="xpu")
    with workers.prevented_for([on_xpu, 3], compiles_triton=False):
        assert not use_workers()
    assert not started
    with workers.prevented_for([on_xpu, torch.empty(2).as_subclass(OnCuda)], compiles_triton=False):
        assert use_workers()
    with workers.prevented_for([on_xpu], compiles_triton=True):
        assert use_workers()
    assert use_workers()
    assert len(started) == 3

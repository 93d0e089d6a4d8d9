"""torch.compile with Inductor where no adapter of Inductor's is installed: graphs on xpu run uncompiled."""

import pytest
from xpu_testing import run_child

# The suites' environment has inductor-xpu; these programs start as if it were not installed.
NO_ADAPTER = """
import importlib.metadata
stock = importlib.metadata.entry_points

class All:
    select = staticmethod(lambda **wanted: entry_points(**wanted))

def entry_points(**wanted):
    if not wanted:  # as Triton asks
        return All
    found = stock(**wanted)
    return type(found)(entry for entry in found if not entry.value.startswith("inductor_xpu"))

importlib.metadata.entry_points = entry_points
import torch
assert torch.device("xpu").type == "xpu" and torch.xpu.device_count()
"""
UNCOMPILED = "no adapter of Inductor's for xpu is installed"


def run_without_adapter(program):
    return run_child(NO_ADAPTER + program).check()


def test_one_warning_says_that_graphs_run_uncompiled():
    child = run_without_adapter(
        """
function = torch.compile(lambda x: x.sin() + 1)
other = torch.compile(lambda x: x.cos())
x = torch.ones(3, device="xpu")
torch.testing.assert_close(function(x), x.sin() + 1), other(x)
"""
    )
    assert child.err.count(UNCOMPILED) == 1
    assert "Graphs with tensors on xpu run uncompiled" in child.err


def test_what_makes_packages_says_what_is_missing():
    run_without_adapter(
        f"""
model = torch.nn.Linear(2, 2).to("xpu")
exported = torch.export.export(model, (torch.ones(1, 2, device="xpu"),))
try:
    torch._inductor.aoti_compile_and_package(exported)
except NotImplementedError as error:
    assert {UNCOMPILED!r} in str(error), error
else:
    raise AssertionError("made a package")
"""
    )


@pytest.mark.values
@pytest.mark.parametrize("mode", ["default", "reduce-overhead", "max-autotune"])
def test_training(mode):
    child = run_without_adapter(
        f"""
def losses(compile):
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1)
    )
    model = model.to("xpu")
    optimizer = torch.optim.AdamW(model.parameters())
    run, seen = compile(model), []
    for rows in (3, 3, 5, 6):
        loss = run(torch.ones(rows, 4, device="xpu")).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        seen.append(loss.item())
    return seen

assert losses(lambda model: torch.compile(model, mode={mode!r})) == losses(lambda model: model)
"""
    )
    assert UNCOMPILED in child.err


@pytest.mark.values
def test_graphs_that_make_their_tensors_themselves():
    child = run_without_adapter(
        """
assert torch.compile(lambda: torch.ones(3, device="xpu").sum())().item() == 3
assert torch.compile(lambda x: x.to("xpu").sum())(torch.ones(4)).item() == 4
"""
    )
    assert UNCOMPILED in child.err


@pytest.mark.values
def test_flex_attention():
    child = run_without_adapter(
        """
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 128, 128, device="xpu")
q, k, v = (torch.randn(1, 2, 128, 16, device="xpu", requires_grad=True) for _ in range(3))
got = torch.compile(flex_attention)(q, k, v, block_mask=mask)
expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
torch.testing.assert_close(got, expected)
weights = torch.randn_like(got)
got, expected = (torch.autograd.grad((out * weights).sum(), (q, k, v)) for out in (got, expected))
torch.testing.assert_close(got, expected)
"""
    )
    assert UNCOMPILED in child.err


def test_a_scheduling_that_a_program_registers_is_asked():
    run_without_adapter(
        """
from torch._inductor.codegen.common import register_backend_for_device
from torch._inductor.codegen.wrapper import PythonWrapperCodegen

class Scheduling:
    def __init__(self, scheduler):
        raise KeyError("the adapter was asked")

register_backend_for_device("xpu", Scheduling, PythonWrapperCodegen)
x = torch.ones(3, device="xpu")
try:
    torch.compile(lambda x: x.sin() + 1)(x)
except Exception as error:
    assert "the adapter was asked" in str(error), error
else:
    raise AssertionError("ran uncompiled")
"""
    )

"""torch.compile with Inductor, which cannot make code for xpu by itself; what it does for the CPU stays."""

import warnings

import pytest
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from xpu_testing import run_child

# What Inductor imports warns about itself.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")


def compiled(*args, **options):
    """torch.compile without the warning that it compiles nothing."""
    function = torch.compile(*args, **options)

    def call(*args, **named):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "torch.compile: no adapter")
            return function(*args, **named)

    return call


def test_one_warning_says_that_graphs_run_uncompiled():
    child = run_child(
        """
import torch
function = torch.compile(lambda x: x.sin() + 1)
other = torch.compile(lambda x: x.cos())
x = torch.ones(3, device="xpu")
torch.testing.assert_close(function(x), x.sin() + 1), other(x)
"""
    ).check()
    assert child.err.count("no adapter of Inductor's for xpu is installed") == 1
    assert "Graphs with tensors on xpu run uncompiled" in child.err


def test_what_makes_packages_says_what_is_missing():
    model = torch.nn.Linear(2, 2).to("xpu")
    exported = torch.export.export(model, (torch.ones(1, 2, device="xpu"),))
    with pytest.raises(NotImplementedError, match="no adapter of Inductor's for xpu is installed"):
        torch._inductor.aoti_compile_and_package(exported)


@pytest.mark.values
@pytest.mark.parametrize("mode", ["default", "reduce-overhead", "max-autotune"])
def test_training(mode):
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

    assert losses(lambda model: compiled(model, mode=mode)) == losses(lambda model: model)


@pytest.mark.values
def test_graphs_that_make_their_tensors_themselves():
    assert compiled(lambda: torch.ones(3, device="xpu").sum())().item() == 3
    assert compiled(lambda x: x.to("xpu").sum())(torch.ones(4)).item() == 4


@pytest.mark.values
def test_flex_attention():
    mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 128, 128, device="xpu")
    q, k, v = (torch.randn(1, 2, 128, 16, device="xpu", requires_grad=True) for _ in range(3))
    got = compiled(flex_attention)(q, k, v, block_mask=mask)
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(got, expected)
    weights = torch.randn_like(got)
    got, expected = (
        torch.autograd.grad((out * weights).sum(), (q, k, v)) for out in (got, expected)
    )
    torch.testing.assert_close(got, expected)


def test_an_adapter_of_inductors_is_asked():
    """Who registers a scheduling for xpu gets the graphs."""
    run_child(
        """
import torch
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
    ).check()


def test_flex_attention_of_the_cpu_is_compiled():
    run_child(
        """
import torch
from torch.nn.attention.flex_attention import flex_attention
q, k, v = (torch.randn(1, 2, 128, 32) for _ in range(3))
out = torch.compile(flex_attention)(q, k, v)
torch.testing.assert_close(out, torch.nn.functional.scaled_dot_product_attention(q, k, v))
""",
        timeout=300,
    ).check()

"""Modes of torch.compile, flex attention, Triton kernels, and other adapters of Inductor's."""

import pytest
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from xpu_testing import run_child

import inductor_xpu

# What Inductor imports warns about itself.
pytestmark = [
    pytest.mark.usefixtures("forget_compiled_code"),
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
]

MODE_WARNING = "products are tuned where Triton is installed"


@pytest.mark.values
@pytest.mark.filterwarnings(f"ignore:.*{MODE_WARNING}")
@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")  # which tuning uses
@pytest.mark.parametrize("mode", ["default", "reduce-overhead", "max-autotune"])
def test_training(mode):
    def losses(compile):
        torch.manual_seed(0)
        model = torch.nn.Sequential(
            torch.nn.Conv1d(4, 8, 3, padding=1),
            torch.nn.GroupNorm(2, 8),
            torch.nn.Flatten(),
            torch.nn.Linear(64, 64),
            torch.nn.Dropout(0.5),
            torch.nn.Linear(64, 1),
        )
        model = model.to("xpu")
        optimizer = torch.optim.AdamW(model.parameters())
        run, seen = compile(model), []
        for rows in (3, 3, 5, 6):
            loss = run(torch.randn(rows, 4, 8, device="xpu")).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            seen.append(loss.item())
        return seen

    # By default, Inductor draws other random numbers than eager mode.
    with torch._inductor.config.patch(fallback_random=True):
        compiled = losses(lambda model: torch.compile(model, mode=mode))
    assert compiled == pytest.approx(losses(lambda model: model), rel=1e-4)


def test_a_mode_that_tunes_warns_once_without_triton_and_changes_no_code():
    child = run_child(
        """
import sys
sys.modules["triton"] = None
import torch
from torch._inductor.graph import GraphLowering

def code(mode):
    seen = []
    GraphLowering.save_output_code = staticmethod(seen.append)
    model = torch.compile(torch.nn.Conv2d(4, 8, 1).to("xpu"), mode=mode)
    model(torch.randn(2, 4, 5, 5, device="xpu")).sum().backward()
    torch._dynamo.reset()
    # Each graph has a number of its own.
    return ["\\n".join(t for t in code.splitlines() if "AOT ID" not in t) for code in seen]

expected = code("default")
assert len(expected) == 2
mode = "max-autotune-no-cudagraphs"
assert code(mode) == code(mode) == expected
""",
        env={"TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"},
        timeout=300,
    ).check()
    assert child.err.count(MODE_WARNING) == 1
    assert "xpu-sdk[triton]" in child.err


def test_modes_of_the_cpu_are_those_of_inductor():
    run_child(
        """
import warnings, torch
from torch._inductor import compile_fx, config

class Asked(Exception): pass

def fail(*_, **__):
    raise Asked(config.max_autotune)

compile_fx.compile_fx_inner = fail
warnings.simplefilter("error", UserWarning)
warnings.filterwarnings("ignore", "`torch.jit")
try:
    compile_fx.compile_fx(
        torch.fx.symbolic_trace(torch.nn.ReLU()),
        [torch.ones(3)],
        fail,
        {"max_autotune": True},
    )
except Asked as error:
    assert error.args == (True,), error
else:
    raise AssertionError("compiled")
"""
    ).check()


@pytest.mark.values
def test_graphs_that_make_their_tensors_themselves():
    assert torch.compile(lambda: torch.ones(3, device="xpu").sum())().item() == 3
    assert torch.compile(lambda x: x.to("xpu").sum())(torch.ones(4)).item() == 4


@pytest.mark.values
@pytest.mark.parametrize("causal", [True, False])
def test_flex_attention(causal):
    before = inductor_xpu.fallbacks()
    mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 128, 128, device="xpu")
    q, k, v = (torch.randn(1, 2, 128, 16, device="xpu", requires_grad=True) for _ in range(3))
    got = torch.compile(flex_attention)(q, k, v, block_mask=mask if causal else None)
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    torch.testing.assert_close(got, expected)
    weights = torch.randn_like(got)
    got, expected = (
        torch.autograd.grad((out * weights).sum(), (q, k, v)) for out in (got, expected)
    )
    torch.testing.assert_close(got, expected)
    assert inductor_xpu.fallbacks() == before


@pytest.mark.values
def test_flex_attention_with_a_score_and_fewer_heads_of_keys():
    bias = torch.randn(4, device="xpu")
    sizes = ((2, 4, 100, 16), (2, 2, 130, 16), (2, 2, 130, 24))
    q, k, v = (torch.randn(*size, device="xpu") for size in sizes)

    def attend(q, k, v, bias):
        return flex_attention(
            q, k, v, lambda score, b, h, i, j: score + bias[h] * (i - j), enable_gqa=True
        )

    got = torch.compile(attend)(q, k, v, bias)
    distance = torch.arange(100, device="xpu")[:, None] - torch.arange(130, device="xpu")
    expected = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask=bias[:, None, None] * distance, enable_gqa=True
    )
    torch.testing.assert_close(got, expected)


def test_flex_attention_of_the_cpu_is_compiled():
    run_child(
        """
import torch
import inductor_xpu
from torch.nn.attention.flex_attention import flex_attention
q, k, v = (torch.randn(1, 2, 128, 32) for _ in range(3))
out = torch.compile(flex_attention)(q, k, v)
torch.testing.assert_close(out, torch.nn.functional.scaled_dot_product_attention(q, k, v))
assert not inductor_xpu.fallbacks()
""",
        timeout=300,
    ).check()


def test_an_adapter_of_another_package_is_asked():
    """A scheduling that a program has registered for xpu gets the graphs."""
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
    raise AssertionError("compiled by inductor-xpu")
"""
    ).check()


def test_kernels_that_triton_writes_are_not_called_from_cpp():
    function = torch.compile(torch.sin, options={"cpp_wrapper": True})
    with (
        inductor_xpu.settings.patch(reader="triton"),
        pytest.raises(Exception, match=r"Triton writes cannot be called from C\+\+ code"),
    ):
        function(torch.ones(3, device="xpu"))

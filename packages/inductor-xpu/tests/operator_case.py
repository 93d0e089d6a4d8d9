"""One of PyTorch's operators on one of its samples: compiled on xpu and eager on xpu, compared."""

from __future__ import annotations

import random
from collections.abc import Callable
from fnmatch import fnmatch
from functools import cache
from typing import Any

import pytest
import torch
import torch_xpu
from torch._dynamo.utils import counters
from torch.testing._internal import common_methods_invocations
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo, SampleInput
from torch.utils._pytree import tree_leaves, tree_map
from xpu_testing.torch_values import TOLERANCES

# An operator is tried with the first of these that it takes.
DTYPES = (
    *(torch.float32, torch.int64, torch.bool, torch.complex64),
    *(torch.bfloat16, torch.float8_e4m3fn),
)
# Values that come of cancellation: errors are relative to the largest element of the result.
NORMWISE = ("matrix_exp", "linalg.*", "lu*", "*solve", "*inverse", "*det", "svd*", "qr", "*lowrank")
# Their results are not determined by their arguments: sizes and dtypes are compared.
UNDETERMINED = (
    *("empty*", "new_empty*", "resize*", "*dropout*", "*rrelu*", "*lowrank*"),
    *("normal*", "multinomial", "rand*", "bernoulli", "uniform", "exponential", "geometric"),
    *("log_normal", "cauchy", "*fractional_max_pool*"),
)
# They take some of their tensors from the host.
HOST_ARGUMENTS = ("tensor_split",)
# What Dynamo traces only then: operators whose results' sizes are values.
CAPTURE = {"capture_scalar_outputs": True, "capture_dynamic_output_shape_ops": True}
# One of so many operators, in the order of names, is compiled with dynamic sizes, too.
DYNAMIC_STEP = 5


# Dynamo does not trace the seeding, which _call does for every operator.
common_methods_invocations.wrapper_set_seed = lambda op, *args, **named: op(*args, **named)


class NotApplicableError(Exception):
    """The operator has no sample, fails without compilation, or has nothing that Dynamo compiles."""


@cache
def operators() -> dict[str, OpInfo]:
    """Return PyTorch's operators by full name, in the order of names."""
    named = {
        f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name: op for op in op_db
    }
    return dict(sorted(named.items()))


def require(name: str) -> None:
    """Skip the test if this PyTorch has no operator of the name."""
    if name not in operators():
        pytest.skip(f"PyTorch {torch.__version__} has no tests of {name}")


def check(name: str, dtypes: tuple[torch.dtype, ...] = DTYPES) -> None:
    """Raise an error unless the compiled operator gives what the eager one gives, and its gradients."""
    op = operators()[name]
    sample, grads = _sample(op, dtypes)
    with torch_xpu.using_fallback("allow"):
        torch_xpu.reset_fallbacks()
        try:
            expected = _call(op, op.op, sample, grads)
        except Exception as e:
            raise NotApplicableError(f"eager: {_first_line(e)}") from e
        allowed = set(torch_xpu.fallbacks())
        dynamic = list(operators()).index(name) % DYNAMIC_STEP == 0
        for dynamic_sizes in (False, True) if dynamic else (False,):
            torch._dynamo.reset()
            torch_xpu.reset_fallbacks()
            try:
                counters.clear()
                function = torch.compile(_traceable(op), dynamic=dynamic_sizes)
                with torch._dynamo.config.patch(CAPTURE):
                    got = _call(op, function, sample, grads)
                if not counters["stats"]["unique_graphs"]:
                    raise NotApplicableError(f"no graph: {_breaks()}")
                added = set(torch_xpu.fallbacks()) - allowed
                assert not added, f"these run on the host: {sorted(added)}"
                for kind, ours, theirs in zip(("results", "gradients"), got, expected, strict=True):
                    try:
                        _compare(name, sample, ours, theirs)
                    except AssertionError as e:
                        raise AssertionError(f"{kind} differ: {_difference(e)}") from e
            except Exception as e:
                e.add_note(f"dynamic={dynamic_sizes}, {sample.summary()}"[:600])
                raise
    torch._dynamo.reset()


def _traceable(op: OpInfo) -> Callable[..., Any]:
    """Return a function that calls the operator; Dynamo does not begin with functions of PyTorch's own."""

    def call(*args: Any, **named: Any) -> Any:
        return op.op(*args, **named)

    return call


def _breaks() -> str:
    """Return why Dynamo traced nothing."""
    reasons = [" ".join(text.split())[:120] for text in counters["graph_break"]]
    return "; ".join(reasons) or "a guard on data"


def reason(error: Exception) -> str:
    """Return an error in one line, the same from run to run."""
    line = _first_line(error)
    return line if isinstance(error, AssertionError) else f"{type(error).__name__}: {line}"


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return " ".join(lines[0].split())[:200] if lines else type(error).__name__


def _difference(error: AssertionError) -> str:
    """Return the counts of torch.testing's message, which has several lines."""
    return "; ".join(line for line in str(error).splitlines()[:5] if line)[:160]


def _sample(op: OpInfo, dtypes: tuple[torch.dtype, ...]) -> tuple[SampleInput, bool]:
    """Return the first sample of more than one element, and if it has gradients."""
    claimed = op.supported_dtypes("xpu")
    dtype = next((dtype for dtype in dtypes if dtype in claimed), None)
    if dtype is None:
        raise NotApplicableError("none of the dtypes")
    grads = op.supports_autograd and dtype in op.supported_backward_dtypes("xpu")
    torch.manual_seed(1)
    random.seed(1)
    first = None
    for sample in op.sample_inputs("cpu", dtype, requires_grad=grads):
        first = first or sample
        if any(isinstance(t, torch.Tensor) and t.numel() > 1 for t in tree_leaves(sample.input)):
            return sample, grads
    if first is None:
        raise NotApplicableError("no sample")
    return first, grads


def _on_xpu(tree: Any, grads: bool) -> Any:
    """Return the tree with its tensors copied to the device as leaves; their strides stay."""

    def move(leaf: Any) -> Any:
        if isinstance(leaf, torch.device) or (isinstance(leaf, str) and leaf == "cpu"):
            return torch.device("xpu")
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if leaf.layout != torch.strided:
            moved = leaf.detach().to("xpu", copy=True)
        else:
            whole = torch.empty(0, dtype=torch.uint8).set_(leaf.detach().untyped_storage())
            storage = whole.to("xpu", copy=True).untyped_storage()
            moved = torch.empty(0, dtype=leaf.dtype, device="xpu")
            moved.set_(storage, leaf.storage_offset(), leaf.shape, leaf.stride())
            moved = moved.conj() if leaf.is_conj() else moved
            moved = moved._neg_view() if leaf.is_neg() else moved
        return moved.requires_grad_(grads and leaf.requires_grad)

    return tree_map(move, tree)


def _call(
    op: OpInfo, function: Callable[..., Any], sample: SampleInput, grads: bool
) -> tuple[Any, Any]:
    """Return results and gradients on xpu."""
    on_host = op.name in HOST_ARGUMENTS
    first, rest, named = arguments = (
        _on_xpu(sample.input, grads),
        sample.args if on_host else _on_xpu(sample.args, grads),
        _on_xpu(sample.kwargs, grads),
    )
    torch.manual_seed(7)
    results = function(first, *rest, **named)
    if sample.output_process_fn_grad and grads:
        results = sample.output_process_fn_grad(results)
    if not grads:
        return results, []
    tensors = [t for t in tree_leaves(arguments) if isinstance(t, torch.Tensor)]
    sources = [t for t in tensors if t.requires_grad]
    outputs = [t for t in tree_leaves(results) if isinstance(t, torch.Tensor)]
    ends = [t for t in outputs if t.requires_grad]
    if not sources or not ends:
        return results, []
    weights = [
        torch.linspace(-1, 1, t.numel(), dtype=torch.float64).reshape(t.shape).to(t.dtype).to("xpu")
        for t in ends
    ]
    return results, list(torch.autograd.grad(ends, sources, weights, allow_unused=True))


def _drops(sample: SampleInput) -> bool:
    """Return True if attention is asked to leave out some of its weights."""
    given = {**dict(enumerate(sample.args)), **sample.kwargs}
    if "training" in given:
        return bool(given["training"])
    return bool(given.get("dropout_p"))


def _compare(name: str, sample: SampleInput, got: Any, expected: Any) -> None:
    got, expected = tree_leaves(got), tree_leaves(expected)
    assert len(got) == len(expected), f"{len(got)} values, expected {len(expected)}"
    undetermined = _drops(sample) or any(fnmatch(name, p) for p in UNDETERMINED)
    for ours, theirs in zip(got, expected, strict=True):
        if not isinstance(theirs, torch.Tensor):
            assert type(ours) is type(theirs), (ours, theirs)
            assert undetermined or ours == theirs, (ours, theirs)
            continue
        assert isinstance(ours, torch.Tensor), f"got {ours!r}, expected a tensor"
        assert ours.dtype == theirs.dtype, f"dtype {ours.dtype}, expected {theirs.dtype}"
        assert ours.shape == theirs.shape, f"shape {ours.shape}, expected {theirs.shape}"
        assert ours.device == theirs.device, f"device {ours.device}, expected {theirs.device}"
        assert ours.layout == theirs.layout, f"layout {ours.layout}, expected {theirs.layout}"
        if undetermined:
            continue
        ours, theirs = (t.detach().to_dense().cpu() for t in (ours, theirs))
        rtol, atol = TOLERANCES.get(theirs.dtype, (0, 0))
        if rtol and theirs.numel() and any(fnmatch(name, p) for p in NORMWISE):
            atol *= max(1.0, torch.nan_to_num(theirs.abs(), 0, 0, 0).max().item())
        torch.testing.assert_close(ours, theirs, rtol=rtol, atol=atol, equal_nan=True)

"""Second derivatives of PyTorch's operator samples on xpu, against differences of the first, in f64.

    python derivatives.py [NAME...] [--every 1] [--not-passing]

A line an operator: "pass", or what went wrong.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from itertools import islice

import operators
import torch
from torch.testing._internal.opinfo.core import OpInfo, SampleInput
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

import torch_xpu

# Numbers that are the same at each call only where the generator is; PyTorch leaves them out as well.
RANDOM = ("*dropout*", "*rrelu*", "*lowrank*", "normal*", "*fractional_max_pool*", "*multi_head*")
# What the CPU cannot check either, with what it says: the test holds that it still does.
UNCHECKED = {
    # Differences need more digits than these leave.
    "bfloat16": "BFloat16 did not match Double",
    "half": "Half did not match Double",
    "float": "Float did not match Double",
    "cfloat": "Jacobian mismatch",
    "chalf": "not implemented for 'ComplexHalf'",
    # Logarithms of negative numbers.
    "__rpow__": "numerical:nan",
    # Where norms have no derivative.
    "linalg.norm.subgradients_at_zero": "analytical:nan",
    # PyTorch has not written it.
    "nn.functional.ctc_loss": "derivative for aten::_ctc_loss_backward is not implemented",
    # PyTorch's check does not take compressed sparse tensors.
    "sparse.sampled_addmm": "got SparseCsr",
}
# Samples of more elements are passed over while there are smaller ones.
SMALL, SAMPLES = 100, 40
# The samples before are computed in chunks, which PyTorch differentiates once.
FIRST = {"nn.functional.linear_cross_entropy.chunked*": 2}


def differentiable_twice(patterns: list[str]) -> Iterator[OpInfo]:
    for op in operators.selected(patterns):
        if (
            op.supports_autograd
            and op.supports_gradgrad
            and torch.float64 in op.supported_backward_dtypes("xpu")
            and not any(fnmatch(operators.full_name(op), p) for p in RANDOM)
        ):
            yield op


def candidates(patterns: list[str], every: int = 1) -> Iterator[OpInfo]:
    """Every so-many-th of the operators to check."""
    found = (
        op for op in differentiable_twice(patterns) if operators.full_name(op) not in UNCHECKED
    )
    return islice(found, 0, None, every)


def unchecked() -> Iterator[OpInfo]:
    return (op for op in differentiable_twice([]) if operators.full_name(op) in UNCHECKED)


def elements(sample: SampleInput) -> int:
    leaves = tree_leaves((sample.input, sample.args, sample.kwargs))
    return sum(t.numel() for t in leaves if isinstance(t, torch.Tensor) and t.requires_grad)


def small_sample(op: OpInfo) -> SampleInput:
    """The first small sample that has something to differentiate, or else the smallest."""
    torch.manual_seed(1)
    random.seed(1)
    all_samples = op.sample_inputs("cpu", torch.float64, requires_grad=True)
    first = next((n for p, n in FIRST.items() if fnmatch(operators.full_name(op), p)), 0)
    samples = list(islice((s for s in all_samples if elements(s) > 0), first, SAMPLES))
    return next((s for s in samples if elements(s) <= SMALL), None) or min(samples, key=elements)


def closed(op: OpInfo, sample: SampleInput, device: str) -> tuple[Callable, list[torch.Tensor]]:
    """The operator as a function of the sample's differentiable tensors, and those."""
    first, rest, named = (
        operators.on(device, sample.input, True),
        operators.on("cpu" if op.name in operators.HOST_ARGUMENTS else device, sample.args, True),
        operators.on(device, sample.kwargs, True),
    )
    leaves, tree = tree_flatten((first, rest, named))
    places = [i for i, t in enumerate(leaves) if isinstance(t, torch.Tensor) and t.requires_grad]

    def function(*tensors):
        given = list(leaves)
        for place, tensor in zip(places, tensors, strict=True):
            given[place] = tensor
        first, rest, named = tree_unflatten(given, tree)
        wrapper = op.gradcheck_wrapper
        results = wrapper(op.get_op(), first, *rest, **named)
        if sample.output_process_fn_grad:
            results = sample.output_process_fn_grad(results)
        outputs = [t for t in tree_leaves(results) if isinstance(t, torch.Tensor)]
        return tuple(t for t in outputs if t.is_floating_point() or t.is_complex())

    return function, [leaves[i] for i in places]


def gradgradcheck(op: OpInfo, sample: SampleInput, device: str) -> None:
    function, leaves = closed(op, sample, device)
    torch.autograd.gradgradcheck(
        function,
        leaves,
        fast_mode=True,
        nondet_tol=op.gradcheck_nondet_tol,
        check_batched_grad=False,
    )


def check(op: OpInfo) -> None:
    """Raises for a second derivative that is wrong."""
    sample = small_sample(op)
    torch_xpu.reset_fallbacks()
    try:
        with torch_xpu.using_fallback("allow"):
            gradgradcheck(op, sample, "xpu")
        for missing in set(torch_xpu.fallbacks()) - operators.HOST:
            raise NotImplementedError(f"{missing} has no xpu kernel")
    except Exception as e:
        e.add_note(sample.summary()[:600])
        raise


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="patterns of names, as in fnmatch")
    parser.add_argument("--every", type=int, default=1, help="only every so-many-th operator")
    parser.add_argument("--not-passing", action="store_true", help="leave out what passes")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    counts = {"pass": 0, "": 0}
    for op in candidates(options.names, options.every):
        error, start = None, time.perf_counter()
        try:
            check(op)
            result = "pass"
        except Exception as e:  # noqa: BLE001 any failure is a result here
            error, result = e, ""
        counts[result] += 1
        if error or not options.not_passing:
            print(f"{operators.full_name(op):45s} {result:4s} {time.perf_counter() - start:.1f} s")
        if error:
            text = " ".join(str(error).split())[:300]
            print(f"      {type(error).__name__} {text} {getattr(error, '__notes__', '')}"[:600])
        sys.stdout.flush()
    print(f"{counts['pass']} pass, {counts['']} fail")
    return counts[""] > 0


if __name__ == "__main__":
    sys.exit(main())

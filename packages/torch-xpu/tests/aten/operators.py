"""PyTorch's own operator samples, run on xpu and on the CPU and compared: forward and backward.

    python operators.py [NAME...] [--dtypes f32,i64] [--samples 4] [--not-passing]

A line an operator: "pass", or what went wrong with which dtype and sample.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import warnings
from collections.abc import Iterator
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo, SampleInput
from torch.utils._pytree import tree_leaves, tree_map
from xpu_testing import values_checked
from xpu_testing.torch_values import TOLERANCES

import torch_xpu

DTYPES = {
    "f32": torch.float32,
    "f64": torch.float64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "c64": torch.complex64,
    "c128": torch.complex128,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "bool": torch.bool,
}
# Decompositions of dense matrices with no device algorithm yet: they run on the host, counted.
HOST = {
    f"aten::{name}"
    for name in (
        *("_linalg_svd.U", "_linalg_eigh.eigenvalues", "linalg_eig", "_linalg_eigvals"),
        *("linalg_qr.out", "geqrf", "ormqr", "linalg_householder_product", "linalg_lstsq.out"),
        *("linalg_ldl_factor_ex.out", "linalg_ldl_solve.out"),
    )
}
# Values that come of cancellation: errors are relative to the largest element of the result.
NORMWISE = ("matrix_exp", "linalg.*", "lu*", "*solve", "*inverse", "*det", "svd*", "qr", "*lowrank")
# The same of halves, which are added up in another order or rounded on the way.
NORMWISE_HALVES = ("*conv*", "*grid_sampl*", "*normalize")
# What the CPU itself has wrong, measured against more digits: its Bessel and Airy functions of f64,
# what is left of a row of one element less its mean, or of the gradient of numbers of size 1, and a
# logarithm of small sums of large terms.
INEXACT = {
    "special.bessel_*": {torch.float64: (1e-4, 1e-6)},
    "special.airy_ai": {torch.float64: (1e-4, 1e-5)},
    "*layer_norm": {torch.float32: (1e-4, 5e-5)},
    "nn.functional.normalize": {torch.bfloat16: (3e-2, 1e-1)},
    "logcumsumexp": {torch.float32: (1e-2, 3e-3), torch.complex64: (1e-2, 3e-3)},
}
# Where the CPU's rounding misses a pole it has a large number instead of an infinite one.
POLES = ("*polygamma*",)
# Which of equal elements come first is not determined; integers and halves are often equal.
UNSTABLE = ("sort", "argsort", "topk", "kthvalue")
# Statistics of halves are floats here, as on other devices; the CPU rounds them.
WIDE_STATISTICS = ("native_layer_norm", "*native_batch_norm*", "_batch_norm_with_update")
# They take some of their tensors from the host.
HOST_ARGUMENTS = ("tensor_split",)
# Their results are not determined by their arguments: sizes and dtypes are compared.
UNDETERMINED = (
    *("empty*", "new_empty*", "resize*", "*dropout*", "*rrelu*", "*lowrank*"),
    *("normal*", "multinomial", "rand*", "bernoulli", "uniform", "exponential", "geometric"),
    *("log_normal", "cauchy", "*fractional_max_pool*"),
)


# Errors of the device and its driver, which no values excuse.
REFUSED_BY_DEVICE = re.compile(
    "does not compile|this SPIR-V|over the limit|has no xpu kernel|OpenCL|this device has no"
    "|Native API|UR_RESULT|not supported by this device|oneDNN failed"
)


def full_name(op: OpInfo) -> str:
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


def on(device: str, tree, grads: bool):
    """The tree's tensors moved as leaves of their own; their strides stay."""

    def move(leaf):
        if isinstance(leaf, torch.device) or (isinstance(leaf, str) and leaf == "cpu"):
            return torch.device(device)
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if leaf.layout != torch.strided:
            return leaf.detach().to(device, copy=True).requires_grad_(grads and leaf.requires_grad)
        storage = leaf.detach().untyped_storage()
        whole = torch.empty(0, dtype=torch.uint8).set_(storage).to(device, copy=True)
        moved = torch.empty(0, dtype=leaf.dtype, device=device)
        moved.set_(whole.untyped_storage(), leaf.storage_offset(), leaf.shape, leaf.stride())
        if leaf.is_conj():
            moved = moved.conj()
        if leaf.is_neg():
            moved = moved._neg_view()
        return moved.requires_grad_(grads and leaf.requires_grad)

    return tree_map(move, tree)


def call(op: OpInfo, sample: SampleInput, device: str, grads: bool):
    """Results and gradients on a device."""
    first, rest, named = arguments = (
        on(device, sample.input, grads),
        on("cpu" if op.name in HOST_ARGUMENTS else device, sample.args, grads),
        on(device, sample.kwargs, grads),
    )
    torch.manual_seed(7)
    results = op(first, *rest, **named)
    if sample.output_process_fn_grad and grads:
        results = sample.output_process_fn_grad(results)
    outputs = [t for t in tree_leaves(results) if isinstance(t, torch.Tensor)]
    gradients = []
    if grads:
        sources = [
            t for t in tree_leaves(arguments) if isinstance(t, torch.Tensor) and t.requires_grad
        ]
        ends = [t for t in outputs if t.requires_grad]
        if sources and ends:
            weights = [
                torch.linspace(-1, 1, t.numel(), dtype=torch.float64)
                .reshape(t.shape)
                .to(t.dtype)
                .to(device)
                for t in ends
            ]
            gradients = torch.autograd.grad(ends, sources, weights, allow_unused=True)
    return results, list(gradients)


def drops(sample: SampleInput) -> bool:
    """Whether attention is asked for some of its weights only."""
    given = {**dict(enumerate(sample.args)), **sample.kwargs}
    if "training" in given:  # the arguments before it are positional, dropout among them
        return bool(given["training"])
    return bool(given.get("dropout_p"))


def compare(op: OpInfo, dtype: torch.dtype, sample: SampleInput, got, expected) -> None:
    got, expected = tree_leaves(got), tree_leaves(expected)
    assert len(got) == len(expected), f"{len(got)} results, expected {len(expected)}"
    undetermined = drops(sample) or any(fnmatch(full_name(op), p) for p in UNDETERMINED)
    for place, (ours, theirs) in enumerate(zip(got, expected, strict=True)):
        if not isinstance(theirs, torch.Tensor):
            assert isinstance(theirs, torch.device) or type(ours) is type(theirs), (ours, theirs)
            if isinstance(theirs, (int, bool, str, tuple, torch.Size)):
                assert ours == theirs, (ours, theirs)
            continue
        assert isinstance(ours, torch.Tensor), f"got {ours!r}, expected a tensor"
        if theirs.dtype in (torch.float16, torch.bfloat16) and any(
            fnmatch(full_name(op), p) for p in WIDE_STATISTICS
        ):
            ours = ours.to(theirs.dtype)
        assert ours.dtype == theirs.dtype, f"dtype {ours.dtype}, expected {theirs.dtype}"
        assert ours.shape == theirs.shape, f"shape {ours.shape}, expected {theirs.shape}"
        ties = op.name in UNSTABLE and dtype not in (torch.float32, torch.float64)
        if undetermined or (ties and (place > 0 or op.name == "argsort")):
            continue
        if any(fnmatch(full_name(op), p) for p in POLES):
            theirs = torch.where(theirs.abs() > 1e12, theirs * float("inf"), theirs)
        rtol, atol = TOLERANCES.get(theirs.dtype, (0, 0))
        if dtype in (torch.float16, torch.bfloat16) and rtol:
            rtol, atol = TOLERANCES[dtype]
        for pattern, tolerances in INEXACT.items():
            if fnmatch(full_name(op), pattern):
                rtol, atol = tolerances.get(theirs.dtype, (rtol, atol))
        halves = dtype in (torch.float16, torch.bfloat16)
        normwise = NORMWISE + NORMWISE_HALVES if halves else NORMWISE
        if rtol and theirs.numel() and any(fnmatch(full_name(op), p) for p in normwise):
            largest = torch.nan_to_num(theirs.detach().abs(), 0, 0, 0).max().item()
            atol *= max(1.0, largest)
        if theirs.layout != torch.strided:
            ours, theirs = ours.to_dense(), theirs.to_dense()
        torch.testing.assert_close(
            ours.detach().cpu(),
            theirs.detach(),
            rtol=rtol,
            atol=atol,
            equal_nan=True,
            check_stride=False,
        )


def reference(op: OpInfo, sample: SampleInput, grads: bool):
    """The CPU's results, or None when the CPU cannot say: it refuses a dtype that xpu may take."""
    try:
        return call(op, sample, "cpu", grads)
    except (RuntimeError, NotImplementedError) as e:
        if re.search("not implemented for|not support|Unsupported dtype|Could not run", str(e)):
            return None
        raise


def compare_rounded(op: OpInfo, dtype: torch.dtype, sample: SampleInput, grads, got, expected):
    """Halves may come out as on the CPU or as the CPU's f32 has them: its own halves lose more."""
    try:
        compare(op, dtype, sample, got, expected)
    except AssertionError:
        if dtype not in (torch.float16, torch.bfloat16):
            raise

        def widened(leaf):
            if not isinstance(leaf, torch.Tensor) or leaf.dtype != dtype:
                return leaf
            return leaf.detach().float().requires_grad_(leaf.requires_grad)

        def narrowed(leaf, ours):
            wide = isinstance(leaf, torch.Tensor) and isinstance(ours, torch.Tensor)
            return leaf.to(ours.dtype) if wide else leaf

        wide = tree_map(widened, (sample.input, sample.args, sample.kwargs))
        exact = SampleInput(wide[0], args=wide[1], kwargs=wide[2])
        exact.output_process_fn_grad = sample.output_process_fn_grad
        exact = reference(op, exact, grads)
        if exact is None:
            raise
        ours, theirs = tree_leaves(got), tree_leaves(exact)
        if len(ours) != len(theirs):
            raise
        narrow = [narrowed(*pair) for pair in zip(theirs, ours, strict=True)]
        compare(op, dtype, sample, ours, narrow)


def excused(error: Exception) -> bool:
    """Whether what was read may be at fault: on a virtual GPU that is whatever was in memory."""
    if values_checked() or isinstance(error, NotImplementedError):
        return False
    of_values = isinstance(error, (RuntimeError, ValueError, IndexError))
    return of_values and not REFUSED_BY_DEVICE.search(str(error))


def check(op: OpInfo, dtype: torch.dtype, samples: int) -> None:
    """Raises for the first sample that differs."""
    torch.manual_seed(1)
    random.seed(1)
    grads = dtype in op.supported_backward_dtypes("xpu") and op.supports_autograd
    for number, sample in enumerate(
        islice(op.sample_inputs("cpu", dtype, requires_grad=grads), samples)
    ):
        try:
            expected = reference(op, sample, grads) if values_checked() else None
            torch_xpu.reset_fallbacks()
            with torch_xpu.using_fallback("allow"):
                got = call(op, sample, "xpu", grads)
            for missing in set(torch_xpu.fallbacks()) - HOST:
                raise NotImplementedError(f"{missing} has no xpu kernel")
            if expected is not None:
                compare_rounded(op, dtype, sample, grads, got, expected)
        except Exception as e:
            e.add_note(f"sample {number}: {sample.summary()}"[:600])
            if not excused(e):
                raise


def dtypes_of(op: OpInfo, among: list[torch.dtype]) -> list[torch.dtype]:
    claimed = op.supported_dtypes("xpu")
    return [d for d in among if d in claimed]


def selected(patterns: list[str]) -> Iterator[OpInfo]:
    for op in op_db:
        if not patterns or any(
            fnmatch(full_name(op), p) or fnmatch(op.aten_name or "", p) for p in patterns
        ):
            yield op


def reason(error: Exception) -> str:
    """In a few words, the same from run to run."""
    text = " ".join(str(error).split())
    missing = re.match(r"(aten::\S+) has no xpu kernel", text)
    if missing:
        return f"{missing[1]} is missing"
    if isinstance(error, AssertionError) and "Jiterator" not in text:
        return "results differ"
    return f"{type(error).__name__}: {text[:60]}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="patterns of names, as in fnmatch")
    parser.add_argument("--dtypes", default="f32,i64,bf16,c64,bool")
    parser.add_argument("--samples", type=int, default=6)
    parser.add_argument("--not-passing", action="store_true", help="leave out what passes")
    parser.add_argument("--record", type=Path, help="bring the results into this file")
    options = parser.parse_args()
    among = [DTYPES[d] for d in options.dtypes.split(",")]
    warnings.simplefilter("ignore")
    recorded = (
        json.loads(options.record.read_text()) if options.record and options.record.exists() else {}
    )
    names = {value: name for name, value in DTYPES.items()}
    passing = total = 0
    for op in selected(options.names):
        wrong, results = [], recorded.setdefault(full_name(op), {})
        for dtype in dtypes_of(op, among):
            try:
                check(op, dtype, options.samples)
                results[names[dtype]] = "pass"
            except Exception as e:  # noqa: BLE001 any failure is a result here
                lines = str(e).strip().splitlines()
                note = " | ".join(getattr(e, "__notes__", []))[:200]
                results[names[dtype]] = reason(e)
                wrong.append(
                    f"{str(dtype)[6:]}: {type(e).__name__} {' '.join(lines)[:240]} [{note}]"
                )
        total += 1
        passing += not wrong
        if wrong or not options.not_passing:
            print(f"{full_name(op):45s} {'pass' if not wrong else ''}")
            for line in wrong:
                print("    ", line)
            sys.stdout.flush()
    print(f"{passing} of {total} pass")
    if options.record:
        options.record.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")
    return passing < total


if __name__ == "__main__":
    sys.exit(main())

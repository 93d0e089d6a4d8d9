"""JAX's own primitive cases, run on xpu beside its CPU backend.

``python harness.py [--x64] [--sample N] [--record] [GROUP...]`` lists what fails, by reason.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "xpu,cpu")
if "--x64" in sys.argv:  # which also decides what cases there are
    os.environ["JAX_ENABLE_X64"] = "1"

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.internal_test_util import test_harnesses
from xpu_testing.processes import ProcessTree

# The results of all cases, for the page "Primitives of JAX".
RECORD = Path(__file__).with_name("primitives.json")

# Why cases whose names begin so may differ from the CPU's and be right.
DIFFERENCES = {
    "cholesky_shape": "what the primitive leaves above the diagonal is not defined",
    "conv_general_dilated_preferred_lhs_complex64": "JAX's CPU computes it in complex64, not as asked",
    "sort_multiple_arrays": "equal keys may come in any order, as the sort need not be stable",
    "top_k_sort_inf_nan": "NaNs come first whatever their sign",
}

# A process keeps every program that it built.
CASES_OF_A_CHILD = 200
CASE_SECONDS, START_SECONDS = 300, 300

TOLERANCES = {"float64": 1e-10, "complex128": 1e-10, "float32": 1e-4, "complex64": 1e-4}


def all_cases() -> list[Any]:
    """Those that JAX's CPU runs."""
    return [
        case
        for case in test_harnesses.all_harnesses
        if not any(limit.filter(device="cpu", dtype=case.dtype) for limit in case.jax_unimplemented)
    ]


def check(case: Any) -> None:
    """One case, on both."""
    results = []
    for platform in ("cpu", "xpu"):
        device = jax.devices(platform)[0]
        with jax.default_device(device), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arguments = case.dyn_args_maker(np.random.RandomState(42))
            arguments = jax.device_put(arguments, device)
            results.append(list(map(_numbers, jax.tree.leaves(jax.jit(case.dyn_fun)(*arguments)))))
    for got, expected in zip(results[1], results[0], strict=True):
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
        if got.dtype.kind in "biu":
            np.testing.assert_array_equal(got, expected)
            continue
        wide = np.complex128 if got.dtype.kind == "c" else np.float64
        tolerance = TOLERANCES.get(got.dtype.name, 2e-2)
        np.testing.assert_allclose(
            got.astype(wide), expected.astype(wide), rtol=tolerance, atol=tolerance
        )


def _numbers(array: jax.Array) -> np.ndarray:
    if jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
        array = jax.random.key_data(array)
    return np.asarray(array)


def report(cases: list[Any]) -> None:
    """A line with each case's name before it is tried, and one with name and reason for what fails."""
    for case in cases:
        print(json.dumps([case.fullname]), flush=True)
        try:
            check(case)
        except Exception as error:  # noqa: BLE001 - they are what is listed
            print(json.dumps([case.fullname, reason(case, error)]), flush=True)


def reason(case: Any, error: Exception) -> str:
    """Why a case fails, in a line."""
    known = (why for start, why in DIFFERENCES.items() if case.fullname.startswith(start))
    return next(known, re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")[:200])


def output_of(command: list[str], names: str) -> tuple[list[list[str]], int]:
    """The lines of a child and its status. It is killed when a case takes longer than CASE_SECONDS."""
    tree = ProcessTree(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert tree.process.stdin
    assert tree.process.stdout
    timer = threading.Timer(START_SECONDS, tree.kill)
    lines = []
    try:
        timer.start()
        with tree.process.stdin as given:
            given.write(names)
        for line in tree.process.stdout:
            if line.startswith('["'):
                lines.append(json.loads(line))
                timer.cancel()
                timer = threading.Timer(CASE_SECONDS, tree.kill)
                timer.start()
        return lines, tree.process.wait()
    finally:
        timer.cancel()
        tree.kill()


def in_children(cases: list[Any], x64: bool) -> dict[str, str]:
    """What fails, with its reason. Some hundred cases a process: one that dies takes no other with it."""
    failures: dict[str, str] = {}
    left = [case.fullname for case in cases]
    while left:
        command = [sys.executable, __file__, "--child", *["--x64"] * x64]
        lines, status = output_of(command, "\n".join(left[:CASES_OF_A_CHILD]))
        failures |= {line[0]: line[1] for line in lines if len(line) == 2}
        if status:
            failures[lines[-1][0]] = f"the process ended with {status}"
        left = left[sum(len(line) == 1 for line in lines) :]
        print(f"{len(cases) - len(left)} of {len(cases)}, {len(failures)} fail", flush=True)
    return failures


def record(groups: dict[str, dict[str, Any]], types: str) -> None:
    """Put the results for some types into the record."""
    known = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    known[types] = dict(sorted(groups.items()))
    RECORD.write_text(json.dumps(known, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="*", help="names of groups; all when none is given")
    parser.add_argument("--sample", type=int, default=1, help="every N-th case only")
    parser.add_argument("--x64", action="store_true", help="with 64-bit types")
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.name}, too")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    cases = all_cases()
    if options.child:
        wanted = set(sys.stdin.read().splitlines())
        report([case for case in cases if case.fullname in wanted])
        return
    cases = [case for case in cases if not options.groups or case.group_name in options.groups]
    cases = cases[:: options.sample]
    failures = in_children(cases, options.x64)
    groups: dict[str, dict[str, Any]] = {}
    for case in cases:
        group = groups.setdefault(case.group_name, {"cases": 0, "failures": {}})
        group["cases"] += 1
        if case.fullname in failures:
            group["failures"][case.fullname] = failures[case.fullname]
    for name, group in groups.items():
        for case, why in group["failures"].items():
            print(f"{name}: {why} ({case})")
    if options.record:
        record(groups, "64 bits" if options.x64 else "32 bits")
    print(f"{len(cases) - len(failures)} pass, {len(failures)} fail")


if __name__ == "__main__":
    main()

"""JAX's own primitive cases, run on xpu beside its CPU backend.

``python harness.py [--x64] [--share N] [GROUP...]`` lists what fails, by reason.
"""

from __future__ import annotations

import argparse
import collections
import re
import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.internal_test_util import test_harnesses

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="*", help="names of groups; all when none is given")
    parser.add_argument("--share", type=int, default=1, help="every N-th case only")
    parser.add_argument("--x64", action="store_true", help="with 64-bit types")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", options.x64)
    cases = [c for c in all_cases() if not options.groups or c.group_name in options.groups]
    failures: dict[str, list[str]] = collections.defaultdict(list)
    for case in cases[:: options.share]:
        try:
            check(case)
        except Exception as error:  # noqa: BLE001 - they are what is listed
            reason = re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")[:200]
            failures[f"{case.group_name}: {reason}"].append(case.fullname)
    failed = sum(map(len, failures.values()))
    for reason, names in sorted(failures.items(), key=lambda item: -len(item[1])):
        print(len(names), reason, names[0])
    print(f"{len(cases[:: options.share]) - failed} pass, {failed} fail")


if __name__ == "__main__":
    main()

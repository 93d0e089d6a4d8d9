"""Programs of every kind, and their gradients, give JAX's numbers."""

import jax
import numpy as np
import pytest
from cpu_comparison import HALF, compare_with_cpu, run_on

from workloads import WORKLOADS


def with_marks(names):
    return [
        pytest.param(name, marks=[getattr(pytest.mark, mark) for mark in WORKLOADS[name].marks])
        for name in names
    ]


def check(name, function):
    program = WORKLOADS[name]
    with jax.enable_x64("fp64" in program.marks):
        if program.wavers:
            differences = ulp_apart(function, program.arguments)
        else:
            results = jax.tree.leaves(jax.eval_shape(function, *program.arguments))
            differences = [HALF if program.half else 0.0] * len(results)
        compare_with_cpu(function, *program.arguments, differences=differences)


def ulp_apart(function, arguments):
    """Twice how far the CPU's own results move when inputs move by an ulp."""

    def results(seed):
        def moved(x):
            x = np.asarray(x)
            if x.dtype != np.float32:
                return x
            towards = np.random.default_rng(seed).choice(np.float32([-np.inf, np.inf]), x.shape)
            return np.nextafter(x, towards) if seed else x

        given = tuple(jax.tree.map(moved, argument) for argument in arguments)
        return [np.asarray(x) for x in jax.tree.leaves(run_on("cpu", function, given))]

    own = results(0)
    others = [results(seed) for seed in range(1, 9)]
    return [2 * max(distance(x, other[n]) for other in others) for n, x in enumerate(own)]


def distance(x, y):
    both = np.isfinite(x) & np.isfinite(y)
    return float(np.abs(x[both] - y[both]).max(initial=0))


@pytest.mark.parametrize("name", with_marks(WORKLOADS))
def test_values(name):
    check(name, WORKLOADS[name].function)


DIFFERENTIABLE = [name for name, program in WORKLOADS.items() if not program.no_gradient]


@pytest.mark.parametrize("name", with_marks(DIFFERENTIABLE))
def test_gradients(name):
    check(name, WORKLOADS[name].gradient)

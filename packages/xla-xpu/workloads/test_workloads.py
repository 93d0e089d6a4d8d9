"""Programs of every kind, and their gradients, give JAX's numbers."""

import jax
import pytest
from beside import beside_cpu

from workloads import WORKLOADS


def with_marks(names):
    return [
        pytest.param(name, marks=[getattr(pytest.mark, mark) for mark in WORKLOADS[name].marks])
        for name in names
    ]


def check(name, function):
    program = WORKLOADS[name]
    with jax.enable_x64("fp64" in program.marks):
        beside_cpu(function, *program.arguments)


@pytest.mark.parametrize("name", with_marks(WORKLOADS))
def test_values(name):
    check(name, WORKLOADS[name].function)


DIFFERENTIABLE = [name for name, program in WORKLOADS.items() if not program.no_gradient]


@pytest.mark.parametrize("name", with_marks(DIFFERENTIABLE))
def test_gradients(name):
    check(name, WORKLOADS[name].gradient)

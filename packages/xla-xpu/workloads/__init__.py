"""Programs such as people write, by family, with their inputs: what runs on xpu has to give JAX's numbers."""

from . import (
    arrays,
    control,
    differential_equations,
    draws,
    equinox_models,
    flax_models,
    host_calls,
    layers,
    linear_algebra,
    probabilistic,
    signals,
    solvers,
    sparse_arrays,
    special,
    training,
)
from .program import Program

FAMILIES = (
    arrays,
    control,
    draws,
    linear_algebra,
    signals,
    special,
    layers,
    training,
    flax_models,
    equinox_models,
    differential_equations,
    probabilistic,
    solvers,
    sparse_arrays,
    host_calls,
)

WORKLOADS: dict[str, Program] = {
    f"{family.__name__.rpartition('.')[2]}: {name}": program
    for family in FAMILIES
    for name, program in family.WORKLOADS.items()
}

"""JAX with xpu first and its own CPU backend beside it, to compare with."""

import os
import sys
from pathlib import Path

import pytest

os.environ["JAX_PLATFORMS"] = "xpu,cpu"
# What the tests share.
sys.path[:0] = [str(Path(__file__).parent / folder) for folder in ("", "lowerings", "spmd")]


@pytest.fixture(scope="session")
def xpu():
    """The first xpu device, as JAX has it."""
    import jax

    return jax.devices("xpu")[0]


@pytest.fixture(scope="session")
def cpu():
    """A device of JAX's own CPU backend."""
    import jax

    return jax.devices("cpu")[0]

"""The peer of all JAX benchmarks: the same function on JAX's CPU backend, in turn with xpu.

JAX's CPU backend makes a thread for each core that the process may use, so both have the two of the harness.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from xpu_bench import Case, Pair

jax.config.update("jax_platforms", "xpu,cpu")
PEER = "JAX CPU"
# How far the two may be apart: parts of a floating-point result's length, share of other elements.
TOLERANCES = {"bfloat16": 3e-2}
TOLERANCE = 1e-3


class Inputs:
    """Arrays of the host, the same in every run."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(0)

    def normal(self, *shape: int, dtype: str = "float32", scale: float = 1.0) -> Any:
        """Normal numbers of a type that NumPy or JAX names."""
        values = self.random.standard_normal(shape, np.float32) * np.float32(scale)
        return values.astype(jnp.dtype(dtype))

    def integers(self, high: int, *shape: int, dtype: str = "int32") -> Any:
        """Integers from 0 up to ``high``, without it."""
        return self.random.integers(0, high, shape, dtype=dtype)


def on(platform: str, tree: Any) -> Any:
    """Arrays on the platform's first device, which programs then follow."""
    return jax.block_until_ready(jax.device_put(tree, jax.devices(platform)[0]))


def check(ours: Any, peer: Any) -> None:
    """An error unless the two results are the same but for rounding: a wrong one has no speed."""
    for (path, a), b in zip(
        jax.tree_util.tree_leaves_with_path(ours), jax.tree.leaves(peer), strict=True
    ):
        if jax.dtypes.issubdtype(b.dtype, jax.dtypes.prng_key):
            a, b = map(jax.random.key_data, (a, b))
        tolerance = TOLERANCES.get(b.dtype.name, TOLERANCE)
        a, b = np.asarray(a), np.asarray(b)
        if jnp.issubdtype(b.dtype, jnp.floating):
            a, b = a.astype(np.float32), b.astype(np.float32)
            difference = np.linalg.norm(a - b) / max(np.linalg.norm(b), 1e-30)
        else:
            difference = np.mean(a != b)
        if not difference <= tolerance:
            where = jax.tree_util.keystr(path)
            raise AssertionError(f"result{where} of {b.dtype}{b.shape}: off by {difference:.2g}")


def call_pair(function: Callable, make: Callable[[Inputs], tuple]) -> Callable[[], Pair]:
    """Setup of a jitted function on the same inputs on both; each call is waited for.

    Not the calls of a sample together: JAX's CPU backend would hold the results of all of them.
    """

    def setup() -> Pair:
        jitted, inputs = jax.jit(function), make(Inputs())
        ours, peer = (partial(jitted, *on(platform, inputs)) for platform in ("xpu", "cpu"))
        check(ours(), peer())
        return Pair(
            ours=lambda: jax.block_until_ready(ours()),
            peer=lambda: jax.block_until_ready(peer()),
        )

    return setup


def case(name: str, function: Callable, make: Callable, bar: str | None, **how: Any) -> Case:
    return Case(name, call_pair(function, make), PEER, bar, **how)


class Steps:
    """A program that goes on from its own result, as a training loop does; nothing is waited for."""

    def __init__(self, platform: str, step: Callable, state: Any, *inputs: Any) -> None:
        self.step = jax.jit(step, donate_argnums=0)
        self.state, self.inputs = on(platform, state), on(platform, inputs)

    def __call__(self) -> Any:
        self.state = self.step(self.state, *self.inputs)
        return self.state

    def wait(self) -> None:
        jax.block_until_ready(self.state)


def steps_pair(step: Callable, make: Callable[[Inputs], tuple]) -> Callable[[], Pair]:
    """Setup of steps from the same state on both; ``make`` gives the state and the other inputs."""

    def setup() -> Pair:
        ours, peer = (Steps(platform, step, *make(Inputs())) for platform in ("xpu", "cpu"))
        check(ours(), peer())
        return Pair(ours=ours, peer=peer, sync=ours.wait, peer_sync=peer.wait)

    return setup

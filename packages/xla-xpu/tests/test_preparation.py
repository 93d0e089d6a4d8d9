"""What a program needs is built as it is compiled: the first run builds nothing."""

import pytest

PROGRAM = """
import os
os.environ["JAX_PLATFORMS"] = "xpu,cpu"
import jax, jax.numpy as jnp, numpy as np

cases = {{
    "products": lambda x, i: x @ x.T,
    "columns": lambda x, i: jnp.exp(x).sum(0),
    "gather": lambda x, i: x[i],
    "scatter": lambda x, i: x.at[i].add(1.0),
    "sort": lambda x, i: jnp.sort(x, axis=0),
    "scan": lambda x, i: jnp.cumsum(x, axis=0),
    "fft": lambda x, i: jnp.fft.fft(x),
    "loop": lambda x, i: jax.lax.fori_loop(0, i[0], lambda n, y: jnp.sin(y) @ y, x[:64]),
    "branch": lambda x, i: jax.lax.cond(i[0] > 0, jnp.cumsum, jnp.sort, x.reshape(-1)),
    "host": lambda x, i: jnp.linalg.eigvalsh(x[:64]) + jnp.cumsum(x[:, 0]),
}}
x, i = np.ones((64, 64), np.float32), np.arange(1, 33, dtype=np.int32)
step = jax.jit(cases["{case}"]).lower(x, i).compile()
folder = os.environ["XPU_CACHE_DIR"]
made = set(os.listdir(folder))
jax.block_until_ready(step(x, i))
print(len(made), len(set(os.listdir(folder)) - made))
"""

CASES = "products columns gather scatter sort scan fft loop branch host".split()


@pytest.mark.image_cache
@pytest.mark.parametrize("case", CASES)
def test_the_first_run_builds_nothing(child, tmp_path, case):
    env = {"XPU_CACHE_DIR": str(tmp_path / "kernels")}
    made, later = map(int, child(PROGRAM.format(case=case), env=env).check().out.split())
    assert made > 0
    assert later == 0

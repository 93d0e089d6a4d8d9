"""What a program needs is built as it is compiled: the first run builds nothing."""

import pytest

CASES = {
    "products": "x @ x.T",
    "columns": "jnp.exp(x).sum(0)",
    "gather": "x[i]",
    "scatter": "x.at[i].add(1.0)",
    "sort": "jnp.sort(x, axis=0)",
    "scan": "jnp.cumsum(x, axis=0)",
    "fft": "jnp.fft.fft(x)",
    "loop": "jax.lax.fori_loop(0, i[0], lambda n, y: jnp.sin(y) @ y, x)",
    "branch": "jax.lax.cond(i[0] > 0, jnp.cumsum, jnp.sort, x.reshape(-1))",
    "host": "jnp.linalg.eigvalsh(x) + jnp.cumsum(x[:, 0])",
}
PROGRAM = """
import os
os.environ["JAX_PLATFORMS"] = "xpu,cpu"
import jax, jax.numpy as jnp, numpy as np

x, i = np.ones((64, 64), np.float32), np.arange(1, 33, dtype=np.int32)
step = jax.jit(lambda x, i: {case}).lower(x, i).compile()
folder = os.environ["XPU_CACHE_DIR"]
built = set(os.listdir(folder))
jax.block_until_ready(step(x, i))
print(len(built), len(set(os.listdir(folder)) - built))
"""


@pytest.mark.values  # the data say how often the loop runs
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_first_run_builds_nothing(child, tmp_path, case):
    env = {"XPU_CACHE_DIR": str(tmp_path / "kernels")}
    built, built_later = map(int, child(PROGRAM.format(case=case), env=env).check().out.split())
    assert built > 0
    assert built_later == 0

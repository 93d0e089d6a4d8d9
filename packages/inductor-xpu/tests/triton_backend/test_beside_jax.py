"""Triton's kernels beside JAX: in one process, on memory that one makes and the other reads."""

import importlib.util

import pytest
from xpu_testing import run_child

pytestmark = [
    pytest.mark.values,
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, ("jax", "xla_xpu"))), reason="JAX is not installed"
    ),
]

SCALING = """
import torch
import triton
import triton.language as tl

@triton.jit
def scaled(x_ptr, out_ptr, factor, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, at < count) * factor, at < count)

def scale(x, factor, out=None):
    out = torch.empty_like(x) if out is None else out
    scaled[(triton.cdiv(x.numel(), 128),)](x, out, factor, x.numel(), BLOCK=128)
    return out
"""
PROGRAM = """
array = jnp.arange(1000, dtype=jnp.float32)
tensor = torch.from_dlpack(array * 3)
out = scale(tensor, 2.0)
back = jax.dlpack.from_dlpack(out)
assert back.unsafe_buffer_pointer() == out.data_ptr()
assert np.array_equal(np.asarray(back), np.arange(1000, dtype=np.float32) * 6)

# Neither waits for the other: a launch reads what JAX has only enqueued, and the other way round.
array = jnp.ones(1 << 20)
step = jax.jit(lambda x: jnp.sin(x) * 0 + x + 1)
for _ in range(20):
    array = jax.dlpack.from_dlpack(scale(torch.from_dlpack(step(array)), 0.5))
assert bool((array == 1).all()), array

# In place, in the memory of an array that JAX no longer uses.
array = jnp.full((333,), 7.0)
tensor = torch.from_dlpack(array)
del array
assert scale(tensor, 3.0, out=tensor).unique().tolist() == [21.0]

# In a compiled graph, whose result JAX differentiates.
compiled = torch.compile(lambda x: scale(x.sin(), 2.0) + 1)
x = jnp.linspace(0, 1, 500)
y = jax.dlpack.from_dlpack(compiled(torch.from_dlpack(x)))
assert np.allclose(np.asarray(y), np.sin(np.asarray(x)) * 2 + 1, atol=1e-5)
found = jax.grad(lambda x, y: (x * y).sum())(x, y)
assert np.allclose(np.asarray(found), np.asarray(y))
"""
IMPORTS = {
    "JAX first": "import jax, jax.numpy as jnp\njnp.ones(3) + 1\nimport torch, triton",
    "Triton first": "import triton, torch\ntorch.ones(3, device='xpu') + 1\nimport jax, jax.numpy as jnp",
    "JAX after a launch": """
import triton, torch
from scaling import scale
scale(torch.ones(3, device="xpu"), 2.0)
import jax, jax.numpy as jnp""",
}


@pytest.mark.parametrize("order", IMPORTS)
def test_one_process(order, tmp_path):
    # Triton reads the source of a kernel from its file.
    (tmp_path / "scaling.py").write_text(SCALING)
    path = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})"
    rest = f"import numpy as np\nfrom scaling import scale\n{PROGRAM}"
    run_child(f"{path}\n{IMPORTS[order]}\n{rest}", timeout=300).check()

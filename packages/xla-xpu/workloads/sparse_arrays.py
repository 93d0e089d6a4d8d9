"""jax.experimental.sparse, and the sparse solver."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import sparse
from jax.experimental.sparse.linalg import spsolve
from jax.scipy.sparse.linalg import cg

from .program import numbers, program

DENSE = np.where(np.abs(numbers(9, 7)) > 1, numbers(9, 7), 0).astype(np.float32)
PLACES = np.argwhere(DENSE).astype(np.int32)
DATA = DENSE[tuple(PLACES.T)]
VECTOR, MATRIX = numbers(7), numbers(7, 4)


def bcoo(data):
    return sparse.BCOO((data, PLACES), shape=DENSE.shape, indices_sorted=True, unique_indices=True)


def laplacian(x):
    """A system whose matrix is made of a graph's edges."""
    n = x.size
    at = jnp.arange(n)
    places = jnp.concatenate(
        [jnp.stack([at, at], 1), jnp.stack([at, (at + 1) % n], 1), jnp.stack([(at + 1) % n, at], 1)]
    )
    data = jnp.concatenate([jnp.full(n, 3.0), jnp.full(2 * n, -1.0)])
    return cg(lambda v: sparse.BCOO((data, places), shape=(n, n)) @ v, x, tol=1e-6)[0]


WORKLOADS = {
    "times a vector": program(lambda d, v: bcoo(d) @ v, DATA, VECTOR),
    "times a matrix": program(lambda d, m: bcoo(d) @ m, DATA, MATRIX),
    "made dense": program(lambda d: bcoo(d).todense().T, DATA),
    "made sparse": program(lambda x: sparse.BCOO.fromdense(x, nse=40).data, DENSE),
    "transposed": program(lambda d, v: bcoo(d).T @ (bcoo(d) @ v), DATA, VECTOR),
    "sums": program(lambda d: (bcoo(d).sum(0).todense(), bcoo(d * 2).sum()), DATA),
    "products of elements": program(
        lambda d, x: sparse.sparsify(lambda a, x: a * x)(bcoo(d), x).todense(), DATA, DENSE + 1
    ),
    "sparse times sparse": program(
        lambda d: (bcoo(d).T @ bcoo(d)).todense(), DATA, no_gradient="JAX has none"
    ),
    "rows": program(
        lambda x, v: sparse.BCSR.fromdense(x, nse=40) @ v,
        DENSE,
        VECTOR,
        no_gradient="JAX has none of where the rows begin",
    ),
    "batches": program(
        lambda x, v: sparse.BCOO.fromdense(x, n_batch=1, nse=5).todense() @ v, DENSE, VECTOR
    ),
    "sparsified": program(
        lambda d, v: sparse.sparsify(lambda a, v: jnp.tanh(a @ v) @ (a @ v))(bcoo(d), v),
        DATA,
        VECTOR,
    ),
    "slope of a sparse array": program(
        lambda d, v: sparse.grad(lambda a: (jnp.sin(a @ v)).sum())(bcoo(d)).data, DATA, VECTOR
    ),
    "graph's system": program(laplacian, VECTOR, marks="values"),
    "direct solver": program(
        lambda d, b: spsolve(d, np.array([0, 1, 1, 2]), np.array([0, 2, 3, 4]), b),
        np.array([4, 1, 3, 2], np.float32),
        VECTOR[:3],
    ),
    "neighbors by hand": program(
        lambda x, d: jax.vmap(lambda c: jnp.zeros(9).at[PLACES[:, 0]].add(d * c[PLACES[:, 1]]))(x),
        MATRIX.T.copy(),
        DATA,
    ),
}

"""Collectives that begin and are waited for later, beside those that wait at once."""

import jax
import numpy as np
from jax import lax
from jax._src.lax import parallel
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((4,), ("d",))
x = np.arange(64, dtype=np.float32).reshape(16, 4)
x = jax.device_put(x, NamedSharding(mesh, P("d")))
around = [(i, (i + 1) % 4) for i in range(4)]
pairs = {
    "psum": (parallel.psum_start, lax.psum, ()),
    "all_gather": (parallel.all_gather_start, lax.all_gather, ()),
    "psum_scatter": (parallel.psum_scatter_start, lax.psum_scatter, ()),
    "all_to_all": (parallel.all_to_all_start, lax.all_to_all, (1, 0)),
    "ppermute": (parallel.ppermute_start, lax.ppermute, (around,)),
}
if hasattr(parallel, "pbroadcast_start"):  # JAX 0.12 has none
    pairs["pbroadcast"] = parallel.pbroadcast_start, lax.pbroadcast, (1,)
options = {name: {"tiled": True} for name in ("psum_scatter", "all_to_all")}


def run(function):
    spread = dict(mesh=mesh, in_specs=P("d"), out_specs=P("d"), check_vma=False)
    return jax.jit(jax.shard_map(function, **spread))(x)


def compare(start, whole, arguments, named):
    def asynchronous(x):
        future = start(x, "d", *arguments, **named)
        between = jax.numpy.sin(x).sum()
        # With check_vma=False, psum_start of JAX 0.12 waits.
        y = future.done() if hasattr(future, "done") else future
        return y + between.astype(y.dtype)

    def waiting(x):
        y = whole(x, "d", *arguments, **named)
        return y + jax.numpy.sin(x).sum().astype(y.dtype)

    np.testing.assert_array_equal(run(asynchronous), run(waiting), whole.__name__)


for name, (start, whole, arguments) in pairs.items():
    compare(start, whole, arguments, options.get(name, {}))


def ring(around_it):
    return run(lambda x: lax.fori_loop(0, 3, lambda i, x: around_it(x) * 2 + i, x))


np.testing.assert_array_equal(
    ring(lambda x: parallel.ppermute_start(x, "d", around).done()),
    ring(lambda x: lax.ppermute(x, "d", around)),
)


# With check_vma, its default, JAX 0.12 begins this sum here, too.
def total(function):
    return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=P("d"), out_specs=P()))(x)


np.testing.assert_array_equal(
    total(lambda x: parallel.psum_start(x, "d").done()), total(lambda x: lax.psum(x, "d"))
)

# Nothing is sent; nobody waits; two wait for one.
np.testing.assert_array_equal(
    run(lambda x: parallel.ppermute_start(x, "d", []).done()), np.zeros_like(x)
)
np.testing.assert_array_equal(run(lambda x: (parallel.ppermute_start(x, "d", around), x)[1]), x)


def twice(x):
    future = parallel.ppermute_start(x, "d", around)
    return future.done() + future.done()


np.testing.assert_array_equal(run(twice), run(lambda x: 2 * lax.ppermute(x, "d", around)))

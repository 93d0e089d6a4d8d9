"""Programs that call Python on their way."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import checkify, io_callback

from .program import TRAINS, numbers, program

X = numbers(5, 6)
SHAPE = jax.ShapeDtypeStruct(X.shape, np.float32)


@jax.custom_vjp
def sine_of_numpy(x):
    return jax.pure_callback(np.sin, SHAPE, x)


sine_of_numpy.defvjp(
    lambda x: (sine_of_numpy(x), x),
    lambda x, slope: (slope * jax.pure_callback(np.cos, SHAPE, x),),
)


def printed(x):
    jax.debug.callback(lambda total: None, x.sum())
    return jnp.tanh(x) * 2


def counted(x):
    """Each round adds what the host says."""

    def body(i, total):
        return total + io_callback(lambda i: np.float32(i) / 2, jnp.float32(0), i, ordered=True)

    return x + jax.lax.fori_loop(0, 4, body, jnp.float32(0))


def checked(x):
    def function(x):
        checkify.check(x.min() < 0, "none is negative")
        return jnp.log(jnp.abs(x)) * 2

    _, value = checkify.checkify(function, errors=checkify.all_checks)(x)
    return value


WORKLOADS = {
    "numpy": program(sine_of_numpy, X),
    "numpy for each": program(
        jax.vmap(
            lambda v: jax.pure_callback(
                np.cumsum, jax.ShapeDtypeStruct((6,), np.float32), v, vmap_method="sequential"
            )
        ),
        X,
        no_gradient="a callback has none unless it is given",
    ),
    "seen on the way": program(printed, X),
    "in a loop": program(counted, X, no_gradient=TRAINS),
    "checked": program(checked, X),
}

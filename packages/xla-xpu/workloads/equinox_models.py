"""equinox and lineax: models that are trees, and linear systems that are operators."""

import equinox as eqx
import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np

from .program import TRAINS, filled, numbers, program, whole

X = numbers(4, 8)
SERIES = numbers(6, 8)
IMAGE = numbers(3, 10, 10)
REGULAR = numbers(6, 6) / 6 + 2 * np.eye(6, dtype=np.float32)


def called(make, function, *inputs):
    """``function`` of a model with parameters from numpy, and of ``inputs``."""
    shapes = eqx.filter_eval_shape(lambda: make(jax.random.key(0)))
    arrays, rest = eqx.partition(shapes, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))

    def of_arrays(arrays, *inputs):
        return function(eqx.combine(arrays, rest), *inputs)

    return program(of_arrays, filled(arrays), *inputs)


def recurrent(cell, xs):
    def step(state, x):
        state = cell(x, state)
        return state, state

    start = jnp.zeros(5) if isinstance(cell, eqx.nn.GRUCell) else (jnp.zeros(5), jnp.zeros(5))
    return jax.lax.scan(step, start, xs)[1]


def convolutional(key):
    one, two = jax.random.split(key)
    return eqx.nn.Sequential(
        [
            eqx.nn.Conv2d(3, 4, 3, key=one),
            eqx.nn.Lambda(jax.nn.relu),
            eqx.nn.MaxPool2d(2, 2),
            eqx.nn.GroupNorm(2, 4),
            eqx.nn.Lambda(jnp.ravel),
            eqx.nn.Linear(64, 3, key=two),
        ]
    )


def stepped(seed, x, y):
    """A step of training of a model that the program itself makes."""
    model = eqx.nn.MLP(8, 2, 12, 2, key=jax.random.key(seed))

    @eqx.filter_value_and_grad
    def loss(model):
        return ((jax.vmap(model)(x) - y) ** 2).mean()

    lost, slopes = loss(model)
    model = eqx.apply_updates(model, jax.tree.map(lambda s: -0.1 * s, slopes))
    return lost, eqx.filter(model, eqx.is_array)


def batch_normalized(model, x):
    state = eqx.nn.State(model)
    y, state = jax.vmap(model, axis_name="batch", in_axes=(0, None), out_axes=(0, None))(x, state)
    return y


def solved(solver, matrix, b):
    return lx.linear_solve(lx.MatrixLinearOperator(matrix), b, solver).value


def solved_by_products(matrix, b):
    operator = lx.FunctionLinearOperator(
        lambda x: matrix @ (matrix.T @ x) + x,
        jax.eval_shape(lambda: b),
        lx.positive_semidefinite_tag,
    )
    return lx.linear_solve(operator, b, lx.CG(rtol=1e-6, atol=1e-6)).value


def checked(x):
    return jnp.sqrt(eqx.error_if(x, (x < 0).any(), "negative"))


WORKLOADS = {
    "perceptron": called(lambda k: eqx.nn.MLP(8, 3, 16, 2, key=k), lambda m, x: jax.vmap(m)(x), X),
    "convolutional": called(convolutional, lambda m, x: m(x), IMAGE),
    "attention": called(
        lambda k: eqx.nn.MultiheadAttention(2, 8, key=k), lambda m, x: m(x, x, x), SERIES
    ),
    "lstm": called(lambda k: eqx.nn.LSTMCell(8, 5, key=k), recurrent, SERIES),
    "gru": called(lambda k: eqx.nn.GRUCell(8, 5, key=k), recurrent, SERIES),
    "embedding": called(
        lambda k: eqx.nn.Embedding(20, 6, key=k), lambda m, x: jax.vmap(m)(x), whole(20, 9)
    ),
    "norms": called(
        lambda k: (eqx.nn.LayerNorm(8), eqx.nn.RMSNorm(8)),
        lambda m, x: [jax.vmap(norm)(x) for norm in m],
        X,
    ),
    "rotary places": called(
        lambda k: eqx.nn.RotaryPositionalEmbedding(8), lambda m, x: m(x), SERIES
    ),
    "transposed convolution": called(
        lambda k: eqx.nn.ConvTranspose2d(3, 2, 3, 2, key=k), lambda m, x: m(x), IMAGE
    ),
    "dropout": called(
        lambda k: eqx.nn.Dropout(0.4), lambda m, x, s: m(x, key=jax.random.key(s)), X, np.int32(3)
    ),
    "batch norm": program(
        lambda x: batch_normalized(eqx.nn.BatchNorm(8, "batch", mode="batch"), x), X
    ),
    "trained": program(stepped, np.int32(1), X, X[:, :2], no_gradient=TRAINS),
    "checked": program(checked, np.abs(X)),
    "lu": program(lambda a, b: solved(lx.LU(), a, b), REGULAR, X[0, :6]),
    "least squares": program(lambda a, b: solved(lx.QR(), a, b), X.T.copy(), X[0]),
    "conjugate gradients": program(solved_by_products, REGULAR, X[0, :6], marks="values"),
    "tridiagonal": program(
        lambda d, b: (
            lx.linear_solve(lx.TridiagonalLinearOperator(d**2 + 5, d[1:], d[:-1]), b).value
        ),
        X[0],
        X[1],
    ),
}

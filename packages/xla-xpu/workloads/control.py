"""Loops, branches and JAX's transformations of programs."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .program import TRAINS, WHOLE, numbers, program

X = numbers(6, 8)
V = numbers(8, seed=1)
SQUARE = numbers(5, 5) * np.float32(0.3)


@jax.custom_vjp
def clipped_slope(x):
    return jnp.sin(x) * x


clipped_slope.defvjp(
    lambda x: (clipped_slope(x), x), lambda x, slope: (jnp.clip(slope * x, -0.5, 0.5),)
)


@jax.custom_jvp
def soft(x):
    return jnp.log1p(jnp.exp(x))


soft.defjvps(lambda slope, result, x: slope * (1 - jnp.exp(-result)))


@jax.custom_batching.custom_vmap
def batched_by_hand(x, y):
    return x * y.sum()


@batched_by_hand.def_vmap
def _batched(size, batched, x, y):
    return x * y.sum(-1, keepdims=True), True


def square_root(x):
    """By Newton's steps, its slope by the implicit function."""

    def solve(f, start):
        return lax.while_loop(
            lambda y: jnp.abs(f(y)).max() > 1e-5, lambda y: y - f(y) / (2 * y), start
        )

    return lax.custom_root(
        lambda y: y * y - x, jnp.ones_like(x), solve, lambda g, y: y / g(jnp.ones_like(y))
    )


def solved_by_hand(matrix, b):
    matrix = matrix @ matrix.T + jnp.eye(5)
    return lax.custom_linear_solve(
        lambda x: matrix @ x, b, lambda _, b: jnp.linalg.solve(matrix, b), symmetric=True
    )


def checkpointed(x, w):
    policy = jax.checkpoint_policies.dots_saveable

    @functools.partial(jax.checkpoint, policy=policy)
    def layer(x, w):
        return jnp.tanh(x @ w) + x, None

    return lax.scan(layer, x, w)[0]


def edit_distance(a, b):
    """Row by row; each row by an associative minimum."""

    def row(above, letter):
        begin = above[0] + 1
        best = jnp.minimum(above[1:] + 1, above[:-1] + (b != letter))
        best = jnp.concatenate([begin[None], best]) - jnp.arange(b.size + 1)
        return lax.associative_scan(jnp.minimum, best) + jnp.arange(b.size + 1), None

    return lax.scan(row, jnp.arange(b.size + 1), a)[0][-1]


def primes(sieve):
    def strike(n, sieve):
        multiples = (jnp.arange(sieve.size) % n == 0) & (jnp.arange(sieve.size) > n)
        return jnp.where(sieve[n], sieve & ~multiples, sieve)

    return lax.fori_loop(2, 12, strike, sieve)


def life(cells):
    def step(cells, _):
        around = sum(
            jnp.roll(cells, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j
        )
        cells = jnp.where(cells == 1, (around == 2) | (around == 3), around == 3).astype(jnp.int32)
        return cells, cells.sum()

    return lax.scan(step, cells, None, length=12)


def mandelbrot(x, y):
    c = x[None] + 1j * y[:, None]

    def step(_, state):
        z, count = state
        z = jnp.where(jnp.abs(z) < 2, z * z + c, z)
        return z, count + (jnp.abs(z) < 2)

    return lax.fori_loop(0, 20, step, (jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int32)))[1]


def heat(x):
    def step(x, _):
        around = sum(jnp.roll(x, s, d) for s in (-1, 1) for d in (0, 1))
        return x + 0.1 * (around - 4 * x), x.max()

    return lax.scan(step, x, None, length=30)


def bodies(places, speeds):
    def pull(places):
        apart = places[None] - places[:, None]
        return (apart / ((apart**2).sum(-1, keepdims=True) + 0.1) ** 1.5).sum(1)

    def leap(state, _):
        places, speeds = state
        speeds = speeds + 0.01 * pull(places)
        return (places + 0.02 * speeds, speeds + 0.01 * pull(places + 0.02 * speeds)), places[0]

    return lax.scan(leap, (places, speeds), None, length=20)


def kalman(observed, step):
    def update(state, seen):
        mean, spread = step @ state[0], step @ state[1] @ step.T + 0.1 * jnp.eye(2)
        gain = spread[:, :1] / (spread[0, 0] + 0.5)
        mean = mean + gain[:, 0] * (seen - mean[0])
        return (mean, spread - gain @ spread[:1]), mean

    return lax.scan(update, (jnp.zeros(2), jnp.eye(2)), observed)


def forward_algorithm(steps, emissions):
    steps = jax.nn.log_softmax(steps)

    def step(alpha, emission):
        return jax.nn.logsumexp(alpha[:, None] + steps, 0) + emission, None

    return jax.nn.logsumexp(lax.scan(step, jnp.zeros(5), emissions)[0])


def viterbi(steps, emissions):
    def step(best, emission):
        through = best[:, None] + steps
        return through.max(0) + emission, through.argmax(0)

    best, back = lax.scan(step, jnp.zeros(5), emissions)
    last = best.argmax()
    return lax.scan(lambda at, back: (back[at], back[at]), last, back, reverse=True)


def pendulum(y):
    def slope(y):
        return jnp.stack([y[1], -jnp.sin(y[0]) - 0.1 * y[1]])

    def runge_kutta(y, _):
        a = slope(y)
        b = slope(y + 0.05 * a)
        c = slope(y + 0.05 * b)
        d = slope(y + 0.1 * c)
        return y + 0.1 / 6 * (a + 2 * b + 2 * c + d), y[0]

    return lax.scan(runge_kutta, y, None, length=40)


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


WORKLOADS = {
    "counted loop": program(lambda x: lax.fori_loop(0, 9, lambda i, a: jnp.sin(a) + i, x), X),
    "loop while": program(
        lambda x: lax.while_loop(lambda a: a.sum() < 50, lambda a: a * 1.3 + 0.5, x),
        X,
        no_gradient="JAX does not go back through loops of unknown length",
        marks="values",
    ),
    "its slope forward": program(
        lambda x, v: jax.jvp(
            lambda x: lax.while_loop(lambda a: a.sum() < 50, lambda a: a * 1.3 + 0.5, x), (x,), (v,)
        ),
        X,
        X[::-1].copy(),
        no_gradient=TRAINS,
        marks="values",
    ),
    "scan": program(lambda x, v: lax.scan(lambda c, row: (c * 0.9 + row, c @ v), v, x), X, V),
    "unrolled scan backwards": program(
        lambda x, v: lax.scan(lambda c, row: (jnp.tanh(c + row), c), v, x, reverse=True, unroll=4),
        X,
        V,
    ),
    "scan in a scan": program(
        lambda x: lax.scan(
            lambda c, row: lax.scan(lambda c, e: (c * 0.5 + e, c + e), c, row), np.float32(0), x
        ),
        X,
    ),
    "branch": program(
        lambda x, k: lax.cond(k > 2, lambda x: x @ x.T, lambda x: x[:, :6] * 2, x), X, np.int32(3)
    ),
    "switch": program(
        lambda x, k: lax.switch(k, [jnp.sin, jnp.exp, lambda x: x**3], x), X, np.int32(1)
    ),
    "branch for each": program(
        jax.vmap(lambda x: lax.cond(x.sum() > 0, lambda x: x * 2, jnp.cos, x)), X
    ),
    "loop for each": program(
        jax.vmap(
            lambda v: lax.while_loop(lambda v: v.sum() < 9, lambda v: jnp.abs(v) * 2 + 0.1, v)
        ),
        X,
        no_gradient="JAX does not go back through loops of unknown length",
        marks="values",
    ),
    "mapped in batches": program(
        lambda x: lax.map(lambda v: jnp.outer(v, v) @ v, x, batch_size=4), X
    ),
    "associative scan": program(
        lambda a, b: lax.associative_scan(
            lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (a, b), axis=1
        ),
        X,
        X + 1,
    ),
    "slope of one's own": program(clipped_slope, X),
    "forward slope of one's own": program(soft, X),
    "batches of one's own": program(lambda x: jax.vmap(batched_by_hand, (None, 0))(x[0], x), X),
    "root by the implicit function": program(square_root, np.abs(X) + 1, marks="values"),
    "linear system by hand": program(solved_by_hand, SQUARE, V[:5]),
    "checkpointed layers": program(checkpointed, X, numbers(4, 8, 8) * np.float32(0.3)),
    "hessian": program(jax.hessian(rosenbrock), V, no_gradient=TRAINS),
    "jacobians": program(
        lambda x: (jax.jacfwd(lambda v: jnp.tanh(v @ v) * v)(x), jax.jacrev(jnp.cumprod)(x)), V
    ),
    "hessian times vector": program(
        lambda x, v: jax.jvp(jax.grad(rosenbrock), (x,), (v,))[1], V, V[::-1].copy()
    ),
    "linearized": program(
        lambda x, v: jax.linearize(lambda x: jnp.tanh(x) * x.sum(), x)[1](v), V, V[::-1].copy()
    ),
    "third derivative": program(
        jax.vmap(jax.grad(jax.grad(jax.grad(lambda x: jnp.sin(x) * jnp.exp(x))))), V
    ),
    "slopes for each example": program(
        lambda w, x: jax.vmap(jax.grad(lambda w, v: jnp.tanh(v @ w).sum()), (None, 0))(w, x),
        numbers(8, 3),
        X,
    ),
    "part held fixed": program(lambda x: jax.lax.stop_gradient(x).max() * x - x**2, X),
    "trees carried": program(
        lambda x: lax.fori_loop(
            0,
            5,
            lambda i, t: {"a": t["b"] * 0.5, "b": t["a"] + i, "n": t["n"] + 1},
            {"a": x, "b": x + 1, "n": 0},
        ),
        X,
    ),
    "edit distance": program(
        edit_distance,
        np.frombuffer(b"intention", np.uint8),
        np.frombuffer(b"execution!", np.uint8),
        no_gradient=WHOLE,
    ),
    "sieve": program(primes, np.arange(120) > 1, no_gradient=WHOLE),
    "game of life": program(life, (numbers(16, 16) > 0.3).astype(np.int32), no_gradient=WHOLE),
    "mandelbrot": program(
        mandelbrot,
        np.linspace(-2, 0.5, 30, dtype=np.float32),
        np.linspace(-1, 1, 20, dtype=np.float32),
        no_gradient=WHOLE,
    ),
    "heat": program(heat, X),
    "bodies": program(bodies, numbers(7, 3), numbers(7, 3, seed=1) * np.float32(0.1)),
    "kalman filter": program(kalman, numbers(20), np.array([[1, 0.1], [0, 0.95]], np.float32)),
    "hidden markov chain": program(forward_algorithm, SQUARE, numbers(12, 5)),
    "its likeliest path": program(viterbi, SQUARE, numbers(12, 5), no_gradient=WHOLE),
    "pendulum": program(pendulum, np.array([1, 0.2], np.float32)),
}

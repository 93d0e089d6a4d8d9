"""optax: a few steps of training with each kind of optimizer, and its losses."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

from .program import TRAINS, WHOLE, numbers, program, whole

X = numbers(16, 6)
Y = np.sin(X @ numbers(6, 2, seed=3))
PARAMETERS = {
    "w": numbers(6, 12) * np.float32(0.4),
    "b": np.zeros(12, np.float32),
    "v": numbers(12, 2) * np.float32(0.4),
}
LABELS = whole(6, 16)


def predict(parameters, x):
    return jnp.tanh(x @ parameters["w"] + parameters["b"]) @ parameters["v"]


def loss(parameters, x, y):
    return ((predict(parameters, x) - y) ** 2).mean()


def trained(optimizer, steps=6):
    """Steps in a loop of the device; the optimizer may ask for the loss itself."""

    def train(parameters, x, y):
        def value(parameters):
            return loss(parameters, x, y)

        def step(carried, _):
            parameters, state = carried
            lost, slopes = jax.value_and_grad(value)(parameters)
            updates, state = optax.with_extra_args_support(optimizer).update(
                slopes, state, parameters, value=lost, grad=slopes, value_fn=value
            )
            return (optax.apply_updates(parameters, updates), state), lost

        (parameters, _), lost = lax.scan(
            step, (parameters, optimizer.init(parameters)), None, length=steps
        )
        return parameters, lost

    return program(train, PARAMETERS, X, Y, no_gradient=TRAINS)


def one_step(parameters, state, x, y):
    """As a loop in Python calls it, the state going in and out."""
    slopes = jax.grad(loss)(parameters, x, y)
    updates, state = optax.adam(1e-2).update(slopes, state, parameters)
    return optax.apply_updates(parameters, updates), state


def moments():
    zeros = {name: np.zeros_like(value) for name, value in PARAMETERS.items()}
    return (optax.ScaleByAdamState(np.int32(3), zeros, zeros), optax.EmptyState())


def learnt_rate(rate, parameters, x, y):
    """The gradient of training with respect to how fast it is done."""

    def step(parameters, _):
        slopes = jax.grad(loss)(parameters, x, y)
        return jax.tree.map(lambda p, s: p - rate * s, parameters, slopes), None

    return loss(lax.scan(step, parameters, None, length=5)[0], x, y)


WORKLOADS = {
    "a step of adam": program(one_step, PARAMETERS, moments(), X, Y, no_gradient=TRAINS),
    "sgd": trained(optax.sgd(0.1, momentum=0.9, nesterov=True)),
    "adam": trained(optax.adam(1e-2)),
    "adamw by a schedule": trained(
        optax.adamw(optax.warmup_cosine_decay_schedule(0, 0.1, 2, 6), weight_decay=1e-2)
    ),
    "rmsprop": trained(optax.rmsprop(1e-2)),
    "adagrad": trained(optax.adagrad(0.1)),
    "adafactor": trained(optax.adafactor(1e-2, min_dim_size_to_factor=2)),
    "lamb": trained(optax.lamb(1e-2)),
    "lion": trained(optax.lion(1e-3)),
    "yogi": trained(optax.yogi(1e-2)),
    "clipped": trained(
        optax.chain(optax.clip_by_global_norm(0.1), optax.add_noise(1e-3, 0.5, 0), optax.sgd(0.1))
    ),
    "different for each": trained(
        optax.partition(
            {"slow": optax.sgd(1e-3), "fast": optax.adam(1e-1)},
            {"w": "slow", "b": "fast", "v": "fast"},
        )
    ),
    "every other step": trained(optax.MultiSteps(optax.adam(1e-2), 2)),
    "where all is finite": trained(optax.apply_if_finite(optax.adam(1e-2), 3)),
    "lbfgs": trained(optax.lbfgs(linesearch=None, learning_rate=0.1)),
    "line search": trained(
        optax.chain(optax.sgd(1.0), optax.scale_by_backtracking_linesearch(5)), steps=3
    ),
    "muon": trained(optax.contrib.muon(1e-2)),
    "without a schedule": trained(optax.contrib.schedule_free_adamw(1e-2)),
    "averaged": program(
        lambda p: optax.incremental_update(p, jax.tree.map(jnp.ones_like, p), 0.1), PARAMETERS
    ),
    "learnt rate": program(learnt_rate, np.float32(0.1), PARAMETERS, X, Y),
    "losses of classes": program(
        lambda x, y: [
            optax.softmax_cross_entropy_with_integer_labels(x, y),
            optax.sigmoid_binary_cross_entropy(x, jax.nn.one_hot(y, 6)),
            optax.sigmoid_focal_loss(x, jax.nn.one_hot(y, 6)),
            optax.hinge_loss(x[:, 0], y - 3.0),
        ],
        X,
        LABELS,
    ),
    "losses of numbers": program(
        lambda x, y: [
            optax.huber_loss(x, y),
            optax.log_cosh(x, y),
            optax.cosine_distance(x, y),
            optax.kl_divergence(jax.nn.log_softmax(x), jax.nn.softmax(y)),
        ],
        X,
        X[::-1] * 0.7,
    ),
    "loss of sequences": program(
        lambda x, y: optax.ctc_loss(x, jnp.zeros(x.shape[:2]), y, jnp.zeros(y.shape)),
        numbers(3, 8, 5),
        whole(4, 3, 3) + 1,
    ),
    "assignment": program(
        lambda costs: optax.assignment.hungarian_algorithm(costs),
        X[:6],
        no_gradient=WHOLE,
        marks="values",
    ),
}

"""flax: models of both its interfaces, their gradients with respect to parameters and inputs."""

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from .program import TRAINS, Program, filled, numbers, program, whole

X = numbers(4, 8)
IMAGES = numbers(2, 8, 8, 3)
SERIES = numbers(3, 6, 8)
WORDS = whole(20, 3, 6)


def applied(module, *inputs, mutable=(), seed=None, half=False):
    """A linen module with parameters from numpy."""
    keys = {} if seed is None else {"dropout": seed}
    shapes = jax.eval_shape(
        lambda: module.init({"params": jax.random.key(0), "dropout": jax.random.key(1)}, *inputs)
    )
    variables = filled(shapes)
    if "batch_stats" in variables:  # variances among them
        variables["batch_stats"] = jax.tree.map(np.abs, variables["batch_stats"])

    def function(variables, *inputs):
        rngs = {name: jax.random.key(seed) for name, seed in keys.items()}
        return module.apply(variables, *inputs, rngs=rngs, mutable=list(mutable) or False)

    return program(function, variables, *inputs, half=half)


def called(make, *inputs):
    """An nnx module, split into what it is and its parameters."""
    graph, state = nnx.split(nnx.eval_shape(lambda: make(nnx.Rngs(0))))

    def function(state, *inputs):
        return nnx.merge(graph, state)(*inputs)

    return program(function, filled(state), *inputs)


class Perceptron(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width in (16, 16):
            x = nn.gelu(nn.Dense(width)(x))
        return nn.Dense(3)(nn.LayerNorm()(x))


class Convolutional(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.BatchNorm(use_running_average=False)(nn.Conv(8, (3, 3))(x)))
        x = nn.max_pool(x, (2, 2), (2, 2))
        x = nn.avg_pool(nn.relu(nn.GroupNorm(4)(nn.Conv(8, (3, 3), 2)(x))), (2, 2))
        return nn.Dense(5)(x.reshape(len(x), -1))


class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(2)(y, mask=nn.make_causal_mask(x[..., 0]))
        return x + nn.Dense(8)(nn.gelu(nn.Dense(16)(nn.LayerNorm()(x))))


class Language(nn.Module):
    @nn.compact
    def __call__(self, words):
        embed = nn.Embed(20, 8)
        x = embed(words) + self.param("places", nn.initializers.normal(), (words.shape[1], 8))
        for _ in range(2):
            x = Block()(x)
        return embed.attend(nn.RMSNorm()(x))


class ScannedBlock(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        return nn.remat(Block)()(x), None


class Scanned(nn.Module):
    @nn.compact
    def __call__(self, x):
        layers = nn.scan(
            ScannedBlock,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            length=3,
        )
        return layers()(x, None)[0]


class Residual(nn.Module):
    @nn.compact
    def __call__(self, x):
        norm = functools.partial(nn.BatchNorm, use_running_average=True)
        y = norm()(nn.Conv(3, (3, 3), use_bias=False)(x))
        return nn.relu(x + norm(scale_init=nn.initializers.zeros)(nn.Conv(3, (3, 3))(nn.relu(y))))


class Variational(nn.Module):
    @nn.compact
    def __call__(self, x):
        mean, spread = jnp.split(nn.Dense(8)(nn.relu(nn.Dense(16)(x))), 2, -1)
        z = mean + jnp.exp(spread / 2) * jax.random.normal(self.make_rng("dropout"), mean.shape)
        again = nn.Dense(8)(nn.relu(nn.Dense(16)(z)))
        apart = -0.5 * (1 + spread - mean**2 - jnp.exp(spread)).sum(-1)
        return (optax.sigmoid_binary_cross_entropy(again, nn.sigmoid(x)).sum(-1) + apart).mean()


class Dropping(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(nn.Dropout(0.4, deterministic=False)(nn.Dense(16)(x)))


def initialized(seed, x):
    return Language().init(jax.random.key(seed), x)


def trained(seed, images, labels):
    """Made, and one step of training taken, in one program."""
    model, optimizer = Convolutional(), optax.adam(1e-2)
    variables = model.init(jax.random.key(seed), images)

    def loss(parameters):
        logits, changed = model.apply(
            {**variables, "params": parameters}, images, mutable=["batch_stats"]
        )
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), changed

    (lost, changed), slopes = jax.value_and_grad(loss, has_aux=True)(variables["params"])
    updates, _ = optimizer.update(slopes, optimizer.init(variables["params"]))
    return lost, changed, optax.apply_updates(variables["params"], updates)


class Network(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Conv(3, 8, (3, 3), rngs=rngs)
        self.norm = nnx.LayerNorm(8, rngs=rngs)
        self.last = nnx.Linear(8, 5, rngs=rngs)

    def __call__(self, x):
        return self.last(nnx.relu(self.norm(self.first(x))).mean((1, 2)))


class Attending(nnx.Module):
    def __init__(self, rngs):
        self.attention = nnx.MultiHeadAttention(2, 8, decode=False, rngs=rngs)
        self.first, self.second = nnx.Linear(8, 16, rngs=rngs), nnx.Linear(16, 8, rngs=rngs)

    def __call__(self, x):
        x = x + self.attention(x)
        return x + self.second(nnx.gelu(self.first(x)))


class Recurrent(nnx.Module):
    def __init__(self, rngs):
        self.layer = nnx.RNN(nnx.GRUCell(8, 5, rngs=rngs), rngs=False)

    def __call__(self, x):
        return self.layer(x, initial_carry=jnp.zeros((len(x), 5)))


WORKLOADS: dict[str, Program] = {
    "perceptron": applied(Perceptron(), X),
    "convolutional": applied(Convolutional(), IMAGES, mutable=["batch_stats"]),
    "language model": applied(Language(), WORDS),
    "layers scanned": applied(Scanned(), SERIES),
    "residual": applied(Residual(), IMAGES),
    "variational": applied(Variational(), X, seed=3),
    "dropout": applied(Dropping(), X, seed=4),
    "lstm": applied(nn.RNN(nn.OptimizedLSTMCell(5)), SERIES),
    "both directions": applied(
        nn.Bidirectional(nn.RNN(nn.GRUCell(4)), nn.RNN(nn.GRUCell(4))), SERIES
    ),
    "convolutional lstm": applied(nn.RNN(nn.ConvLSTMCell(2, (3, 3))), numbers(1, 3, 6, 6, 2)),
    "transposed convolution": applied(nn.ConvTranspose(4, (3, 3), (2, 2)), IMAGES),
    "bilinear sums": applied(nn.DenseGeneral((2, 3), (-2, -1)), SERIES),
    "weights of unit norm": applied(nn.WeightNorm(nn.Dense(4)), X),
    "half precision": applied(nn.Dense(16, dtype=jnp.bfloat16), X, half=True),
    "initialized": program(initialized, np.int32(5), WORDS, no_gradient=TRAINS),
    "trained": program(trained, np.int32(5), IMAGES, whole(5, 2), no_gradient=TRAINS, wavers=True),
    "nnx network": called(Network, IMAGES),
    "nnx attention": called(Attending, SERIES),
    "nnx recurrent": called(Recurrent, SERIES),
}

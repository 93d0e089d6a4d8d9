"""Train a transformer of flax to continue a text, letter by letter.

python train_transformer.py [TEXT FILE] [--steps 200] [--device xpu]
"""

import argparse
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

CONTEXT, WIDTH, HEADS, LAYERS, BATCH = 64, 128, 4, 2, 16


class Block(nnx.Module):
    def __init__(self, rngs):
        self.before, self.between = nnx.LayerNorm(WIDTH, rngs=rngs), nnx.LayerNorm(WIDTH, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(HEADS, WIDTH, decode=False, rngs=rngs)
        self.wide, self.narrow = (
            nnx.Linear(WIDTH, 4 * WIDTH, rngs=rngs),
            nnx.Linear(4 * WIDTH, WIDTH, rngs=rngs),
        )

    def __call__(self, x):
        x = x + self.attention(self.before(x), mask=nnx.make_causal_mask(x[..., 0]))
        return x + self.narrow(nnx.gelu(self.wide(self.between(x))))


class Letters(nnx.Module):
    def __init__(self, count, rngs):
        self.letter, self.place = (
            nnx.Embed(count, WIDTH, rngs=rngs),
            nnx.Embed(CONTEXT, WIDTH, rngs=rngs),
        )
        self.blocks = nnx.List([Block(rngs) for _ in range(LAYERS)])
        self.last, self.head = (
            nnx.LayerNorm(WIDTH, rngs=rngs),
            nnx.Linear(WIDTH, count, rngs=rngs),
        )

    def __call__(self, letters):
        x = self.letter(letters) + self.place(jnp.arange(letters.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.last(x))


@nnx.jit
def train(model, optimizer, letters):
    def loss(model):
        scores = model(letters[:, :-1])
        return optax.softmax_cross_entropy_with_integer_labels(scores, letters[:, 1:]).mean()

    value, gradient = nnx.value_and_grad(loss)(model)
    optimizer.update(model, gradient)
    return value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("text", nargs="?", type=Path, default=Path(__file__))
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--device", default="xpu")
    options = parser.parse_args()
    alphabet, numbers = np.unique(list(options.text.read_text()), return_inverse=True)
    rng = np.random.default_rng(0)
    with jax.default_device(jax.devices(options.device)[0]):
        model = Letters(len(alphabet), nnx.Rngs(0))
        optimizer = nnx.Optimizer(model, optax.adamw(1e-3), wrt=nnx.Param)
        for step in range(options.steps):
            begins = rng.integers(0, len(numbers) - CONTEXT, BATCH)
            windows = np.stack([numbers[b : b + CONTEXT + 1] for b in begins])
            value = train(model, optimizer, jnp.asarray(windows, jnp.int32))
            if step % 20 == 0:
                print(f"step {step} loss {value:.3f}")


if __name__ == "__main__":
    main()

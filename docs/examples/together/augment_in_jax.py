"""Images are cut and turned by a program of JAX on their way into a network of PyTorch.

    python augment_in_jax.py [--steps 30] [--device xpu]

Of the bytes of a batch JAX makes normalized planes, with random numbers of its own; the tensor that the
network reads is the memory that JAX wrote.
"""

import argparse

import jax
import jax.numpy as jnp
import torch
from torch import nn
from xpu_sdk.interop import to_torch

SIZE, CUT, BATCH = 40, 32, 64


@jax.jit
def augment(key, images):
    """A random window of each image, maybe mirrored, as planes around zero."""

    def one(key, image):
        place_key, mirror_key = jax.random.split(key)
        y, x = jax.random.randint(place_key, (2,), 0, SIZE - CUT + 1)
        window = jax.lax.dynamic_slice(image, (y, x, 0), (CUT, CUT, 3))
        return jnp.where(jax.random.bernoulli(mirror_key), window[:, ::-1], window)

    windows = jax.vmap(one)(jax.random.split(key, len(images)), images)
    return (windows.astype(jnp.float32) / 127.5 - 1).transpose(0, 3, 1, 2)


def stripes(key):
    """Images of stripes that lie or stand, and which of both they are."""
    kinds_key, noise_key = jax.random.split(key)
    kinds = jax.random.bernoulli(kinds_key, shape=(BATCH,)).astype(jnp.int32)
    wave = 60 * jnp.sin(jnp.arange(SIZE) / 2)
    lying = jnp.broadcast_to(wave[:, None], (SIZE, SIZE))
    images = jnp.where(kinds[:, None, None] == 1, lying, lying.T)[..., None]
    noise = 40 * jax.random.normal(noise_key, (BATCH, SIZE, SIZE, 3))
    return jnp.clip(128 + images + noise, 0, 255).astype(jnp.uint8), kinds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--device", default="xpu")
    options = parser.parse_args()
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(3, 16, 5, stride=2), nn.ReLU(), nn.Conv2d(16, 16, 5, stride=2), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 2),
    ).to(options.device)  # fmt: skip
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    with jax.default_device(jax.devices(options.device)[0]):
        for step in range(options.steps):
            data_key, augment_key = jax.random.split(jax.random.key(step))
            images, kinds = stripes(data_key)
            planes, kinds = to_torch((augment(augment_key, images), kinds))
            loss = nn.functional.cross_entropy(net(planes), kinds.long())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 10 == 0:
                print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()

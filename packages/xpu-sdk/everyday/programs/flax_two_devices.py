"""Train a flax model with optax over two devices: data parallel, then with its weights in two parts."""

import os

# The CPU device counts as two; with GPUs the first two of them are used.
os.environ.setdefault("XPU_CPU_DEVICES", "2")

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from flax.training import train_state
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

STEPS = 30


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(8, (3, 3))(x)
        x = nn.relu(nn.LayerNorm()(x))
        x = nn.max_pool(x, (2, 2), (2, 2)).reshape((x.shape[0], -1))
        x = nn.gelu(nn.Dense(64)(x))
        return nn.Dense(4)(x)


def make_images(count, seed):
    """Noise with a bright quarter."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 4, count)
    images = random.standard_normal((count, 12, 12, 1)).astype(np.float32)
    for image, label in zip(images, labels, strict=True):
        row, column = 6 * (label // 2), 6 * (label % 2)
        image[row : row + 6, column : column + 6] += 1.5
    return images, labels.astype(np.int32)


@jax.jit
def train_step(state, images, labels):
    def loss_of(params):
        logits = state.apply_fn({"params": params}, images)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, gradients = jax.value_and_grad(loss_of)(state.params)
    return state.apply_gradients(grads=gradients), loss


def train(devices, shard=lambda path, leaf: P()):
    """Train on a mesh of devices; `shard` says how a weight lies on them."""
    mesh = Mesh(np.array(devices), ("data",))
    schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-2, 5, STEPS)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule))
    model = Net()
    with jax.default_device(jax.devices("cpu")[0]):
        params = model.init(jax.random.key(0), jnp.zeros((1, 12, 12, 1)))["params"]
    state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optimizer)
    places = jax.tree_util.tree_map_with_path(
        lambda path, leaf: NamedSharding(mesh, shard(path, leaf)), state
    )
    state = jax.device_put(state, places)
    by_rows = NamedSharding(mesh, P("data"))

    losses = []
    for step in range(STEPS):
        images, labels = make_images(64, seed=step)
        batch = jax.device_put((images, labels), by_rows)
        state, loss = train_step(state, *batch)
        losses.append(float(loss))
    return state, losses


def by_columns(path, leaf):
    """The large matrix and its moments are divided over the devices."""
    return P(None, "data") if np.shape(leaf) == (288, 64) else P()


def train_nnx(mesh):
    """The newer interface of flax, with a batch in two parts and random numbers."""

    class Classifier(nnx.Module):
        def __init__(self, rngs):
            self.first = nnx.Linear(144, 64, rngs=rngs)
            self.dropout = nnx.Dropout(0.1, rngs=rngs)
            self.last = nnx.Linear(64, 4, rngs=rngs)

        def __call__(self, x):
            return self.last(self.dropout(nnx.relu(self.first(x))))

    model = Classifier(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)

    @nnx.jit
    def step(model, optimizer, x, y):
        def loss_of(model):
            return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()

        loss, gradients = nnx.value_and_grad(loss_of)(model)
        optimizer.update(model, gradients)
        return loss

    state = nnx.state((model, optimizer))
    nnx.update((model, optimizer), jax.device_put(state, NamedSharding(mesh, P())))
    losses = []
    for n in range(STEPS):
        images, labels = make_images(64, seed=n)
        batch = (images.reshape(64, -1), labels)
        losses.append(
            float(step(model, optimizer, *jax.device_put(batch, NamedSharding(mesh, P("data")))))
        )
    return losses


def main():
    devices = jax.devices()[:2]
    assert [device.platform for device in devices] == ["xpu", "xpu"], devices

    state, losses = train(devices)
    print(f"two devices: loss {losses[0]:.4f} to {losses[-1]:.4f}", flush=True)
    assert losses[-1] < 0.3 * losses[0]
    for leaf in jax.tree.leaves(state.params):
        assert leaf.sharding.device_set == set(devices)

    for name, others in {
        "one device": train(devices[:1]),
        "the CPU": train(jax.devices("cpu")[:1]),
        "weights in two parts": train(devices, by_columns),
    }.items():
        distance = np.abs(np.subtract(losses, others[1])).max()
        print(f"{name}: losses differ by {distance:.1e}", flush=True)
        assert distance < 2e-3, name
    sharded = others[0].params["Dense_0"]["kernel"]
    assert [piece.data.shape for piece in sharded.addressable_shards] == [(288, 32)] * 2

    images, labels = make_images(256, seed=1000)
    logits = state.apply_fn({"params": state.params}, images)
    accuracy = float((logits.argmax(-1) == labels).mean())
    print(f"accuracy {accuracy:.3f}")
    assert accuracy > 0.9

    losses = train_nnx(Mesh(np.array(devices), ("data",)))
    print(f"nnx: loss {losses[0]:.4f} to {losses[-1]:.4f}")
    assert losses[-1] < 0.5 * losses[0]


if __name__ == "__main__":
    main()

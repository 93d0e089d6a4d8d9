"""Run out of memory, and go on: the largest batch that fits is found by trying."""

import gc

import jax
import jax.numpy as jnp
import torch
from torch import nn

# JAX raises a ValueError if it has compiled the call before.
JAX_ERRORS = (jax.errors.JaxRuntimeError, ValueError)

MIB = 1 << 20
LIMIT = 256 * MIB
WIDTH = 256


def step(model, optimizer, batch):
    x = torch.randn(batch, WIDTH, device="xpu")
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


def find_batch(model, optimizer):
    batch, messages = 1024, []
    while True:
        try:
            step(model, optimizer, batch)
        except torch.OutOfMemoryError as error:
            messages.append(str(error))
            optimizer.zero_grad()
            torch.xpu.empty_cache()
            return batch // 2, messages
        batch *= 2


def pytorch():
    total = torch.xpu.get_device_properties().total_memory
    torch.xpu.set_per_process_memory_fraction(LIMIT / total)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH)).to("xpu")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step(model, optimizer, 8)
    before = torch.xpu.memory_allocated()

    batch, messages = find_batch(model, optimizer)
    print(f"largest batch {batch}: {messages[-1]}")
    assert 1024 <= batch <= LIMIT // (4 * WIDTH)
    assert "MiB" in messages[-1] or "GiB" in messages[-1]
    assert torch.xpu.memory_allocated() <= before + MIB
    assert torch.xpu.max_memory_allocated() <= LIMIT
    losses = [step(model, optimizer, batch) for _ in range(5)]
    assert losses[-1] < losses[0]

    # Each request alone is too large; nothing is lost by it.
    for size in (2 * LIMIT, 1 << 45, 1 << 60):
        try:
            torch.empty(size, dtype=torch.uint8, device="xpu")
        except torch.OutOfMemoryError as error:
            assert "memory" in str(error)
        else:
            raise AssertionError(f"{size} bytes were given")
    assert torch.ones(3, device="xpu").sum().item() == 3

    # Many small pieces, until none is left; then all are given back.
    held = []
    try:
        while True:
            held.append(torch.ones(MIB, device="xpu"))
    except torch.OutOfMemoryError:
        pass
    assert 25 < len(held) <= LIMIT // (4 * MIB)
    assert all(block[-1].item() == 1 for block in held)
    held.clear()
    torch.xpu.empty_cache()
    assert torch.xpu.memory_reserved() < LIMIT // 2
    return model


def both(model):
    """JAX has the same pool, so its arrays count, and its error is its own."""
    arrays = []
    try:
        while True:
            arrays.append(jnp.ones(4 * MIB).block_until_ready())
    except JAX_ERRORS as error:
        assert "RESOURCE_EXHAUSTED" in str(error), error
        print(str(error).splitlines()[0])
    assert arrays
    try:
        torch.empty(LIMIT // 2, dtype=torch.uint8, device="xpu")
    except torch.OutOfMemoryError as error:
        assert "jax" in str(error).lower(), error
    else:
        raise AssertionError("the arrays of JAX were not counted")
    arrays.clear()
    gc.collect()

    @jax.jit
    def large(x):
        return jnp.sort(jnp.broadcast_to(x, (1 << 29,)))

    try:
        large(jnp.ones(())).block_until_ready()
    except JAX_ERRORS as error:
        assert "RESOURCE_EXHAUSTED" in str(error), error
    else:
        raise AssertionError("2 GiB fit in 256 MiB")
    assert float(jnp.arange(10.0).sum()) == 45
    assert model(torch.zeros(2, WIDTH, device="xpu")).isfinite().all().item()


def main():
    both(pytorch())


if __name__ == "__main__":
    main()

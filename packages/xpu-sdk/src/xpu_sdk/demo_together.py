"""PyTorch and JAX on one device: an array of one is a tensor of the other, in the same memory."""

from __future__ import annotations

from importlib.util import find_spec

from .commands.demo import Stage


def run(stage: Stage) -> None:
    """Prepare images with JAX for a PyTorch network, without a copy or a wait."""
    missing = [name for name in ("torch_xpu", "xla_xpu") if find_spec(name) is None]
    if missing:
        stage.say(f"Not installed: {', '.join(missing)}. pip install xpu-sdk[all]")
        return
    import jax
    import torch

    images = jax.random.normal(jax.random.key(0), (64, 3, 32, 32))
    prepared = jax.jit(
        lambda x: (x - x.mean((2, 3), keepdims=True)) / (x.std((2, 3), keepdims=True))
    )(images)
    tensor = torch.from_dlpack(prepared)
    same = tensor.data_ptr() == prepared.unsafe_buffer_pointer()
    stage.result("JAX's array as PyTorch's tensor", f"{tensor.device}, same memory: {same}", same)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten()).to(
        "xpu"
    )
    features = net(tensor).detach()
    back = jax.dlpack.from_dlpack(features)
    same = back.unsafe_buffer_pointer() == features.data_ptr()
    stage.result("and the other way round", f"{back.shape}, same memory: {same}", same)
    close = abs(float(back.sum()) - float(features.sum())) <= 1e-3 * abs(float(features.sum()))
    stage.result("the same numbers", f"sum {float(back.sum()):.3f}", close)

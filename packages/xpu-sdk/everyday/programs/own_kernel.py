"""One kernel of one's own, as an operator of PyTorch and as a function of JAX, each with a gradient."""

import jax
import jax.numpy as jnp
import numpy as np
import torch
import xpu_runtime as xr
from jax.experimental.buffer_callback import buffer_callback

SOURCE = """
#include <xpu/core.h>
#include <xpu/exp.h>

// y = x * sigmoid(beta * x)
XPU_KERNEL(1) swish(xpu::global<const float> x, xpu::global<float> y, float beta, long n) {
  long i = xpu::global_id();
  if (i < n) y[i] = x[i] / (1.0f + xpu::exp(-beta * x[i]));
}

XPU_KERNEL(1) swish_backward(xpu::global<const float> x, xpu::global<const float> dy,
                             xpu::global<float> dx, float beta, long n) {
  long i = xpu::global_id();
  if (i >= n) return;
  float s = 1.0f / (1.0f + xpu::exp(-beta * x[i]));
  dx[i] = dy[i] * (s + beta * x[i] * s * (1.0f - s));
}
"""
MODULE = xr.compile(SOURCE)
GROUP = 128


def launch(name, arrays, beta, n):
    items = -(-n // GROUP) * GROUP
    arguments = [*arrays, np.float32(beta), np.int64(n)]
    xr.launch(MODULE.kernel(name), items, GROUP, arguments)


# For PyTorch: a custom operator, which autograd and torch.compile know.


@torch.library.custom_op("everyday::swish", mutates_args=())
def swish(x: torch.Tensor, beta: float) -> torch.Tensor:
    x = x.contiguous()
    y = torch.empty_like(x)
    launch("swish", [x, y], beta, x.numel())
    return y


@torch.library.custom_op("everyday::swish_backward", mutates_args=())
def swish_backward(x: torch.Tensor, dy: torch.Tensor, beta: float) -> torch.Tensor:
    x, dy = x.contiguous(), dy.contiguous()
    dx = torch.empty_like(x)
    launch("swish_backward", [x, dy, dx], beta, x.numel())
    return dx


@swish.register_fake
def _(x, beta):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@swish_backward.register_fake
def _(x, dy, beta):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def save(ctx, inputs, output):
    x, ctx.beta = inputs
    ctx.save_for_backward(x)


def backward(ctx, dy):
    (x,) = ctx.saved_tensors
    return swish_backward(x, dy, ctx.beta), None


swish.register_autograd(backward, setup_context=save)


# For JAX: calls inside of jit, with a derivative of their own.


def call(name, *arrays, beta):
    def run(context, out, *inputs):
        tensors = [torch.from_dlpack(x) for x in (*inputs, out)]
        launch(name, tensors, beta, tensors[0].numel())

    shape = jax.ShapeDtypeStruct(arrays[0].shape, arrays[0].dtype)
    return buffer_callback(run, shape)(*arrays)


@jax.custom_vjp
def jax_swish(x):
    return call("swish", x, beta=2.0)


jax_swish.defvjp(
    lambda x: (jax_swish(x), x),
    lambda x, dy: (call("swish_backward", x, dy, beta=2.0),),
)


def reference(x):
    return x * torch.sigmoid(2.0 * x)


def main():
    torch.manual_seed(0)
    x = torch.randn(37, 29, device="xpu", requires_grad=True)
    on_cpu = x.detach().cpu().requires_grad_()
    reference(on_cpu).square().sum().backward()
    expected = reference(on_cpu.detach())

    swish(x, 2.0).square().sum().backward()
    torch.testing.assert_close(swish(x.detach(), 2.0).cpu(), expected)
    torch.testing.assert_close(x.grad.cpu(), on_cpu.grad)
    torch.library.opcheck(swish, (torch.randn(5, 3, device="xpu", requires_grad=True), 2.0))

    @torch.compile(fullgraph=True)
    def compiled(x):
        return (swish(x * 1.0, 2.0) + 0.0).square().sum()

    x.grad = None
    compiled(x).backward()
    torch.testing.assert_close(x.grad.cpu(), on_cpu.grad)
    torch.testing.assert_close(swish(x.detach().t(), 2.0).cpu(), expected.t())

    array = jnp.asarray(on_cpu.detach().numpy())
    value, gradient = jax.jit(jax.value_and_grad(lambda x: jnp.sum(jax_swish(x) ** 2)))(array)
    np.testing.assert_allclose(value, expected.square().sum().item(), rtol=1e-5)
    np.testing.assert_allclose(gradient, on_cpu.grad.numpy(), rtol=1e-4, atol=1e-5)

    # Both learn the same weights with it.
    target = torch.randn(64, 4, generator=torch.Generator().manual_seed(1)).numpy()
    inputs = torch.randn(64, 8, generator=torch.Generator().manual_seed(2)).numpy()
    weights = torch.randn(8, 4, generator=torch.Generator().manual_seed(3)).numpy()

    parameter = torch.tensor(weights, device="xpu", requires_grad=True)
    optimizer = torch.optim.SGD([parameter], lr=0.05)
    for _ in range(30):
        optimizer.zero_grad()
        outputs = swish(torch.tensor(inputs, device="xpu") @ parameter, 2.0)
        loss = (outputs - torch.tensor(target, device="xpu")).square().mean()
        loss.backward()
        optimizer.step()

    @jax.jit
    def step(weights):
        gradient = jax.grad(lambda w: jnp.mean((jax_swish(inputs @ w) - target) ** 2))(weights)
        return weights - 0.05 * gradient

    learned = jnp.asarray(weights)
    for _ in range(30):
        learned = step(learned)
    print(f"loss {loss.item():.4f}")
    np.testing.assert_allclose(learned, parameter.detach().cpu().numpy(), atol=1e-4)

    # A mistake in a kernel is an error that shows the line.
    try:
        xr.compile(SOURCE.replace("-beta * x[i]", "-gamma * x[i]")).kernel("swish")
    except xr.CompileError as error:
        assert "gamma" in str(error)
    else:
        raise AssertionError("a kernel with an unknown name was compiled")


if __name__ == "__main__":
    main()

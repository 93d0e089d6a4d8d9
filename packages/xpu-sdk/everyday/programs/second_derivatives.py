"""Functions of one framework inside the other, differentiated twice."""

import jax
import jax.numpy as jnp
import numpy as np
import torch
from xpu_sdk.interop import jax_function, to_jax, to_torch, torch_function


def close(found, expected, tolerance=2e-4):
    np.testing.assert_allclose(np.asarray(found), expected, rtol=tolerance, atol=tolerance)


def penalty_on_gradients():
    """A network of PyTorch learns an energy of JAX by its gradient: the loss has second derivatives."""

    def energy(x, scale):
        return jnp.sum(jnp.cos(x * scale) + 0.5 * x**2, axis=-1)

    wrapped = torch_function(energy)
    x = torch.linspace(-1, 1, 12, device="xpu").reshape(4, 3).requires_grad_()
    scale = torch.tensor(1.5, device="xpu", requires_grad=True)
    (force,) = torch.autograd.grad(wrapped(x, scale).sum(), x, create_graph=True)
    (force**2).sum().backward()

    values = x.detach().cpu().numpy()

    def penalty(x, scale):
        return jnp.sum(jax.grad(lambda x: energy(x, scale).sum())(x) ** 2)

    by_x, by_scale = jax.grad(penalty, (0, 1))(values, 1.5)
    close(force.detach().cpu(), -1.5 * np.sin(1.5 * values) + values)
    close(x.grad.cpu(), by_x)
    close(scale.grad.cpu(), by_scale)


def hessian_in_pytorch():
    """torch.autograd's Hessian of a function of JAX."""
    matrix = np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32)
    function = torch_function(lambda x: jnp.sum(jnp.tanh(jnp.asarray(matrix) @ x)))
    x = torch.tensor([0.1, -0.2, 0.3, 0.4], device="xpu")
    found = torch.autograd.functional.hessian(function, x)
    expected = jax.hessian(lambda x: jnp.sum(jnp.tanh(matrix @ x)))(np.asarray(x.cpu()))
    close(found.cpu(), expected)


def hessian_in_jax():
    """JAX's second derivatives of a module of PyTorch."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    net.to("xpu")
    parameters = to_jax(dict(net.named_parameters()))
    run = jax_function(lambda p, x: torch.func.functional_call(net, p, (x,)).sum())
    x = jnp.array([0.5, -1.0, 0.25])

    def plain(p, x):
        hidden = jnp.tanh(p["0.weight"] @ x + p["0.bias"])
        return (p["2.weight"] @ hidden + p["2.bias"]).sum()

    gradient = jax.grad(run, argnums=1)
    close(gradient(parameters, x), jax.grad(plain, argnums=1)(parameters, x))

    def slope(function):
        return lambda p, x: jnp.sum(jax.grad(function, argnums=1)(p, x) ** 2)

    found = jax.grad(slope(run), argnums=(0, 1))(parameters, x)
    expected = jax.grad(slope(plain), argnums=(0, 1))(parameters, x)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        close(one, other)


def equation_of_heat():
    """A network of PyTorch solves u'' = -sin(x) with u = 0 at both ends; JAX has the equation."""
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(1, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
    net.to("xpu")
    source = torch_function(lambda x: -jnp.sin(x))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    x = torch.linspace(0, np.pi, 33, device="xpu")[:, None].requires_grad_()
    losses = []
    for _ in range(400):
        u = net(x) * x * (np.pi - x)
        (first,) = torch.autograd.grad(u.sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
        loss = (second - source(x.detach())).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    error = (u - torch.sin(x)).abs().max().item()
    print(f"residual {losses[0]:.4f} to {losses[-1]:.6f}, error {error:.4f}")
    assert losses[-1] < 0.02 * losses[0]
    assert error < 0.05


def main():
    tree = {"a": torch.ones(2, 3, device="xpu"), "b": [torch.zeros(1, device="xpu"), 3]}
    back = to_torch(to_jax(tree))
    assert back["a"].data_ptr() == tree["a"].data_ptr()
    assert back["b"][1] == 3
    penalty_on_gradients()
    hessian_in_pytorch()
    hessian_in_jax()
    equation_of_heat()


if __name__ == "__main__":
    main()

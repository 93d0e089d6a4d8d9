"""Derivatives of any order through functions of the other framework, and transformations of them."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from test_interop import tensor
from torch.autograd import forward_ad
from xpu_sdk.interop import jax_function, to_jax, to_torch, torch_function

pytestmark = [
    pytest.mark.values,
    # PyTorch's own rules of forward mode use it.
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
]


def close(got, expected, rtol=1e-4):
    torch.testing.assert_close(got.detach().cpu(), expected.detach().cpu(), rtol=rtol, atol=1e-4)


def potential(x, w, library):
    return library.sum(library.sin(x * w) * x**3)


from_jax = torch_function(lambda x, w: potential(x, w, jnp))
from_torch = jax_function(lambda x, w: potential(x, w, torch))


def of_torch(x, w):
    return potential(x, w, torch)


def energy_and_forces_loss(function, x, w):
    energy = function(x, w)
    (gradient,) = torch.autograd.grad(energy, x, create_graph=True)
    return energy**2 + ((-gradient - 1) ** 2).sum()


def test_a_loss_on_energy_and_forces():
    x, w = tensor(5), tensor(5, seed=1)
    given = [energy_and_forces_loss(f, x, w) for f in (from_jax, of_torch)]
    close(*given)
    for got, expected in zip(*(torch.autograd.grad(loss, (x, w)) for loss in given), strict=True):
        close(got, expected)

    def loss(x, w, function):
        energy, gradient = jax.value_and_grad(function)(x, w)
        return energy**2 + jnp.sum((-gradient - 1) ** 2)

    arrays = to_jax((x, w))
    for function in (from_torch, lambda x, w: potential(x, w, jnp)):
        found = to_torch(jax.grad(loss, (0, 1))(*arrays, function))
        for got, expected in zip(found, torch.autograd.grad(
            energy_and_forces_loss(of_torch, x, w), (x, w)
        ), strict=True):  # fmt: skip
            close(got, expected)


def test_a_scalar_with_a_known_second_derivative():
    """The loss (3 w x^2)^2 at x = 3, w = 2: its derivative is 18 w x^4."""
    w = torch.tensor(2.0, device="xpu", requires_grad=True)
    x = torch.tensor(3.0, device="xpu", requires_grad=True)
    energy = torch_function(lambda x, w: w * x**3)(x, w)
    (force,) = torch.autograd.grad(energy, x, create_graph=True)
    (force**2).backward()
    assert w.grad.item() == pytest.approx(18 * 2 * 81, rel=1e-5)


def test_third_order():
    x = tensor(4)
    values = x
    for _ in range(3):
        if values is x:
            values = torch_function(lambda x: jnp.exp(x) * x**3)(x)
        (values,) = torch.autograd.grad(values.sum(), x, create_graph=True)
    expected = x
    for _ in range(3):
        if expected is x:
            expected = torch.exp(x) * x**3
        (expected,) = torch.autograd.grad(expected.sum(), x, create_graph=True)
    close(values, expected)

    function = jax_function(lambda x: torch.exp(x) * x**3)
    for _ in range(3):
        function = jax.grad(lambda x, f=function: jnp.sum(f(x)))
    close(to_torch(function(to_jax(x))), expected)


TRANSFORMATIONS = {
    "grad": lambda f: torch.func.grad(f),
    "grad of grad": lambda f: torch.func.grad(lambda x, w: torch.func.grad(f)(x, w).sum()),
    "hessian": lambda f: torch.func.hessian(f),
    "jacfwd": lambda f: torch.func.jacfwd(f),
    "jacrev of jacrev": lambda f: torch.func.jacrev(torch.func.jacrev(f)),
    "vmap": lambda f: torch.func.vmap(f, in_dims=(0, None)),
    "vmap of grad": lambda f: torch.func.vmap(torch.func.grad(f, argnums=1), in_dims=(1, None)),
    "nested vmap": lambda f: torch.func.vmap(torch.func.vmap(f, (0, None)), (None, 0)),
    "jvp": lambda f: lambda x, w: torch.func.jvp(f, (x, w), (w, x))[1],
    "jvp of vmap": lambda f: (
        lambda x, w: torch.func.jvp(lambda x: torch.func.vmap(f, (0, None))(x, w), (x,), (x,))[1]
    ),
}


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_transformations_of_pytorch(name):
    transform = TRANSFORMATIONS[name]
    x, w = tensor(3, 3, grad=False), tensor(3, 3, grad=False, seed=1)
    if "vmap" not in name:
        x, w = x[0], w[0]
    close(transform(from_jax)(x, w), transform(of_torch)(x, w))


def test_hessians_and_dual_tensors_without_torch_func():
    x = tensor(3)
    got, expected = (
        torch.autograd.functional.hessian(lambda x, f=f: f(x, x), x) for f in (from_jax, of_torch)
    )
    close(got, expected)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x.detach(), torch.ones_like(x))
        got, expected = (
            forward_ad.unpack_dual(f(dual, dual)).tangent for f in (from_jax, of_torch)
        )
        close(got, expected)


def test_trees_numbers_and_arguments_without_gradients():
    @torch_function
    def parts(tree, scale, count):
        y = tree["x"] * tree["frozen"].astype(jnp.float32) * scale + count
        return {"y": (y, jnp.argmax(y)), "z": [jnp.sum(tree["half"]) * y.sum().astype(jnp.float16)]}

    x, frozen = tensor(4), torch.arange(4, device="xpu")
    half = tensor(2, seed=2).detach().half().requires_grad_()
    unused = tensor(3, grad=False)
    results = parts({"x": x, "frozen": frozen, "half": half, "unused": unused}, 0.5, 3)
    assert results["y"][1].item() == int((x * frozen).argmax())
    assert not results["y"][1].requires_grad
    loss = (results["y"][0] ** 2).sum() + results["z"][0].float()
    gradients = torch.autograd.grad(loss, (x, half), create_graph=True)
    y = x * frozen * 0.5 + 3
    expected = torch.autograd.grad(
        (y**2).sum() + (half.sum() * y.sum().half()).float(), (x, half), create_graph=True
    )
    assert gradients[1].dtype == torch.float16
    for got, right in zip(gradients, expected, strict=True):
        torch.testing.assert_close(got, right, rtol=1e-2, atol=1e-2)
    second, right = (torch.autograd.grad(g[0].sum(), x)[0] for g in (gradients, expected))
    close(second, right)


def test_numbers_and_integers_of_a_function_of_pytorch():
    run = jax_function(lambda x, scale, n: {"y": (x * scale) ** n, "best": x.argmax()})
    x = jnp.arange(1.0, 4.0)
    first = jax.grad(lambda x: jnp.sum(run(x, 0.5, 3)["y"]))
    np.testing.assert_allclose(first(x), 3 * 0.125 * x**2, rtol=1e-5)
    np.testing.assert_allclose(jax.grad(lambda x: first(x).sum())(x), 6 * 0.125 * x, rtol=1e-5)


def test_a_pullback_of_jax_is_called_twice():
    x = to_jax(tensor(3, grad=False))
    _, pull = jax.vjp(jax_function(torch.sin), x)
    for factor in (1.0, 2.0):
        np.testing.assert_allclose(pull(factor * x)[0], jnp.cos(x) * factor * x, rtol=1e-5)
    second = jax.grad(lambda given: jnp.sum(pull(given)[0] ** 2))(x)
    np.testing.assert_allclose(second, 2 * x * jnp.cos(x) ** 2, rtol=1e-4)


def test_gradients_of_complex_numbers():
    """The two frameworks' gradients of a complex number are conjugates of each other."""
    z = torch.complex(tensor(3, grad=False), tensor(3, grad=False, seed=1)).requires_grad_()
    w = torch.complex(tensor(3, grad=False, seed=2), tensor(3, grad=False, seed=3))

    def value(z, w):
        return (abs(z * w + z**2) ** 2).sum()

    (expected,) = torch.autograd.grad(value(z, w), z)
    (got,) = torch.autograd.grad(torch_function(value)(z, w), z)
    close(got, expected)
    (lazily_conjugate,) = torch.autograd.grad(torch_function(value)(z.conj(), w.conj()), z)
    close(lazily_conjugate, expected)
    arrays = to_jax((z, w))
    of_jax = jax.grad(value)(*arrays)
    np.testing.assert_allclose(jax.grad(jax_function(value))(*arrays), of_jax, rtol=1e-4)


def test_changed_inputs_are_noticed():
    x = tensor(3)
    y = x * 1
    result = torch_function(lambda x: x**2)(y)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


# Dynamo looks at the attribute of each tensor at which a graph begins.
@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")
def test_a_compiled_function_breaks_the_graph():
    f = torch_function(lambda x: jnp.sin(x) * 2)
    compiled = torch.compile(lambda x: f(x + 1).cos().sum(), backend="eager")
    x = tensor(4)
    (got,) = torch.autograd.grad(compiled(x), x)
    (expected,) = torch.autograd.grad((torch.sin(x + 1) * 2).cos().sum(), x)
    close(got, expected)
    whole = torch.compile(lambda x: f(x + 1), backend="eager", fullgraph=True)
    with pytest.raises(torch._dynamo.exc.Unsupported, match="of JAX"):
        whole(x)


def test_dynamo_is_not_imported_for_calls():
    code = (
        "import sys, torch; from xpu_sdk.interop import torch_function\n"
        "x = torch.ones(2, requires_grad=True)\n"
        "torch_function(lambda x: x * 2)(x).sum().backward()\n"
        "assert x.grad.tolist() == [2, 2]\n"
        "assert 'torch._dynamo' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


@pytest.mark.cpu_device
def test_a_device_that_is_not_current(child):
    code = """
    import jax, jax.numpy as jnp, torch
    from xpu_sdk.interop import jax_function, to_jax, torch_function
    x = torch.arange(1.0, 4.0, device="xpu:1", requires_grad=True)
    assert torch.xpu.current_device() == 0
    y = torch_function(lambda x: x**3 * 2.0)(x)
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert y.device == first.device == second.device == x.device
    assert second.tolist() == [12, 24, 36]
    assert torch.func.hessian(torch_function(lambda x: jnp.sum(x**3)))(x).device == x.device
    first = jax.grad(lambda x: jnp.sum(jax_function(lambda x: x**3)(x)))
    second = jax.grad(lambda x: jnp.sum(first(x)))(to_jax(x))
    assert second.devices() == {jax.devices()[1]}
    assert second.tolist() == [6, 12, 18]
    """
    child(code, env={"XPU_CPU_DEVICES": "2"}).check()

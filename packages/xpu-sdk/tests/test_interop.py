"""Functions of JAX in PyTorch's graphs, and the reverse."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from xpu_sdk.interop import jax_function, to_jax, to_torch, torch_function

pytestmark = pytest.mark.values


def tensor(*shape, seed=0, grad=True):
    values = np.random.default_rng(seed).standard_normal(shape, np.float32)
    return torch.from_numpy(values).to("xpu").requires_grad_(grad)


def test_trees_share_memory():
    tree = {"a": tensor(3, 4), "b": [tensor(2), 5]}
    arrays = to_jax(tree)
    assert arrays["a"].unsafe_buffer_pointer() == tree["a"].data_ptr()
    assert arrays["b"][1] == 5
    assert to_torch(arrays)["b"][0].data_ptr() == tree["b"][0].data_ptr()


def test_what_is_not_contiguous_is_copied():
    x = tensor(3, 4).T
    np.testing.assert_array_equal(np.asarray(to_jax(x)), x.detach().cpu().numpy())


def test_a_function_of_jax_in_a_graph_of_pytorch():
    @torch_function
    def attention(parts, scale):
        weights = jax.nn.softmax(parts["q"] @ parts["k"].T * scale)
        return {"out": weights @ parts["k"], "best": jnp.argmax(weights, -1)}

    q, k = tensor(5, 8), tensor(6, 8, seed=1)
    results = attention({"q": q * 2, "k": k}, 0.5)
    (results["out"] ** 2).sum().backward()

    p, m = (t.detach().cpu().requires_grad_() for t in (q, k))
    weights = torch.softmax(p * 2 @ m.T * 0.5, -1)
    ((weights @ m) ** 2).sum().backward()
    torch.testing.assert_close(results["out"].cpu(), weights @ m)
    assert results["best"].tolist() == weights.argmax(-1).tolist()
    assert not results["best"].requires_grad
    torch.testing.assert_close(q.grad.cpu(), p.grad)
    torch.testing.assert_close(k.grad.cpu(), m.grad)


def test_indices_have_no_gradient():
    rows = torch_function(lambda table, index: table[index])
    table, index = tensor(4, 3), torch.tensor([1, 1, 3], dtype=torch.int32, device="xpu")
    rows(table, index).sum().backward()
    assert table.grad.sum(1).tolist() == [0, 6, 0, 3]


def test_compiled_once():
    traced = []

    @torch_function
    def double(x):
        traced.append(1)
        return x * 2

    for seed in range(4):
        double(tensor(3, seed=seed)).sum().backward()
    assert len(traced) == 1
    with torch.no_grad():
        assert not double(tensor(3)).requires_grad


def test_a_module_of_pytorch_in_a_gradient_of_jax():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 1)).to(
        "xpu"
    )
    parameters = dict(net.named_parameters())
    run = jax_function(lambda p, x: torch.func.functional_call(net, p, (x,)))

    x = to_jax(tensor(5, 4, grad=False))
    arrays = to_jax(parameters)
    loss, (gradients, of_x) = jax.value_and_grad(
        lambda p, x: jnp.sum(jnp.tanh(run(p, x)) ** 2), argnums=(0, 1)
    )(arrays, x)

    given = to_torch(x).requires_grad_()
    expected = (torch.tanh(net(given)) ** 2).sum()
    expected.backward()
    assert float(loss) == pytest.approx(expected.item(), rel=1e-5)
    torch.testing.assert_close(to_torch(of_x), given.grad, rtol=1e-4, atol=1e-5)
    for name, parameter in parameters.items():
        torch.testing.assert_close(to_torch(gradients[name]), parameter.grad, rtol=1e-4, atol=1e-5)


def test_an_unused_argument_has_a_gradient_of_zero():
    run = jax_function(lambda x, n, y: x * n)
    gradient = jax.grad(lambda x, y: jnp.sum(run(x, 3, y)), argnums=(0, 1))(
        jnp.ones(2), jnp.ones(3)
    )
    assert [g.tolist() for g in gradient] == [[3, 3], [0, 0, 0]]


def test_results_that_do_not_depend_on_the_arguments():
    run = jax_function(lambda x: {"ones": torch.ones_like(x), "best": x.argmax()})
    gradient = jax.grad(lambda x: jnp.sum(run(x)["ones"]))(jnp.arange(3.0))
    assert gradient.tolist() == [0, 0, 0]


def test_pytorch_inside_of_jit_is_refused():
    run = jax_function(torch.sin)
    with pytest.raises(TypeError, match="outside"):
        jax.jit(run)(jnp.ones(3))


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_compiled_functions_of_both_frameworks_on_the_same_memory():
    """Work of one follows the other's, without a wait of the host."""
    compiled, jitted = torch.compile(lambda x: x.sin() + 1), jax.jit(lambda x: x * 2)
    x = tensor(1000, grad=False)
    expected = x.cpu()
    for _ in range(5):
        x = to_torch(jitted(to_jax(compiled(x))))
        expected = (expected.sin() + 1) * 2
    torch.testing.assert_close(x.cpu(), expected, rtol=1e-4, atol=1e-4)

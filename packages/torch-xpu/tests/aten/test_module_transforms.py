"""Function transforms, fake tensors and export of PyTorch's own samples of its modules, beside the CPU."""

import copy

import pytest
import torch
from operators import on
from torch import func
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.testing._internal.common_modules import module_db
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from torch_xpu.torch_version import RELEASE

pytestmark = [pytest.mark.values, pytest.mark.filterwarnings("ignore")]


def tensors(tree) -> list[torch.Tensor]:
    return [t for t in tree_leaves(tree) if isinstance(t, torch.Tensor)]


def call_of(module, arguments):
    """The module as a function of its floating point arguments, and those."""
    leaves, tree = tree_flatten(arguments)
    places = [
        i for i, t in enumerate(leaves) if isinstance(t, torch.Tensor) and t.is_floating_point()
    ]

    def function(*values):
        given = list(leaves)
        for place, value in zip(places, values, strict=True):
            given[place] = value
        args, kwargs = tree_unflatten(given, tree)
        return tuple(tensors(module(*args, **kwargs)))

    return function, [leaves[i].detach() for i in places]


def forward_derivative(module, arguments):
    function, values = call_of(module, arguments)
    if not values:
        return module(*arguments[0], **arguments[1])
    directions = tuple(torch.linspace(-1, 1, v.numel()).reshape(v.shape).to(v) for v in values)
    return func.jvp(function, tuple(values), directions)


def of_each(module, arguments):
    function, values = call_of(module, arguments)
    if not values:
        return module(*arguments[0], **arguments[1])
    return func.vmap(function)(*(torch.stack([v, v.flip(0) if v.dim() else -v]) for v in values))


def gradients_of_each(module, arguments):
    function, values = call_of(module, arguments)
    if not values:
        return module(*arguments[0], **arguments[1])

    def loss(*inputs):
        return sum(t.square().sum() for t in function(*inputs) if t.is_floating_point())

    each = func.vmap(func.grad(loss, tuple(range(len(values)))))
    return each(*(torch.stack([v, v.flip(0) if v.dim() else -v]) for v in values))


def exported(module, arguments):
    args, kwargs = arguments
    return torch.export.export(module, args, kwargs).module()(*args, **kwargs)


def layouts(module, arguments):
    """What fake tensors say of the results, held against the real ones."""
    real = tensors(module(*arguments[0], **arguments[1]))
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        args, kwargs = tree_map(
            lambda t: mode.from_tensor(t) if isinstance(t, torch.Tensor) else t, arguments
        )
        fake = tensors(module(*args, **kwargs))
    described = [[(t.shape, t.stride(), t.dtype, t.device) for t in side] for side in (fake, real)]
    assert described[0] == described[1]
    return real


TRANSFORMS = (forward_derivative, of_each, gradients_of_each, exported, layouts)
# What PyTorch cannot do on the CPU either.
NOWHERE = {
    *((f"nn.{n}", forward_derivative) for n in ("MultiLabelMarginLoss", "MultiMarginLoss", "LSTM")),
    *(
        (f"nn.Transformer{n}", forward_derivative)
        for n in ("", "Encoder", "EncoderLayer", "DecoderLayer")
    ),
    *((f"nn.{n}", of_each) for n in ("LSTMCell", "RNN", "GRU", "LSTM")),
    *((f"nn.{n}", gradients_of_each) for n in ("RNN", "GRU", "SoftMarginLoss")),
    ("nn.SoftMarginLoss", forward_derivative),
    *(("nn.GaussianNLLLoss", t) for t in (of_each, gradients_of_each, exported, layouts)),
    *(("nn.CTCLoss", t) for t in (forward_derivative, gradients_of_each, exported, layouts)),
}
# Devices use fused cells: PyTorch has no forward derivative of them, on CUDA neither; fake ones want biases.
REFUSED = {
    *(("nn.GRUCell", forward_derivative), ("nn.LSTMCell", forward_derivative)),
    ("nn.GRU", forward_derivative),
}
if RELEASE < (2, 15):
    REFUSED.add(("nn.LSTM", layouts))


def outcome(transform, module, arguments):
    """The results, or the error where there is no such transform of a module."""
    torch.manual_seed(5)
    try:
        return [t.detach() for t in tensors(transform(module, arguments))]
    except Exception as e:  # noqa: BLE001 any refusal is one
        return e


def made(info):
    """A module and the arguments of its first sample, on the CPU."""
    dtype = torch.float64 if "Fractional" in info.name else torch.float32
    samples = info.module_inputs_func(info, "cpu", dtype, requires_grad=False, training=False)
    sample = next(iter(samples))
    built, given = sample.constructor_input, sample.forward_input
    torch.manual_seed(2)
    module = info.module_cls(*built.args, **built.kwargs).to(dtype).train(False)
    if any(isinstance(p, torch.nn.UninitializedParameter) for p in module.parameters()):
        module(*given.args, **given.kwargs)
    return module.requires_grad_(False), (given.args, given.kwargs)


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda t: t.__name__)
@pytest.mark.parametrize("info", module_db, ids=lambda i: i.formatted_name)
def test_as_on_the_cpu(info, transform):
    module, arguments = made(info)
    expected = outcome(transform, copy.deepcopy(module), arguments)
    got = outcome(transform, module.to("xpu"), on("xpu", arguments, False))
    if (info.name, transform) in REFUSED:
        assert isinstance(got, (NotImplementedError, AttributeError)), "take it off the list"
    elif isinstance(expected, Exception):
        assert (info.name, transform) in NOWHERE, expected
    else:
        assert not isinstance(got, Exception), got
        torch.testing.assert_close(
            [t.cpu() for t in got], expected, rtol=2e-4, atol=2e-5, equal_nan=True
        )

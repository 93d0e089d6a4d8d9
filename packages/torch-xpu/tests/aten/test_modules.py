"""PyTorch's own samples of its modules, forward and backward, on xpu beside the CPU."""

import copy
from itertools import islice

import pytest
import torch
from operators import on
from torch.testing._internal.common_modules import module_db
from torch.utils._pytree import tree_leaves

pytestmark = [pytest.mark.values, pytest.mark.filterwarnings("ignore")]
SAMPLES = 6


def tensors(tree) -> list[torch.Tensor]:
    return [t for t in tree_leaves(tree) if isinstance(t, torch.Tensor)]


def run(module: torch.nn.Module, sample, device: str) -> list[torch.Tensor | None]:
    """Results, gradients of parameters, gradients of inputs."""
    arguments = on(device, (sample.args, sample.kwargs), True)
    torch.manual_seed(5)
    results = tensors(module(*arguments[0], **arguments[1]))
    ends = [t for t in results if t.requires_grad]
    sources = [t for t in [*module.parameters(), *tensors(arguments)] if t.requires_grad]
    if not ends or not sources:
        return results
    weights = [torch.linspace(-1, 1, t.numel()).reshape(t.shape).to(device, t.dtype) for t in ends]
    return [*results, *torch.autograd.grad(ends, sources, weights, allow_unused=True)]


CASES = [
    pytest.param(info, training, id=f"{info.formatted_name}-{'train' if training else 'eval'}")
    for info in module_db
    for training in ((True, False) if info.train_and_eval_differ else (True,))
]


@pytest.mark.parametrize(("info", "training"), CASES)
def test_as_on_the_cpu(info, training):
    dtype = (
        torch.float64 if "Fractional" in info.name else torch.float32
    )  # their samples' draws are
    samples = info.module_inputs_func(info, "cpu", dtype, requires_grad=True, training=training)
    for sample in islice(samples, SAMPLES):
        made = sample.constructor_input
        torch.manual_seed(2)
        module = info.module_cls(*made.args, **made.kwargs).to(dtype).train(training)
        for part in module.modules():
            for name in ("p", "dropout"):  # whose draws are each device's own
                if isinstance(getattr(part, name, None), float):
                    setattr(part, name, 0.0)
        if any(isinstance(p, torch.nn.UninitializedParameter) for p in module.parameters()):
            run(module, sample.forward_input, "cpu")
        ours = copy.deepcopy(module).to("xpu")
        expected = run(module, sample.forward_input, "cpu")
        got = run(ours, sample.forward_input, "xpu")
        assert [t if t is None else t.shape for t in got] == [
            t if t is None else t.shape for t in expected
        ]
        if "Fractional" in info.name:  # pools where chance says
            continue
        for a, b in zip(got, expected, strict=True):
            if b is None:
                assert a is None
            else:
                torch.testing.assert_close(a.cpu(), b, rtol=2e-4, atol=2e-5, equal_nan=True)
        for a, b in zip(ours.buffers(), module.buffers(), strict=True):
            torch.testing.assert_close(a.cpu(), b, rtol=2e-4, atol=2e-5)

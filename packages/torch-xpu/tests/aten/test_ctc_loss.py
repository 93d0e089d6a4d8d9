"""Connectionist temporal classification: sequences that PyTorch's samples do not have."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import ctc_loss

TIME, CLASSES = 12, 7
# Repeated labels, one, none, as many as time allows, and more.
TARGETS = ([1, 1, 2, 2, 1], [6], [], [1, 2, 3, 4, 5, 6] * 2, [3] * 9)


def probabilities(dtype: torch.dtype) -> torch.Tensor:
    generator = torch.Generator().manual_seed(2)
    x = torch.randn(len(TARGETS), CLASSES, TIME, generator=generator, dtype=dtype)
    return x.log_softmax(1).permute(2, 0, 1)  # of awkward strides


def both(x: torch.Tensor, targets: torch.Tensor, lengths: list[int], **options: object):
    for device in ("cpu", "xpu"):
        own = x.detach().to(device).requires_grad_()
        loss = ctc_loss(
            own, targets.to(device), lengths, [len(t) for t in TARGETS], reduction="none", **options
        )
        weights = torch.arange(1.0, len(TARGETS) + 1, dtype=x.dtype, device=device)
        (grad,) = torch.autograd.grad(loss, own, weights)
        yield loss.detach().cpu(), grad.cpu()


@pytest.mark.values
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("zero_infinity", [False, True])
@pytest.mark.parametrize("lengths", [[12, 12, 12, 12, 12], [9, 1, 5, 12, 9]])
@pytest.mark.parametrize("dense", [False, True])
def test_as_on_the_cpu(
    dtype: torch.dtype, zero_infinity: bool, lengths: list[int], dense: bool
) -> None:
    longest = max(len(t) for t in TARGETS)
    rows = [t + [0] * (longest - len(t)) for t in TARGETS]
    targets = torch.tensor(
        rows if dense else [label for t in TARGETS for label in t], dtype=torch.int32
    )
    expected, got = both(probabilities(dtype), targets, lengths, zero_infinity=zero_infinity)
    torch.testing.assert_close(got, expected, equal_nan=True, rtol=1e-4, atol=1e-5)


@pytest.mark.values
def test_another_blank_and_many_places() -> None:
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(700, 2, 5, generator=generator).log_softmax(2)
    targets = torch.randint(0, 4, (2, 300), generator=generator)
    ends = []
    for device in ("cpu", "xpu"):
        own = x.detach().to(device).requires_grad_()
        loss = ctc_loss(own, targets.to(device), (700, 650), (300, 150), blank=4)
        loss.backward()
        ends.append((loss.detach().cpu(), own.grad.cpu()))
    torch.testing.assert_close(ends[1], ends[0], rtol=1e-3, atol=1e-5)


def test_arguments_that_do_not_fit() -> None:
    x = torch.randn(5, 2, 4, device="xpu").log_softmax(2)
    targets = torch.ones(2, 3, dtype=torch.long, device="xpu")
    with pytest.raises(RuntimeError, match="blank must be in label range"):
        ctc_loss(x, targets, (5, 5), (3, 3), blank=4)
    with pytest.raises(RuntimeError, match="input_lengths must be of size batch_size"):
        ctc_loss(x, targets, (5,), (3, 3))
    with pytest.raises(RuntimeError, match="got value 6"):
        ctc_loss(x, targets, (5, 6), (3, 3))
    with pytest.raises(RuntimeError, match="4 labels a sequence"):
        ctc_loss(x, targets, (5, 5), (3, 4))

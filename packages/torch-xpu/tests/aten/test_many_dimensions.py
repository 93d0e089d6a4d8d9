"""As many dimensions as PyTorch allows: quantum circuits and tensor networks have one for each wire."""

import math

import pytest
import torch

SHAPES = {
    "wires": [2] * 16,
    "between_ones": [1, 2] * 15,
    "mostly_ones": [1] * 36 + [3, 1, 4, 2],
    "most": [1] * 50 + [2] * 14,
}


def shuffled(x):
    return x.permute(torch.randperm(x.dim(), generator=torch.Generator().manual_seed(1)).tolist())


def every_other(x):
    return list(range(0, x.dim(), 2))


def zeros(x, *shape):
    return torch.zeros(shape, dtype=torch.long, device=x.device)


def full_index(x, dim):
    index = zeros(x, *x.shape)
    return index.narrow(dim, 0, 1)


def by_turns(x, first=0):
    """An index of zeros and ones that broadcasts in every other dimension."""
    shape = [n if d % 2 == first else 1 for d, n in enumerate(x.shape)]
    return (torch.arange(math.prod(shape), device=x.device) % 2).view(shape)


def full_by_turns(x, dim):
    return by_turns(x).clamp(max=x.size(dim) - 1).expand(x.shape)


def table_and_turns(x):
    """A small matrix, and indices that make it one of many dimensions."""
    return x.flatten()[:4].view(2, 2), (by_turns(x), by_turns(x, 1))


def by_table(operation):
    return lambda x: operation(*table_and_turns(x))


OPERATIONS = {
    "permute": lambda x: shuffled(x).contiguous(),
    "permute_complex": lambda x: shuffled(x).to(torch.complex64) * 2j,
    "flip": lambda x: x.flip(every_other(x)),
    "add": lambda x: shuffled(x) + shuffled(x).contiguous(),
    "four_operands": lambda x: torch.addcmul(
        shuffled(x), shuffled(x).contiguous(), shuffled(x).clone()
    ),
    "in_place": lambda x: shuffled(x.clone()).mul_(shuffled(x).contiguous()),
    "where": lambda x: torch.where(shuffled(x) > 0, shuffled(x), shuffled(x).contiguous()),
    "fill": lambda x: shuffled(x.clone()).narrow(x.dim() - 1, 0, 1).fill_(3),
    "cat": lambda x: torch.cat([shuffled(x), shuffled(x)], 1),
    "sum": lambda x: x.sum(every_other(x)),
    "sum_keepdim": lambda x: shuffled(x).sum(every_other(x), keepdim=True),
    "sum_half": lambda x: shuffled(x).half().sum(every_other(x)),
    "sum_all": lambda x: shuffled(x).sum(),
    "var": lambda x: x.double().var(every_other(x), correction=0),
    "argmax": lambda x: shuffled(x).argmax(),
    "max": lambda x: shuffled(x).max(x.dim() // 2),
    "logsumexp": lambda x: x.logsumexp(every_other(x)),
    "cumsum": lambda x: shuffled(x).cumsum(x.dim() // 2),
    "cumprod": lambda x: x.cumprod(0),
    "sort": lambda x: shuffled(x).sort(x.dim() // 2),
    "topk": lambda x: x.topk(1, dim=-1),
    "median": lambda x: x.median(x.dim() - 1),
    "softmax": lambda x: shuffled(x).softmax(1),
    "fft": lambda x: torch.fft.fft(shuffled(x), dim=x.dim() // 2),
    "tensordot": lambda x: torch.tensordot(x, x, dims=(list(range(2, x.dim())),) * 2),
    "matmul": lambda x: x @ x.mT,
    "roll": lambda x: shuffled(x).roll(1, 3),
    "gather": lambda x: shuffled(x).gather(2, full_index(shuffled(x), 2)),
    "gather_part": lambda x: shuffled(x).gather(
        2, full_index(shuffled(x), 2).narrow(x.dim() - 1, 0, 1)
    ),
    "gather_by_turns": lambda x: shuffled(x).gather(2, full_by_turns(shuffled(x), 2)),
    "scatter_add_by_turns": lambda x: shuffled(x.clone()).scatter_add_(
        2, full_by_turns(shuffled(x), 2), shuffled(x)
    ),
    "scatter": lambda x: shuffled(x.clone()).scatter_(2, full_index(shuffled(x), 2), 7.0),
    "scatter_add": lambda x: shuffled(x.clone()).scatter_add_(
        2, full_index(shuffled(x), 2), shuffled(x)
    ),
    "index_select": lambda x: shuffled(x).index_select(x.dim() // 2, zeros(x, 3)),
    "index_add": lambda x: shuffled(x.clone()).index_add_(
        3, zeros(x, 1), shuffled(x).narrow(3, 0, 1)
    ),
    "index_every": lambda x: x[tuple(zeros(x, 3) for _ in range(x.dim()))],
    "index_nine": lambda x: shuffled(x)[tuple(zeros(x, 3) - 1 for _ in range(9))],
    "index_apart": lambda x: shuffled(x)[
        tuple(zeros(x, 3) if d % 2 else slice(None) for d in range(x.dim() - 1))
    ],
    "index_put": lambda x: shuffled(x.clone()).index_put_(
        tuple(zeros(x, 3) for _ in range(10)), torch.ones((), device=x.device), accumulate=True
    ),
    "index_by_turns": by_table(lambda table, turns: table[turns]),
    "index_put_by_turns": by_table(
        lambda table, turns: table.index_put_(
            turns, torch.ones((), device=table.device), accumulate=True
        )
    ),
    "mask": lambda x: shuffled(x)[shuffled(x) > 0],
    "nonzero": lambda x: shuffled(x > 1).nonzero(),
    "masked_scatter": lambda x: shuffled(x.clone()).masked_scatter_(shuffled(x) > 0, x),
    "take": lambda x: shuffled(x).take(torch.tensor([3, 1, 2], device=x.device)),
    "bernoulli": lambda x: shuffled(torch.zeros_like(x)).bernoulli_(1.0),
    "equal": lambda x: torch.tensor(torch.equal(shuffled(x), shuffled(x).contiguous())),
    "backward": lambda x: torch.autograd.grad(
        (shuffled(x.requires_grad_()).cumsum(2) ** 2).sum(), x
    )[0],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "operation",
    # Of some the shape of the result is a value; one asks for doubles.
    [
        pytest.param(name, marks=[pytest.mark.values] * (name in ("mask", "nonzero", "var")))
        for name in OPERATIONS
    ],
)
def test_like_the_host(operation, shape):
    host = torch.randn(SHAPES[shape], generator=torch.Generator().manual_seed(0))
    function = OPERATIONS[operation]
    try:
        expected = function(host.clone())
    except (RuntimeError, IndexError) as why:
        pytest.skip(f"PyTorch itself: {why}")
    got = function(host.to("xpu"))
    as_tuple = lambda r: r if isinstance(r, tuple) else (r,)  # noqa: E731
    for one, other in zip(as_tuple(got), as_tuple(expected), strict=True):
        torch.testing.assert_close(one.cpu(), other, rtol=1e-3, atol=1e-3, check_stride=False)


@pytest.mark.values
def test_indices_out_of_range():
    x = torch.zeros([2] * 12, device="xpu")
    indices = [torch.zeros(3, dtype=torch.long, device="xpu") for _ in range(10)]
    indices[4][1] = 2
    with pytest.raises(RuntimeError, match="out of range"):
        x[tuple(indices)].cpu()


@pytest.mark.values
@pytest.mark.parametrize(
    "operation",
    ["scatter_add", "scatter_add_by_turns", "index_put", "index_put_by_turns", "index_add"],
)
def test_deterministic(operation):
    """In a fixed order, over targets of many dimensions."""
    torch.use_deterministic_algorithms(True)
    try:
        test_like_the_host(operation, "wires")
    finally:
        torch.use_deterministic_algorithms(False)

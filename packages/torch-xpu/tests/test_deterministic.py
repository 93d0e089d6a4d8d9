"""torch.use_deterministic_algorithms."""

import pytest
import torch


@pytest.fixture(autouse=True)
def deterministic():
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


@pytest.mark.values
@pytest.mark.parametrize(
    "dtype",
    [torch.float32, torch.bfloat16, torch.complex64, torch.int8, torch.int64, torch.bool],
    ids=str,
)
def test_new_memory_is_filled(dtype):
    for make in (
        lambda device: torch.empty(3, 4, dtype=dtype, device=device),
        lambda device: torch.empty_strided((3, 4), (1, 3), dtype=dtype, device=device),
        lambda device: torch.zeros(2, dtype=dtype, device=device).resize_(5),
    ):
        got, expected = make("xpu").cpu(), make("cpu")
        torch.testing.assert_close(got, expected, equal_nan=True)


@pytest.mark.values
def test_memory_is_left_alone_when_told():
    torch.utils.deterministic.fill_uninitialized_memory = False
    try:
        ones = torch.ones(1000, device="xpu")
        ones.resize_(10).resize_(1000)
        assert ones.sum().item() == 1000
    finally:
        torch.utils.deterministic.fill_uninitialized_memory = True


def test_what_is_not_deterministic_is_refused():
    x = torch.ones(1, 1, 2, 2, device="xpu", requires_grad=True)
    grid = torch.zeros(1, 1, 1, 2, device="xpu")
    with pytest.raises(RuntimeError, match="does not have a deterministic implementation"):
        torch.nn.functional.grid_sample(x, grid, align_corners=False).sum().backward()


@pytest.mark.values
def test_sums_of_equal_indices_repeat():
    index = torch.randint(7, (50_000,)).to("xpu")
    values = torch.randn(50_000).to("xpu")
    sums = [torch.zeros(7, device="xpu").index_add_(0, index, values) for _ in range(3)]
    weights = [torch.bincount(index, values) for _ in range(3)]
    for kind in (sums, weights):
        assert all(torch.equal(kind[0], other) for other in kind[1:])

"""Indexing's errors, and what operator samples leave out."""

import pytest
import torch


def test_masks_must_be_boolean():
    x = torch.zeros(3, device="xpu")
    with pytest.raises(RuntimeError, match="boolean masks"):
        x.masked_fill(torch.zeros(3, dtype=torch.int64, device="xpu"), 1)


def test_indices_must_broadcast():
    x = torch.zeros(4, 4, device="xpu")
    first, second = (torch.zeros(n, dtype=torch.int64, device="xpu") for n in (2, 3))
    with pytest.raises(IndexError, match="shape mismatch"):
        x[first, second]


def test_too_many_indices():
    place = torch.zeros(1, dtype=torch.int64, device="xpu")
    with pytest.raises(IndexError, match="too many indices"):
        torch.ops.aten.index(torch.zeros(2, device="xpu"), [place, place])


def test_dtypes_must_agree():
    x, place = torch.zeros(4, device="xpu"), torch.zeros(1, dtype=torch.int64, device="xpu")
    with pytest.raises(IndexError, match="dtypes match"):
        torch.ops.aten.index_put_(x, [place], torch.ones(1, dtype=torch.float64, device="xpu"))


@pytest.mark.values
def test_an_index_out_of_range_is_reported_at_the_next_wait():
    x = torch.arange(4.0, device="xpu")
    x.index_select(0, torch.tensor([1, 7], device="xpu"))
    with pytest.raises(RuntimeError, match="7"):
        torch.xpu.synchronize()


@pytest.mark.values
def test_deterministic_accumulation():
    torch.manual_seed(2)
    places = torch.randint(0, 50, (20000,))
    values = torch.randn(20000)
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        runs = [
            torch.zeros(50, device="xpu").index_put_(
                (places.to("xpu"),), values.to("xpu"), accumulate=True
            )
            for _ in range(3)
        ]
    finally:
        torch.use_deterministic_algorithms(before)
    assert all(torch.equal(runs[0], run) for run in runs)
    expected = torch.zeros(50).index_put_((places,), values, accumulate=True)
    torch.testing.assert_close(runs[0].cpu(), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.values
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_concatenation_into_slices_and_promotion(dim):
    parts = [torch.randn(3, 4, 5), torch.randn(3, 4, 5).half(), torch.ones(3, 4, 5).long()]
    got = torch.cat([p.to("xpu") for p in parts], dim)
    expected = torch.cat(parts, dim)
    assert got.dtype == expected.dtype
    assert torch.equal(got.cpu(), expected)
    nhwc = [torch.randn(2, c, 3, 3).to(memory_format=torch.channels_last) for c in (2, 5)]
    got = torch.cat([p.to("xpu") for p in nhwc], 1)
    assert got.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(got.cpu(), torch.cat(nhwc, 1))


@pytest.mark.values
def test_arange_in_steps_and_places():
    for arguments in [(10,), (3, 20, 4), (5.0, -2.0, -0.5)]:
        got = torch.arange(*arguments, device="xpu").cpu()
        torch.testing.assert_close(got, torch.arange(*arguments))
    out = torch.empty(2, 8, device="xpu")[:, ::2]
    torch.arange(8, out=out)
    torch.testing.assert_close(out.cpu(), torch.arange(8.0).view(2, 4))


@pytest.mark.values
@pytest.mark.parametrize("count", [5, 100_000])
@pytest.mark.parametrize("bins", [3, 100, 2048, 5000])
def test_histograms(count, bins):
    """Few bins are counted in local memory, more by scattering."""
    x, numbers = torch.randn(count), torch.randint(bins, (count,))
    for ends in ((0, 0), (-1, 1)):
        assert torch.equal(torch.histc(x.to("xpu"), bins, *ends).cpu(), torch.histc(x, bins, *ends))
    assert torch.equal(numbers.to("xpu").bincount().cpu(), numbers.bincount())
    weights = torch.rand(count)
    got = numbers.to("xpu").bincount(weights.to("xpu"), bins + 7)
    # The CPU's f32 sums are no better than ours.
    expected = numbers.bincount(weights.double(), bins + 7).float()
    torch.testing.assert_close(got.cpu(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.values
@pytest.mark.parametrize("shape", [(0,), (3, 0), (), (4,)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64], ids=str)
def test_whether_a_number_is_in(shape, dtype):
    """One answer, however many elements there are."""
    for invert in (False, True):
        got = torch.isin(1, torch.ones(shape, dtype=dtype, device="xpu"), invert=invert)
        torch.testing.assert_close(
            got.cpu(), torch.isin(1, torch.ones(shape, dtype=dtype), invert=invert)
        )


def test_indices_of_another_device_are_named():
    index = torch.tensor([0, 1], device="xpu")
    for call in (
        lambda x: x[index],
        lambda x: x.index_put_((index,), torch.ones(())),
        lambda x: x[torch.ones(3, 3, dtype=torch.bool, device="xpu")],
    ):
        with pytest.raises(RuntimeError, match="indices should be either on cpu or on the same"):
            call(torch.ones(3, 3))


@pytest.mark.values
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
def test_rows_of_bounded_norm(dtype):
    table, indices = (
        torch.linspace(-2, 2, 12).view(4, 3),
        torch.tensor([[1, 3], [1, 0]], dtype=dtype),
    )

    def rows(device):
        weight = table.to(device)
        return torch.nn.functional.embedding(
            indices.to(device), weight, max_norm=0.5
        ).cpu(), weight.cpu()

    torch.testing.assert_close(rows("xpu"), rows("cpu"))

"""Indexing's errors, and what operator samples leave out."""

import math
import re

import pytest
import torch
from torch.nn import functional


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


def test_what_index_select_refuses():
    x, place = torch.zeros(3, 4, device="xpu"), torch.zeros(1, dtype=torch.int64, device="xpu")
    with pytest.raises(IndexError, match="supposed to be a vector"):
        x.index_select(0, place.view(1, 1))
    with pytest.raises(IndexError, match="out of range"):
        x[:0].index_select(0, place)
    with pytest.raises(IndexError, match="Dimension out of range"):
        x.index_select(2, place)
    with pytest.raises(RuntimeError, match="int32 or int64"):
        x.index_select(0, place.float())


@pytest.mark.values
@pytest.mark.parametrize("index", [-1, 3])
def test_an_index_out_of_range_is_a_runtime_error(index):
    """It is found by the device, long after the call; it names what it was."""
    x, place = torch.zeros(3, 4, device="xpu"), torch.tensor([0, index], device="xpu")
    for call in (
        lambda: x.index_select(0, place),
        lambda: x.gather(0, place.view(2, 1)),
        lambda: x.index_add(0, place, torch.ones(2, 4, device="xpu")),
    ):
        with pytest.raises(RuntimeError, match=f"{index} is out of range") as caught:
            call().cpu()
        assert not isinstance(caught.value, IndexError)


CALLS = {
    "embedding": lambda nine: functional.embedding(nine, torch.ones(4, 3, device="xpu")),
    "embedding with max_norm": lambda nine: functional.embedding(
        nine, torch.ones(4, 3, device="xpu"), max_norm=1.0
    ),
    "embedding of a matrix": lambda nine: functional.embedding(
        nine.view(1, 1), torch.ones(4, 3, device="xpu")
    ),
    "nll_loss or cross_entropy": lambda nine: functional.cross_entropy(
        torch.ones(1, 4, device="xpu"), nine
    ),
    "nll_loss or cross_entropy with weights": lambda nine: functional.cross_entropy(
        torch.ones(1, 4, device="xpu"), nine, torch.ones(4, device="xpu")
    ),
    "nll_loss or cross_entropy of images": lambda nine: functional.nll_loss(
        torch.ones(1, 4, 1, 1, device="xpu"), nine.view(1, 1, 1)
    ),
    "scatter": lambda nine: functional.one_hot(nine, 4),
}


@pytest.mark.values
@pytest.mark.parametrize("call", CALLS)
def test_an_index_out_of_range_names_the_operator_that_was_called(call):
    nine = torch.tensor([9], device="xpu")
    name = re.split(" of | with ", call)[0]
    text = rf"^{name}\w* on device 0: index 9 is out of range.*XPU_LAUNCH_BLOCKING=1"
    with pytest.raises(RuntimeError, match=text):
        CALLS[call](nine).cpu()


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


# Several of their elements are one place in memory.
EXPANDED = {
    "rows": lambda x: x.view(1, 6).expand(4, 6),
    "columns": lambda x: x.view(6, 1).expand(6, 4),
    "both": lambda x: x.view(1, 2, 1, 3).expand(3, 2, 4, 3),
    "one": lambda x: x[:1].expand(5),
}


@pytest.mark.values
@pytest.mark.filterwarnings("ignore:.*on expanded tensors is deprecated")
@pytest.mark.parametrize("name", EXPANDED)
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.int64, torch.bool, torch.complex64], ids=str
)
def test_writes_to_expanded_tensors(name, dtype):
    def written(device, write):
        x = torch.arange(6).to(dtype).to(device)
        write(EXPANDED[name](x))
        return x.cpu()

    def indices(t):
        return tuple(torch.tensor([0, -1], device=t.device) for _ in range(min(t.dim(), 2)))

    def values(t):
        chosen = t[indices(t)]
        return (torch.arange(chosen.numel()).view(chosen.shape) + 7).to(t)

    def mask(t):
        return torch.arange(t.size(0), device=t.device) % 3 == 1

    for write in (
        lambda t: t.index_put_(indices(t)[:1], t.new_full((), 5)),
        lambda t: t.index_put_(indices(t)[-1:], values(t)[-1], accumulate=False),
        lambda t: t.index_put_(indices(t), values(t)),
        lambda t: t.index_put_(indices(t), values(t), accumulate=True),
        lambda t: t.index_put_((mask(t),), t.new_full((1,), 3), accumulate=True),
        lambda t: t.__setitem__(mask(t), 3),
        lambda t: t.index_fill_(0, indices(t)[0], 3),
        lambda t: t.index_fill_(-1, indices(t)[0][1:], 3),
        lambda t: t.index_fill_(0, indices(t)[0][:0], 3),
    ):
        torch.testing.assert_close(written("xpu", write), written("cpu", write))


@pytest.mark.parametrize("operator", ["index_put_", "index_fill_"])
def test_writes_to_expanded_tensors_are_deprecated(operator):
    x, place = torch.zeros(1, device="xpu").expand(3), torch.tensor([1], device="xpu")
    write = {
        "index_put_": lambda: x.index_put_((place,), torch.ones(1, device="xpu")),
        "index_fill_": lambda: x.index_fill_(0, place, 1),
    }[operator]
    with pytest.warns(UserWarning, match=f"Use of {operator} on expanded tensors is deprecated"):
        write()


@pytest.mark.values
def test_an_index_out_of_range_of_an_expanded_tensor():
    x, place = torch.zeros(1, device="xpu").expand(3), torch.tensor([3], device="xpu")
    with (
        pytest.warns(UserWarning, match="expanded"),
        pytest.raises(RuntimeError, match="3 is out of range"),
    ):
        x.index_fill_(0, place, 1).cpu()


@pytest.mark.values
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("ends", [(-5, 5), (0.9, 3.1), (2.5, 7), (0, 100), (100, -3)], ids=str)
@pytest.mark.parametrize("steps", [0, 1, 2, 7, 31])
def test_whole_numbers_at_equal_distances(dtype, ends, steps):
    """The ends become whole numbers first, and those below zero wrap where there are none."""
    got = torch.linspace(*ends, steps, dtype=dtype, device="xpu")
    torch.testing.assert_close(got.cpu(), torch.linspace(*ends, steps, dtype=dtype))


@pytest.mark.parametrize("ends", [(0, 300), (-2.5, 7)], ids=str)
def test_ends_that_do_not_fit(ends):
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.linspace(*ends, 4, dtype=torch.uint8, device="xpu")


def test_a_factor_that_does_not_fit():
    x, place = torch.ones(3, dtype=torch.float16, device="xpu"), torch.zeros(1, device="xpu").long()
    with pytest.raises(RuntimeError, match="without overflow"):
        x.index_add_(0, place, x[:1].clone(), alpha=1e10)


# NaN equals nothing, so that each row with one is a row of its own; in the order it is the largest.
UNIQUE_ROWS = {
    "nan": (
        [[1.0, float("nan")], [0.0, 2.0], [1.0, float("nan")], [float("nan"), 0.0], [0.0, 2.0]],
        [1, 0, 2, 3],
        [1, 0, 2, 3, 0],
        [2, 1, 1, 1],
    ),
    "zeros": ([[0.0, 1.0], [-0.0, 2.0], [0.0, 2.0], [-0.0, 1.0]], [0, 1], [0, 1, 1, 0], [2, 2]),
    "all_nan": ([[float("nan")] * 2] * 3, [0, 1, 2], [0, 1, 2], [1, 1, 1]),
}


@pytest.mark.values
@pytest.mark.parametrize("name", UNIQUE_ROWS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16], ids=str)
def test_distinct_rows(name, dtype):
    rows, order, inverse, counts = UNIQUE_ROWS[name]
    x = torch.tensor(rows, dtype=dtype)
    for moved in (x, x.t()):
        dim = 0 if moved is x else 1
        found, places, times = torch.unique(
            moved.to("xpu"), dim=dim, return_inverse=True, return_counts=True
        )
        torch.testing.assert_close(
            found.cpu(), moved.index_select(dim, torch.tensor(order)), equal_nan=True
        )
        assert places.tolist() == inverse
        assert times.tolist() == counts


@pytest.mark.values
@pytest.mark.parametrize("shape", [(1, 3), (1, 0), (1,), (1, 2, 2), (3, 1), (0, 3), (2, 3)])
@pytest.mark.parametrize("function", [torch.unique, torch.unique_consecutive])
@pytest.mark.parametrize("dim", [0, -1, None])
def test_unique_of_few_rows(function, shape, dim):
    x = torch.arange(math.prod(shape)).reshape(shape)

    def found(x):
        try:
            return [t.cpu() for t in function(x, return_inverse=True, return_counts=True, dim=dim)]
        except RuntimeError as error:
            return str(error).split("\n")[0]

    expected, got = found(x), found(x.to("xpu"))
    if isinstance(expected, str):
        assert got == expected
    else:
        assert all(torch.equal(a, b) for a, b in zip(got, expected, strict=True))


@pytest.mark.values
@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str
)
@pytest.mark.parametrize("ends", [(), (-2.5, 2)])
def test_histograms_of_every_float(dtype, ends):
    x = torch.linspace(-3, 3, 100).to(dtype)
    assert torch.equal(torch.histc(x.to("xpu"), 7, *ends).cpu(), torch.histc(x, 7, *ends))


LAST = torch.channels_last


@pytest.mark.parametrize(
    ("layout", "indices"),
    [
        (lambda x: x.to(memory_format=LAST), lambda i: (i,)),
        (lambda x: x.to(memory_format=LAST), lambda i: (slice(None), i)),
        (lambda x: x.to(memory_format=LAST), lambda i: (slice(None), i, i)),
        (lambda x: x.to(memory_format=LAST), lambda i: (i, slice(None), i)),
        (lambda x: x.permute(3, 1, 0, 2), lambda i: (slice(None), slice(None), i)),
        (lambda x: x, lambda i: (i.view(2, 2).t(),)),
        (lambda x: x[:, :1].expand_as(x), lambda i: (i,)),
        (lambda x: x, lambda i: (i, slice(None), i)),
    ],
)
def test_a_result_has_the_strides_that_pytorch_gives_it(layout, indices):
    x, i = torch.arange(256.0).view(4, 4, 4, 4), torch.tensor([2, 0, 1, 3])
    wanted = layout(x)[indices(i)]
    got = layout(x.to("xpu"))[indices(i.to("xpu"))]
    assert got.stride() == wanted.stride()
    torch.testing.assert_close(got.cpu(), wanted, rtol=0, atol=0)

"""Fourier transforms: what PyTorch's samples leave out of layouts, norms and outputs."""

from __future__ import annotations

import pytest
import torch


def numbers(*shape: int, dtype: torch.dtype = torch.complex64) -> torch.Tensor:
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(1))


def check(transform, x: torch.Tensor, **options: object) -> None:
    torch.testing.assert_close(
        transform(x.to("xpu"), **options).cpu(), transform(x, **options), rtol=1e-4, atol=1e-4
    )


@pytest.mark.values
@pytest.mark.parametrize("norm", ["forward", "backward", "ortho"])
def test_norms(norm: str) -> None:
    x = numbers(3, 10, 12)
    for name in ("fft2", "ifft2", "hfft2"):
        check(getattr(torch.fft, name), x, norm=norm)
    for name in ("fft2", "rfft2", "ihfft2"):
        check(getattr(torch.fft, name), x.real, norm=norm)
    check(torch.fft.irfft2, x, norm=norm, s=(10, 21))


@pytest.mark.values
@pytest.mark.parametrize("dims", [(0,), (2, 0), (1, 2), (0, 1, 2), (-1, -3, 1)])
def test_dimensions_of_permuted_tensors(dims: tuple[int, ...]) -> None:
    x = numbers(6, 5, 4).permute(1, 2, 0)
    for name in ("fftn", "ifftn", "irfftn", "hfftn"):
        check(getattr(torch.fft, name), x, dim=dims)
    for name in ("fftn", "rfftn", "ihfftn"):
        check(getattr(torch.fft, name), x.real, dim=dims)


@pytest.mark.values
def test_conjugate_and_negative_views() -> None:
    x = numbers(4, 9)
    on_device = x.to("xpu")
    expected = torch.fft.fft(x.conj())
    torch.testing.assert_close(torch.fft.fft(on_device.conj()).cpu(), expected)
    expected = torch.fft.rfft(x.conj().imag)
    torch.testing.assert_close(torch.fft.rfft(on_device.conj().imag).cpu(), expected)


@pytest.mark.values
def test_outputs_that_were_given() -> None:
    x = numbers(4, 8).to("xpu")
    expected = torch.fft.fft(x)
    out = torch.empty(8, 4, dtype=x.dtype, device="xpu").t()
    assert torch.fft.fft(x, out=out) is out
    assert torch.equal(out, expected)
    out = torch.empty(0, dtype=x.dtype, device="xpu")
    torch.fft.fft(x, out=out)
    assert torch.equal(out, expected)


@pytest.mark.parametrize("dims", [(0,), (2,), (0, 1), (2, 0), (0, 1, 2)])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_layouts_are_those_that_tracing_expects(dims: tuple[int, ...], n: int) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    x = numbers(3, 5, n).to("xpu").transpose(0, 1)
    real = torch.randn(3, 5, n).to("xpu").transpose(0, 1)
    calls = [
        (torch.ops.aten._fft_c2c, x, (0, True)),
        (torch.ops.aten._fft_r2c, real, (0, True)),
        (torch.ops.aten._fft_r2c, real, (0, False)),
        (torch.ops.aten._fft_c2r, x, (0, 2 * x.size(dims[-1]) - 1)),
    ]
    for call, operand, rest in calls:
        ours = call(operand, list(dims), *rest)
        with FakeTensorMode() as mode:
            traced = call(mode.from_tensor(operand), list(dims), *rest)
        assert (ours.shape, ours.dtype) == (traced.shape, traced.dtype)
        significant = [i for i, size in enumerate(ours.shape) if size > 1]
        assert [ours.stride(i) for i in significant] == [traced.stride(i) for i in significant]


def test_batches_without_elements() -> None:
    x = torch.empty(0, 8, dtype=torch.complex64, device="xpu")
    assert torch.fft.fft(x).shape == (0, 8)
    assert torch.fft.rfft(x.real).shape == (0, 5)
    assert torch.fft.irfft(x).shape == (0, 14)


@pytest.mark.values
@pytest.mark.filterwarnings("ignore:ComplexHalf")
def test_halves_are_transformed_as_floats() -> None:
    x = torch.randn(4, 6, 10).to(torch.float16)
    wide = x.float()
    device = x.to("xpu")
    ours = [torch.fft.rfft2(device), torch.fft.fftn(device), torch.fft.ihfft2(device)]
    theirs = [torch.fft.rfft2(wide), torch.fft.fftn(wide), torch.fft.ihfft2(wide)]
    for one, other in zip(ours, theirs, strict=True):
        assert one.dtype == torch.complex32
        torch.testing.assert_close(one.to(torch.complex64).cpu(), other, rtol=2e-3, atol=2e-2)
    back = torch.fft.irfft2(ours[0])
    assert back.dtype == torch.float16
    torch.testing.assert_close(back.cpu(), x, rtol=4e-3, atol=4e-3)

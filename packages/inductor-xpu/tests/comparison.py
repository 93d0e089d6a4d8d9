"""Results of compiled functions beside those of the CPU."""

import torch


def check(got, expected, tolerance=2e-5):
    torch.testing.assert_close(got.cpu(), expected.cpu(), rtol=tolerance, atol=tolerance)


def compare(function, *inputs, **options):
    """Compiled on xpu, the function gives what it does on the CPU."""
    got = torch.compile(function, **options)(*(i.to("xpu") for i in inputs))
    expected = function(*inputs)
    for one, other in zip(
        got if isinstance(got, tuple) else (got,),
        expected if isinstance(expected, tuple) else (expected,),
        strict=True,
    ):
        assert one.dtype == other.dtype
        check(one, other)

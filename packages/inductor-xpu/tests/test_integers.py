"""Integers beyond 32 bits and below zero: of positions, of the host, and products of sizes."""

import sys
from pathlib import Path

import pytest
import torch
from comparison import compare
from xpu_testing import fuzzing

from inductor_xpu.reader import magnitudes

sys.path.append(str(Path(__file__).parents[1] / "fuzz" / "integers"))
from integer_case import IntegerCase

pytestmark = [
    pytest.mark.usefixtures("forget_compiled_code"),
    pytest.mark.values,
    pytest.mark.filterwarnings("ignore"),
]
FAR = 3_000_000_000


def positions(x):
    return torch.arange(x.shape[0], device=x.device)


# Of a vector x; the comments say which type held too little.
OF_POSITIONS = {
    "a multiple of a position": lambda x: positions(x) * FAR + x,
    "a square of a position": lambda x: positions(x) ** 2 + x,
    "a square of a float": lambda x: positions(x).float() ** 2 + x,
    "a product of two positions": lambda x: positions(x) * positions(x).flip(0) + x,
    "a quotient of a multiple": lambda x: positions(x) * 40503 // 30 + x,
    "a remainder of a multiple": lambda x: positions(x) * 40503 % 30 + x,
    "a comparison of multiples": lambda x: torch.where(positions(x) * 40503 < FAR, x, -x),
    "a size to the fourth power": lambda x: torch.full((3,), x.shape[0] ** 3, device=x.device),
    "a float of a size to the fourth power": lambda x: x.float() * x.shape[0] ** 3,
    "a bound of a clamp": lambda x: (positions(x) * FAR).clamp(-FAR, 2**40),
    "quotients by negative numbers": lambda x: positions(x) // -3 // -5 + x,
    "a remainder with its dividend's sign": lambda x: torch.fmod(positions(x) - 70_000, 7) + x,
    "a mask of a multiple": lambda x: positions(x).masked_fill(positions(x) * 65537 > FAR, -1),
}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", OF_POSITIONS)
def test_values_of_positions(name, dynamic):
    compare(OF_POSITIONS[name], torch.arange(100_000) % 7, dynamic=dynamic)


OF_INDICES = {
    "a multiple": lambda x, t: t[(positions(x) * 40503) % 30],
    "a quotient of a multiple": lambda x, t: t[positions(x) * 40503 // 135_010_000],
    "a square": lambda x, t: t[(positions(x) * positions(x)) % 30],
    "a minimum": lambda x, t: t[(positions(x) * 40503).clamp(max=29)],
    "a remainder with its dividend's sign": lambda x, t: t[torch.fmod(positions(x) - 75_000, 15)],
    "a negative remainder": lambda x, t: t[(positions(x) * 40503) % 30 - 30],
}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", OF_INDICES)
def test_indices_of_positions(name, dynamic):
    inputs = torch.arange(100_000) % 7, torch.randn(30)
    compare(OF_INDICES[name], *inputs, dynamic=dynamic)


# Of a vector x, a table t and a number n of the host.
OF_THE_HOST = {
    "a sum": lambda x, t, n: x + n,
    "a product": lambda x, t, n: x * n,
    "a float": lambda x, t, n: x.float() + n,
    "a fill": lambda x, t, n: torch.full((3,), n, device=x.device),
    "a sum with positions": lambda x, t, n: positions(x) + n,
    "a quotient": lambda x, t, n: (positions(x) + n) // 3,
    "a quotient by a negative number": lambda x, t, n: (positions(x) + n) // -3,
    "a quotient by the number": lambda x, t, n: positions(x) // n,
    "a remainder": lambda x, t, n: (positions(x) + n) % 3,
    "a truncated remainder": lambda x, t, n: torch.fmod(positions(x) + n, 3),
    "a truncated remainder of the number": lambda x, t, n: torch.fmod(torch.full_like(x, n), 3),
    "a clamp": lambda x, t, n: ((positions(x) + n) // 2).clamp(-3, 4),
    "a choice": lambda x, t, n: torch.where(positions(x) + n < 0, x, n),
    "an index": lambda x, t, n: t[(positions(x) + n) % 10 // 3],
    "an index behind the end": lambda x, t, n: t[(positions(x) % 5 + n % 5) // 3 - 4],
    "a slice": lambda x, t, n: x[n % 5 :] * 2,
    "a negative slice": lambda x, t, n: x[-(n % 5) - 1 :] * 2,
}
NUMBERS = (-5, 3, 2**31, -(2**31) - 1, 2**40, -(2**40) - 1)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", OF_THE_HOST)
def test_numbers_of_the_host(name, dynamic):
    function, x, t = OF_THE_HOST[name], torch.arange(10), torch.randn(10)
    compiled = torch.compile(function, dynamic=dynamic)
    for n in NUMBERS if dynamic else NUMBERS[::4]:
        got = compiled(x.to("xpu"), t.to("xpu"), n)
        torch.testing.assert_close(got.cpu(), function(x, t, n), rtol=0, atol=0)


OF_TENSORS = {
    "a quotient": lambda x, t, n: (positions(x) + n) // 3,
    "an index": lambda x, t, n: t[(positions(x) % 5 + n) // 3],
    "a sum": lambda x, t, n: x + n,
    "a remainder": lambda x, t, n: (positions(x) + n) % 3,
    "a clamp": lambda x, t, n: (positions(x) + n).clamp(n, n + 4),
}


@pytest.mark.parametrize("name", OF_TENSORS)
def test_numbers_of_tensors(name):
    def function(x, t, number):
        return OF_TENSORS[name](x, t, number.item())

    numbers = (-5, -4) if "index" in name else NUMBERS
    x, t = torch.arange(10), torch.randn(10)
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        compiled = torch.compile(function, fullgraph=True)
        for n in numbers:
            number = torch.tensor(n)
            got = compiled(x.to("xpu"), t.to("xpu"), number.to("xpu"))
            torch.testing.assert_close(got.cpu(), function(x, t, number), rtol=0, atol=0)


@pytest.mark.parametrize("size", [2**31 + 3, 2**40])
@pytest.mark.parametrize("dynamic", [False, True])
def test_dimensions_larger_than_memory(size, dynamic):
    def function(x, index, size):
        far = x.expand(size)
        return far[index] + far[size - 5 :].sum(), far[positions(index) * 3 - 7] * 2

    index = torch.tensor([0, 1, size - 1, -size, -1, 2**31 - 1])
    x = torch.tensor([3])
    compiled = torch.compile(function, dynamic=dynamic)
    for got, expected in zip(
        compiled(x.to("xpu"), index.to("xpu"), size), function(x, index, size), strict=True
    ):
        torch.testing.assert_close(got.cpu(), expected)


@pytest.mark.parametrize("number", [0, 1])
def test_an_index_out_of_range_beyond_32_bits(number):
    """It must be found before it is narrowed, to one in range."""
    index = torch.tensor([2**32, -(2**32)])[number : number + 1]
    compiled = torch.compile(lambda t, index: t[index] * 2)
    with pytest.raises(Exception, match=f"index {int(index)} is out of range"):
        compiled(torch.randn(30).to("xpu"), index.to("xpu")).cpu()


@pytest.mark.parametrize("number", range(2))
def test_random_programs(number):
    """More of them: ``nox -s fuzz -- integers``."""
    assert IntegerCase(fuzzing.case_random(0, number)).run() == fuzzing.PASSED


def test_random_programs_notice_narrow_integers(monkeypatch):
    case = IntegerCase(fuzzing.case_random(0, 0))
    monkeypatch.setattr(magnitudes.Magnitudes, "fit", lambda *_: True)
    # Caches would return what was compiled without the fault.
    without_caches = torch._inductor.config.patch(force_disable_caches=True)
    with without_caches, pytest.raises(fuzzing.Difference):
        case.run()

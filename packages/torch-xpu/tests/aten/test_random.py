"""Random fills: what their numbers are like, and that a seed gives them again."""

from __future__ import annotations

import pytest
import torch

N = 200_000


def drawn(fill: str, *args: float, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    torch.manual_seed(3)
    return getattr(torch.empty(N, dtype=dtype, device="xpu"), fill)(*args).double().cpu()


@pytest.mark.values
@pytest.mark.parametrize(
    ("fill", "args", "mean", "deviation"),
    [
        ("uniform_", (2.0, 4.0), 3.0, 0.577),
        ("normal_", (1.0, 2.0), 1.0, 2.0),
        ("exponential_", (2.0,), 0.5, 0.5),
        ("geometric_", (0.25,), 4.0, 3.464),
        ("bernoulli_", (0.3,), 0.3, 0.458),
        ("random_", (10, 21), 15.0, 3.162),
        ("log_normal_", (0.0, 0.25), 1.0317, 0.262),
    ],
)
def test_moments(fill: str, args: tuple, mean: float, deviation: float) -> None:
    x = drawn(fill, *args)
    assert abs(x.mean().item() - mean) < 0.02 * max(1, deviation)
    assert abs(x.std().item() - deviation) < 0.03 * max(1, deviation)


@pytest.mark.values
def test_a_seed_repeats_and_generators_differ() -> None:
    g = torch.Generator("xpu").manual_seed(5)
    a = torch.rand(1000, device="xpu", generator=g).cpu()
    b = torch.rand(1000, device="xpu", generator=g).cpu()
    g.manual_seed(5)
    assert torch.equal(a, torch.rand(1000, device="xpu", generator=g).cpu())
    assert not torch.equal(a, b)


@pytest.mark.values
def test_a_permutation_has_every_number_once() -> None:
    p = torch.randperm(5000, device="xpu").cpu()
    assert torch.equal(p.sort().values, torch.arange(5000))
    assert not torch.equal(p, torch.arange(5000))


@pytest.mark.values
@pytest.mark.parametrize("replacement", [True, False])
def test_categories_come_as_often_as_they_weigh(replacement: bool) -> None:
    weights = torch.tensor([1.0, 0.0, 3.0], device="xpu").expand(20_000, 3)
    picked = torch.multinomial(weights, 1, replacement).flatten().cpu()
    share = picked.bincount(minlength=3) / len(picked)
    assert share[1] == 0
    assert abs(share[2].item() - 0.75) < 0.02


@pytest.mark.values
def test_dropout_keeps_the_mean_and_zeroes_the_share() -> None:
    x = torch.ones(N, device="xpu", requires_grad=True)
    y = torch.nn.functional.dropout(x, 0.25)
    y.sum().backward()
    factors = y.detach().cpu()
    assert abs((factors == 0).float().mean().item() - 0.25) < 0.01
    assert abs(factors.mean().item() - 1) < 0.01
    assert torch.equal(x.grad.cpu(), factors)


def test_parameters_out_of_range_are_refused() -> None:
    x = torch.empty(4, device="xpu")
    for fill, args in (("normal_", (0, -1)), ("uniform_", (1, 0)), ("bernoulli_", (2.0,))):
        with pytest.raises(RuntimeError, match="expects"):
            getattr(x, fill)(*args)
    with pytest.raises(RuntimeError, match="xpu"):
        x.uniform_(generator=torch.Generator("cpu"))


# Draws that take a number of tries, and their derivatives: of what each parameter may be.
DRAWN = {
    "poisson": torch.poisson,
    "binomial": lambda t: torch.binomial(t, t.clamp(max=1)),
    "gamma": torch._standard_gamma,
    "dirichlet": torch._sample_dirichlet,
    "gamma gradient": lambda t: torch._standard_gamma_grad(t, t),
    "dirichlet gradient": lambda t: torch._dirichlet_grad(t.clamp(max=0.5), t, t + 1),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", DRAWN)
def test_draws_are_of_their_parameters_shape(name, dtype):
    parameters = torch.full((5, 3), 2.0, device="xpu", dtype=dtype).t()
    drawn = DRAWN[name](parameters)
    assert (drawn.shape, drawn.dtype, drawn.device) == ((3, 5), dtype, parameters.device)
    assert DRAWN[name](parameters[:0]).shape == (0, 5)
    torch.xpu.synchronize()


def test_generators_of_another_device_are_named() -> None:
    for device, other in (("cpu", "xpu"), ("xpu", "cpu")):
        generator = torch.Generator(other)
        for draw in (
            lambda d, g: torch.rand(3, device=d, generator=g),
            lambda d, g: torch.randperm(3, device=d, generator=g),
            lambda d, g: torch.ones(3, device=d).normal_(generator=g),
            lambda d, g: torch.multinomial(torch.ones(3, device=d), 2, generator=g),
            lambda d, g: torch.poisson(torch.ones(3, device=d), generator=g),
        ):
            with pytest.raises(
                RuntimeError,
                match=f"Expected a '{device}' device type for generator but found '{other}'",
            ):
                draw(device, generator)


INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool, torch.uint16,
            torch.uint32, torch.uint64]  # fmt: skip
RANGES = [
    (-3, 5), (200, 300), (-129, 5), (0, 1), (0, 2), (0, 256), (0, 257), (-128, 128), (-1, 70000), (5, 5),
    (0, 2**31), (0, 2**31 + 1), (-(2**31), 0), (-(2**31) - 1, 0), (0, 2**63 - 1), (-(2**63), 2**63 - 1),
    (1, None), (300, None), (-300, None), (7,), (257,), (0,), (-1,), (2**40,),
]  # fmt: skip


def first_line_of_error(call, *arguments):
    """What the call raises, or nothing."""
    try:
        call(*arguments)
    except NotImplementedError:
        pytest.skip("the CPU has no kernel for it")
    except RuntimeError as error:
        return str(error).split("\n")[0]
    return None


@pytest.mark.parametrize(
    "dtype", [*INTEGERS, torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str
)
@pytest.mark.parametrize("ends", RANGES, ids=str)
@pytest.mark.filterwarnings("ignore:.*out of bounds")
@pytest.mark.values
def test_ranges_that_the_type_cannot_hold_are_refused_as_on_the_cpu(dtype, ends):
    on_cpu, on_xpu = (torch.empty(1000, dtype=dtype, device=device) for device in ("cpu", "xpu"))
    if dtype == torch.uint64 and ends[-1] is None:
        pytest.skip("the CPU takes the largest number for -1, and refuses it")
    refused = first_line_of_error(on_cpu.random_, *ends)
    assert first_line_of_error(on_xpu.random_, *ends) == refused
    if refused:
        return
    low, high = on_xpu.cpu().double().aminmax()
    if len(ends) == 2:
        assert low >= ends[0]
    if ends[-1] is not None:
        assert high <= ends[-1] - 1

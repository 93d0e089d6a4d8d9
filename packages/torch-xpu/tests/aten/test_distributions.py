"""Distributions: what their draws are distributed like, and gradients through draws."""

import pytest
import torch
from torch import distributions as d

pytestmark = pytest.mark.values
MANY = 200_000


def moments(draws: torch.Tensor) -> list[float]:
    x = draws.double().cpu()
    return [x.mean().item(), x.var().item()]


# Each with its mean and variance.
@pytest.mark.parametrize("rate", [0.05, 0.7, 3.0, 9.9, 10.1, 60.0, 3000.0, 2.0e6])
def test_poisson(rate):
    draws = torch.poisson(torch.full((MANY,), rate, device="xpu"))
    mean, variance = moments(draws)
    assert (draws == draws.floor()).all()
    assert mean == pytest.approx(rate, abs=6 * (rate / MANY) ** 0.5)
    assert variance == pytest.approx(rate, rel=0.03 + 1 / (rate * MANY) ** 0.5 * 6)


@pytest.mark.parametrize("count", [1, 7, 40, 1000, 100_000])
@pytest.mark.parametrize("chance", [0.001, 0.2, 0.5, 0.9])
def test_binomial(count, chance):
    n = torch.full((MANY,), float(count), device="xpu")
    draws = torch.binomial(n, torch.full_like(n, chance))
    mean, variance = moments(draws)
    spread = count * chance * (1 - chance)
    assert ((draws == draws.floor()) & (draws >= 0) & (draws <= n)).all()
    assert mean == pytest.approx(count * chance, abs=6 * (spread / MANY) ** 0.5 + 1e-6)
    assert variance == pytest.approx(spread, rel=0.03 + 6 / (spread * MANY) ** 0.5)


def test_ends_of_binomials():
    n = torch.tensor([5.0, 5.0, 0.0, 5.0, -1.0], device="xpu")
    p = torch.tensor([0.0, 1.0, 0.5, 2.0, 0.5], device="xpu")
    expected = torch.tensor([0.0, 5.0, 0.0, float("nan"), float("nan")])
    torch.testing.assert_close(torch.binomial(n, p).cpu(), expected, equal_nan=True)
    assert torch.poisson(torch.zeros(3, device="xpu")).eq(0).all()


@pytest.mark.parametrize("shape", [0.02, 0.4, 1.0, 3.5, 200.0])
def test_gamma(shape):
    draws = torch._standard_gamma(torch.full((MANY,), shape, device="xpu"))
    mean, variance = moments(draws)
    assert (draws > 0).all()
    assert mean == pytest.approx(shape, abs=6 * (shape / MANY) ** 0.5)
    # The variance of a variance is as the fourth moment: 6 / shape + 2 of its square.
    assert variance == pytest.approx(shape, rel=6 * ((6 / shape + 2) / MANY) ** 0.5)


def test_quantiles_of_gamma_and_poisson():
    """Against PyTorch's draws on the CPU: more than two moments agree."""
    torch.manual_seed(0)
    at = torch.linspace(0.02, 0.98, 25, dtype=torch.float64)
    for make in (
        lambda x: torch._standard_gamma(torch.full_like(x, 0.6)),
        lambda x: torch._standard_gamma(torch.full_like(x, 4.0)),
        lambda x: torch.poisson(torch.full_like(x, 400.0)),
        lambda x: torch.binomial(torch.full_like(x, 3000.0), torch.full_like(x, 0.3)),
    ):
        ours = make(torch.zeros(MANY, device="xpu")).double().cpu().quantile(at)
        theirs = make(torch.zeros(MANY)).double().quantile(at)
        torch.testing.assert_close(ours, theirs, rtol=0.03, atol=0.01)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_dirichlet(dtype):
    shape = torch.tensor([0.3, 1.0, 5.0], device="xpu", dtype=dtype).expand(20_000, 3)
    draws = torch._sample_dirichlet(shape)
    assert ((draws > 0) & (draws < 1)).all()
    one = torch.ones(20_000)
    torch.testing.assert_close(draws.float().sum(1).cpu(), one, rtol=0, atol=2e-2)
    mean = draws.float().mean(0).cpu()
    torch.testing.assert_close(mean, shape[0].float().cpu() / 6.3, rtol=0.02, atol=0.01)


def test_draws_come_from_the_generator():
    shape = torch.full((1000,), 2.0, device="xpu")
    generator = torch.Generator("xpu").manual_seed(3)
    first, second = (torch._standard_gamma(shape, generator=generator) for _ in range(2))
    generator.manual_seed(3)
    assert torch.equal(torch._standard_gamma(shape, generator=generator), first)
    assert not torch.equal(first, second)


SHAPES = [0.01, 0.1, 0.7, 1.0, 2.0, 6.5, 20.0, 300.0, 10_000.0]


def test_gradients_of_gamma():
    shape = torch.tensor(SHAPES, dtype=torch.float64).repeat_interleave(400)
    torch.manual_seed(1)
    drawn = torch._standard_gamma(shape)
    got = torch._standard_gamma_grad(shape.float().to("xpu"), drawn.float().to("xpu"))
    by_differences = gradient_by_differences(shape, drawn)
    sound = torch.isfinite(by_differences) & (drawn > 1e-30)
    torch.testing.assert_close(
        got.double().cpu()[sound], by_differences[sound], rtol=3e-3, atol=1e-12
    )


def gradient_by_differences(shape, drawn):
    """-(dF / d shape) / f, from the smaller of the two tails."""
    h = shape * 1e-5
    lower, upper = torch.special.gammainc, torch.special.gammaincc
    rise = (lower(shape + h, drawn) - lower(shape - h, drawn)) / (2 * h)
    fall = (upper(shape + h, drawn) - upper(shape - h, drawn)) / (2 * h)
    slope = torch.where(lower(shape, drawn) < 0.5, -rise, fall)
    density = ((shape - 1) * drawn.log() - drawn - torch.lgamma(shape)).exp()
    return slope / density


def test_gradients_of_beta_agree_with_the_cpu():
    torch.manual_seed(1)
    a, b = (torch.tensor(SHAPES[1:-1], dtype=torch.float64) for _ in range(2))
    a, b = (t.reshape(-1).repeat_interleave(50) for t in torch.meshgrid(a, b, indexing="ij"))
    x = torch._sample_dirichlet(torch.stack([a, b], 1))[:, 0].clamp(1e-6, 1 - 1e-6)
    expected = torch._dirichlet_grad(x, a, a + b)
    got = torch._dirichlet_grad(*(t.float().to("xpu") for t in (x, a, a + b)))
    ratio = got.double().cpu() / expected
    assert ratio.median().item() == pytest.approx(1, abs=1e-3)
    # The CPU's own is a fit that is good to a percent or two.
    assert ((ratio - 1).abs() < 0.03).double().mean() > 0.95


@pytest.mark.parametrize("make", ["Gamma", "Beta", "Dirichlet", "StudentT", "Chi2"])
def test_reparametrised_draws_have_gradients(make):
    torch.manual_seed(0)
    p = torch.tensor([1.5, 2.5], device="xpu", requires_grad=True)
    made = {
        "Gamma": lambda: d.Gamma(p, torch.ones_like(p)),
        "Beta": lambda: d.Beta(p, p.flip(0)),
        "Dirichlet": lambda: d.Dirichlet(p),
        "StudentT": lambda: d.StudentT(p + 3),
        "Chi2": lambda: d.Chi2(p),
    }[make]()
    n = 50_000
    draws = made.rsample((n,))
    got = torch.autograd.grad((draws**2).mean(0).sum(), p, retain_graph=True)[0]
    second = made.mean**2 + made.variance
    expected = torch.autograd.grad(second.sum(), p)[0]
    torch.testing.assert_close(got, expected, rtol=0.15, atol=0.05)


def test_draws_in_a_graph_are_new():
    shape = torch.full((500,), 2.0, device="xpu")
    graph = torch.xpu.XPUGraph()
    torch._standard_gamma(shape)
    with torch.xpu.graph(graph):
        draws = torch._standard_gamma(shape)
    graph.replay()
    first = draws.clone()
    graph.replay()
    assert not torch.equal(first, draws)

"""Arguments of reductions, scans and orders."""

from __future__ import annotations

import torch
from generator import ALL, COMPLEX, FLOATS, INTEGERS, NUMBERS, REAL, Generator
from operator_line import Arguments, lines

# They hold as many different integers as a tensor has elements.
WHOLE = (torch.float32, torch.float64, torch.int64, torch.int32)


def over(dtypes, values=None, several=True, dtype_option=False, keepdim=True, least=0):
    """A tensor and, mostly, which dimensions go."""

    def arguments(g: Generator) -> Arguments:
        shape = g.shape(least, elements=2000)
        a = g.tensor(shape, g.pick(*dtypes), g.pick(*values) if values else g.mild())
        named: dict = {}
        if g.chance(0.75):
            named["dim"] = g.dims(len(shape)) if several and g.chance(0.5) else g.dim(len(shape))
            if keepdim and g.chance(0.4):
                named["keepdim"] = True
        if dtype_option and g.chance(0.2):
            named["dtype"] = g.pick(*FLOATS, torch.complex64)
        return [a], named

    return arguments


def along(dtypes, values=None, keepdim=False, least=0, dtype_option=False):
    """A tensor and one dimension."""

    def arguments(g: Generator) -> Arguments:
        shape = g.shape(least, elements=2000)
        a = g.tensor(shape, g.pick(*dtypes), g.pick(*values) if values else g.mild())
        named: dict = {"keepdim": True} if keepdim and g.chance(0.4) else {}
        if dtype_option and g.chance(0.2):
            named["dtype"] = g.pick(*FLOATS[:2])
        return [a, g.dim(len(shape))], named

    return arguments


def variance(g: Generator) -> Arguments:
    given, named = over(FLOATS + COMPLEX, ["normal", "unit", "small"])(g)
    named["correction"] = g.pick(0, 1, 2, 0.5)
    return given, named


def norms(g: Generator) -> Arguments:
    given, named = over(FLOATS + COMPLEX, ["normal", "unit", "small"])(g)
    orders = (0, 1, 2, 2, 2, 3, 0.5, -1, float("inf"), float("-inf"))
    return [*given, g.pick(*orders)], named


def quantiles(g: Generator) -> Arguments:
    shape = g.shape()
    a = g.tensor(shape, d := g.pick(*FLOATS[:2]), g.pick("normal", "small", "nan"))
    q = g.pick(0.0, 0.3, 0.5, 1.0)
    named = {"interpolation": g.pick("linear", "lower", "higher", "midpoint", "nearest")}
    if g.chance(0.7):
        named |= {"dim": g.dim(len(shape)), "keepdim": g.chance(0.3)}
    return [a, g.tensor([g.pick(1, 3)], d, "unit") if g.chance(0.5) else q], named


def orders(values):
    def arguments(g: Generator) -> Arguments:
        shape = g.shape(elements=3000)
        a = g.tensor(shape, g.pick(*REAL), g.pick(*values))
        named = {"dim": g.dim(len(shape)), "descending": g.chance(0.5), "stable": True}
        return [a], named

    return arguments


def ranks(g: Generator) -> Arguments:
    """Distinct values and how many of them."""
    shape = g.shape(elements=2000)
    a = g.tensor(shape, g.pick(*WHOLE), "distinct")
    dim = g.dim(len(shape))
    size = shape[dim] if shape and -len(shape) <= dim < len(shape) else 1
    # No element of a tensor without dimensions is not a shape.
    return [a, g.random.randint(0 if shape else 1, max(size, 1)), dim], {}


def topk(g: Generator) -> Arguments:
    given, _ = ranks(g)
    return given, {"largest": g.chance(0.5)}


def kth(g: Generator) -> Arguments:
    given, _ = ranks(g)
    return given, {"keepdim": g.chance(0.3)}


def histogram(g: Generator) -> Arguments:
    a = g.tensor(g.shape(), g.pick(*FLOATS[:2]), "normal")
    return [a, g.pick(1, 10, 100)], g.pick({}, {"min": -1, "max": 2}, {"min": 0, "max": 0})


def counts(g: Generator) -> Arguments:
    n = g.size(0, 65)
    a = g.tensor([n], g.pick(*INTEGERS), "index 0 20")
    weights = (
        {"weights": g.tensor([n], g.pick(*FLOATS[:2], torch.int64), "normal")}
        if g.chance(0.5)
        else {}
    )
    return [a], weights | ({"minlength": g.pick(0, 5, 50)} if g.chance(0.5) else {})


def boundaries(g: Generator) -> Arguments:
    dtype = g.pick(*REAL)
    named = {"right": g.chance(0.5), "out_int32": g.chance(0.2)}
    return [g.tensor([g.size(0, 33)], dtype, "small"), g.tensor(g.shape(), dtype, "small")], named


def search(sequence, values, **named):
    return torch.searchsorted(sequence.sort().values, values, **named)


def bucketize(sequence, values, **named):
    return torch.bucketize(values, sequence.sort().values, **named)


def differences(g: Generator) -> Arguments:
    shape = g.shape(1)
    return [g.tensor(shape, g.pick(*NUMBERS))], {"n": g.pick(1, 1, 2, 3), "dim": g.dim(len(shape))}


def renorm(g: Generator) -> Arguments:
    shape = g.shape(2, 5)
    a = g.tensor(shape, g.pick(*FLOATS), "normal")
    return [a, g.pick(1, 2, 3), g.dim(len(shape)), g.pick(0.5, 1.0, 5.0)], {}


def consecutive(g: Generator) -> Arguments:
    shape = g.shape(1)
    a = g.tensor(shape, g.pick(*REAL), "small")
    named: dict = {"return_inverse": g.chance(0.5), "return_counts": g.chance(0.5)}
    return [a], named | ({"dim": g.dim(len(shape))} if g.chance(0.3) else {})


ties = ["small", "special", "normal", "nan"]
sums = {"slack": 32, "cancels": True}

OPERATORS = [
    *lines("sum nansum mean nanmean", over(ALL, dtype_option=True), **sums),
    *lines(
        "prod",
        along(ALL, ["unit", "small"], keepdim=True, dtype_option=True),
        slack=128,
        cancels=True,
    ),
    *lines(
        "prod Tensor.prod", over(ALL, ["unit", "small"], several=False), slack=128, cancels=True
    ),
    *lines("amax amin", over((*REAL, torch.bool), ties), exact=True),
    *lines("aminmax", over(REAL, ties, several=False), exact=True),
    *lines("max min argmax argmin", along(REAL, ties, keepdim=True), exact=True),
    *lines(
        "max min argmax argmin",
        lambda g: ([g.tensor(g.shape(), g.pick(*REAL), g.pick(*ties))], {}),
        exact=True,
    ),
    # Which of equal elements gets the gradient is not defined.
    *lines(
        "median nanmedian msort",
        lambda g: ([g.tensor(g.shape(1), g.pick(*REAL), g.pick(*ties))], {}),
        exact=True,
        modes="fio",
    ),
    *lines("median nanmedian mode", along(WHOLE, ["distinct"], keepdim=True), exact=True),
    *lines("all any", over(ALL, ties), exact=True),
    *lines("count_nonzero", over(ALL, ties, keepdim=False), exact=True),
    *lines("std var std_mean var_mean", variance, slack=1024, cancels=True),
    *lines(
        "logsumexp special.logsumexp", over(REAL, keepdim=True, least=1), slack=32, cancels=True
    ),
    *lines("norm linalg.vector_norm", norms, slack=64, cancels=True),
    *lines("quantile nanquantile", quantiles, slack=32, cancels=True, modes="fo"),
    *lines("cumsum", along(NUMBERS, dtype_option=True), slack=128, cancels=True),
    *lines("cumprod", along(NUMBERS, ["unit"], dtype_option=True), slack=128, cancels=True),
    *lines("cummax cummin", along(REAL, ties), exact=True),
    *lines("logcumsumexp", along(FLOATS), slack=256, cancels=True),
    *lines("softmax log_softmax", along(FLOATS), slack=32, cancels=True),
    *lines(
        "F.softmin F.normalize",
        lambda g: ([g.tensor(s := g.shape(1), g.pick(*FLOATS), "normal")], {"dim": g.dim(len(s))}),
        slack=64,
        cancels=True,
    ),
    *lines(
        "trace",
        lambda g: ([g.tensor([g.size(), g.size()], g.pick(*NUMBERS), "normal")], {}),
        **sums,
    ),
    *lines("diff", differences),
    *lines(
        "trapezoid cumulative_trapezoid",
        lambda g: ([g.tensor(s := g.shape(1), g.pick(*FLOATS), "normal")], {"dim": g.dim(len(s))}),
        slack=64,
        cancels=True,
    ),
    *lines("renorm", renorm, slack=64, cancels=True),
    *lines("histc", histogram, exact=True),
    *lines("bincount", counts, slack=64, cancels=True),
    *lines("searchsorted", boundaries, composed=search, exact=True),
    *lines("bucketize", boundaries, composed=bucketize, exact=True),
    *lines("sort", orders(ties), exact=True),
    *lines("Tensor.argsort", orders(ties), exact=True),
    *lines("topk", topk, exact=True),
    *lines("kthvalue", kth, exact=True),
    *lines("unique_consecutive", consecutive, exact=True),
    *lines(
        "nonzero argwhere", lambda g: ([g.tensor(g.shape(), g.pick(*ALL), "small")], {}), exact=True
    ),
    *lines(
        "cov corrcoef",
        lambda g: ([g.tensor(g.shape(1, 2), g.pick(*FLOATS[:2], torch.complex64), "normal")], {}),
        slack=256,
        cancels=True,
    ),
]

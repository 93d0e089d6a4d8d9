"""Arguments of operators that take or put elements at indices."""

from __future__ import annotations

import math

import torch
from generator import ALL, FLOATS, NUMBERS, REAL, Generator, View
from operator_line import Arguments, lines


def _along(g: Generator, dtypes, least: int = 0) -> tuple[View, int, int]:
    """A tensor, a dimension of it and its size."""
    shape = g.shape(least, 8)
    a = g.tensor(shape, g.pick(*dtypes), "normal")
    dim = g.dim(len(shape), 0)
    return a, dim, shape[dim] if shape else 1


def _replaced(shape, dim: int, size: int) -> list[int]:
    return [size if d == dim % len(shape) else n for d, n in enumerate(shape)]


def selection(g: Generator) -> Arguments:
    a, dim, n = _along(g, ALL)
    index = g.index([g.size(0, 9)] if n else [0], n, dtype=g.pick(torch.int64, torch.int32))
    return [a, dim, index], {}


def gathers(g: Generator) -> Arguments:
    a, dim, n = _along(g, ALL)
    shape = [g.randrange(k + 1) if g.chance(0.3) else k for k in a.size]
    if shape:
        shape[dim] = g.size(0, 9) if n else 0
    return [a, dim, g.index(shape, n)], {}


def _scatter(g: Generator, dtypes, unique: bool) -> tuple[View, int, View, View]:
    a, dim, n = _along(g, dtypes)
    shape = [g.randrange(k + 1) if g.chance(0.3) else k for k in a.size]
    if unique:  # one index for each place: which of several wins is not defined
        if shape:
            shape[dim] = min(1, n)
        index = g.index(shape, n)
    else:
        if shape:
            shape[dim] = g.size(0, 17) if n else 0
        index = g.index(shape, n)
    source = g.tensor(
        [k + (g.randrange(2) if g.chance(0.2) else 0) for k in shape], a.dtype, "normal"
    )
    return a, dim, index, source


def scatter(g: Generator) -> Arguments:
    a, dim, index, source = _scatter(g, ALL, True)
    return [a, dim, index, source if g.chance(0.7) else g.scalar(a.dtype, wider=0)], {}


def scatter_add(g: Generator) -> Arguments:
    return [*_scatter(g, NUMBERS, False)], {}


def scatter_reduce(g: Generator) -> Arguments:
    given = _scatter(g, REAL, False)
    named = {"include_self": g.chance(0.6)}
    return [*given, g.pick("sum", "prod", "mean", "amax", "amin")], named


def index_put_along(dtypes, alpha: bool = False, unique: bool = False):
    def arguments(g: Generator) -> Arguments:
        a, dim, n = _along(g, dtypes)
        count = (min(1, n) if unique else g.size(0, 17)) if n else 0
        index = g.index([count], n)
        source = g.tensor(_replaced(a.size, dim, count) if a.size else [], a.dtype, "normal")
        if not a.size:
            index = g.index([1], 1)
        named = {"alpha": g.scalar(a.dtype, wider=0)} if alpha and g.chance(0.4) else {}
        return [a, dim, index, source], named

    return arguments


def index_fill(g: Generator) -> Arguments:
    a, dim, n = _along(g, ALL)
    return [a, dim, g.index([g.size(0, 9) if n else 0], n), g.scalar(a.dtype, wider=0)], {}


def index_reduce(g: Generator) -> Arguments:
    given, _ = index_put_along(REAL)(g)
    return [*given, g.pick("prod", "mean", "amax", "amin")], {"include_self": g.chance(0.6)}


def _indices(g: Generator, shape, unique: bool = False) -> tuple:
    """What stands between brackets: slices, numbers, tensors, masks, None and dots."""
    index: list = []
    d = 0
    common = g.shape(0, 3, 12)
    while d < len(shape) and g.chance(0.85):
        n = shape[d]
        kind = g.randrange(8)
        if kind == 0 and n:
            index.append(g.random.randint(-n, n - 1))
        elif kind in (1, 2):
            index.append(slice(g.pick(None, 0, 1, -2), g.pick(None, n, -1), g.pick(None, 1, 2, 3)))
        elif kind == 3:
            index.append(None)
            d -= 1
        elif kind == 4 and Ellipsis not in index and g.chance(0.5):
            index.append(Ellipsis)
            d += g.randrange(len(shape) - d + 1) - 1
        elif kind == 5 and not unique:
            dims = g.random.randint(1, min(2, len(shape) - d))
            index.append(g.tensor(shape[d : d + dims], torch.bool))
            d += dims - 1
            if g.chance(0.8):
                break
        elif n and not unique:
            index.append(g.index(g.broadcast_with(common), n, negative=g.chance(0.5)))
        d += 1
    return tuple(index)


def getitem(g: Generator) -> Arguments:
    a = g.tensor(g.shape(0, 7), g.pick(*ALL))
    return [a, _indices(g, a.size)], {}


def setitem(g: Generator) -> Arguments:
    """By slices and numbers, so that no place is written twice."""
    a = g.tensor(g.shape(0, 7), g.pick(*ALL), contiguous=g.chance(0.7))
    return [a, _indices(g, a.size, unique=True), g.scalar(a.dtype, wider=0)], {}


def set_numbers(g: Generator) -> Arguments:
    a = g.tensor(g.shape(0, 7), g.pick(*ALL), contiguous=g.chance(0.7))
    return [a, _indices(g, a.size), g.scalar(a.dtype, wider=0)], {}


def _set(a, index, value):
    a = a.clone()
    a[index] = value
    return a


def index_put(g: Generator) -> Arguments:
    shape = g.shape(1, 6)
    a = g.tensor(shape, g.pick(*NUMBERS), "normal")
    common = g.shape(0, 3, 60)
    count = g.random.randint(1, min(3, len(shape)))
    if 0 in shape[:count]:
        common = [0]
    index = [
        g.index(g.broadcast_with(common) if i else common, n or 1)
        for i, n in enumerate(shape[:count])
    ]
    values = g.tensor(g.pick([], [*common, *shape[count:]]), a.dtype, "normal")
    return [a, index, values], {"accumulate": True}


def puts(g: Generator) -> Arguments:
    a = g.tensor(g.shape(), g.pick(*NUMBERS), "normal")
    n = math.prod(a.size)
    shape = g.shape(0, 3, 60) if n else [0]
    index = g.index(shape, n, negative=True)
    return [a, index, g.tensor(shape, a.dtype, "normal")], {"accumulate": True}


def takes(g: Generator) -> Arguments:
    a = g.tensor(g.shape(), g.pick(*ALL))
    n = math.prod(a.size)
    return [a, g.index(g.shape(0, 3, 60) if n else [0], n, negative=True)], {}


def masked(g: Generator) -> Arguments:
    shape = g.shape()
    return [g.tensor(shape, g.pick(*ALL)), g.tensor(g.broadcast_with(shape), torch.bool)], {}


def masked_scatter(g: Generator) -> Arguments:
    (a, mask), _ = masked(g)
    count = max(math.prod(a.size), math.prod(mask.size)) * 3 + 3
    return [a, mask, g.tensor([count], a.dtype)], {}


def along_dim(g: Generator) -> Arguments:
    (a, dim, index), _ = gathers(g)
    return [a, index, dim], {}


def embedding(g: Generator) -> Arguments:
    rows = g.size(1, 65)
    weight = g.tensor([rows, g.size(0, 17)], g.pick(*FLOATS), "normal")
    named = {"padding_idx": g.randrange(rows)} if g.chance(0.4) else {}
    if g.chance(0.2):
        named["scale_grad_by_freq"] = True
    return [g.index(g.shape(0, 4, 60), rows, dtype=g.pick(torch.int64, torch.int32)), weight], named


def bags(g: Generator) -> Arguments:
    rows, count = g.size(1, 65), g.size(0, 33)
    weight = g.tensor([rows, g.size(1, 17)], g.pick(*FLOATS[:2]), "normal")
    named: dict = {"mode": g.pick("sum", "mean", "max")}
    if g.chance(0.5):
        return [g.index([g.size(1, 5), g.size(0, 9)], rows), weight], named
    starts = [0, *sorted(g.randrange(count + 1) for _ in range(g.randrange(5)))]
    named["include_last_offset"] = g.chance(0.3)
    if named["include_last_offset"]:
        starts.append(count)
    return [g.index([count], rows), weight, starts], named


def _bag(indices, weight, starts=None, **named):
    if starts is not None:
        starts = torch.tensor(starts, device=indices.device)
    return torch.nn.functional.embedding_bag(indices, weight, starts, **named)


def one_hot(g: Generator) -> Arguments:
    n = g.size(1, 17)
    return [g.index(g.shape(0, 4, 60), n), g.pick(n, n + 3)], {}


added = {"slack": 64, "cancels": True}

OPERATORS = [
    *lines("index_select", selection, exact=True),
    *lines("gather", gathers, exact=True),
    *lines("take_along_dim", along_dim, exact=True),
    *lines("scatter", scatter, exact=True),
    *lines("scatter_add", scatter_add, **added),
    *lines("scatter_reduce", scatter_reduce, **added),
    *lines("index_add", index_put_along(NUMBERS, alpha=True), **added),
    *lines("index_copy", index_put_along(ALL, unique=True), exact=True),
    *lines("index_fill", index_fill, exact=True),
    *lines("index_reduce", index_reduce, **added),
    *lines("getitem", getitem, composed=lambda a, index: a[index], exact=True),
    *lines("setitem", setitem, composed=_set, exact=True),
    *lines("setitem", set_numbers, composed=_set, exact=True),
    *lines("index_put", index_put, **added),
    *lines("Tensor.put", puts, **added),
    *lines("take", takes, exact=True),
    *lines("masked_select", masked, exact=True),
    *lines("masked_scatter", masked_scatter, exact=True),
    *lines("F.embedding", embedding, exact=True),
    *lines("F.embedding_bag", bags, composed=_bag, **added),
    *lines("F.one_hot", one_hot, exact=True),
]

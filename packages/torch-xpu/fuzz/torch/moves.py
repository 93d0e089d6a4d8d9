"""Arguments of operators that move, view and join elements without computing."""

from __future__ import annotations

import math

import torch
from generator import ALL, NUMBERS, Generator, View
from operator_line import Arguments, lines


def some(
    g: Generator, least: int = 0, most: int = 13, apart: bool = False, long: bool = True
) -> View:
    return g.tensor(g.shape(least, most, long=long), g.pick(*ALL), apart=apart)


def with_dim(g: Generator) -> Arguments:
    a = some(g)
    return [a, g.dim(len(a.size))], {}


def with_two_dims(g: Generator) -> Arguments:
    a = some(g)
    return [a, g.dim(len(a.size)), g.dim(len(a.size))], {}


def with_dims(g: Generator) -> Arguments:
    a = some(g)
    return [a, g.dims(len(a.size))], {}


def permute(g: Generator) -> Arguments:
    a = some(g)
    order = list(range(len(a.size)))
    g.random.shuffle(order)
    return [a, order[:-1] if order and g.chance(0.01) else order], {}


def several(g: Generator, dim_given: bool = True) -> Arguments:
    """Tensors that fit together along a dimension, sometimes of several dtypes."""
    shape, dtype = g.shape(1), g.pick(*ALL)
    dim = g.dim(len(shape), 0)
    tensors = []
    for _ in range(g.pick(1, 2, 2, 3, 5, 9)):
        own = list(shape)
        own[dim] = g.size(0, 9) if g.chance(0.5) else own[dim]
        if g.chance(0.01):
            own = own[1:]
        tensors.append(g.tensor(own, g.pick(*ALL) if g.chance(0.1) else dtype))
    if g.chance(0.05):
        tensors.append(g.tensor([0], dtype))
    return [tensors], {"dim": dim} if dim_given else {}


def alike(g: Generator, least: int = 0, dim_given: bool = False) -> Arguments:
    shape, dtype = g.shape(least, 6), g.pick(*ALL)
    tensors = [g.tensor(shape, dtype) for _ in range(g.pick(1, 2, 3, 5))]
    return [tensors], {"dim": g.dim(len(shape) + 1)} if dim_given else {}


def vectors(g: Generator) -> Arguments:
    dtype = g.pick(*ALL)
    return [g.tensor([g.size(0, 9)], dtype) for _ in range(g.pick(1, 2, 3))], {}


def pieces(g: Generator) -> Arguments:
    a = some(g, 1)
    return [a, g.pick(1, 2, 3, 7)], {"dim": g.dim(len(a.size))}


def sections(g: Generator) -> Arguments:
    a = some(g, 1)
    dim = g.dim(len(a.size), 0)
    first = g.randrange(a.size[dim] + 1)
    return [a, [first, a.size[dim] - first]], {"dim": dim}


def repeats(g: Generator) -> Arguments:
    a = some(g, 0, 5)
    return [a, [g.pick(1, 1, 2, 3, 0) for _ in range(len(a.size) + g.randrange(2))]], {}


def interleave(g: Generator) -> Arguments:
    a = some(g, 1, 5)
    dim = g.dim(len(a.size), 0)
    if g.chance(0.5):
        return [a, g.pick(0, 1, 2, 3)], {"dim": dim}
    return [a, g.tensor([a.size[dim]], torch.int64, "index 0 4")], {"dim": dim}


def expand(g: Generator) -> Arguments:
    a = some(g)
    sizes = [g.pick(3, 4, 0) if n == 1 else g.pick(n, -1) for n in a.size]
    return [a, [g.pick(1, 2, 5) for _ in range(g.randrange(3))] + sizes], {}


def reshape(g: Generator) -> Arguments:
    a = some(g)
    left, sizes = math.prod(a.size), []
    while left > 1 and len(sizes) < 6:
        size = g.pick(*(d for d in range(1, left + 1) if left % d == 0))
        sizes.append(size)
        left //= size
    sizes.append(left)
    if g.chance(0.2) and 0 not in sizes:
        sizes[g.randrange(len(sizes))] = -1
    return [a, sizes], {}


def slices(g: Generator, apart: bool = False) -> Arguments:
    a = some(g, 1, apart=apart)
    dim = g.dim(len(a.size), 0)
    n = a.size[dim]
    start = g.randrange(n + 1)
    return [a, dim, start, g.randrange(n - start + 1)], {}


def selects(g: Generator, apart: bool = False) -> Arguments:
    a = some(g, 1, apart=apart)
    dim = g.dim(len(a.size), 0)
    return [a, dim, g.random.randint(-a.size[dim], max(a.size[dim] - 1, 0))], {}


def rolls(g: Generator) -> Arguments:
    a = some(g)
    if g.chance(0.2):
        return [a, g.pick(0, 1, -3, 100)], {}
    dims = g.dims(len(a.size))
    return [a, [g.pick(0, 1, -1, 5, -70) for _ in dims], dims], {}


def rot90(g: Generator) -> Arguments:
    a = some(g, 2)
    return [a, g.pick(0, 1, 2, 3, -1, 5), g.random.sample(range(len(a.size)), 2)], {}


def diagonals(g: Generator) -> Arguments:
    a = some(g, 2)
    dims = g.random.sample(range(len(a.size)), 2)
    return [a], {"offset": g.pick(0, 0, 1, -1, 3, -70), "dim1": dims[0], "dim2": dims[1]}


def triangles(g: Generator) -> Arguments:
    return [some(g, 2), g.pick(0, 0, 1, -1, 5, -5)], {}


def embedded(g: Generator) -> Arguments:
    a = some(g, 1, 5, long=False)
    return [a], {"offset": g.pick(0, 1, -2)}


def windows(g: Generator) -> Arguments:
    a = some(g, 1)
    dim = g.dim(len(a.size), 0)
    return [a, dim, g.randrange(a.size[dim] + 1), g.pick(1, 2, 3)], {}


def clones(g: Generator) -> Arguments:
    a = some(g)
    formats = [torch.contiguous_format]
    formats += {4: [torch.channels_last], 5: [torch.channels_last_3d]}.get(len(a.size), [])
    return [a], {"memory_format": g.pick(*formats)}


def strided(g: Generator) -> Arguments:
    a = g.tensor(g.shape(), g.pick(*ALL), contiguous=True)
    n = math.prod(a.size)
    size = [g.size(0, 5) for _ in range(g.randrange(4))]
    stride = [g.randrange(4) for _ in size]
    last = sum((k - 1) * s for k, s in zip(size, stride, strict=True) if k)
    return [a, size, stride, max(0, g.randrange(max(n - last, 1)))], {}


def as_dtype(g: Generator) -> Arguments:
    return [some(g, 0, 6), g.pick(*ALL)], {}


def scatters(view):
    """A tensor, what replaces a view of it, and which view."""

    def arguments(g: Generator) -> Arguments:
        (a, *rest), named = view(g, apart=True)
        if view is selects:
            shape = [n for d, n in enumerate(a.size) if d != rest[0] % len(a.size)]
        else:
            dim, start, length = rest
            shape = list(a.size)
            shape[dim] = length
            rest, named = [], {"dim": dim, "start": start, "end": start + length}
        return [a, g.tensor(shape, a.dtype), *rest], named

    return arguments


def pads(g: Generator) -> Arguments:
    a = some(g, 1, 6)
    count = g.random.randint(1, len(a.size))
    amounts = [g.pick(0, 1, 2, 3, -1, 5) for _ in range(2 * count)]
    return [a, amounts], {"value": g.scalar(a.dtype, wider=0.05)} if g.chance(0.5) else {}


def edges(g: Generator) -> Arguments:
    spatial = g.pick(1, 2, 3)
    shape = [g.size(1, 5), g.size(1, 5), *(g.size(2, 9) for _ in range(spatial))][g.randrange(2) :]
    amounts = [g.pick(0, 1, 2, 1, -1) for _ in range(2 * spatial)]
    return [
        g.tensor(shape, g.pick(*NUMBERS)),
        amounts,
        g.pick("reflect", "replicate", "circular"),
    ], {}


def shuffles(g: Generator) -> Arguments:
    r = g.pick(1, 2, 3)
    shape = [*g.shape(0, 2, 9), g.size(1, 4) * r * r, g.size(1, 5), g.size(1, 5)]
    return [g.tensor(shape, g.pick(*ALL)), r], {}


def unshuffles(g: Generator) -> Arguments:
    r = g.pick(1, 2, 3)
    shape = [*g.shape(0, 2, 9), g.size(1, 4), g.size(1, 5) * r, g.size(1, 5) * r]
    return [g.tensor(shape, g.pick(*ALL)), r], {}


def channels(g: Generator) -> Arguments:
    groups = g.pick(1, 2, 3)
    shape = [g.size(0, 3), g.size(1, 4) * groups, g.size(0, 5), g.size(0, 5)][: g.pick(3, 4)]
    return [g.tensor(shape, g.pick(*ALL)), groups], {}


promises = {"exact": True, "slack": 16}
views = promises | {"strides": True}

OPERATORS = [
    *lines("cat concat", several, **promises),
    *lines("hstack vstack dstack column_stack", alike, **promises),
    *lines("stack", lambda g: alike(g, 0, True), **promises),
    *lines("block_diag", vectors, **promises),
    *lines("cartesian_prod", vectors, **promises),
    *lines("meshgrid", lambda g: (vectors(g)[0], {"indexing": g.pick("ij", "xy")}), **promises),
    *lines("split chunk tensor_split", pieces, **views),
    *lines("split split_with_sizes", sections, **views),
    *lines("transpose swapaxes movedim moveaxis", with_two_dims, **views),
    *lines("permute", permute, **views),
    *lines("t", lambda g: ([some(g, 0, 2)], {}), **views),
    *lines("squeeze unsqueeze unbind", with_dim, **views),
    *lines("squeeze", with_dims, **views),
    *lines("flip", with_dims, **promises),
    *lines("fliplr flipud", lambda g: ([some(g)], {}), **promises),
    *lines("roll", rolls, **promises),
    *lines("rot90", rot90, **promises),
    *lines("tile Tensor.repeat", repeats, **promises),
    *lines("repeat_interleave", interleave, **promises),
    *lines("Tensor.expand broadcast_to", expand, **views),
    *lines("reshape Tensor.view", reshape, **views),
    *lines("flatten ravel atleast_1d atleast_2d atleast_3d", lambda g: ([some(g)], {}), **promises),
    *lines("narrow narrow_copy", slices, **views),
    *lines("select select_copy", selects, **views),
    *lines("diagonal", diagonals, **views),
    *lines("diagonal_copy", diagonals, **promises),
    *lines("tril triu", triangles, **promises),
    *lines(
        "diag diagflat", lambda g: ([some(g, 1, 2, long=False), g.pick(0, 1, -2)], {}), **promises
    ),
    *lines("diag_embed", embedded, **promises),
    *lines("Tensor.unfold unfold_copy", windows, **views),
    *lines("clone Tensor.contiguous", clones, **views),
    *lines("clone Tensor.contiguous", lambda g: ([some(g)], {}), **views),
    *lines("as_strided as_strided_copy", strided, **views),
    *lines("Tensor.view view_copy", as_dtype, **views),
    *lines("select_scatter", scatters(selects), **promises),
    *lines("slice_scatter", scatters(slices), **promises),
    *lines("F.pad", pads, **promises),
    *lines("F.pad", edges, **promises),
    *lines("F.pixel_shuffle", shuffles, **promises),
    *lines("F.pixel_unshuffle", unshuffles, **promises),
    *lines("F.channel_shuffle", channels, **promises),
    *lines(
        "combinations",
        lambda g: ([g.tensor([g.size(0, 9)], g.pick(*ALL))], {"r": g.pick(1, 2, 3)}),
        **promises,
    ),
    *lines(
        "vander",
        lambda g: (
            [g.tensor([g.size(0, 9)], g.pick(*NUMBERS), "small")],
            {"increasing": g.chance(0.5)},
        ),
        slack=64,
    ),
    *lines("Tensor.tolist", lambda g: ([some(g, 0, 3)], {}), modes="f"),
]

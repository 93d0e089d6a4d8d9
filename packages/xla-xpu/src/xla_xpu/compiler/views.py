"""View operations, which only change positions: they cost nothing if strides describe the result."""

from __future__ import annotations

from xpu_runtime.codegen.affine import Affine, Coordinates, dot, row_major

from .graph import Node
from .plan import View

VIEWS = frozenset(["broadcast_in_dim", "transpose", "slice", "reverse", "reshape"])


def view_of(node: Node, source: View) -> View | None:
    """Apply a view operation to an array in memory; return None if no strides describe the result."""
    shape = node.output.shape
    if node.op == "reshape":
        return source.reshaped(shape)
    if node.op == "broadcast_in_dim":
        result_strides = [0] * len(shape)
        for at, size, stride in zip(
            node.attributes["broadcast_dimensions"], source.shape, source.strides, strict=True
        ):
            result_strides[at] = stride if size == shape[at] else 0
        return source.with_layout(shape, tuple(result_strides))
    if node.op == "transpose":
        return source.with_layout(
            shape, tuple(source.strides[dim] for dim in node.attributes["permutation"])
        )
    if node.op == "slice":
        start, step = node.attributes["start_indices"], node.attributes["strides"]
        offset = sum(s * t for s, t in zip(start, source.strides, strict=True))
        strides = tuple(s * t for s, t in zip(step, source.strides, strict=True))
        return source.with_layout(shape, strides, offset if 0 not in shape else 0)
    reversed_dims = node.attributes["dimensions"]
    offset = sum(
        (source.shape[dim] - 1) * source.strides[dim] for dim in reversed_dims if 0 not in shape
    )
    strides = tuple(-s if dim in reversed_dims else s for dim, s in enumerate(source.strides))
    return source.with_layout(shape, strides, offset)


def coordinates_in(node: Node, at: Coordinates) -> Coordinates | None:
    """Return the input coordinates of the result's element at ``at``; None if they are not affine."""
    source = node.inputs[0].shape
    if node.op == "reshape":
        return _through_reshape(source, node.output.shape, at)
    if node.op == "broadcast_in_dim":
        dims = node.attributes["broadcast_dimensions"]
        return tuple(
            Affine() if size == 1 else at[dim] for dim, size in zip(dims, source, strict=True)
        )
    if node.op == "transpose":
        permutation = node.attributes["permutation"]
        return tuple(at[permutation.index(dim)] for dim in range(len(source)))
    if node.op == "slice":
        start, step = node.attributes["start_indices"], node.attributes["strides"]
        return tuple(c * k + s for c, s, k in zip(at, start, step, strict=True))
    reversed_dims = node.attributes["dimensions"]
    return tuple(
        c * -1 + (size - 1) if dim in reversed_dims else c
        for dim, (c, size) in enumerate(zip(at, source, strict=True))
    )


def _through_reshape(
    source: tuple[int, ...], shape: tuple[int, ...], at: Coordinates
) -> Coordinates | None:
    """Return input coordinates through a reshape: affine for split dimensions, None for joined ones."""
    old = [size for size in source if size != 1]
    new = [(size, coordinate) for size, coordinate in zip(shape, at, strict=True) if size != 1]
    found: list[Affine] = []
    for size in old:
        group: list[tuple[int, Affine]] = []
        total = 1
        while total < size and new:
            group.append(new.pop(0))
            total *= group[-1][0]
        if total != size:
            return None
        sizes = tuple(part for part, _ in group)
        found.append(dot(tuple(c for _, c in group), row_major(sizes)))
    rest = iter(found)
    return tuple(Affine() if size == 1 else next(rest) for size in source)

"""The loops of a kernel: dimensions in which each of Inductor's loops is a position."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import sympy
from torch._inductor.virtualized import V
from torch.utils._sympy.functions import FloorDiv
from xpu_runtime.codegen.affine import Affine
from xpu_runtime.codegen.loops import MIN_INNER
from xpu_runtime.codegen.sizes import Size
from xpu_runtime.codegen.statements import Let, Term
from xpu_runtime.codegen.write_rows import make_team

from .symbols import Symbols
from .targets import target_of

# The order of Inductor's ranges, the outermost first: parallel ones, then those of reductions.
PARALLEL, FOLDED = ("z", "y", "x"), ("r0_", "r1_")


@dataclass
class Dimensions:
    """Sizes of the program's dimensions, and what Inductor's loops are in terms of them.

    A loop that is no position is a variable, which ``definitions`` define for each element.
    """

    sizes: list[Size] = field(default_factory=list)
    parallel: int = 0
    loops: dict[str, Affine] = field(default_factory=dict)
    definitions: dict[str, Let] = field(default_factory=dict)

    def add(self, tree: Any, entries: Sequence[Any], symbols: Symbols, type: str) -> None:
        """Add the dimensions of one of Inductor's ranges, which its loops divide in several ways."""
        equal = V.graph.sizevars.statically_known_equals
        cuts = _cuts(tree.numel, entries)
        sizes = [FloorDiv(high, low) for low, high in pairwise(cuts)]
        nested = all(
            equal(low * size, high) for (low, high), size in zip(pairwise(cuts), sizes, strict=True)
        )
        if not nested:
            cuts, sizes = [sympy.S.One, tree.numel], [tree.numel]
        first = len(self.sizes)
        # The smallest cut is the innermost dimension.
        dims = {low: first + len(sizes) - 1 - n for n, low in enumerate(cuts[:-1])}
        self.sizes += [symbols.size(size) for size in reversed(sizes)]
        for entry in entries:
            if nested:
                self.loops[entry.name] = _position(entry, cuts, dims, symbols)
            else:
                self.definitions[entry.name] = _definition(entry, tree, first, symbols, type)


def divided_loop(loop: sympy.Expr, divisor: sympy.Expr) -> sympy.Symbol | None:
    """Return the loop that a quotient of a loop is, if the range can have a dimension for it.

    Inductor leaves a quotient inside other terms, such as the channel's group of a group norm. As a loop it
    is the same for all lanes; as a division each lane would compute it, and gather what it loads there.
    """
    entry = V.kernel.range_tree_nodes.get(loop)
    if entry is None or not (divisor.is_Integer and entry.divisor.is_Integer):
        return None
    sizevars, cut = V.graph.sizevars, entry.divisor * divisor
    others = [e for e in V.kernel.range_tree_nodes.values() if e.root is entry.root]
    fits = all(
        sizevars.statically_known_multiple_of(other, cut)
        or (other.is_Integer and sizevars.statically_known_multiple_of(cut, other))
        for other in _cuts(entry.root.numel, others)
    )
    if not fits or not sizevars.statically_known_multiple_of(entry.length, divisor):
        return None
    trees = [tree for tree in V.kernel.range_trees if tree is not entry.root]
    rows = math.prod(_hint(tree.numel) for tree in trees)
    target = target_of(V.graph.get_current_device_or_throw())
    team = make_team(rows, _hint(entry.root.numel), target)
    if divisor < max(MIN_INNER, team.items):
        return None
    return entry.root.lookup(cut, FloorDiv(entry.length, divisor)).symbol()


def _hint(expr: sympy.Expr) -> int:
    return V.graph.sizevars.optimization_hint(expr, fallback=8192)


def _cuts(numel: sympy.Expr, entries: Iterable[Any]) -> list[sympy.Expr]:
    """Return the products of inner sizes at which loops begin or end, from 1 to the range's own."""
    equal = V.graph.sizevars.statically_known_equals
    cuts: list[sympy.Expr] = [sympy.S.One]
    found = [cut for e in entries for cut in (e.divisor, e.divisor * e.length)]
    for cut in [*sorted(found, key=_hint), numel]:
        if not any(equal(cut, known) for known in cuts):
            cuts.append(cut)
    # An empty or a single range has one loop.
    return cuts if len(cuts) > 1 else [sympy.S.One, numel]


def _position(
    entry: Any, cuts: Sequence[sympy.Expr], dims: dict[sympy.Expr, int], symbols: Symbols
) -> Affine:
    equal = V.graph.sizevars.statically_known_equals
    begin = next(n for n, cut in enumerate(cuts) if equal(cut, entry.divisor))
    end = next(n for n, cut in enumerate(cuts) if equal(cut, entry.divisor * entry.length))
    terms = []
    for cut in cuts[begin : max(end, begin)]:
        factor = symbols.size(FloorDiv(cut, entry.divisor))
        terms.append((dims[cut], factor))
    return Affine(0, tuple(sorted(terms, key=lambda term: str(term[0]))))


def _definition(entry: Any, tree: Any, dim: int, symbols: Symbols, type: str) -> Let:
    text = "({0})"
    divisor, length = symbols.size(entry.divisor), symbols.size(entry.length)
    if divisor != 1:
        text = "({0}) / {1}"
    if not V.graph.sizevars.statically_known_equals(entry.divisor * entry.length, tree.numel):
        text = f"({text}) % {{2}}"
    names = [str(s) if isinstance(s, int) else s.name for s in (divisor, length)]
    return Let(f"loop_{entry.name}", type, Term(text, (Affine.of(dim), *names)))

"""Random loop programs against an interpreter; mutations of the writers must be noticed."""

import numpy as np
import pytest
import random_programs

from xpu_runtime.codegen import byte_loads, tiles, write_columns, write_pointwise, write_rows
from xpu_runtime.codegen.affine import Affine
from xpu_runtime.codegen.hoist import hoist
from xpu_runtime.codegen.loops import Loops, join
from xpu_runtime.codegen.render import HOLE, Renderer
from xpu_runtime.codegen.statements import Block, For, If, Let, Term

pytestmark = [pytest.mark.usefixtures("device"), pytest.mark.values]


# Bytes beside the arrays of mutated programs, which leave their arrays.
MARGIN = 1 << 20


def difference(xr, kind, seed, margin=0):
    made = random_programs.KINDS[kind](np.random.default_rng(seed))
    return random_programs.difference(xr, *made, margin)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("kind", random_programs.KINDS)
def test_random_program(xr, kind, seed):
    assert not difference(xr, kind, seed)


def _join_everything(shape, positions, boundary=0):
    """Join dimensions whatever the positions are."""
    first = next(iter(positions), Affine())
    joined = join(shape, [first], boundary)
    return Loops(
        joined.sizes,
        {p: Affine(p.constant, joined.positions[first].terms) for p in positions},
        joined.leading,
    )


def _without_tail(call, index, count, target, first, end, team=None):
    lines = tiles.loop_over(call, index, count, target, first, end, team)
    return [line for line in lines if not line.startswith("  if (e +")]


def _without_conditions(statements, taken=()):
    """Hoist as usual, but replace each condition by its first body, which then always runs."""
    once, each = hoist(statements, taken)
    return once, [Block(s.body) if isinstance(s, If) else s for s in each]


def _swapped_coordinates(sizes, counter, index, prefix="d"):
    return tiles.declare_coordinates(sizes[::-1], counter, index, prefix)


def _first_byte(arrays, load):
    """Load the array's first byte, whatever the position."""
    array = arrays[load.array]
    if array.element.size > 1:
        return load
    return Let(load.name, array.element.math, Term("byte_at({0}, 0)", (f"x{load.array}",)))


def _without_blocks(statements, taken=()):
    once, each = hoist(statements, taken)
    return once, [s._replace(body=[]) if isinstance(s, For) else s for s in each]


class _WithoutOffsets(Renderer):
    def element(self, array, position):
        text = super().element(array, position)
        return text.partition(f" + {HOLE}")[0] + "]" if f" + {HOLE}" in text else text


# The programs that must notice, and what is broken.
MUTATIONS = {
    "joins dimensions that strides separate": (
        "pointwise",
        write_pointwise,
        "join",
        _join_everything,
    ),
    "drops the last elements": ("pointwise", write_pointwise, "loop_over", _without_tail),
    "drops the last elements of rows": ("rows", write_rows, "loop_over", _without_tail),
    "ignores conditions of rows": ("rows", write_rows, "hoist", _without_conditions),
    "swaps coordinates": (
        "pointwise",
        write_pointwise,
        "declare_coordinates",
        _swapped_coordinates,
    ),
    "loads the first byte": ("pointwise", byte_loads, "_byte_load", _first_byte),
    "ignores the blocks of rows": ("rows", write_rows, "hoist", _without_blocks),
    "joins folded dimensions that strides separate": (
        "columns",
        write_columns,
        "join",
        _join_everything,
    ),
    "swaps coordinates of columns": (
        "columns",
        write_columns,
        "declare_coordinates",
        _swapped_coordinates,
    ),
    "ignores conditions of columns": ("columns", write_columns, "hoist", _without_conditions),
    "keeps no offset of columns": ("columns", write_columns, "Renderer", _WithoutOffsets),
    "keeps no offset": ("pointwise", write_pointwise, "Renderer", _WithoutOffsets),
}


@pytest.mark.parametrize("what", MUTATIONS)
def test_mutation_is_noticed(xr, monkeypatch, what):
    kind, module, name, broken = MUTATIONS[what]
    monkeypatch.setattr(module, name, broken)
    for seed in range(40):
        try:
            if difference(xr, kind, seed, MARGIN):
                return
        except xr.CompileError:
            return
    pytest.fail("40 random programs gave right results")

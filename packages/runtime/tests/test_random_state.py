"""Generators: seeds, offsets, and what a kernel takes."""

import pytest


def test_take_advances_by_fours(xr):
    g = xr.Generator(7)
    assert g.take(1) == (7, 0)
    assert g.take(5) == (7, 4)
    assert g.offset == 12
    g.seed = 9
    assert (g.seed, g.offset) == (9, 0)
    with pytest.raises(xr.UsageError, match="multiple of 4"):
        g.offset = 3


def test_default_generator_is_shared(xr):
    xr.manual_seed(3)
    assert xr.default_generator().seed == 3
    assert xr.default_generator() is xr.default_generator()

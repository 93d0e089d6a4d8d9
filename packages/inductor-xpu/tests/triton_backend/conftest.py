"""Tests of Triton on xpu; none where Triton is not installed."""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent

collect_ignore_glob = [] if importlib.util.find_spec("triton") else ["*"]

# The helpers beside the tests are importable.
sys.path.insert(0, str(FOLDER))


@pytest.fixture(params=[8, 16], ids=["8_lanes", "16_lanes"])
def matrix_units(request, monkeypatch, tmp_path):
    """Kernels are compiled as for a GPU with matrix units; functions of this device are in their place."""
    import triton

    from inductor_xpu.triton import compiler
    from inductor_xpu.triton.writer import matrix_units

    stock, functions = compiler.target_of, matrix_units.functions()
    emulation = functions + (FOLDER / "emulated_matrix_units.h").read_text()
    as_gpu = lambda capability: replace(stock(capability), gpu=True, matrix_lanes=request.param)  # noqa: E731
    monkeypatch.setattr(compiler, "target_of", as_gpu)
    monkeypatch.setattr(matrix_units, "functions", lambda: emulation)
    with triton.knobs.cache.scope():
        triton.knobs.cache.dir = str(tmp_path)
        yield


@pytest.fixture
def several_sub_groups(monkeypatch):
    """Programs are of several sub-groups, as on a GPU: tiles lie over them, and barriers are real."""
    from inductor_xpu.triton import compiler

    stock = compiler.target_of
    as_gpu = lambda capability: replace(stock(capability), gpu=True)  # noqa: E731
    monkeypatch.setattr(compiler, "target_of", as_gpu)

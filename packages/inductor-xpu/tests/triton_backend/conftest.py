"""Tests of Triton on xpu; none where Triton is not installed."""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import pytest

collect_ignore_glob = [] if importlib.util.find_spec("triton") else ["*"]

# The helpers beside the tests are importable.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def several_sub_groups(monkeypatch):
    """Programs are of several sub-groups, as on a GPU: tiles lie over them, and barriers are real."""
    from inductor_xpu.triton import compiler

    stock = compiler.target_of
    as_gpu = lambda capability: replace(stock(capability), gpu=True)  # noqa: E731
    monkeypatch.setattr(compiler, "target_of", as_gpu)

"""Collectives in compiled code and in profiles."""

import pytest
from ranks import run_ranks

pytestmark = pytest.mark.values


def test_compiled_collectives_have_the_values_of_eager_mode():
    for result in run_ranks("compiled.py", timeout=200):
        assert "done" in result.out


def test_a_profile_shows_collectives_as_spans(tmp_path):
    run_ranks("profiled.py", str(tmp_path))

"""A sample of JAX's own primitive cases; ``python harness.py`` runs all of them."""

import harness
import pytest

# Where values mean nothing, these read them to decide what to do.
READS_VALUES = ("eig", "svd", "eigh", "schur", "while", "igamma", "lu", "tridiagonal")
EVERY = 29


def cases():
    for case in harness.all_cases()[::EVERY]:
        reads = case.group_name in READS_VALUES
        yield pytest.param(case, id=case.fullname[:80], marks=[pytest.mark.values] * reads)


@pytest.mark.parametrize("case", list(cases()))
def test_as_on_the_cpu(case):
    harness.check(case)

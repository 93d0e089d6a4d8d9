"""Second derivatives of every eighth of PyTorch's operators; ``python derivatives.py`` checks all of them."""

import derivatives
import operators
import pytest

pytestmark = [pytest.mark.values, pytest.mark.filterwarnings("ignore")]


def cases(ops):
    return [pytest.param(op, id=operators.full_name(op)) for op in ops]


@pytest.mark.parametrize("op", cases(derivatives.candidates([], every=8)))
def test_second_derivatives(op):
    derivatives.check(op)


@pytest.mark.parametrize("op", cases(derivatives.unchecked()))
def test_what_is_not_checked_cannot_be(op):
    with pytest.raises(RuntimeError, match=derivatives.UNCHECKED[operators.full_name(op)]):
        derivatives.gradgradcheck(op, derivatives.small_sample(op), "cpu")


def test_every_unchecked_operator_is_one_of_pytorchs():
    named = {operators.full_name(op) for op in derivatives.unchecked()}
    assert named == set(derivatives.UNCHECKED)

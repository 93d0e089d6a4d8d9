"""Second derivatives of every eighth of PyTorch's operators; ``python derivatives.py`` checks all of them."""

import derivatives
import operators
import pytest

pytestmark = [pytest.mark.values, pytest.mark.image_cache, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize(
    "op",
    [pytest.param(op, id=operators.full_name(op)) for op in derivatives.candidates([], every=8)],
)
def test_second_derivatives(op):
    if not derivatives.check(op):
        pytest.skip("no sample that the CPU differentiates twice")

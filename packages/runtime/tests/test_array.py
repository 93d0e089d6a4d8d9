"""Arrays: views stay inside their memory."""

import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("device")

OUTSIDE = {
    "longer": ((100,), (1,), 0),
    "before": ((4,), (1,), -100),
    "steps past the end": ((4,), (4,), 0),
    "steps back past the start": ((4,), (-1,), 2),
    "sizes below 0": ((-1,), (1,), 0),
    "fewer strides than sizes": ((3, 4), (1,), 0),
}


@pytest.mark.parametrize("view", OUTSIDE.values(), ids=OUTSIDE)
def test_views_outside_are_refused(xr, view):
    with pytest.raises(xr.UsageError, match="view"):
        xr.zeros(12).view(*view)


@pytest.mark.values
def test_views_inside(xr):
    x = xr.from_numpy(np.arange(12, dtype=np.float32))
    assert x.view((3, 4), (4, 1)).numpy().tolist() == np.arange(12).reshape(3, 4).tolist()
    assert x.view((4,), (1,), 8).numpy().tolist() == [8, 9, 10, 11]
    assert x.view((4,), (1,), 8).view((4,), (1,), -8).numpy().tolist() == [0, 1, 2, 3]
    assert x.view((0,), (1,), 12).size == 0
    x.view((4,), (-3,), 11)

"""What surrounds a dnn operation must fit it: whatever does not is refused before anything reads it."""

import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("device")


@pytest.fixture
def product(xr):
    a, b = xr.zeros((4, 8)), xr.zeros((8, 16))
    return lambda **more: xr.dnn.matmul(a, b, **more)


@pytest.fixture
def convolution(xr):
    x, w = xr.zeros((2, 4, 6, 6), "i8"), xr.zeros((8, 4, 3, 3), "i8")
    return lambda **more: xr.dnn.convolution(x, w, **more)


@pytest.mark.parametrize("shape", [(3,), (4,), (5, 16), (4, 8), (1, 4, 16)])
def test_a_bias_that_does_not_broadcast(xr, product, shape):
    with pytest.raises(xr.UsageError, match="bias"):
        product(bias=xr.zeros(shape))


@pytest.mark.parametrize("shape", [(3,), (5, 16), (2, 4, 16)])
def test_an_operand_of_a_post_op_that_does_not_broadcast(xr, product, shape):
    with pytest.raises(xr.UsageError, match="post-op"):
        product(post_ops=[xr.dnn.PostOp("add", operand=xr.zeros(shape))])


@pytest.mark.parametrize("shape", [(3, 1, 1, 1), (8, 0, 1, 1), (8,), (16, 1, 1, 1)])
@pytest.mark.parametrize("part", ["scale", "zero_point"])
def test_scales_of_weights_that_do_not_divide_them(xr, convolution, shape, part):
    values = xr.zeros(shape, "f32" if part == "scale" else "i32")
    given = {"scale": xr.zeros((), "f32"), part: values}
    with pytest.raises(xr.UsageError, match="weights"):
        convolution(weights_quantization=xr.dnn.Quantization(**given), dtype="f32")


@pytest.mark.values
def test_what_fits_is_taken(xr, product):
    for shape in [(16,), (1, 16), (4, 16), (4, 1), (1,), ()]:
        assert product(bias=xr.from_numpy(np.ones(shape, np.float32))).numpy().sum() == 64

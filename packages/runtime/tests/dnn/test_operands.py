"""What surrounds a dnn operation must fit it: whatever does not is refused before anything reads it."""

import math
from pathlib import Path

import numpy as np
import pytest
from dnn_calls import CALLS, operand, operands

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


CASES = [
    pytest.param(call, key, id=f"{call.name}-{key}") for call in CALLS for key in call.operands
]


def wrong_shapes(shape):
    """Shapes that fit nothing: a size more, none, a dimension more, one number in place of some."""
    if shape == ():
        return [(7,), (0,)]
    some = max(range(len(shape)), key=lambda d: shape[d])
    more, none = list(shape), list(shape)
    more[some] += 2
    none[some] = 0
    return [tuple(more), tuple(none), (*shape, 2), (3,), (0,) * len(shape)]


def refuses(xr, call, arrays):
    """The call is refused, and nothing is launched."""
    xr.synchronize()
    xr.trace.start()
    try:
        with pytest.raises((xr.UsageError, xr.Unsupported)):
            call.run(xr, xr.current_stream(), arrays)
    finally:
        records = xr.trace.stop()
    assert not [r for r in records if r.kind.name in ("kernel", "dnn")]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_operands_that_fit_are_taken(xr, call):
    arrays = operands(xr, call, xr.current_stream())
    call.run(xr, xr.current_stream(), arrays)
    for key, shapes in call.valid_shapes.items():
        for shape in shapes:
            other = operand(xr, call, key, xr.current_stream(), shape)
            call.run(xr, xr.current_stream(), arrays | {key: other})
    xr.synchronize()


@pytest.mark.parametrize(("call", "key"), CASES)
def test_operands_of_other_shapes_are_refused(xr, call, key):
    stream = xr.current_stream()
    arrays = operands(xr, call, stream)
    shapes = wrong_shapes(arrays[key].shape)
    if key == "workspace":  # which may be larger than needed, and of any shape
        shapes = [s for s in shapes if math.prod(s) < math.prod(arrays[key].shape)]
    for shape in shapes:
        refuses(xr, call, arrays | {key: operand(xr, call, key, stream, shape)})


@pytest.mark.parametrize(("call", "key"), CASES)
def test_operands_of_other_types_are_refused(xr, call, key):
    stream = xr.current_stream()
    arrays = operands(xr, call, stream)
    refuses(xr, call, arrays | {key: operand(xr, call, key, stream, dtype="c64")})


OTHER_DEVICE = Path(__file__).parent / "programs" / "operands_of_another_device.py"


@pytest.mark.cpu_device
def test_operands_of_another_device_are_refused_by_name(child):
    variables = {"XPU_CPU_DEVICES": "2", "PYTHONPATH": str(Path(__file__).parent)}
    result = child(OTHER_DEVICE, env=variables).check()
    assert result.out.splitlines() == [str(len(CASES))]

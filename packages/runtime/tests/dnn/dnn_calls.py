"""Every dnn call, described by the operands that it takes: each must fit, and be the stream's device's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Spec = tuple[tuple[int, ...], str]
"""Shape and dtype of an operand."""


@dataclass(frozen=True)
class DnnCall:
    """A call that succeeds with the operands named; `run` gets the module, the stream and the arrays."""

    name: str
    operands: Mapping[str, Spec]
    run: Callable[..., Any]
    written: tuple[str, ...]
    valid_shapes: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    """Other shapes that the operand may have."""


def _quantization(xr, arrays, name):
    return xr.dnn.Quantization(arrays.get(f"{name}_scale"), arrays.get(f"{name}_zero_point"))


def _matmul(xr, stream, x):
    xr.dnn.matmul(
        x["a"], x["b"], x["c"], bias=x["bias"], stream=stream,
        post_ops=[xr.dnn.PostOp("mul", operand=x["post-op 0"])],
    )  # fmt: skip


def _quantized_matmul(xr, stream, x):
    xr.dnn.matmul(
        x["a"], x["b"], x["c"], stream=stream,
        a_quantization=_quantization(xr, x, "a"), b_quantization=_quantization(xr, x, "b"),
        out_quantization=_quantization(xr, x, "c"),
    )  # fmt: skip


def _convolution(xr, stream, x):
    xr.dnn.convolution(
        x["src"], x["weights"], x["dst"], bias=x["bias"], stream=stream,
        post_ops=[xr.dnn.PostOp("add", operand=x["post-op 0"])],
    )  # fmt: skip


def _quantized_convolution(xr, stream, x):
    xr.dnn.convolution(
        x["src"], x["weights"], x["dst"], stream=stream,
        src_quantization=_quantization(xr, x, "src"),
        weights_quantization=_quantization(xr, x, "weights"),
        dst_quantization=_quantization(xr, x, "dst"),
    )  # fmt: skip


def _backward_data(xr, stream, x):
    xr.dnn.convolution_backward_data(x["grad_dst"], x["weights"], x["grad_src"], stream=stream)


def _backward_weights(xr, stream, x):
    xr.dnn.convolution_backward_weights(
        x["src"], x["grad_dst"], x["grad_weights"], x["grad_bias"], stream=stream
    )


def _pool(xr, stream, x):
    xr.dnn.pool(x["src"], 2, dst=x["dst"], workspace=x["workspace"], stream=stream)


def _pool_backward(xr, stream, x):
    xr.dnn.pool_backward(x["grad_dst"], x["grad_src"], 2, workspace=x["workspace"], stream=stream)


def _layer_norm(xr, stream, x):
    keys = ("weight", "bias", "mean", "variance")
    xr.dnn.layer_norm(x["x"], out=x["y"], stream=stream, **{key: x[key] for key in keys})


def _batch_norm(xr, stream, x):
    keys = ("weight", "bias", "mean", "variance")
    xr.dnn.batch_norm(
        x["x"], out=x["y"], stream=stream, training=True, **{key: x[key] for key in keys}
    )


def _softmax(xr, stream, x):
    xr.dnn.softmax(x["x"], out=x["y"], stream=stream)


def _reorder(xr, stream, x):
    xr.dnn.reorder(
        x["src"], x["dst"], stream=stream,
        src_quantization=_quantization(xr, x, "src"), dst_quantization=_quantization(xr, x, "dst"),
    )  # fmt: skip


RNN = ("src", "weights_layer", "weights_iter", "bias")
RNN_STATES = ("state0", "cell0", "dst", "state", "cell")


def _rnn(xr, stream, x):
    xr.dnn.rnn(*(x[key] for key in RNN), stream=stream, **{key: x[key] for key in RNN_STATES})


def _native_rnn_tensors(x):
    return [x[key] for key in (*RNN, "dst", "state0", "cell0", "state", "cell")]


def _rnn_sizes(xr, stream, x):
    from xpu_runtime._native import C

    right = {key: xr.zeros(shape, dtype, stream) for key, (shape, dtype) in _RNN_SPECS.items()}
    return C.rnn_workspace(stream.device, _native_rnn_tensors(right), "lstm", "forward")


def _rnn_training(xr, stream, x):
    from xpu_runtime._native import C

    sizes = _rnn_sizes(xr, stream, x)
    C.rnn_training(stream, _native_rnn_tensors(x), "lstm", "forward", sizes, x["workspace"])


RNN_GRADIENTS = (
    "dst",
    "state",
    "cell",
    "src",
    "weights_layer",
    "weights_iter",
    "bias",
    "state0",
    "cell0",
)


def _rnn_backward(xr, stream, x):
    from xpu_runtime._native import C

    C.rnn_backward(
        stream, _native_rnn_tensors(x), "lstm", "forward", _rnn_sizes(xr, stream, x), x["workspace"],
        [x[f"grad_{key}"] for key in RNN_GRADIENTS],
    )  # fmt: skip


def _attention(xr, stream, x):
    xr.dnn.attention(
        x["q"],
        x["k"],
        x["v"],
        mask=x["mask"],
        out=x["out"],
        logsumexp=x["logsumexp"],
        stream=stream,
    )


def _attention_backward(xr, stream, x):
    from xpu_runtime._native import C

    C.attention_backward(
        stream, x["grad_out"], x["q"], x["k"], x["v"], x["out"], x["grad_q"], x["grad_k"],
        x["grad_v"], 0.5, False, x["mask"], x["logsumexp"], 0.0, 0, 0,
    )  # fmt: skip


def _floats(**shapes: tuple[int, ...]) -> dict[str, Spec]:
    return {key.replace("_", "-", 0): (shape, "f32") for key, shape in shapes.items()}


_RNN_SPECS = _floats(
    src=(3, 2, 5), weights_layer=(1, 1, 5, 4, 6), weights_iter=(1, 1, 6, 4, 6), bias=(1, 1, 4, 6),
    state0=(1, 1, 2, 6), cell0=(1, 1, 2, 6), dst=(3, 2, 6), state=(1, 1, 2, 6), cell=(1, 1, 2, 6),
)  # fmt: skip
_GRADIENT_SPECS = {f"grad_{key}": _RNN_SPECS[key] for key in RNN_GRADIENTS}
_RNN_WORKSPACE = {"workspace": ((-1,), "u8")}  # of as many bytes as the call says
_ATTENTION = _floats(
    q=(2, 4, 6, 8),
    k=(2, 2, 5, 8),
    v=(2, 2, 5, 7),
    mask=(2, 4, 6, 5),
    out=(2, 4, 6, 7),
    logsumexp=(2, 4, 6),
)

CALLS = [
    DnnCall(
        "matmul",
        _floats(a=(4, 8), b=(8, 16), c=(4, 16), bias=(4, 16)) | {"post-op 0": ((4, 16), "f32")},
        _matmul, ("c",),
    ),
    DnnCall(
        "quantized matmul",
        {
            "a": ((4, 8), "u8"), "b": ((8, 16), "i8"), "c": ((4, 16), "u8"),
            "a_scale": ((), "f32"), "a_zero_point": ((), "i32"), "b_scale": ((1, 16), "f32"),
            "b_zero_point": ((1, 16), "i32"), "c_scale": ((), "f32"), "c_zero_point": ((), "i32"),
        },
        _quantized_matmul, ("c",),
    ),
    DnnCall(
        "convolution",
        _floats(src=(2, 4, 6, 6), weights=(8, 4, 3, 3), dst=(2, 8, 4, 4), bias=(8,))
        | {"post-op 0": ((2, 8, 4, 4), "f32")},
        _convolution, ("dst",),
    ),
    DnnCall(
        "quantized convolution",
        {
            "src": ((2, 4, 6, 6), "u8"), "weights": ((8, 4, 3, 3), "i8"),
            "dst": ((2, 8, 4, 4), "u8"), "src_scale": ((), "f32"), "src_zero_point": ((), "i32"),
            "weights_scale": ((8, 1, 1, 1), "f32"), "weights_zero_point": ((8, 1, 1, 1), "i32"),
            "dst_scale": ((), "f32"), "dst_zero_point": ((), "i32"),
        },
        _quantized_convolution, ("dst",),
    ),
    DnnCall(
        "convolution_backward_data",
        _floats(grad_dst=(2, 8, 4, 4), weights=(8, 4, 3, 3), grad_src=(2, 4, 6, 6)),
        _backward_data, ("grad_src",),
    ),
    DnnCall(
        "convolution_backward_weights",
        _floats(src=(2, 4, 6, 6), grad_dst=(2, 8, 4, 4), grad_weights=(8, 4, 3, 3), grad_bias=(8,)),
        _backward_weights, ("grad_weights", "grad_bias"),
    ),
    DnnCall(
        "pool",
        _floats(src=(2, 3, 8, 8), dst=(2, 3, 4, 4)) | {"workspace": ((2, 3, 4, 4), "i32")},
        _pool, ("dst", "workspace"), {"workspace": ((96,), (6, 16))},
    ),
    DnnCall(
        "pool_backward",
        _floats(grad_dst=(2, 3, 4, 4), grad_src=(2, 3, 8, 8)) | {"workspace": ((2, 3, 4, 4), "i32")},
        _pool_backward, ("grad_src",), {"workspace": ((96,), (6, 16))},
    ),
    DnnCall(
        "layer_norm",
        _floats(x=(4, 6, 8), y=(4, 6, 8), weight=(8,), bias=(8,), mean=(4, 6), variance=(4, 6)),
        _layer_norm, ("y", "mean", "variance"),
    ),
    DnnCall(
        "batch_norm",
        _floats(x=(4, 6, 8), y=(4, 6, 8), weight=(6,), bias=(6,), mean=(6,), variance=(6,)),
        _batch_norm, ("y", "mean", "variance"),
    ),
    DnnCall("softmax", _floats(x=(4, 8), y=(4, 8)), _softmax, ("y",)),
    DnnCall(
        "reorder",
        {
            "src": ((8, 4), "u8"), "dst": ((8, 4), "u8"), "src_scale": ((8, 1), "f32"),
            "src_zero_point": ((8, 1), "i32"), "dst_scale": ((8, 1), "f32"),
            "dst_zero_point": ((8, 1), "i32"),
        },
        _reorder, ("dst",),
    ),
    DnnCall("rnn", _RNN_SPECS, _rnn, ("dst", "state", "cell")),
    DnnCall(
        "rnn_training", _RNN_SPECS | _RNN_WORKSPACE, _rnn_training, ("dst", "state", "cell", "workspace")
    ),
    DnnCall(
        "rnn_backward", _RNN_SPECS | _GRADIENT_SPECS | _RNN_WORKSPACE, _rnn_backward,
        ("grad_src", "grad_weights_layer", "grad_weights_iter", "grad_bias", "grad_state0", "grad_cell0"),
    ),
    DnnCall("attention", _ATTENTION, _attention, ("out", "logsumexp")),
    DnnCall(
        "attention_backward",
        _ATTENTION | _floats(
            grad_out=(2, 4, 6, 7), grad_q=(2, 4, 6, 8), grad_k=(2, 2, 5, 8), grad_v=(2, 2, 5, 7)
        ),
        _attention_backward, ("grad_q", "grad_k", "grad_v"),
    ),
]  # fmt: skip


def operand(xr, call: DnnCall, key: str, stream, shape=None, dtype=None):
    """An array for an operand, of another shape or dtype when they are given."""
    own_shape, own_dtype = call.operands[key]
    if own_shape == (-1,):
        own_shape = (_rnn_sizes(xr, stream, None)[0],)
    return xr.zeros(own_shape if shape is None else shape, dtype or own_dtype, stream)


def operands(xr, call: DnnCall, stream) -> dict[str, Any]:
    """Arrays for all operands, which fit."""
    return {key: operand(xr, call, key, stream) for key in call.operands}

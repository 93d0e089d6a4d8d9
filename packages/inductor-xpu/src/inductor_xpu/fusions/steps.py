"""The steps that oneDNN can take after a product or convolution: activations, and operations with a tensor.

Activations reach Inductor decomposed, so each is listed as the expression that it has become.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node

from .expressions import INPUT, Call, Number, Numbers, call

_MIN_F32, _MAX_F32 = torch.finfo(torch.float32).tiny, torch.finfo(torch.float32).max


@dataclass(frozen=True)
class Step:
    """A post-op of the runtime by name, with its two factors or its operand."""

    name: str
    alpha: float = 0.0
    beta: float = 0.0
    operand: Node | None = None

    def has_f32_factors(self) -> bool:
        """Return True if both factors are normal numbers of f32, as the kernels take them, or 0."""
        return all(x == 0 or _MIN_F32 <= abs(x) <= _MAX_F32 for x in (self.alpha, self.beta))


@dataclass(frozen=True)
class Activation:
    """An expression of one tensor, and the steps that compute it with the expression's numbers."""

    name: str
    expression: Call
    steps: Callable[[Numbers], tuple[Step, ...]]


def _plain(name: str, expression: Call) -> Activation:
    return Activation(name, expression, lambda numbers: (Step(name),))


def _elu(positive: Any, negative: Call) -> Activation:
    expression = call("where.self", call("gt.Scalar", X, 0), positive, negative)
    return Activation("elu", expression, lambda numbers: (Step("elu", numbers.get("alpha", 1.0)),))


X = INPUT
_SIGMOID_OF_SILU = call("add.Tensor", call("exp.default", call("neg.default", X)), 1)
_CUBE = call("mul.Tensor", call("mul.Tensor", X, X), X)
_TANH_OF_GELU = call(
    "mul.Tensor", call("add.Tensor", X, call("mul.Tensor", _CUBE, 0.044715)), 0.7978845608028654
)
_CLIPPED_TO_SIX = call(
    "clamp_max.default", call("clamp_min.default", call("add.Tensor", X, 3), 0), 6
)
_EXP_OF_ELU = call("expm1.default", call("mul.Tensor", X, 1.0))

ACTIVATIONS = (
    # oneDNN's relu and clip turn NaN into a number: relu is elu with the factor 0, clamps are left out.
    Activation("relu", call("relu.default", X), lambda numbers: (Step("elu"),)),
    _plain("sigmoid", call("sigmoid.default", X)),
    _plain("tanh", call("tanh.default", X)),
    _plain("abs", call("abs.default", X)),
    _plain("square", call("pow.Tensor_Scalar", X, 2)),
    _plain("square", call("mul.Tensor", X, X)),
    _plain("silu", call("div.Tensor", X, _SIGMOID_OF_SILU)),
    _plain("silu", call("mul.Tensor", X, call("sigmoid.default", X))),
    _plain(
        "gelu_erf",
        call(
            "mul.Tensor",
            call("mul.Tensor", X, 0.5),
            call("add.Tensor", call("erf.default", call("mul.Tensor", X, 0.7071067811865476)), 1),
        ),
    ),
    _plain(
        "gelu_tanh",
        call(
            "mul.Tensor",
            call("mul.Tensor", X, 0.5),
            call("add.Tensor", call("tanh.default", _TANH_OF_GELU), 1),
        ),
    ),
    Activation(
        "hardswish",
        call("div.Tensor", call("mul.Tensor", X, _CLIPPED_TO_SIX), 6),
        lambda numbers: (Step("hardswish", 1 / 6, 0.5),),
    ),
    Activation(
        "leaky_relu",
        call("where.self", call("gt.Scalar", X, 0), X, call("mul.Tensor", X, Number("slope"))),
        lambda numbers: (Step("relu", numbers["slope"]),) if numbers["slope"] else (),
    ),
    _elu(call("mul.Tensor", X, 1.0), call("mul.Tensor", _EXP_OF_ELU, Number("alpha"))),
    # PyTorch 2.15 removes multiplications by 1.
    _elu(X, call("mul.Tensor", call("expm1.default", X), Number("alpha"))),
    _elu(X, call("expm1.default", X)),
    Activation(
        "product with a number",
        call("mul.Tensor", X, Number("factor")),
        lambda numbers: (Step("linear", numbers["factor"]),),
    ),
    Activation(
        "quotient by a number",
        call("div.Tensor", X, Number("divisor")),
        lambda numbers: (Step("linear", 1 / numbers["divisor"]),) if numbers["divisor"] else (),
    ),
    Activation(
        "sum with a number",
        call("add.Tensor", X, Number("summand")),
        lambda numbers: (Step("linear", 1.0, numbers["summand"]),),
    ),
)

"""Checks of a package's inputs, which raise with the input's name."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import Any

import sympy
from torch._inductor import ir
from torch._inductor.virtualized import V
from torch.utils._sympy.value_ranges import bound_sympy

# The names of the inputs in the exported program that is compiled; Inductor gives them others.
user_names: ContextVar[tuple[str, ...]] = ContextVar("user_names", default=())
# The bounds of a size that has none.
_ANY = (0, 2**63 - 1)


def write_input_checks(prefix: Any, inputs: Mapping[str, Any]) -> None:
    """Write the function that a program calls with its inputs."""
    prefix.splice_aot(
        "\n".join(
            [
                # PyTorch's own checks, which the environment turns on and which do not name the input.
                "static constexpr bool _check_aoti_runtime_check_inputs_env() { return false; }",
                "static void xpu_check_inputs(AtenTensorHandle* input_handles, std::int32_t device) {",
                *_checks(inputs),
                "}",
                # The stock function, which a method calls, knows no device.
                "#define __check_inputs_outputs(inputs, outputs) xpu_check_inputs(inputs, this->device_idx_)",
            ]
        )
    )


def _checks(inputs: Mapping[str, Any]) -> Iterator[str]:
    names = user_names.get()
    if len(names) != len(inputs):
        names = tuple(inputs)
    for number, (name, value) in enumerate(zip(names, inputs.values(), strict=True)):
        if not isinstance(value, ir.TensorBox):
            continue
        sizes = ", ".join(f"{{{low}L, {high}L}}" for low, high in map(_bounds, value.get_size()))
        strides = ", ".join(
            str(int(stride)) + "L" if isinstance(stride, int | sympy.Integer) else "-1L"
            for stride in value.get_stride()
        )
        rank = len(value.get_size())
        index = "device" if value.get_device().type == "xpu" else "-1"
        device = value.get_device()
        dtype = str(value.get_dtype()).removeprefix("torch.")
        yield "  {"
        yield f"    static constexpr std::int64_t sizes[][2] = {{{sizes or '{0, 0}'}}};"
        yield f"    static constexpr std::int64_t strides[] = {{{strides or '0'}}};"
        yield (
            f"    xpu_check_input(input_handles[{number}], {number}, {json.dumps(name)}, "
            f"aoti_torch_dtype_{dtype}(), aoti_torch_device_type_{device.type}(), "
            f"{json.dumps(device.type)}, {index}, {rank}, sizes, strides);"
        )
        yield "  }"


def _bounds(size: Any) -> tuple[int, int]:
    """Return the least and the greatest value of a size."""
    if isinstance(size, int | sympy.Integer):
        return int(size), int(size)
    bounds = bound_sympy(size, V.graph.sizevars.shape_env.var_to_range)
    low = _ANY[0] if math.isinf(bounds.lower) else max(int(bounds.lower), 0)
    high = _ANY[1] if math.isinf(bounds.upper) else min(int(bounds.upper), _ANY[1])
    return low, high

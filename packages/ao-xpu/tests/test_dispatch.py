"""How many operators a call of a quantized linear layer is."""

import pytest
import torch
from schemes import mx
from torch.utils._python_dispatch import TorchDispatchMode
from torchao.prototype.mx_formats import (
    NVFP4DynamicActivationNVFP4WeightConfig,
    NVFP4WeightOnlyConfig,
)
from torchao.quantization import (
    Float8DynamicActivationFloat8WeightConfig,
    Float8WeightOnlyConfig,
    Int4WeightOnlyConfig,
    Int8DynamicActivationInt8WeightConfig,
    Int8WeightOnlyConfig,
    IntxWeightOnlyConfig,
    PerGroup,
    PerRow,
    quantize_,
)

# Those that are one operator, counted with views, once their weight has a plan.
PLANNED = {
    "int4": Int4WeightOnlyConfig(),
    "int4 preshuffled": Int4WeightOnlyConfig(int4_packing_format="preshuffled"),
    "int4 plain_int32": Int4WeightOnlyConfig(int4_packing_format="plain_int32"),
    "int4 of intx": IntxWeightOnlyConfig(torch.int4, PerGroup(128)),
    "int8 weight-only": Int8WeightOnlyConfig(),
    "float8 weight-only": Float8WeightOnlyConfig(),
    "int8 dynamic": Int8DynamicActivationInt8WeightConfig(),
    "float8 rows": Float8DynamicActivationFloat8WeightConfig(granularity=PerRow()),
}
# The others, with the operators that are no views.
CASES = {
    "mxfp8": (mx(torch.float8_e4m3fn)(), 2),
    "mxfp4": (mx(torch.float4_e2m1fn_x2)(), 2),
    "nvfp4": (NVFP4WeightOnlyConfig(), 2),
    "nvfp4 dynamic": (NVFP4DynamicActivationNVFP4WeightConfig(), 6),
    "int3 of intx": (IntxWeightOnlyConfig(torch.int3, PerGroup(128)), 2),
}


class Operators(TorchDispatchMode):
    """Collects the operators, with views or without."""

    def __init__(self, with_views):
        super().__init__()
        self.with_views, self.names = with_views, []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        views = isinstance(result, torch.Tensor) and result._is_view()
        if self.with_views or not (func.is_view or views):
            self.names.append(str(func))
        return result


def operators(config, bias, with_views):
    layer = torch.nn.Linear(256, 64, bias, "xpu", torch.bfloat16)
    quantize_(layer, config)
    x = torch.randn(3, 256, device="xpu", dtype=torch.bfloat16)
    with torch.no_grad():
        layer(x)
        with Operators(with_views) as called:
            layer(x)
    return called.names


@pytest.mark.parametrize("name", PLANNED)
@pytest.mark.parametrize("bias", [False, True])
def test_a_planned_call_is_one_operator(name, bias):
    called = operators(PLANNED[name], bias, with_views=True)
    kind = "dynamic_linear" if name in ("int8 dynamic", "float8 rows") else "low_bit_linear"
    assert called == [f"torch_xpu.{kind}.default"]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("bias", [False, True])
def test_operators_of_a_linear_layer(name, bias):
    config, most = CASES[name]
    called = operators(config, bias, with_views=False)
    assert 1 <= len(called) <= most, called

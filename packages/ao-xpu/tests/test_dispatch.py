"""How many operators a quantized linear layer calls: one kernel for weights alone, two with activations."""

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

CASES = {
    "mxfp8": (mx(torch.float8_e4m3fn)(), 2),
    "mxfp4": (mx(torch.float4_e2m1fn_x2)(), 2),
    "nvfp4": (NVFP4WeightOnlyConfig(), 2),
    "nvfp4 dynamic": (NVFP4DynamicActivationNVFP4WeightConfig(), 6),
    "int4": (Int4WeightOnlyConfig(), 2),
    "int4 of intx": (IntxWeightOnlyConfig(torch.int4, PerGroup(128)), 1),
    "int3 of intx": (IntxWeightOnlyConfig(torch.int3, PerGroup(128)), 2),
    "int8 weight-only": (Int8WeightOnlyConfig(), 2),
    "float8 weight-only": (Float8WeightOnlyConfig(), 2),
    "int8 dynamic": (Int8DynamicActivationInt8WeightConfig(), 4),
    "float8 rows": (Float8DynamicActivationFloat8WeightConfig(granularity=PerRow()), 4),
}


class Operators(TorchDispatchMode):
    """Collects the operators that are no views."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        views = isinstance(result, torch.Tensor) and result._is_view()
        if not (func.is_view or views):
            self.names.append(str(func))
        return result


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("bias", [False, True])
def test_operators_of_a_linear_layer(name, bias):
    config, most = CASES[name]
    layer = torch.nn.Linear(256, 64, bias, "xpu", torch.bfloat16)
    quantize_(layer, config)
    x = torch.randn(3, 256, device="xpu", dtype=torch.bfloat16)
    with torch.no_grad(), Operators() as operators:
        layer(x)
    assert 1 <= len(operators.names) <= most, operators.names

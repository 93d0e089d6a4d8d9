"""Linear layers that TorchAO quantizes."""

import torch
from torchao.quantization import (
    Float8DynamicActivationFloat8WeightConfig,
    Float8WeightOnlyConfig,
    Int4WeightOnlyConfig,
    Int8DynamicActivationInt8WeightConfig,
    Int8WeightOnlyConfig,
    PerRow,
    quantize_,
)

CONFIGS = (
    lambda: Int4WeightOnlyConfig(group_size=128),
    lambda: Int4WeightOnlyConfig(group_size=32),
    Int8WeightOnlyConfig,
    Float8WeightOnlyConfig,
    Int8DynamicActivationInt8WeightConfig,
    lambda: Float8DynamicActivationFloat8WeightConfig(granularity=PerRow()),
)
for config in CONFIGS:
    for dtype in (torch.bfloat16, torch.float32):
        net = torch.nn.Linear(256, 256, device="xpu", dtype=dtype).eval().requires_grad_(False)
        try:
            quantize_(net, config())
        except (AssertionError, ValueError):  # some take bf16 only
            continue
        for rows in (1, 2, 32):
            net(torch.randn(rows, 256, device="xpu", dtype=dtype))
        torch.xpu.synchronize()

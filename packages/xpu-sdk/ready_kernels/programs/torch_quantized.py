"""Linear layers whose weights TorchAO quantizes, not their activations: those kernels are large."""

from functools import partial

import torch

CONFIGS = {
    "int4": ("Int4WeightOnlyConfig", {"group_size": 128}),
    "int4 of small groups": ("Int4WeightOnlyConfig", {"group_size": 32}),
    "int8": ("Int8WeightOnlyConfig", {}),
    "fp8": ("Float8WeightOnlyConfig", {}),
}


def ask(name: str, dtype: torch.dtype) -> None:
    """Quantize a layer, and ask it for one row and for several."""
    # Its import uses the device, which must not happen before the fork.
    from torchao import quantization

    kind, options = CONFIGS[name]
    net = torch.nn.Linear(256, 256, device="xpu", dtype=dtype).eval().requires_grad_(False)
    quantization.quantize_(net, getattr(quantization, kind)(**options))
    for rows in (1, 2, 3, 4, 8, 32):
        net(torch.randn(rows, 256, device="xpu", dtype=dtype))
    torch.xpu.synchronize()


CASES = {name: partial(ask, name, torch.bfloat16) for name in CONFIGS}
# The others take bfloat16 only.
for name in ("int8", "fp8"):
    CASES[f"{name} of f32"] = partial(ask, name, torch.float32)

"""The adapter's check for ``xpu-sdk doctor``."""

from __future__ import annotations


def check() -> str:
    """Quantize a small linear layer to int4, run it, compare it with its own weight on the CPU."""
    import torch
    from torchao.quantization import Int4WeightOnlyConfig, quantize_

    layer = torch.nn.Linear(256, 32, dtype=torch.bfloat16, device="xpu")
    x = torch.arange(2 * 256, device="xpu").reshape(2, 256).sin().to(torch.bfloat16)
    quantize_(layer, Int4WeightOnlyConfig(group_size=64))
    with torch.no_grad():
        got = layer(x).cpu()
        weight = layer.weight.dequantize().cpu()
        expected = torch.nn.functional.linear(x.cpu(), weight, layer.bias.cpu())
    torch.testing.assert_close(got, expected, atol=0.03, rtol=0.03)
    bytes_after = sum(t.nbytes for t in (layer.weight.qdata, layer.weight.scale))
    return f"an int4 layer gives right values in {256 * 32 * 2 / bytes_after:.1f} times less memory"

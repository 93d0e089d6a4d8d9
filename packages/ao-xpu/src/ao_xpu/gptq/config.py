"""GPTQConfig on xpu: int4 without mslk."""

from __future__ import annotations

from typing import Any

import torch


def check_config(stock: Any) -> Any:
    """Accept int4 without mslk where there is xpu; layers of other devices are rejected as they convert."""

    def check(self: Any) -> None:
        from torchao.quantization import Int4WeightOnlyConfig

        if not isinstance(self.base_config, Int4WeightOnlyConfig):
            stock(self)

    return check


def transform(stock: Any) -> Any:
    """Reject int4 layers of other devices without mslk, as torchao's config does when it is made."""

    def apply(module: torch.nn.Module, config: Any, *, parameter_name: str = "weight") -> Any:
        from torchao.prototype.gptq import api
        from torchao.quantization import Int4WeightOnlyConfig

        on_xpu = getattr(module, parameter_name).device.type == "xpu"
        is_int4 = isinstance(config.base_config, Int4WeightOnlyConfig)
        if is_int4 and not on_xpu and api.int4_row_quantize_zp is None:
            raise ValueError("mslk is not installed. Please install mslk to use int4 quantization.")
        return stock(module, config, parameter_name=parameter_name)

    return apply

"""SemiSparseWeightConfig on xpu: weights of which at least two numbers of every four are zero."""

from __future__ import annotations

import types
from typing import Any

import torch


def two_of_four(stock: Any) -> Any:
    """Store two of four numbers of a weight on xpu, where PyTorch's own format is CUDA's."""

    def transform(module: torch.nn.Module, config: Any) -> torch.nn.Module:
        weight = module.weight
        if weight.device.type != "xpu":
            return stock(module, config)
        from torchao.quantization.quant_api import _linear_extra_repr

        from .semi_sparse_tensor import SemiSparseTensor

        sparse = SemiSparseTensor.from_dense(weight)
        module.weight = torch.nn.Parameter(sparse, requires_grad=False)
        module.extra_repr = types.MethodType(_linear_extra_repr, module)
        return module

    return transform

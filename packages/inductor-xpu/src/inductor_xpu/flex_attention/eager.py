"""Flex attention outside of torch.compile: compiled by itself, so that it runs the same kernels.

Stock PyTorch computes it there with all scores in memory. Dynamo keeps what it compiled for each code of the
functions.
"""

from __future__ import annotations

import functools
from typing import Any

import torch


def compiled_on_xpu(stock: Any) -> Any:
    """Return flex attention that compiles itself for tensors on xpu, unless a program traces or debugs it."""

    @functools.cache
    def compiled() -> Any:
        return torch.compile(stock, fullgraph=True)

    @functools.wraps(stock)
    def flex_attention(query: torch.Tensor, *args: Any, **named: Any) -> Any:
        if torch.compiler.is_compiling() or query.device.type != "xpu" or _is_observed():
            return stock(query, *args, **named)
        tensors = (t for t in (*args, *named.values()) if isinstance(t, torch.Tensor))
        if any(tensor.device != query.device for tensor in tensors):
            return stock(query, *args, **named)  # which says what is wrong
        from torch._dynamo.utils import disable_cache_limit

        with disable_cache_limit():
            return compiled()(query, *args, **named)

    return flex_attention


def _is_observed() -> bool:
    """Return True if a mode sees each operator, or functions are to run as they are."""
    from torch.nn.attention import flex_attention as module

    modes = torch._C._len_torch_dispatch_stack() + torch._C._len_torch_function_stack()
    is_transformed = torch._C._functorch.peek_interpreter_stack() is not None
    return bool(modes) or is_transformed or module._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG

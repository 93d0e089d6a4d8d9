"""torchao's low-bit Adam optimizers on xpu: one kernel a parameter, without a compiler.

`torch.ops.torch_xpu.low_bit_adam_` reads both moments, updates the parameter and stores the moments again.
The counter of steps and the learning rate are on the device, so that an `XPUGraph` captures every step after
the first, which makes the states.
"""

from __future__ import annotations

import functools
import logging
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

logger = logging.getLogger("ao_xpu")

MAX_BLOCK = 4096
"""Numbers that may share a scale in the kernel."""

_unfused: Counter[str] = Counter()


def unfused_steps() -> dict[str, int]:
    """Return how many updates of a parameter on xpu ran operator by operator, by the reason."""
    return dict(_unfused)


class _Moments(NamedTuple):
    codes: list[Tensor]
    scales: list[Tensor]
    tables: list[Tensor]


def _is_plain(tensor: Tensor) -> bool:
    return type(tensor) in (Tensor, torch.nn.Parameter)


def _moments_of(moments: list[Any]) -> _Moments | str:
    """Return what the kernel takes, or the reason for which it does not."""
    from torchao.optim.subclass_4bit import OptimState4bit
    from torchao.optim.subclass_8bit import OptimState8bit
    from torchao.optim.subclass_fp8 import OptimStateFp8

    kind = type(moments[0])
    if any(type(moment) is not kind for moment in moments):
        return "moments of several classes"
    if _is_plain(moments[0]):
        return _Moments(moments, [], [])
    if kind not in (OptimState4bit, OptimState8bit, OptimStateFp8):
        return f"moments of class {kind.__name__}"
    block = moments[0].block_size
    if block > MAX_BLOCK:
        return f"blocks of more than {MAX_BLOCK} numbers"
    if kind is OptimState4bit and block % 2:
        return "blocks of an odd number of 4-bit numbers"
    tables = [] if kind is OptimStateFp8 else [moment.qmap for moment in moments[:2]]
    return _Moments([m.codes for m in moments], [m.scale for m in moments], tables)


def _is_on_xpu(parameter: Tensor) -> bool:
    return parameter.device.type == "xpu"


def step(stock: Callable[..., Any]) -> Callable[..., Any]:
    """Update parameters on xpu by a kernel each, and those of other devices by the stock step."""

    @torch.no_grad()
    @functools.wraps(stock)
    def low_bit_step(self: Any, closure: Callable[[], Any] | None = None) -> Any:
        groups = self.param_groups
        if not any(_is_on_xpu(p) for group in groups for p in group["params"]):
            return stock(self, closure)
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in groups:
            _step_group(self, group)
        others = [
            {**group, "params": [p for p in group["params"] if not _is_on_xpu(p)]}
            for group in groups
        ]
        if any(group["params"] for group in others):
            self.param_groups = others
            try:
                stock(self)
            finally:
                self.param_groups = groups
        return loss

    return low_bit_step


def _step_group(optimizer: Any, group: dict[str, Any]) -> None:
    parameters = [p for p in group["params"] if _is_on_xpu(p) and p.grad is not None]
    if not parameters:
        return
    if not isinstance(group["lr"], Tensor):
        raise RuntimeError(
            "lr was changed to a non-Tensor object. If you want to update lr, please use "
            "optim.param_groups[0]['lr'].fill_(new_lr)"
        )
    devices = {p.device for p in group["params"]}
    if len(devices) == 1:
        group["lr"] = group["lr"].to(devices.pop())
    for p in parameters:
        _prepare_state(optimizer, group, p)
    torch._foreach_add_([optimizer.state[p]["step"] for p in parameters], 1)
    for p in parameters:
        _update(optimizer, group, p)


def _prepare_state(optimizer: Any, group: dict[str, Any], p: Tensor) -> None:
    """Make the state at the first step, and move a counter that was loaded from the host."""
    if p.grad is not None and p.grad.is_sparse:
        raise RuntimeError("Sparse gradient is not supported")
    state = optimizer.state[p]
    if not state:
        state["step"] = torch.zeros((), device=p.device)
        state["exp_avg"] = optimizer._new_buffer(p, True)
        state["exp_avg_sq"] = optimizer._new_buffer(p, False)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = optimizer._new_buffer(p, False)
    state["step"] = state["step"].to(p.device, torch.float32)
    for moment in state.values():
        # torchao makes scales in the default type, which may be bf16.
        if isinstance(getattr(moment, "scale", None), Tensor):
            moment.scale = moment.scale.float()


def _update(optimizer: Any, group: dict[str, Any], p: Tensor) -> None:
    state = optimizer.state[p]
    rate = group["lr"] if group["lr"].is_cpu else group["lr"].to(p.device)
    beta1, beta2 = group["betas"]
    stochastic = optimizer.bf16_stochastic_round and p.dtype is torch.bfloat16
    names = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")
    moments = _moments_of([state[name] for name in names if name in state])
    if not _is_plain(p):
        moments = f"a parameter of class {type(p).__name__}"
    elif not _is_plain(p.grad):
        moments = f"a gradient of class {type(p.grad).__name__}"
    if isinstance(moments, str):
        _update_unfused(optimizer, group, p, rate, stochastic, moments)
        return
    torch.ops.torch_xpu.low_bit_adam_(
        p,
        p.grad,
        *moments,
        state["step"],
        rate,
        beta1,
        beta2,
        group["weight_decay"],
        group["eps"],
        optimizer.is_adamw,
        stochastic,
    )


def _update_unfused(
    optimizer: Any, group: dict[str, Any], p: Tensor, rate: Tensor, stochastic: bool, reason: str
) -> None:
    """Update by torchao's own formula, which stock torchao compiles."""
    from torchao.optim.adam import single_param_adam

    if reason not in _unfused:
        logger.info("a step of Adam runs operator by operator: %s", reason)
    _unfused[reason] += 1
    state = optimizer.state[p]
    single_param_adam(
        p.detach(),
        p.grad,
        state["step"],
        state["exp_avg"],
        state["exp_avg_sq"],
        state.get("max_exp_avg_sq"),
        rate,
        *group["betas"],
        group["weight_decay"],
        group["eps"],
        optimizer.is_adamw,
        stochastic,
    )

"""Corrections of ``torch.profiler`` for devices other than CUDA in a wheel built without them."""

from __future__ import annotations

from functools import wraps
from typing import Any

import torch
from torch._C._autograd import DeviceType
from torch.autograd import profiler


def install() -> None:
    """Let events of the device say XPU, and let a profile end whose work has failed."""
    profiler.profile._parse_kineto_results = _with_events_of_xpu(
        profiler.profile._parse_kineto_results
    )
    profiler.profile.__exit__ = _ending(profiler.profile.__exit__)


def _with_events_of_xpu(parse: Any) -> Any:
    """Return the method with the device named; the wheel's profiler knows only CUDA."""

    @wraps(parse)
    def parse_kineto_results(self: Any, *args: Any, **named: Any) -> Any:
        events = parse(self, *args, **named)
        if self.use_device == "xpu":
            for event in events:
                if event.device_type == DeviceType.CUDA:
                    event.device_type = DeviceType.XPU
        return events

    return parse_kineto_results


def _ending(stock: Any) -> Any:
    """Return the method without an error before the profile has ended.

    It waits for the device first. A fault that the wait raises would leave the profiler running, and the
    process would crash at its exit. Here the fault is raised once the profile is complete.
    """

    @wraps(stock)
    def end(self: Any, *details: Any) -> Any:
        fault: RuntimeError | None = None
        if self.enabled and self.use_device == "xpu":
            try:
                torch.xpu.synchronize()
            except RuntimeError as error:
                fault = error
        result = stock(self, *details)
        if fault is not None:
            raise fault
        return result

    return end

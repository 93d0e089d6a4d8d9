"""Corrections of ``torch.profiler`` for devices other than CUDA in a wheel built without them."""

from __future__ import annotations

from typing import Any

from torch._C._autograd import DeviceType
from torch.autograd import profiler


def install() -> None:
    """Let events of the device say XPU; the wheel's profiler knows only CUDA as a device."""
    parse = profiler.profile._parse_kineto_results

    def parse_kineto_results(self: Any, *args: Any, **named: Any) -> Any:
        events = parse(self, *args, **named)
        if self.use_device == "xpu":
            for event in events:
                if event.device_type == DeviceType.CUDA:
                    event.device_type = DeviceType.XPU
        return events

    profiler.profile._parse_kineto_results = parse_kineto_results

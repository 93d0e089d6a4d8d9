"""Devices for the ranks that torchrun starts on a machine without a GPU: each gets a part of the CPU."""

from __future__ import annotations

import glob
import os


def divide_cpu() -> None:
    """Split the CPU device by the number of local ranks, so that each has its ``xpu:LOCAL_RANK``.

    Call it before the runtime finds its devices. A user's XPU_CPU_DEVICES stays, and nothing changes where
    there may be a GPU.
    """
    ranks = os.environ.get("LOCAL_WORLD_SIZE", "")
    if not ranks.isdecimal() or int(ranks) < 2 or "XPU_CPU_DEVICES" in os.environ:
        return
    if not _may_have_gpu():
        os.environ["XPU_CPU_DEVICES"] = ranks


def _may_have_gpu() -> bool:
    selector = os.environ.get("ONEAPI_DEVICE_SELECTOR", "")
    if "cpu" in selector and "gpu" not in selector and "*" not in selector:
        return False
    return bool(glob.glob("/dev/dri/renderD*"))

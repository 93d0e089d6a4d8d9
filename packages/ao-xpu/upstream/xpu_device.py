"""Plugin of pytest: torchao's tests take xpu for their GPU; each tells whether it used it."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import cuda_names
import pytest
import torch


def pytest_configure(config: pytest.Config) -> None:
    """Replace names of CUDA in the tests, before they are imported."""
    finder = cuda_names.install(config.rootpath)
    config.pluginmanager.register(_Properties(finder), "xpu_device_properties")


class _Properties:
    """Gives each test the properties ``used_xpu`` and ``renamed``."""

    def __init__(self, finder: cuda_names.CudaTests) -> None:
        self._finder = finder

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Compare the number of allocations on the device before and after the test."""
        before = _allocations()
        try:
            return (yield)
        finally:
            item.user_properties.append(("used_xpu", _allocations() > before))
            item.user_properties.append(("renamed", self._finder.renames(Path(item.path))))


def _allocations() -> int:
    return torch.xpu.memory_stats().get("allocation.all.allocated", 0)

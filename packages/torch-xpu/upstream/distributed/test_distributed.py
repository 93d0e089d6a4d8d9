"""PyTorch's tests of distributed, each in processes forked from this one, which never touches the device."""

from __future__ import annotations

import re
import tomllib
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch
import torch.backends.cudnn
import xccl_names

xccl_names.install()
# A process that is forked after the first use of the device cannot use it, so modules get the answer.
with mock.patch("torch.xpu.is_available", return_value=True):
    from torch.testing._internal.distributed.distributed_test import (
        DistributedTest,
        TestDistBackend,
    )
# PyTorch imports it before each test, and it would look for Triton.
with mock.patch("torch.xpu.is_available", return_value=False):
    import torch.testing._internal.common_device_type

CPU_TESTS = re.compile(
    tomllib.loads(Path(__file__).with_name("reasons.toml").read_text())["cpu_tests"]
)
BARRIER_SECONDS = 60
_EXCEPTION = re.compile(r"^[\w.]+(?:Error|Exception|Failure|Exit)(?:: .*)?$", re.MULTILINE)


class TestDistributed(TestDistBackend, DistributedTest._DistTestBase):
    """The tests; tensors that they create without a device are on the rank's xpu."""

    @pytest.fixture(autouse=True)
    def keep_properties(self, record_property: Any) -> None:
        """Keep the function that gives a test its properties."""
        self._record_property = record_property

    def setUp(self) -> None:
        """Start the ranks."""
        super().setUp()
        context = torch.multiprocessing.get_context("fork")
        self._start_processes(context.Process)

    def tearDown(self) -> None:
        """Record whether a rank used xpu."""
        marks = list(Path(self.file_name).parent.glob(f"{Path(self.file_name).name}.used_xpu*"))
        self._record_property("used_xpu", bool(marks))
        for mark in marks:
            mark.unlink()
        super().tearDown()

    def _barrier(self, *args: Any, **kwargs: Any) -> None:
        """Wait for the other ranks, also if the machine is busy."""
        kwargs["timeout"] = BARRIER_SECONDS
        super()._barrier(*args, **kwargs)

    def run_test(self, test_name: str, parent_pipe: Any) -> None:
        """Run the test in a rank, on its device."""
        torch.xpu.set_device(self.rank)
        device = torch.device("xpu", self.rank)
        try:
            with nullcontext() if CPU_TESTS.search(test_name) else device:
                super().run_test(test_name, parent_pipe)
        finally:
            if any(_allocations(index) for index in range(torch.xpu.device_count())):
                Path(f"{self.file_name}.used_xpu{self.rank}").touch()

    def _check_return_codes(self, fn: Any, elapsed_time: float) -> None:
        try:
            super()._check_return_codes(fn, elapsed_time)
        except RuntimeError as error:
            cause = (_EXCEPTION.findall(str(error)) or [str(error)])[-1]
            raise AssertionError(cause.removeprefix("AssertionError: ")) from error


def _allocations(device: int) -> int:
    return torch.xpu.memory_stats(device).get("allocation.all.allocated", 0)

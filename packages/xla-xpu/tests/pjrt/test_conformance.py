"""The plugin without JAX: a walk through the C interface by somebody else's checks."""

import sys

import pypjrt._abi.pjrt_0_114 as abi
import pytest
from pypjrt import conform
from pypjrt.client import Plugin
from xpu_testing import processes

from xla_xpu import _plugin


@pytest.mark.values
def test_conformance_run():
    command = [sys.executable, "-m", "pypjrt.conform", _plugin.__file__]
    done = processes.run(command, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 FAIL" in done.stdout


def test_version_and_size_agree():
    plugin = Plugin(_plugin.__file__)
    assert plugin.api_version == (abi.PJRT_API_MAJOR, abi.PJRT_API_MINOR)
    assert plugin.api_struct_size == abi.PJRT_Api_STRUCT_SIZE


def test_every_empty_slot_names_itself():
    report = conform.run(Plugin(_plugin.__file__))
    unsupported = [check for check in report.checks if check.result is conform.Result.UNSUPPORTED]
    assert unsupported
    for check in unsupported:
        # It asks for a topology by the name of another platform's.
        named = (
            "there is no topology"
            if check.id == "topology.create_by_name"
            else "is not implemented for xpu"
        )
        assert named in check.detail

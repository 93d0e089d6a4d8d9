"""oneCCL as the transport, where it is installed: CI does not install it, as it takes 1 GB."""

import time
from importlib import metadata

import pytest
from ranks import run_ranks

from torch_xpu import _transports

pytestmark = pytest.mark.values

ONECCL = {"XPU_DISTRIBUTED": "oneccl"}


def installed() -> bool:
    try:
        return metadata.version("oneccl") == _transports.ONECCL
    except metadata.PackageNotFoundError:
        return False


needs_oneccl = pytest.mark.skipif(
    not installed(), reason=f"oneccl=={_transports.ONECCL} is not installed"
)


@needs_oneccl
def test_operations():
    run_ranks("operations.py", "none", env=ONECCL)


@needs_oneccl
def test_order_of_kernels_streams_and_collectives():
    for result in run_ranks("order.py", "100", env=ONECCL):
        assert "\n0 of" in f"\n{result.out}"


@needs_oneccl
@pytest.mark.parametrize(
    "modes", [["ddp", "ddp_bf16_hook"], ["fsdp2"], ["tensor_parallel"]], ids="-".join
)
def test_two_ranks_train_as_one_process(modes):
    run_ranks("training.py", *modes, env=ONECCL)


@needs_oneccl
@pytest.mark.parametrize("program", ["divided", "groups", "again"])
def test_program(program):
    run_ranks("oneccl.py", program, env=ONECCL)


@needs_oneccl
def test_checker_of_pytorch_sees_unequal_sizes():
    results = run_ranks("oneccl.py", "unequal", env=ONECCL | {"TORCH_DISTRIBUTED_DEBUG": "DETAIL"})
    for result in results:
        assert "Detected mismatch" in result.out


@needs_oneccl
def test_without_a_killed_rank_the_other_ends_with_its_own_status():
    survivor, killed = run_ranks("oneccl.py", "killed", env=ONECCL, check=False)
    assert survivor.exit_code == 7, survivor.err
    assert time.time() - float(survivor.out.split("raised at ")[1]) < 5
    assert killed.exit_code == -9


@pytest.mark.parametrize("value", ["", "gloo"])
def test_gloo_is_the_default(monkeypatch, value):
    monkeypatch.setenv("XPU_DISTRIBUTED", value)
    assert _transports.choose()[0] == "gloo"
    assert _transports.check().startswith("gloo (")


def test_an_unknown_transport_names_the_known(monkeypatch):
    monkeypatch.setenv("XPU_DISTRIBUTED", "mpi")
    with pytest.raises(ValueError, match="expected gloo or oneccl"):
        _transports.choose()


@pytest.mark.parametrize("version", [None, "2021.14.0"])
def test_oneccl_that_is_missing_or_another_names_the_extra(monkeypatch, version):
    class Wheel:
        pass

    def distribution(name):
        if version is None:
            raise metadata.PackageNotFoundError(name)
        wheel = Wheel()
        wheel.version = version
        return wheel

    monkeypatch.setenv("XPU_DISTRIBUTED", "oneccl")
    monkeypatch.setattr(metadata, "distribution", distribution)
    with pytest.raises(RuntimeError, match="xpu-sdk\\[oneccl\\]"):
        _transports.check()

"""``xpu-sdk doctor``: healthy here, and each fault found with its cure."""

import json

import pytest


def findings(done):
    return {row["layer"]: row for row in json.loads(done.stdout)}


@pytest.mark.values
def test_this_machine_is_healthy(xpu_sdk):
    done = xpu_sdk("doctor", "--json")
    found = findings(done)
    assert done.returncode == 0, [row for row in found.values() if row["state"] == "fail"]
    assert found["kernel on xpu:0"]["found"] == "right values"
    assert found["matmul on xpu:0"]["found"] == "right values"


@pytest.mark.cpu_device
def test_no_device(xpu_sdk):
    done = xpu_sdk("doctor", "--json", ONEAPI_DEVICE_SELECTOR="opencl:fpga")
    assert done.returncode == 1
    assert "unset ONEAPI_DEVICE_SELECTOR" in findings(done)["devices"]["fix"]


def test_a_cache_that_others_may_write(xpu_sdk, cache_home):
    folder = cache_home / "xpu-sdk" / "kernels"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    done = xpu_sdk("doctor", "--json")
    assert done.returncode == 1
    assert findings(done)["kernel cache"]["fix"] == f"chmod 700 {folder}"


def test_a_driver_that_is_not_there(xpu_sdk, tmp_path):
    (tmp_path / "gone.icd").write_text("/nowhere/libgone.so\n")
    done = xpu_sdk("doctor", "--json", OCL_ICD_VENDORS=str(tmp_path))
    row = findings(done)["OpenCL driver gone.icd"]
    assert row["state"] == "fail"
    assert "/nowhere/libgone.so" in row["found"]


def test_a_misspelt_variable(xpu_sdk):
    done = xpu_sdk("doctor", "--json", XPU_CACHE_DIRR="/tmp")
    assert "is XPU_CACHE_DIR meant?" in findings(done)["variable XPU_CACHE_DIRR"]["found"]


def test_an_adapter_built_against_another_runtime(monkeypatch):
    from xpu_sdk import adapters
    from xpu_sdk.health import surroundings

    def installed():
        about = {"version": "1", "framework": "thing 2", "abi": -1}
        return [adapters.Adapter("thing", "thing-xpu", about)]

    monkeypatch.setattr(adapters, "installed", installed)
    (found,) = [f for f in surroundings.check() if f.layer == "adapter thing"]
    assert found.state == "fail"
    assert "built against runtime ABI -1" in found.found
    assert "--force-reinstall thing-xpu" in found.fix

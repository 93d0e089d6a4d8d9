"""``xpu-sdk info`` and ``xpu-sdk env``: what they say is what is."""

import importlib.metadata
import json
import re

import pytest
from xpu_sdk.commands import info


def test_info_as_json(xpu_sdk):
    done = xpu_sdk("info", "--json")
    assert done.returncode == 0, done.stderr
    about = json.loads(done.stdout)
    assert about["xpu"]["xpu-runtime"] == importlib.metadata.version("xpu-runtime")
    assert about["devices"][0]["total_memory"] > 0
    assert len(about["libraries"]["libsycl.so"]) == 1


def test_info_for_people_names_the_device_and_the_adapters(xpu_sdk):
    about = json.loads(xpu_sdk("info", "--json").stdout)
    done = xpu_sdk("info")
    assert done.returncode == 0
    assert about["devices"][0]["name"] in done.stdout
    for adapter in about["adapters"].values():
        text = f"{adapter['version']}, adapter of {adapter['framework']}"
        if "abi" in adapter:
            text += f", runtime ABI {adapter['abi']}"
        assert re.search(f"│ {adapter['wheel']} +│ {re.escape(text)} +│", done.stdout), done.stdout
    assert "{" not in done.stdout
    assert not re.search(r"│ ((0|False) +│|\(|\[)", done.stdout), done.stdout


CPU = {
    "type": "cpu",
    "is_gpu": False,
    "vendor": "Intel",
    "backend": "opencl",
    "platform": "Intel OpenCL",
    "version": "OpenCL 3.0",
    "driver_version": "2026.0",
    "max_compute_units": 8,
    "eu_count": 0,
    "eu_simd_width": 0,
    "hw_threads_per_eu": 1,
    "max_clock_mhz": 0,
    "unified_memory": True,
    "total_memory": 32 << 30,
    "max_allocation": 16 << 30,
    "cache_size": 0,
    "local_memory": 256 << 10,
    "max_work_group_size": 8192,
    "sub_group_size": 16,
    "sub_group_sizes": [8, 16],
    **dict.fromkeys(info.FEATURES, False),
    "fp64": True,
    "fp16": True,
}
GPU = CPU | {
    "type": "gpu",
    "is_gpu": True,
    "unified_memory": False,
    "eu_count": 512,
    "eu_simd_width": 16,
    "hw_threads_per_eu": 8,
    "max_clock_mhz": 2400,
    "cache_size": 16 << 20,
}


def test_a_cpu_has_no_execution_units():
    rows = dict(info.describe_device(CPU))
    assert rows["type"] == "CPU, Intel"
    assert rows["compute units"] == "8"
    assert rows["memory"] == "32.0 GiB, shared with the host; 16.0 GiB at most in one allocation"
    assert rows["sub-group"] == "16 work-items (offered: 8, 16)"
    assert rows["supports"] == "fp64, fp16"
    assert "cache" not in rows


def test_the_parts_of_a_gpu_are_told():
    rows = dict(info.describe_device(GPU))
    assert rows["type"] == "GPU, Intel"
    assert rows["compute units"] == "8, 512 EUs, SIMD 16, 8 threads in each EU, 2400 MHz"
    assert rows["memory"] == "32.0 GiB; 16.0 GiB at most in one allocation"
    assert rows["cache"] == "16.0 MiB"


def test_an_adapter_that_does_not_load_says_why():
    broken = {"wheel": "thing-xpu", "error": "ImportError: no thing"}
    assert info.describe_adapter(broken) == ("thing-xpu", "does not load: ImportError: no thing")


def test_info_without_devices_points_to_the_doctor(xpu_sdk):
    done = xpu_sdk("info", ONEAPI_DEVICE_SELECTOR="no such thing")
    assert "xpu-sdk doctor" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.values
def test_env_lists_the_registry_with_values(xpu_sdk):
    from xpu_runtime import env

    done = xpu_sdk("env", "--json", XPU_GRAPH="list")
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert set(rows) == {variable.name for variable in env.registry()}
    assert rows["XPU_GRAPH"]["value"] == "list"


def test_env_tells_of_a_misspelt_variable(xpu_sdk):
    assert "XPU_GRAF is set, but nothing reads it" in xpu_sdk("env", XPU_GRAF="1").stdout

"""``xpu-sdk info`` and ``xpu-sdk env``: what they say is what is."""

import importlib.metadata
import json

import pytest


def test_info_as_json(xpu_sdk):
    done = xpu_sdk("info", "--json")
    assert done.returncode == 0, done.stderr
    about = json.loads(done.stdout)
    assert about["xpu"]["xpu-runtime"] == importlib.metadata.version("xpu-runtime")
    assert about["devices"][0]["total_memory"] > 0
    assert len(about["libraries"]["libsycl.so"]) == 1


def test_info_for_people_names_the_device(xpu_sdk):
    name = json.loads(xpu_sdk("info", "--json").stdout)["devices"][0]["name"]
    done = xpu_sdk("info")
    assert done.returncode == 0
    assert name in done.stdout


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

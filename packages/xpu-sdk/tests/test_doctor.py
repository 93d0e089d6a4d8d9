"""``xpu-sdk doctor``: healthy here, and each fault found with its cure."""

import json
import time

import pytest
import xpu_runtime as xr
from xpu_sdk import adapters, system_info
from xpu_sdk.health import (
    adapter_checks,
    devices,
    drivers,
    environment,
    kernel_images,
    probe,
    triton,
    wheels,
)
from xpu_testing.other_version import pretend_version


def findings(done):
    return {row["layer"]: row for row in json.loads(done.stdout)}


@pytest.mark.values
def test_this_machine_is_healthy(xpu_sdk):
    done = xpu_sdk("doctor", "--json")
    found = findings(done)
    assert done.returncode == 0, [row for row in found.values() if row["state"] == "fail"]
    assert found["kernel on xpu:0"]["found"] == "right values"
    assert found["matmul on xpu:0"]["found"] == "right values"
    assert "right values" in found["torch.compile"]["found"]


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


@pytest.mark.cpu_device
@pytest.mark.driver_binaries
@pytest.mark.parametrize(
    ("images", "installed", "state", "words"),
    [
        (7, "1.0", "ok", "7 of"),
        (0, "1.0", "note", "xpu-cpu-images 1.0 has none for driver"),
        (0, None, "note", "xpu-cpu-images is not installed"),
    ],
    ids=["some fit", "none fits", "none"],
)
def test_images_of_kernels(monkeypatch, images, installed, state, words):
    monkeypatch.setattr(xr.ready_kernels, "image_count", lambda _: images)
    monkeypatch.setattr(system_info, "version", lambda _: installed)
    (found,) = kernel_images.check()
    assert found.state == state
    assert words in found.found


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
    def installed():
        about = {"version": "1", "framework": "thing 2", "abi": -1}
        return [adapters.Adapter("thing", "thing-xpu", about)]

    monkeypatch.setattr(adapters, "installed", installed)
    (found,) = [f for f in environment.check() if f.layer == "adapter thing"]
    assert found.state == "fail"
    assert "built against runtime ABI -1" in found.found
    assert "--force-reinstall thing-xpu" in found.fix


def test_an_adapter_without_compiled_code_has_no_abi(monkeypatch):
    about = {"version": "1", "framework": "thing 2"}
    adapter = adapters.Adapter("thing", "thing-xpu", about)
    monkeypatch.setattr(adapters, "installed", lambda: [adapter])
    (found,) = [f for f in environment.check() if f.layer == "adapter thing"]
    assert (found.state, found.found) == ("ok", "1 for thing 2")


def test_adapters_of_another_torch(xpu_sdk, tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    done = xpu_sdk("doctor", "--json", **pretend_version(folder, "torch.version", "2.16.0"))
    assert done.returncode == 1
    found = findings(done)
    for name in ("torch", "inductor", "ao"):
        row = found[f"adapter {name}"]
        assert row["state"] == "fail"
        assert "is for torch>=2.13,<2.16, and this is torch 2.16.0" in row["found"]
        assert 'pip install "torch>=2.13,<2.16"' in row["fix"]
    assert "torch.compile" not in found  # its check cannot run
    assert found["adapter jax"]["state"] == "ok"


@pytest.mark.parametrize(
    ("body", "state", "words"),
    [
        ("return 'right values'", "ok", "right values"),
        ("raise ValueError('got 2, expected 3')", "fail", "got 2, expected 3"),
        ("import os; os.abort()", "fail", "was killed by signal 6"),
    ],
)
def test_a_check_of_an_adapter(monkeypatch, tmp_path, body, state, words):
    (tmp_path / "thing_xpu.py").write_text(f"def check():\n    {body}\n")
    wheel = tmp_path / "thing_xpu-1.dist-info"
    wheel.mkdir()
    (wheel / "METADATA").write_text("Metadata-Version: 2.1\nName: thing-xpu\nVersion: 1\n")
    (wheel / "entry_points.txt").write_text("[xpu_sdk.checks]\nthing = thing_xpu:check\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(adapters, "check_names", lambda: ["thing"])
    (found,) = adapter_checks.check()
    assert (found.layer, found.state) == ("thing", state)
    assert words in found.found


GPU = ["NVIDIA H100 80GB HBM3", "ext_oneapi_cuda", "CUDA 12.8", True]
CPU = ["Intel Xeon", "opencl", "2026.0", False]


@pytest.mark.parametrize(
    ("listed", "nodes", "says_cpu"),
    [
        ([GPU], {}, False),
        ([GPU], {"/dev/dri/renderD128": "0x10de"}, False),
        ([CPU], {}, True),
        (
            [CPU],
            {"/dev/null": "0x8086"},
            False,
        ),  # a driver is missing, which is a failure
    ],
    ids=["GPU without a node", "GPU", "CPU", "Intel GPU without a driver"],
)
def test_the_cpu_device_is_named_only_where_it_is_used(monkeypatch, listed, nodes, says_cpu):
    answers = {devices.LIST: listed}
    monkeypatch.setattr(devices, "run_probe", lambda code, *_: answers.get(code, [0.1, True]))
    monkeypatch.setattr(system_info, "render_nodes", lambda: nodes)
    found = [*drivers.check(), *devices.check()]
    said = [finding for finding in found if "CPU device is used" in finding.found]
    assert len(said) == says_cpu
    missing = [finding.layer for finding in found if finding.layer == "GPU driver"]
    assert bool(missing) == (listed == [CPU] and "0x8086" in nodes.values())


def test_a_probe_that_hangs_ends_with_what_it_started(monkeypatch, tmp_path):
    monkeypatch.setattr(probe, "TIMEOUT", 2)
    note = tmp_path / "pid"
    begin = time.monotonic()
    with pytest.raises(probe.ProbeFailed, match="did not end within 2 s"):
        probe.run_probe(
            f"""
            import subprocess
            started = subprocess.Popen(["sleep", "600"], start_new_session=True)
            open({str(note)!r}, "w").write(str(started.pid))
            started.wait()
            """
        )
    assert time.monotonic() - begin < 20
    # A process that is killed takes a moment to end.
    started, deadline = int(note.read_text()), time.monotonic() + 10
    while alive(started):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_a_torch_that_pins_other_wheels_is_named(monkeypatch):
    installed = system_info.version
    others = {"torch": "2.15.0+xpu", "intel-sycl-rt": "2026.1.0"}
    monkeypatch.setattr(system_info, "version", lambda name: others.get(name) or installed(name))
    (found,) = [row for row in wheels.check() if row.state == "fail"]
    assert found.layer == "wheel intel-sycl-rt"
    assert "torch 2.15.0+xpu pins the other" in found.found


@pytest.mark.parametrize(
    ("versions", "has_fork", "state", "words"),
    [
        ({}, False, None, ""),
        ({"triton": "3.7.1"}, False, "ok", "3.7.1"),
        ({"triton": "3.7.1", "torch": "2.13.0+cpu"}, False, "ok", "3.7.1"),
        ({"triton": "3.9.0", "torch": "2.16.0"}, False, "ok", "3.9.0"),
        ({"triton": "3.9.0", "torch": "2.13.0+cpu"}, False, "note", "is tested with Triton 3.7"),
        ({"triton": "3.10.0", "torch": "2.15.0"}, False, "note", "with 3.7, 3.8, 3.9"),
        ({"triton": "3.10.0"}, False, "note", "with 3.7, 3.8, 3.9"),
        ({"triton": "3.7.1", "triton-xpu": "3.7.2"}, True, "fail", "triton-xpu 3.7.2"),
        ({"triton": "3.7.1"}, True, "fail", "has put its files over"),
    ],
    ids=[
        *("none", "stock", "of this torch", "of an unknown torch", "of another torch"),
        *("another version beside torch", "another version", "fork", "files of a fork"),
    ],
)
def test_triton(monkeypatch, versions, has_fork, state, words):
    monkeypatch.setattr(system_info, "version", versions.get)
    monkeypatch.setattr(triton, "_has_files_of_a_fork", lambda: has_fork)
    found = list(triton.check())
    assert [row.state for row in found] == ([state] if state else [])
    assert all(words in row.found for row in found)
    requirements = {"2.13.0+cpu": "triton~=3.7.1", "2.15.0": "triton~=3.9.0"}
    requirement = requirements.get(versions.get("torch"), "triton>=3.7.1,<3.10")
    assert all(f'"{requirement}"' in row.fix for row in found if row.state != "ok")


def test_versions_of_triton_are_those_that_kernels_run_with():
    driver = pytest.importorskip("inductor_xpu.triton.driver")
    assert tuple(each.rpartition(".")[0] for each in triton.OF_TORCH.values()) == driver.SUPPORTED

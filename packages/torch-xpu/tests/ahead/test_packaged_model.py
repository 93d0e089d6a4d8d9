"""A model that was compiled ahead of time runs on xpu: its stream, its kernels, threads."""

import os
import threading

import pytest
import torch
from model_packages import load, manifest_of, model_files, model_source, write_package
from xpu_testing import run_child

from torch_xpu import _device

pytestmark = pytest.mark.values

# Prints where a build of the model's kernel finds it, once the model has run.
PLACES = """
import torch
import xpu_runtime as xr
loader = torch._C._aoti.AOTIModelPackageLoader({package!r}, "model", False, 1, -1)
assert loader.boxed_run([torch.ones(4, device="xpu")])[0].cpu().eq(3).all()
print(*(answer.store for answer in xr.cache.explain({source!r}) if answer.found))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    files = model_files(folder)
    return write_package(folder, files, manifest_of(files))


def test_it_runs_on_the_current_stream(package):
    loader = load(package)
    x = torch.arange(100.0, device="xpu")
    result, stream = loader.boxed_run([x.clone()])
    assert torch.equal(result.cpu(), 3 * torch.arange(100.0))
    assert stream.item() == _device.stream_handle(0, 0)
    other = torch.xpu.Stream()
    other.wait_stream(torch.xpu.current_stream())
    with torch.xpu.stream(other):
        result, stream = loader.boxed_run([x.clone()])
    assert stream.item() == _device.stream_handle(0, other.stream_id)
    other.synchronize()
    assert torch.equal(result.cpu(), 3 * torch.arange(100.0))


@pytest.mark.driver_binaries
def test_its_kernels_come_from_the_package(package):
    """SPIR-V and native code: builds ask the package first."""
    code = PLACES.format(package=str(package), source=model_source())
    places = run_child(code, env={"XPU_DUMP_KERNELS": ""}).check().out.split()
    assert places.count("package") == 2
    assert places[0] == "package"


def test_threads_with_streams_of_their_own_run_it(package):
    loader = load(package)
    wrong = []

    def run(number):
        with torch.xpu.stream(torch.xpu.Stream()):
            for step in range(20):
                x = torch.full((1000,), float(number + step), device="xpu")
                result, _ = loader.boxed_run([x])
                if not result.cpu().eq(3 * (number + step)).all():
                    wrong.append((number, step))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_it_is_loaded_as_often_as_wanted(package):
    x = torch.ones(4, device="xpu")

    def open_files():
        assert load(package).boxed_run([x.clone()])[0].cpu().eq(3).all()
        return len(os.listdir("/proc/self/fd"))

    first = open_files()
    assert max(open_files() for _ in range(10)) <= first

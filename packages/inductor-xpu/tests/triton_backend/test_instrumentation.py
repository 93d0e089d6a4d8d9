"""Triton's sanitizers: xpu has none, so a mode of instrumentation is an error."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from triton import knobs
from xpu_testing import run_child

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import kernels  # noqa: E402

pytestmark = pytest.mark.values


@pytest.fixture
def x():
    return torch.ones(1000, device="xpu")


def _warm_up(x):
    kernels.add_kernel.warmup(x, x, x, 1000, BLOCK=128, grid=(8,))


def _in_a_thread(x):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(kernels.add, x, x).result()


LAUNCHES = {
    "a launch": lambda x: kernels.add(x, x),
    "a launch in a thread": _in_a_thread,
    "an autotuned launch": lambda x: kernels.add_tuned(x, x),
    "a kernel that is only compiled": _warm_up,
}


@pytest.mark.parametrize("name", LAUNCHES)
def test_it_is_an_error_also_of_a_kernel_that_ran(name, x, monkeypatch):
    launch = LAUNCHES[name]
    launch(x)
    with monkeypatch.context() as patch:
        patch.setattr(knobs.compilation, "instrumentation_mode", "fpsan")
        with pytest.raises(
            ValueError, match="instrumentation_mode: got 'fpsan'; xpu has no sanitizer"
        ):
            launch(x)
    launch(x)


PROGRAM = f"""
import sys
sys.path.insert(0, {str(FOLDER)!r})
import torch
import inductor_xpu.settings
import kernels

x = torch.ones(1000, device="xpu")
for reader, function in (("loops", lambda x: kernels.add(x, x)), ("triton", lambda x: x.sin() + 1)):
    with inductor_xpu.settings.patch(reader=reader):
        try:
            torch.compile(function)(x)
            print(reader, "no error")
        except Exception as error:
            print(reader, str(error).partition("; xpu")[0].splitlines()[-1])
"""


def test_it_is_an_error_in_compiled_functions_also_of_the_caches(tmp_path):
    env = {
        "TRITON_CACHE_DIR": str(tmp_path / "triton"),
        "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor"),
    }
    assert run_child(PROGRAM, env=env, timeout=300).check().out.count("no error") == 2
    env["TRITON_INSTRUMENTATION_MODE"] = "consan"
    out = run_child(PROGRAM, env=env, timeout=300).check().out
    assert out.count("instrumentation_mode: got 'consan'") == 2, out

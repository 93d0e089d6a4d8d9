"""Kernels of @triton.jit in threads and in processes that fork, are interrupted, or import little."""

import sys
import threading
from pathlib import Path

import pytest
import torch
from xpu_testing import run_child

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import kernels  # noqa: E402

pytestmark = pytest.mark.values
START = f"import os, sys, warnings\nsys.path.insert(0, {str(FOLDER)!r})\nwarnings.simplefilter('ignore')\n"


def test_threads_launch_and_compile_at_once():
    errors = []
    start = threading.Barrier(2)

    def work(number):
        try:
            start.wait()
            stream = torch.xpu.Stream()
            with torch.xpu.stream(stream):
                for block in (32, 64, 512):
                    x, y = torch.randn(2, 5000 + number, device="xpu")
                    for _ in range(20):
                        assert torch.equal(kernels.add(x, y, block), x + y)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_a_forked_child_gets_an_error():
    run_child(
        f"""{START}
import torch, kernels
x = torch.ones(1000, device="xpu")
kernels.add(x, x)
child = os.fork()
if child == 0:
    try:
        kernels.add(x, x)
    except Exception as error:
        os._exit(7 if "fork" in str(error) else 1)
    os._exit(2)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert kernels.add(x, x).sum().item() == 2000
""",
        timeout=200,
    ).check()


def test_a_fork_before_the_device_is_used():
    """A child that forks early has devices of its own."""
    run_child(
        f"""{START}
import torch, kernels
child = os.fork()
x = torch.ones(1000, device="xpu")
assert kernels.add(x, x).sum().item() == 2000
if child == 0:
    os._exit(5)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
""",
        timeout=200,
    ).check()


def test_an_interrupt_while_compiling(tmp_path):
    """The call is interrupted wherever it is; a later one finds nothing half done."""
    run_child(
        f"""{START}
import signal, threading, time
import torch, kernels
x = torch.ones(1000, device="xpu")
x + x
for delay in (0.05, 0.3, 0.6, 1.0):
    caught = threading.Event()

    def interrupt():
        time.sleep(delay)
        while not caught.wait(0.5):
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        for block in range(4, 13):
            for stages in range(1, 40):
                kernels.add_kernel[(1,)](x, x, x, 0, BLOCK=1 << block, num_stages=stages)
    except KeyboardInterrupt:
        pass
    caught.set()
    thread.join()
for block in range(4, 13):
    assert kernels.add(x, x, 1 << block).sum().item() == 2000
""",
        env={"XPU_CACHE_DIR": str(tmp_path), "TRITON_CACHE_DIR": str(tmp_path / "triton")},
        timeout=300,
    ).check()


def test_later_processes_compile_nothing(tmp_path):
    program = f"""{START}
import sys, torch, kernels
from triton.compiler import compiler
stages = []
stock, stock_key = compiler.make_backend, compiler.get_cache_key
def key_of(src, backend, options, env_vars):
    print(src.hash(), backend.hash(), options.hash(), env_vars, backend.target, file=sys.stderr)
    return stock_key(src, backend, options, env_vars)
compiler.get_cache_key = key_of
def backend_of(target):
    backend = stock(target)
    translate = backend._sycl
    backend._sycl = lambda *args: stages.append(1) or translate(*args)
    return backend
compiler.make_backend = backend_of
x = torch.ones(1000, device="xpu")
assert kernels.add(x, x).sum().item() == 2000
print(len(stages))
"""
    env = {"XPU_CACHE_DIR": str(tmp_path), "TRITON_CACHE_DIR": str(tmp_path / "triton")}
    results = [run_child(program, env=env).check() for _ in range(3)]
    compiled = [result.out.strip() for result in results]
    # Once in some twenty runs on a loaded machine, the second process did not find what the first had stored;
    # the keys tell why when it happens in both.
    keys = [result.err for result in results]
    assert compiled[0] == "1", keys
    assert "0" in compiled[1:], keys


@pytest.mark.parametrize(
    "imports",
    [
        "import triton",
        "import inductor_xpu.triton.compiler",
        "import inductor_xpu.triton.driver, triton",
        "import triton.language, triton.runtime",
    ],
)
def test_importing_triton_imports_no_torch_and_no_runtime(imports):
    run_child(
        f"""
import sys
{imports}
import triton
from triton.backends import backends
assert backends["intel"].compiler.__module__ == "inductor_xpu.triton.compiler"
loaded = [name for name in ("torch", "xpu_runtime._C", "torch_xpu") if name in sys.modules]
assert not loaded, loaded
"""
    ).check()


def test_another_version_of_triton_is_named():
    run_child(
        """
import triton
triton.__version__ = "3.10.0"
from triton.runtime import driver
try:
    driver.active
except ImportError as error:
    assert "triton 3.10.0" in str(error) and "goes with your torch" in str(error), error
else:
    raise AssertionError("no error")
"""
    ).check()


def test_gpus_of_other_backends_come_first():
    run_child(
        """
import torch
torch.cuda.is_available = lambda: True
from inductor_xpu.triton.driver import XpuDriver
assert not XpuDriver.is_active()
import os
os.environ["TRITON_DEFAULT_BACKEND"] = "intel"
assert XpuDriver.is_active()
"""
    ).check()


def test_without_triton_the_extra_is_named():
    child = run_child(
        """
import importlib.util
import torch
from importlib.machinery import PathFinder
stock = PathFinder.find_spec
PathFinder.find_spec = classmethod(lambda cls, name, *rest: None if name == "triton" else stock(name, *rest))
assert importlib.util.find_spec("triton") is None
try:
    import triton
except ModuleNotFoundError as error:
    assert error.name == "triton"
    print(error)
import inductor_xpu.settings
with inductor_xpu.settings.patch(reader="triton"):
    try:
        torch.compile(lambda x: x + 1)(torch.ones(3, device="xpu"))
    except Exception as error:
        print(error)
""",
        timeout=200,
    ).check()
    assert child.out.count("xpu-sdk[triton]") == 2, child.out


def test_a_launch_imports_no_inductor():
    """It would take longer than the launch, and an interrupt in it would leave parts of it behind."""
    run_child(
        f"""{START}
import torch, kernels
x = torch.ones(1000, device="xpu")
assert kernels.add(x, x).sum().item() == 2000
kernels.checked[(1,)](x, x, BLOCK=64, debug=True)
torch.xpu.synchronize()
found = [name for name in sys.modules if name.startswith(("torch._inductor", "torch._dynamo."))]
assert not found, found[:5]
"""
    ).check()

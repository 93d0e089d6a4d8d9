"""The test kit itself: each helper must fail on the fault that it is meant to find."""

import contextlib
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from xpu_testing import (
    Canary,
    assert_close,
    assert_repeatable,
    each_failing_allocation,
    plugin,
    run_child,
)


def test_canary_returns_the_output():
    canary = Canary((2, 3), np.float32)
    canary.image[canary.offset : canary.offset + 24].view(np.float32)[:] = np.arange(6)
    assert canary.take(canary.image).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.values
@pytest.mark.parametrize(("byte", "side"), [(-1, "before"), (24, "after")])
def test_canary_names_the_first_byte_outside(byte, side):
    canary = Canary((2, 3), np.float32)
    canary.image[canary.offset + byte] = 0
    with pytest.raises(AssertionError, match=f"1 bytes written {side}.*at byte {byte} "):
        canary.take(canary.image)


@pytest.mark.values
def test_repeatable_sees_one_differing_bit():
    results = iter(
        [np.float32([1, 2]), np.float32([1, np.nextafter(np.float32(2), np.float32(3))])]
    )
    with pytest.raises(AssertionError, match="differs in 1 bytes"):
        assert_repeatable(lambda: next(results))


def test_close_checks_dtype_before_values():
    with pytest.raises(AssertionError, match="dtype float32, expected float64"):
        assert_close(np.float32([1]), np.float64([1]))


def test_values_are_not_compared_where_nothing_is_computed(monkeypatch):
    monkeypatch.setenv("XPU_TEST_VALUES", "0")
    assert_close(np.float32([1]), np.float32([2]))
    with pytest.raises(AssertionError, match="shape"):
        assert_close(np.float32([1]), np.float32([1, 2]))


def test_child_reports_exit_code_and_output():
    result = run_child("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert (result.exit_code, result.out, result.err) == (3, "out\n", "err\n")
    with pytest.raises(AssertionError, match="child ended with 3"):
        result.check()


def test_child_runs_a_file_with_arguments(tmp_path):
    (tmp_path / "program.py").write_text("import sys; print(sys.argv[1:], sys.path[0])")
    result = run_child(tmp_path / "program.py", arguments=["a", "b"]).check()
    assert result.out == f"['a', 'b'] {tmp_path}\n"


def test_child_killed_by_a_signal_has_a_negative_code():
    assert run_child("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)").exit_code == -11


class Pool:
    """A pool that leaks when told to, and fails at a chosen allocation."""

    def __init__(self, leak):
        self.used, self.leak, self.countdown = 0, leak, 0

    @contextlib.contextmanager
    def fail_at(self, k):
        self.countdown = k
        yield

    def action(self):
        for size in (1, 2, 4):
            self.countdown -= 1
            if self.countdown == 0:
                self.used = 1 if self.leak else 0
                raise MemoryError
            self.used += size
        self.used = 0


def test_every_allocation_fails_once():
    pool = Pool(leak=False)
    assert each_failing_allocation(pool.action, pool.fail_at, MemoryError, lambda: pool.used) == 3


def test_a_leak_after_a_failure_is_found():
    pool = Pool(leak=True)
    with pytest.raises(AssertionError, match="allocation 1 failed and 1 bytes stayed"):
        each_failing_allocation(pool.action, pool.fail_at, MemoryError, lambda: pool.used)


def torch_dtype(name):
    """Return an object like a dtype of PyTorch, which this suite does not import."""
    return type("dtype", (), {"__str__": lambda self: name, "__repr__": lambda self: name})()


@pytest.mark.parametrize(
    ("parameters", "asks"),
    [
        ({"dtype": "f64"}, True),
        ({"case": ("add", ["f32", "c128"])}, True),
        ({"dtype": np.float64}, True),
        ({"dtype": np.dtype("c16")}, True),
        ({"dtype": torch_dtype("torch.float64")}, True),
        ({"dtypes": (torch_dtype("torch.complex128"),)}, True),
        ({"dtype": "f32", "n": 64}, False),
        ({"dtype": np.dtype("f4"), "kind": float}, False),
        ({"dtype": torch_dtype("torch.float32"), "text": "torch.float64"}, False),
    ],
    ids=str,
)
def test_double_precision_is_seen_in_a_tests_parameters(parameters, asks):
    def item(marker=None, **attributes):
        return SimpleNamespace(get_closest_marker=lambda name: marker, **attributes)

    assert plugin.asks_for_fp64(item(callspec=SimpleNamespace(params=parameters))) is asks
    assert plugin.asks_for_fp64(item(marker="fp64"))
    assert not plugin.asks_for_fp64(item())


RUNTIME = """
from types import SimpleNamespace

def generic_backend():
    return "{type}" == "foreign"

def device_count():
    return {count}

def devices():
    return [SimpleNamespace(type="{type}")] * {count}
"""

OF_THE_CPU_DEVICE = """
import pytest

@pytest.mark.cpu_device
def test_of_the_cpu_device():
    pass

def test_of_any():
    pass
"""


@pytest.mark.parametrize(
    ("type", "count", "values", "says"),
    [
        ("cpu", 1, "1", "2 passed"),
        ("gpu", 1, "1", "1 passed, 1 deselected"),  # one that computes values
        ("gpu", 1, "0", "1 passed, 1 deselected"),  # a virtual one
        ("cpu", 0, "1", "1 passed, 1 deselected"),
    ],
)
def test_a_test_of_the_cpu_device_runs_there_only(tmp_path, monkeypatch, type, count, values, says):
    (tmp_path / "xpu_runtime.py").write_text(RUNTIME.format(type=type, count=count))
    (tmp_path / "test_it.py").write_text(OF_THE_CPU_DEVICE)
    monkeypatch.setenv("XPU_TEST_VALUES", values)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.splitlines()[-1].startswith(says), done.stdout


@pytest.mark.parametrize(
    ("values", "option", "code"), [("0", "-q", 0), ("0", "--sample=9", 0), ("1", "-kof_none", 5)]
)
def test_a_suite_passes_of_which_the_device_can_run_nothing(
    tmp_path, monkeypatch, values, option, code
):
    (tmp_path / "xpu_runtime.py").write_text(RUNTIME.format(type="cpu", count=1))
    (tmp_path / "test_it.py").write_text(OF_THE_CPU_DEVICE.partition("def test_of_any")[0])
    monkeypatch.setenv("XPU_TEST_VALUES", values)
    command = [sys.executable, "-m", "pytest", option, "-p", "no:cacheprovider", "test_it.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert done.returncode == code, done.stdout.decode()


TUNED_AND_PLAIN = """
import pytest

@pytest.mark.onednn
def test_of_onednn():
    pass

@pytest.mark.driver_binaries
def test_of_binaries():
    pass

def test_of_any():
    pass
"""


@pytest.mark.parametrize(
    ("type", "says"), [("gpu", "3 passed"), ("foreign", "1 passed, 2 deselected")]
)
def test_the_runtime_says_whether_it_is_generic(tmp_path, monkeypatch, type, says):
    """Also without the variable, on a device that is neither OpenCL's nor Level Zero's."""
    (tmp_path / "xpu_runtime.py").write_text(RUNTIME.format(type=type, count=1))
    (tmp_path / "test_it.py").write_text(TUNED_AND_PLAIN)
    monkeypatch.delenv("XPU_GENERIC_BACKEND", raising=False)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.splitlines()[-1].startswith(says), done.stdout

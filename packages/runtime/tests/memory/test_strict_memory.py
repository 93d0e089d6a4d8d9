"""Strict memory: what touches device memory the wrong way dies, naming the allocation."""

from __future__ import annotations

import signal

import pytest

pytestmark = pytest.mark.cpu_device

SETUP = """
import ctypes, numpy as np, xpu_runtime as xr
array = xr.from_numpy(np.arange(1000, dtype="f4"))
touch = lambda address: ctypes.c_float.from_address(address).value
def run(body, groups, *arrays):
    names = ", ".join(f"float* p{i}" for i in range(len(arrays)))
    source = '''
__attribute__((sycl_device)) __attribute__((const)) unsigned long __spirv_BuiltInGlobalInvocationId(int);
extern "C" [[__sycl_detail__::add_ir_attributes_function("sycl-nd-range-kernel", 1)]]
__attribute__((sycl_device)) void wrong(%s) { long i = __spirv_BuiltInGlobalInvocationId(0); %s }
''' % (names, body)
    xr.launch(xr.compile(source).kernel("wrong"), groups * 64, 64, list(arrays))
    xr.synchronize()
"""


@pytest.fixture
def dies(child):
    """Runs code in strict memory and returns what it said when it died."""

    def run(code: str) -> str:
        done = child(SETUP + code, env={"XPU_STRICT_MEMORY": "1"})
        assert done.exit_code in (-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT), done
        assert "xpu strict memory: " in done.err
        return done.err

    return run


def test_host_reads(dies):
    text = dies("touch(array.pointer + 16)")
    assert "host code read device memory, byte 16 of allocation #0: 4000 bytes" in text
    assert "device 0, stream 0, for xpu" in text
    assert "allocated by:" in text
    assert "touched by:" in text


def test_host_writes(dies):
    assert "host code wrote device memory, byte 0 of" in dies("ctypes.memset(array.pointer, 0, 1)")


def test_python_stack_is_shown(dies):
    text = dies("def guilty():\n    touch(array.pointer)\nguilty()")
    assert "in guilty" in text


def test_freed_memory(dies):
    text = dies("p = array.pointer; del array; touch(p)")
    assert "host code read freed memory, byte 0 of allocation #0" in text
    assert "freed since" in text


def test_kernel_writes_past_the_end(dies):
    text = dies("run('p0[i] = 1;', 32, array)")
    assert 'kernel "wrong" wrote ' in text
    assert "bytes past the end of allocation #0" in text


def test_kernel_reads_past_the_end(dies):
    assert 'kernel "wrong" read ' in dies("run('p0[0] = p0[i + 1024];', 1, array)")


def test_kernel_uses_freed_memory(dies):
    text = dies(
        """
other = xr.zeros((1000,), "f32")
p = np.uint64(array.pointer)
del array
run('*(float*)*(unsigned long*)p0 = 1;', 1, xr.from_numpy(np.array([p])))
"""
    )
    assert "wrote freed memory" in text


def test_overwrite_within_the_last_line_is_found_when_freed(dies):
    text = dies(
        "small = xr.zeros((999,), 'f32'); run('if (i == 0) p0[999] = 1;', 1, small); del small"
    )
    assert "something wrote just past the end of memory, found when it was freed" in text
    assert "3996 bytes" in text


def test_overwrite_before_the_start_is_found_when_freed(dies):
    text = dies("run('if (i == 0) p0[-2] = 1;', 1, array); del array")
    assert "something wrote just before the start of memory" in text


def test_correct_programs_run(child):
    child(
        SETUP
        + """
run('if (i < 1000) p0[i] += p1[i];', 16, array, array)
assert np.array_equal(array.numpy(), 2 * np.arange(1000, dtype="f4"))
assert xr.memory.stats()["allocated_bytes.all.current"] == 4000
""",
        env={"XPU_STRICT_MEMORY": "1"},
    ).check()


def test_faults_elsewhere_go_to_the_handler_before(child):
    done = child(SETUP + "touch(8)", env={"XPU_STRICT_MEMORY": "1", "PYTHONFAULTHANDLER": "1"})
    assert done.exit_code == -signal.SIGSEGV
    assert "xpu strict memory" not in done.err
    assert "Fatal Python error" in done.err


# From now on the kernel refuses the calling thread this protection of device memory, as when a process
# has too many mappings: a filter of its system calls that knows the upper half of the address.
REFUSE = """
import struct, sys
def refuse(protection):
    steps = [(0x20, 0, 0, 0), (0x15, 0, 5, 10), (0x20, 0, 0, 20), (0x15, 0, 3, array.pointer >> 32)]
    steps += [(0x20, 0, 0, 32), (0x15, 0, 1, protection), (0x06, 0, 0, 0x5000C), (0x06, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    prctl = ctypes.CDLL(None).prctl
    if prctl(38, 1, 0, 0, 0) or prctl(22, 2, program, 0, 0):
        print("no filters here")
        sys.exit()
"""


def refused(child, code: str) -> str:
    done = child(SETUP + REFUSE + code, env={"XPU_STRICT_MEMORY": "1"})
    done.check()
    if "no filters here" in done.out:
        pytest.skip("system calls cannot be filtered here")
    return done.err


def test_memory_that_cannot_be_closed_is_reported(child):
    text = refused(
        child,
        """
run('if (i < 1000) p0[i] = 1;', 16, array)
refuse(0)
run('if (i < 1000) p0[i] += 1;', 16, array)
assert (array.numpy() == 2).all()
del array
""",
    )
    assert "strict memory: memory could not be closed" in text
    assert "Cannot allocate memory" in text


def test_memory_that_cannot_be_opened_is_an_error(child):
    text = refused(
        child,
        """
run('if (i < 1000) p0[i] = 1;', 16, array)
refuse(3)
try:
    run('if (i < 1000) p0[i] += 1;', 16, array)
except xr.OutOfMemory as error:
    assert "strict memory cannot be opened" in str(error), error
else:
    raise AssertionError("nothing was raised")
del array
""",
    )
    assert "waiting for work whose memory is to be freed" in text

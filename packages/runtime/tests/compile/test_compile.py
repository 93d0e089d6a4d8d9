"""Kernels from source and from SPIR-V: right results, and errors that say what is wrong."""

import ctypes
import struct
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import sources
from private_library import private_library

pytestmark = pytest.mark.usefixtures("device")


def program(name):
    return (Path(__file__).parent / "programs" / f"{name}.sycl").read_text()


@pytest.mark.values
def test_saxpy(xr, rng):
    x, y = rng.standard_normal(1000, np.float32), rng.standard_normal(1000, np.float32)
    kernel = xr.compile(sources.SAXPY).kernel("saxpy")
    out = xr.from_numpy(y)
    xr.launch(kernel, 1024, 64, [np.float32(2), xr.from_numpy(x), out, np.int64(1000)])
    np.testing.assert_allclose(out.numpy(), 2 * x + y, rtol=1e-6)


@pytest.mark.values
@pytest.mark.parametrize("before", range(4))
def test_byte_at(xr, rng, before):
    """Reads bytes from aligned words, for arrays that begin ``before`` bytes after a word's start."""
    source = (
        "#include <xpu/core.h>\n"
        "XPU_KERNEL(1) third(xpu::global<const xpu::i8> x, xpu::global<xpu::i8> y) {\n"
        "  int i = (int)xpu::global_id();\n  y[i] = xpu::byte_at(x, 3 * i);\n}\n"
    )
    values = rng.integers(-128, 128, before + 3 * 64, np.int8)
    x, y = xr.from_numpy(values), xr.empty(64, "i8")
    part = x.view((3 * 64,), (1,), before)
    xr.launch(xr.compile(source).kernel("third"), 64, 64, [part, y])
    np.testing.assert_array_equal(y.numpy(), values[before:][::3])


@pytest.mark.values
@pytest.mark.cpu_device
@pytest.mark.parametrize("size", [4, 5, 66])
def test_word_at(xr, rng, size):
    """Bytes beyond the end of the array are zeros, though other data follows it in memory."""
    source = (
        "#include <xpu/core.h>\n"
        "XPU_KERNEL(1) words(xpu::global<const xpu::u8> x, xpu::global<xpu::u32> y, int count) {\n"
        "  int i = (int)xpu::global_id();\n  if (i < count) y[i] = xpu::word_at(x, i, count);\n}\n"
    )
    values = rng.integers(0, 256, size + 8, np.uint8)
    x, y = xr.from_numpy(values).view((size,), (1,), 1), xr.empty(size, "u32")
    xr.launch(xr.compile(source).kernel("words"), 128, 64, [x, y, np.int32(size)])
    padded = np.append(values[1 : 1 + size], np.zeros(3, np.uint8))
    expected = [int.from_bytes(bytes(padded[i : i + 4]), "little") for i in range(size)]
    np.testing.assert_array_equal(y.numpy(), expected)


@pytest.mark.values
def test_struct_arguments_go_by_value(xr):
    y = xr.from_numpy(np.ones(64, np.float32))
    struct = np.array([(32, 3.0, 0)], dtype=[("n", "i8"), ("scale", "f4"), ("pad", "i4")]).tobytes()
    xr.launch(xr.compile(program("struct_argument")).kernel("scale"), 64, 64, [struct, y])
    np.testing.assert_array_equal(y.numpy(), [3.0] * 32 + [1.0] * 32)


def test_compile_error_has_the_line_of_the_users_source(xr):
    source = (
        "#include <xpu/core.h>\n\nXPU_KERNEL(1) k(xpu::global<float> y) {\n  y[0] = nonsense;\n}\n"
    )
    with pytest.raises(
        xr.CompileError, match=r"kernel:4:\d+: error: use of undeclared identifier 'nonsense'"
    ):
        xr.compile(source).kernel("k")


@pytest.mark.cpu_device
@pytest.mark.parametrize("generic", ["0", "1"])
def test_a_missing_function_is_an_error_that_lists_what_is_called(child, generic):
    child(
        f"""
        import xpu_runtime as xr
        try:
            xr.compile({program("missing_functions")!r}).kernel("calls")
        except (xr.CompileError, xr.OutOfResources) as error:
            message = str(error)
            assert "library may lack a function" in message, message
            assert "The source calls no_such_function, nor_this." in message, message
        else:
            raise AssertionError("the kernel was built")
        """,
        env={"XPU_GENERIC_BACKEND": generic},
    ).check()


def test_called_functions_are_those_of_the_source_alone():
    library = private_library("compile/called_functions.cpp", "compile/called_functions.cpp")
    library.list_called.restype = ctypes.c_char_p
    assert library.list_called(program("called_functions").encode()).decode().split() == [
        "tanh", "erf", "xpu::exp", "lgamma", "pow", "print",
    ]  # fmt: skip


def test_unknown_device_header_and_kernel_names(xr):
    with pytest.raises(
        xr.CompileError, match=r"kernel:1: the device library has no file <xpu/none\.h>"
    ):
        xr.compile("#include <xpu/none.h>\n").kernel("k")
    with pytest.raises(xr.UsageError, match='no kernel named "other"'):
        xr.compile(sources.SAXPY).kernel("other")


def test_wrong_launches_are_refused_and_the_process_goes_on(xr):
    kernel = xr.compile(sources.SAXPY).kernel("saxpy")
    y = xr.zeros(64)
    args = [np.float32(1), y, y, np.int64(64)]
    with pytest.raises(xr.UsageError, match="got 1 arguments, expected 4"):
        xr.launch(kernel, 64, 64, [y])
    with pytest.raises(xr.UsageError, match="not a multiple"):
        xr.launch(kernel, 100, 64, args)
    with pytest.raises(xr.UsageError, match="over the limit"):
        xr.launch(kernel, 2**20, 2**20, args)
    with pytest.raises(xr.UsageError, match="numpy scalar"):
        xr.launch(kernel, 64, 64, [1.0, y, y, 64])
    xr.launch(kernel, 0, 64, args)
    xr.launch(kernel, 64, 64, args)
    xr.synchronize()


@pytest.mark.values
def test_a_check_inside_a_kernel_raises_at_the_wait(xr):
    from xpu_runtime._native import C

    kernel = xr.compile(sources.FAULTY).kernel("pick")
    x, y = xr.from_numpy(np.arange(10, dtype=np.float32)), xr.zeros(16)
    code = C.fault_code("pick", "index {a} is out of range for a dimension of {b}")

    record, launch = C.fault_record(0), xr.Launcher(kernel, "pu4pppi8")
    index = np.arange(16) % 10
    index[7] = 99
    launch(16, 16, record, code, xr.from_numpy(index), x, y, 10)
    with pytest.raises(
        xr.KernelFault, match="pick on device 0: index 99 is out of range for a dimension of 10"
    ):
        xr.synchronize()
    index[7] = -1  # counts from the end: x[9]
    launch(16, 16, record, code, xr.from_numpy(index), x, y, 10)
    assert y.numpy()[7] == 9


def test_a_slow_build_does_not_block_built_kernels(xr):
    # The time makes a source that no cache has.
    body = "".join(f"y[{k}] = __spirv_ocl_tan(y[{k}] * {time.time()}f);" for k in range(200))
    slow = f"#include <xpu/core.h>\nXPU_KERNEL(1) slow(xpu::global<float> y) {{ {body} }}"
    known = xr.compile(sources.SAXPY)
    known.kernel("saxpy")
    building = threading.Thread(target=lambda: xr.compile(slow).kernel("slow"))
    building.start()
    lookups = 0
    while building.is_alive():
        known.kernel("saxpy")
        lookups += 1
    building.join()
    assert lookups > 10


def test_nul_in_source_name_or_options_is_refused(xr):
    with pytest.raises(
        xr.UsageError, match="the kernel source has a NUL character, after 20 bytes"
    ):
        xr.compile("#include <xpu/core.h\0>" + sources.SAXPY).kernel("saxpy")
    with pytest.raises(xr.UsageError, match="NUL"):
        xr.compile(sources.SAXPY).kernel("saxpy\0")
    with pytest.raises(xr.UsageError, match="NUL"):
        xr.compile(sources.SAXPY, options=["-O1\0"]).kernel("saxpy")


def test_nul_in_source_for_spirv_is_refused(xr):
    with pytest.raises(xr.UsageError, match="NUL"):
        xr.compile(sources.SAXPY + "\0").spirv()


def test_arguments_of_another_width_are_refused(xr):
    kernel = xr.compile(program("many_arguments")).kernel("many")
    y = xr.zeros(1)
    right = [
        *(np.bool_(True), np.int8(2), np.uint16(3), np.float16(4), np.float32(5), np.float64(6)),
        *(y, struct.pack("<bd", 7, 8.0), struct.pack("<bxxx3fhxx", 0, 0, 0, 9.0, 10)),
        np.arange(11, 14).tobytes(),
    ]
    xr.launch(kernel, 1, 1, right)
    if xr.devices()[0].type == "cpu":
        assert float(y.numpy()[0]) == 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 13
    for index, argument in enumerate(right):
        # The array is an address; every other argument has a size in bytes.
        size = 0 if argument is y else memoryview(argument).nbytes
        expected = f"{size} bytes?" if size else "an address"
        for wrong in (bytes(size + 1), bytes(size + 8), y if size else bytes(8)):
            with pytest.raises(
                xr.UsageError, match=f"argument {index}: got .*, expected {expected}"
            ):
                xr.launch(kernel, 1, 1, [*right[:index], wrong, *right[index + 1 :]])


def test_a_forked_child_may_drop_kernels(child):
    """The child must not call the parent's driver, and the parent's kernels still run."""
    child("""
        import os
        import xpu_runtime as xr

        op = xr.kernels.Elementwise("dropped", "a0 + (T)1", headers=[])
        x = xr.zeros(8)
        op(x, [x])
        xr.synchronize()
        forked = os.fork()
        if forked == 0:
            del op
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]) == 0
        op(x, [x])
        xr.synchronize()
        del op
        """).check()


@pytest.mark.values
def test_signed_integers_wrap(xr):
    x = xr.from_numpy(np.array([2**31 - 1, -(2**31)], np.int32))
    y, wide = xr.zeros(3, "i32"), xr.zeros(3, "i64")
    xr.launch(xr.compile(program("wrapping_integers")).kernel("wrap"), 1, 1, [x, y, wide])
    assert y.numpy().tolist() == [1, 1, 0]
    assert wide.numpy().tolist() == [-2, 2**31 - 1, -(2**31)]


def test_too_few_and_too_many_arguments_are_refused(xr):
    kernel = xr.compile(sources.SAXPY).kernel("saxpy")
    y = xr.zeros(64)
    right = [np.float32(2), y, y, np.int64(64)]
    for wrong in ([], right[:1], right[:3], [*right, np.int64(1)]):
        with pytest.raises(xr.UsageError, match=f"got {len(wrong)} arguments, expected 4"):
            xr.launch(kernel, 64, 64, wrong)
    xr.launch(kernel, 64, 64, right)


def test_parameters_are_those_that_the_compiler_sees(xr):
    """Also on backends that have the parameters from the source only, not from the built kernel."""
    module = xr.compile(program("parameters"))
    y, two = xr.zeros(1), [np.int32(1), np.int32(2)]
    xr.launch(module.kernel("none"), 1, 1, [])
    xr.launch(module.kernel("absent"), 1, 1, two)
    many = [y, np.int32(1), bytes(12), np.float32(1), bytes(16)]
    xr.launch(module.kernel("many"), 1, 1, many)
    for index in range(len(many)):
        with pytest.raises(xr.UsageError, match="got 4 arguments, expected 5"):
            xr.launch(module.kernel("many"), 1, 1, many[:index] + many[index + 1 :])
    with pytest.raises(xr.UsageError, match="argument 1: got 8 bytes, expected 4 bytes"):
        xr.launch(module.kernel("many"), 1, 1, [y, np.int64(1), *many[2:]])
    xr.synchronize()


def test_a_range_over_the_devices_limit_is_refused(child):
    done = child(
        """
        import numpy as np
        import xpu_runtime as xr
        source = "#include <xpu/core.h>\\nXPU_KERNEL(2) k(xpu::global<int> x) { x[0] = 1; }"
        kernel = xr.compile(source).kernel("k")
        x = xr.zeros(1, "i32")
        xr.launch(kernel, (7, 8), (1, 1), [x])
        xr.launch(kernel, (14, 8), (2, 1), [x])
        try:
            xr.launch(kernel, (8, 8), (1, 1), [x])
        except xr.UsageError as error:
            print(error)
        """,
        env={"XPU_TEST_WORK_GROUPS": "7"},
    ).check()
    assert "8 work-groups in dimension 0 are over the limit of 7" in done.out


@pytest.mark.values
def test_a_dry_run_builds_and_does_not_run(xr):
    y = xr.from_numpy(np.ones(64, np.float32))
    x = xr.from_numpy(np.ones(64, np.float32))
    with xr.dry_run():
        launch = xr.Launcher(xr.compile(sources.SAXPY).kernel("saxpy"), "f4ppi8")
        with xr.dry_run():
            launch(64, 64, 2.0, x, y, 64)
        launch(64, 64, 2.0, x, y, 64)
    assert (y.numpy() == 1).all()
    with pytest.raises(KeyError), xr.dry_run():
        raise KeyError
    launch(64, 64, 2.0, x, y, 64)
    assert (y.numpy() == 3).all()


def test_helpers_start_early(xr):
    xr.prestart_build_helpers()
    with pytest.raises(xr.UsageError, match="99"):
        xr.prestart_build_helpers(99)

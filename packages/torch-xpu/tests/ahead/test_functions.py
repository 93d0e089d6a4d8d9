"""The C functions of operators, devices, streams, kernels, memory and events, as compiled code calls them."""

import ctypes

import pytest
import torch
from functions import Argument, Failure, call, current_stream, handles, result_of, take

import torch_xpu
from torch_xpu import _device

SOURCE = b"""
#include <xpu/core.h>
XPU_KERNEL(1) scale(xpu::global<float> x, float factor, long n) {
  long i = xpu::global_id();
  if (i < n) x[i] *= factor;
}
"""


def int64s(*values):
    return (ctypes.c_int64 * len(values))(*values)


@pytest.fixture
def kernel():
    handle = ctypes.c_void_p(
        result_of("aoti_torch_xpu_get_kernel", ctypes.c_void_p, 0, SOURCE, b"scale")
    )
    yield handle
    call("aoti_torch_xpu_delete_kernel", handle)


class Values(ctypes.Structure):
    _fields_ = (("x", ctypes.c_void_p), ("factor", ctypes.c_float), ("n", ctypes.c_int64))


def launch(kernel, x, factor, items=None, group=32, stream=None, size_of_factor=4):
    arguments = (Argument * 3)((0, 8, True), (8, size_of_factor, False), (16, 8, False))
    values = Values(x.data_ptr(), factor, x.numel())
    items = (x.numel() + group - 1) // group * group if items is None else items
    call(
        "aoti_torch_xpu_launch_kernel",
        kernel,
        stream,
        ctypes.c_int64(items),
        ctypes.c_int64(group),
        arguments,
        ctypes.c_int64(3),
        ctypes.byref(values),
    )


@pytest.mark.values
def test_a_kernel_is_launched(kernel):
    x = torch.arange(100.0, device="xpu")
    launch(kernel, x, 3.0)
    launch(kernel, x, 2.0, stream=current_stream())
    assert torch.equal(x.cpu(), 6 * torch.arange(100.0))


@pytest.mark.values
def test_a_launch_is_on_its_stream(kernel):
    stream = torch.xpu.Stream()
    x = torch.ones(64, device="xpu")
    torch.xpu.synchronize()
    launch(kernel, x, 5.0, stream=ctypes.c_void_p(_device.stream_handle(0, stream.stream_id)))
    stream.synchronize()
    assert x.cpu().eq(5).all()


@pytest.mark.values
def test_no_work_items_are_no_launch(kernel):
    x = torch.ones(8, device="xpu")
    launch(kernel, x, 5.0, items=0)
    assert x.cpu().eq(1).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"items": -32}, "got -32 work-items in groups of 32"),
        ({"group": 0, "items": 32}, "in groups of 0"),
        ({"items": 33}, "global size 33 is not a multiple of group size 32"),
        ({"size_of_factor": 8}, "argument 1: got 8 bytes, expected 4 bytes"),
        ({"stream": 16}, "stream"),
    ],
    ids=["negative", "no group", "remainder", "size", "stream"],
)
def test_a_wrong_launch_fails_with_its_reason(kernel, wrong, message):
    x = torch.ones(8, device="xpu")
    with pytest.raises(Failure, match=message):
        launch(kernel, x, 5.0, **wrong)


def test_a_source_that_does_not_compile_fails_with_the_log():
    with pytest.raises(Failure, match="nonsense"):
        result_of("aoti_torch_xpu_get_kernel", ctypes.c_void_p, 0, b"nonsense;", b"scale")


@pytest.mark.values
def test_an_operator_writes_its_output():
    a, b = torch.randn(5, 7), torch.randn(7, 3)
    out = torch.empty(5, 3, device="xpu")
    with handles(out, a.to("xpu"), b.to("xpu")) as arguments:
        call("aoti_torch_xpu_mm_out", *arguments)
    torch.testing.assert_close(out.cpu(), a @ b)


@pytest.mark.values
def test_an_operator_returns_new_tensors():
    x = torch.randn(4, 9)
    values, indices = ctypes.c_void_p(), ctypes.c_void_p()
    with handles(x.to("xpu")) as (handle,):
        rest = (
            ctypes.c_int64(3),
            ctypes.c_int64(1),
            1,
            1,
            ctypes.byref(values),
            ctypes.byref(indices),
        )
        call("aoti_torch_xpu_topk", handle, *rest)
    found, expected = take(values, indices), x.topk(3)
    assert torch.equal(found[0].cpu(), expected.values)
    assert torch.equal(found[1].cpu(), expected.indices)


def test_an_operator_fails_with_its_reason():
    with (
        handles(*(torch.ones(2, 3, device="xpu") for _ in range(3))) as arguments,
        pytest.raises(Failure, match="mat1 and mat2 shapes cannot be multiplied"),
    ):
        call("aoti_torch_xpu_mm_out", *arguments)


@pytest.mark.values
def test_operators_are_called_below_autograd_and_autocast():
    """They were applied when the code was compiled."""
    x = torch.randn(4, 4, device="xpu", requires_grad=True)
    vector = torch.randn(4, device="xpu")
    absolute, product = ctypes.c_void_p(), ctypes.c_void_p()
    with torch.autocast("xpu", torch.bfloat16), handles(x, vector) as (matrix, v):
        call("aoti_torch_xpu_abs", matrix, ctypes.byref(absolute))
        factors = (ctypes.c_double(0), ctypes.c_double(1))
        call("aoti_torch_xpu_addmv", v, matrix, v, *factors, ctypes.byref(product))
    absolute, product = take(absolute, product)
    assert not absolute.requires_grad
    assert product.dtype == torch.float32


@pytest.mark.values
def test_our_own_operator_takes_lists_of_strings():
    a, b = torch.randn(4, 8), torch.randn(8, 5)
    steps = (ctypes.c_char_p * 1)(b"relu")
    factors = (ctypes.c_double * 2)(0.0, 0.0)
    result = ctypes.c_void_p()
    with handles(a.to("xpu"), b.to("xpu")) as (left, right):
        lists = (steps, ctypes.c_int64(1), factors, ctypes.c_int64(2), None, ctypes.c_int64(0))
        name = "aoti_torch_xpu_torch_xpu_fused_gemm"
        call(name, left, right, None, *lists, ctypes.byref(result))
    (found,) = take(result)
    torch.testing.assert_close(found.cpu(), (a @ b).relu())


@pytest.mark.values
def test_memory_is_the_pool_s_and_copies_have_completed():
    torch.xpu.synchronize()
    before = torch.xpu.memory_allocated()
    stream = current_stream()
    numbers = torch.arange(1000.0)
    back = torch.zeros(1000)
    memory = ctypes.c_void_p(
        result_of("aoti_torch_xpu_allocate", ctypes.c_void_p, stream, ctypes.c_size_t(4000))
    )
    assert torch.xpu.memory_allocated() > before
    size = ctypes.c_size_t(4000)
    call("aoti_torch_xpu_copy", stream, memory, ctypes.c_void_p(numbers.data_ptr()), size)
    call("aoti_torch_xpu_copy", stream, ctypes.c_void_p(back.data_ptr()), memory, size)
    assert torch.equal(back, numbers)
    call("aoti_torch_xpu_deallocate", memory)
    assert torch.xpu.memory_allocated() == before
    call("aoti_torch_xpu_deallocate", None)


def test_events_complete_after_their_work(kernel):
    x = torch.ones(1 << 20, device="xpu")
    launch(kernel, x, 2.0)
    event = ctypes.c_void_p(
        result_of("aoti_torch_xpu_record_event", ctypes.c_void_p, current_stream())
    )
    call("aoti_torch_xpu_wait_event", event)
    assert result_of("aoti_torch_xpu_query_event", ctypes.c_int32, event) == 1
    call("aoti_torch_xpu_delete_event", event)


def test_guards_set_stream_and_device_and_restore_them():
    stream = torch.xpu.Stream()
    handle = ctypes.c_void_p(_device.stream_handle(0, stream.stream_id))
    before = current_stream().value
    guard = ctypes.c_void_p(
        result_of("aoti_torch_create_xpu_stream_guard", ctypes.c_void_p, handle, 0)
    )
    assert torch.xpu.current_stream() == stream
    assert current_stream().value == handle.value
    call("aoti_torch_delete_xpu_stream_guard", guard)
    assert current_stream().value == before
    guard = ctypes.c_void_p(result_of("aoti_torch_create_xpu_guard", ctypes.c_void_p, 0))
    call("aoti_torch_xpu_guard_set_index", guard, 0)
    assert result_of("aoti_torch_get_current_xpu_device", ctypes.c_int32) == 0
    call("aoti_torch_delete_xpu_guard", guard)


def test_the_queue_is_the_current_stream_s():
    queue = result_of("aoti_torch_get_current_sycl_queue", ctypes.c_void_p)
    assert queue == torch.xpu.current_stream().sycl_queue


def test_a_device_that_is_none_is_refused():
    with pytest.raises(Failure, match="xpu:99 is not a device"):
        call("aoti_torch_set_current_xpu_device", ctypes.byref(ctypes.c_int32(99)))


def test_fault_codes_are_those_of_the_runtime():
    record = result_of("aoti_torch_xpu_fault_record", ctypes.c_int64, 0)
    assert record == result_of("aoti_torch_xpu_fault_record", ctypes.c_int64, 0) != 0
    code = result_of("aoti_torch_xpu_fault_code", ctypes.c_int64, b"op", b"index {a}")
    assert code == result_of("aoti_torch_xpu_fault_code", ctypes.c_int64, b"op", b"index {a}")
    assert code != result_of("aoti_torch_xpu_fault_code", ctypes.c_int64, b"op", b"other {a}")


def test_kernels_are_added(tmp_path):
    with pytest.raises(Failure, match="cannot open"):
        call("aoti_torch_xpu_add_kernels", str(tmp_path / "gone.kernels").encode())


def test_the_folder_of_cmake_files_exists():
    from pathlib import Path

    assert (Path(torch_xpu.cmake_prefix_path) / "torch_xpu" / "torch_xpu-config.cmake").exists()

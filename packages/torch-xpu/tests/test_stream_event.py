"""Streams and events, by torch.xpu's names and by PyTorch's generic ones."""

import os
import threading
import time

import pytest
import torch
from xpu_testing import assert_close, run_child

from torch_xpu.torch_version import RELEASE

MB = 1 << 20
N = 1500
NOTHING_IS_QUEUED = os.environ.get("XPU_STRICT_MEMORY") == "1"


def queue_products(x, count):
    """Work that takes the device a while; means of rows stay what they are."""
    means = torch.full((N, N), 1 / N, device="xpu")
    for _ in range(count):
        x = means @ x
    return x


def test_default_stream_is_number_zero():
    stream = torch.xpu.current_stream()
    assert stream.stream_id == 0
    assert stream.device == torch.device("xpu", torch.xpu.current_device())
    assert stream.stream_id == torch.accelerator.current_stream().stream_id


def test_stream_context():
    stream = torch.xpu.Stream()
    assert stream != torch.xpu.current_stream()
    with torch.xpu.stream(stream):
        assert torch.xpu.current_stream() == stream
    assert torch.xpu.current_stream().stream_id == 0


def test_streams_belong_to_threads():
    seen = []
    with torch.xpu.stream(torch.xpu.Stream()):
        thread = threading.Thread(target=lambda: seen.append(torch.xpu.current_stream().stream_id))
        thread.start()
        thread.join()
    assert seen == [0]


def test_priorities():
    low, high = torch.xpu.Stream.priority_range()
    assert low > high
    assert torch.xpu.Stream(priority=high).priority == high


@pytest.mark.values
def test_events_order_streams():
    """What another stream copies is written by work that is still pending when it is asked to."""
    side = torch.xpu.Stream()
    source = torch.zeros(N, N, device="xpu")
    queue_products(torch.ones(N, N, device="xpu"), 1)
    torch.xpu.synchronize()
    source.copy_(queue_products(torch.full((N, N), 3.0, device="xpu"), 20))
    ready = torch.xpu.Event()
    ready.record()
    with torch.xpu.stream(side):
        side.wait_event(ready)
        copy = source.to(torch.float16)
        copy.record_stream(side)
    assert NOTHING_IS_QUEUED or not ready.query()
    torch.xpu.current_stream().wait_stream(side)
    assert_close(copy.to(torch.float32).cpu().numpy(), torch.full((N, N), 3.0).numpy(), rtol=1e-3)


@pytest.mark.values
def test_elapsed_time():
    """Of the work between, as the host sees it."""
    begin, end = (torch.xpu.Event(enable_timing=True) for _ in range(2))
    x = queue_products(torch.ones(N, N, device="xpu"), 1)
    torch.xpu.synchronize()
    start = time.perf_counter()
    begin.record()
    queue_products(x, 5)
    end.record()
    end.synchronize()
    milliseconds = (time.perf_counter() - start) * 1e3
    assert begin.query()
    assert end.query()
    assert 0.3 * milliseconds < begin.elapsed_time(end) < 1.05 * milliseconds


def test_elapsed_time_needs_timing():
    begin, end = torch.xpu.Event(), torch.xpu.Event()
    begin.record()
    end.record()
    end.synchronize()
    with pytest.raises(RuntimeError):
        begin.elapsed_time(end)


@pytest.mark.skipif(RELEASE < (2, 15), reason="this PyTorch has no events between processes")
def test_events_are_not_shared_between_processes():
    event = torch.xpu.Event(interprocess=True)
    event.record()
    event.synchronize()
    for act in (event.ipc_handle, lambda: torch.xpu.Event.from_ipc_handle("xpu", bytes(64))):
        with pytest.raises(NotImplementedError):
            act()


def test_generic_classes():
    stream = torch.Stream("xpu")
    event = stream.record_event()
    event.synchronize()
    assert event.query()
    assert stream.query()
    stream.synchronize()


def test_external_stream_is_the_same_queue():
    stream = torch.xpu.Stream()
    again = torch.xpu.get_stream_from_external(stream.sycl_queue, stream.device)
    assert again.sycl_queue == stream.sycl_queue


def test_the_raw_stream_is_the_queue_of_the_current_stream():
    stream = torch.xpu.Stream()
    with torch.xpu.stream(stream):
        assert torch._C._xpu_getCurrentRawStream(stream.device_index) == stream.sycl_queue


def test_streams_of_the_runtime_and_of_torch_convert_both_ways():
    import xpu_runtime as xr

    import torch_xpu

    for stream in (torch.xpu.current_stream(), torch.xpu.Stream()):
        runtime_stream = torch_xpu.to_runtime_stream(stream)
        assert runtime_stream.queue_pointer == stream.sycl_queue
        assert torch_xpu.from_runtime_stream(runtime_stream) == stream
    assert torch_xpu.to_runtime_stream(torch.xpu.current_stream()) == xr.current_stream()


def test_a_stream_of_another_kind_of_device_does_not_convert():
    import torch_xpu

    with pytest.raises(TypeError, match="expected one of xpu"):
        torch_xpu.to_runtime_stream(torch.Stream("cpu"))


@pytest.mark.parametrize("made_up", [1, 12345, 2**40, -8])
def test_a_made_up_stream_id_is_refused(made_up):
    device_type = torch.xpu.current_stream().device_type
    stream = torch.xpu.Stream(stream_id=made_up, device_index=0, device_type=device_type)
    for act in (stream.synchronize, stream.query, lambda: stream.sycl_queue, stream.record_event):
        with pytest.raises(RuntimeError, match="no stream with handle"):
            act()


def test_trace_callbacks():
    from torch.xpu import _gpu_trace

    seen = []
    _gpu_trace.register_callback_for_memory_allocation(seen.append)
    torch._C._activate_gpu_trace()
    tensor = torch.empty(100, device="xpu")
    assert tensor.data_ptr() in seen


def test_waits_are_traced():
    from torch.xpu import _gpu_trace

    seen = []
    _gpu_trace.register_callback_for_device_synchronization(lambda: seen.append("device"))
    _gpu_trace.register_callback_for_stream_synchronization(lambda stream: seen.append("stream"))
    torch._C._activate_gpu_trace()
    torch.xpu.synchronize()
    assert seen == ["device"]
    torch.accelerator.synchronize()
    torch.xpu.current_stream().synchronize()
    assert seen == ["device", "device", "stream"]


def test_trace_callbacks_leave_errors_alone():
    child = run_child(
        """
import torch
from torch.xpu import _gpu_trace
_gpu_trace.register_callback_for_memory_deallocation(lambda address: None)
torch._C._activate_gpu_trace()
graph = torch.xpu.XPUGraph()
with torch.xpu.graph(graph):
    y = torch.ones(4, device="xpu")
    try:
        y.sum().item()
    except RuntimeError as error:
        assert "captured" in str(error), error
    else:
        raise SystemExit("no error")
"""
    )
    child.check()

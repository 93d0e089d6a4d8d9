"""The base classes of ``torch.xpu.Stream`` and ``torch.xpu.Event``, over PyTorch's generic ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    import xpu_runtime

XPU = torch._C._autograd.DeviceType.XPU.value if hasattr(torch._C, "_autograd") else 12


def hash_of_stream(stream: torch.Stream) -> int:
    """Return a hash for ``torch.xpu.Stream``. PyTorch's reads ``sycl_queue``, after which work is slower."""
    return hash((stream.stream_id, stream.device_index))


class _XpuStreamBase(torch.Stream):
    """A stream of the runtime; its id is 0 for the default stream, otherwise its handle."""

    def __new__(
        cls, priority: int = 0, stream_id: int = 0, device_index: int = 0, device_type: int = 0
    ) -> Any:
        if stream_id or device_type:
            return super().__new__(
                cls, stream_id=stream_id, device_index=device_index, device_type=device_type
            )
        device = torch.device("xpu", torch.xpu.current_device())
        return super().__new__(cls, device=device, priority=priority)

    @property
    def sycl_queue(self) -> int:
        """The address of the ``sycl::queue``, to which extensions may submit."""
        from . import _device

        return _device.stream_queue(self.device_index, self.stream_id)

    @property
    def priority(self) -> int:
        """-1 high, 0 normal, 1 low."""
        from . import _device

        return _device.priority(self.device_index, self.stream_id)

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """Return the lowest priority and the highest."""
        return (1, -1)


class _XpuEventBase(torch.Event):
    """A point in a stream's work."""

    # PyTorch 2.15 has events between processes. Those of xpu are none: PyTorch refuses their ipc_handle().
    def __new__(cls, enable_timing: bool = False, interprocess: bool = False) -> Any:
        return super().__new__(
            cls, device="xpu", enable_timing=enable_timing, interprocess=interprocess
        )

    # PyTorch's own takes no object of a class derived from its event.
    def elapsed_time(self, end_event: torch.Event) -> float:
        """Return milliseconds on the device from this event to ``end_event``."""
        from . import _device

        if not (self.event_id and end_event.event_id):
            raise RuntimeError(
                "both events must be recorded before the time between them is asked for"
            )
        return _device.elapsed_ms(self.event_id, end_event.event_id)

    @property
    def sycl_event(self) -> int:
        """The runtime's event; 0 until it is recorded."""
        return self.event_id


def current_stream(device: int) -> tuple[int, int, int]:
    """Return id, device and device type of the thread's stream."""
    from . import _device

    return (_device.current_stream(device), device, XPU)


def set_stream(stream_id: int, device_index: int, device_type: int) -> None:
    """Make a stream the thread's, and its device."""
    from . import _bridge, _device

    _device.set_stream(device_index, stream_id)
    _bridge.exchange_device(device_index)


def raw_stream(device: int) -> int:
    """Return the address of the ``sycl::queue`` that the thread's work on the device goes to."""
    from . import _device

    return _device.current_queue(device)


def external_stream(queue: int, device: int) -> tuple[int, int, int]:
    """Return a stream for a queue made elsewhere."""
    from . import _device

    index, stream = _device.external_stream(queue)
    if index != device:
        raise ValueError(f"the queue belongs to xpu:{index}, not to xpu:{device}")
    return (stream, index, XPU)


def to_runtime_stream(stream: torch.Stream) -> xpu_runtime.Stream:
    """Return the runtime's stream of a stream of PyTorch's on xpu. Work of both keeps its order."""
    import xpu_runtime

    from . import _device

    if stream.device.type != "xpu":
        raise TypeError(f"stream: got one of device {stream.device}, expected one of xpu")
    handle = _device.stream_handle(stream.device_index, stream.stream_id)
    return xpu_runtime.stream_of_handle(handle)


def from_runtime_stream(stream: xpu_runtime.Stream) -> torch.xpu.Stream:
    """Return PyTorch's stream of a stream of the runtime's. Work of both keeps its order."""
    return torch.xpu.Stream(
        stream_id=stream.handle if stream.id else 0, device_index=stream.device, device_type=XPU
    )

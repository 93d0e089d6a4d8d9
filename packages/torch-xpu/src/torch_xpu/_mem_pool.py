"""The base class of ``torch.xpu.MemPool``, over the runtime's private pools."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from . import _bridge
from ._allocators import XPUAllocator
from ._graphs import PoolHandle

# Living MemPools by number, and the blocks that are open on them.
_living: weakref.WeakValueDictionary[int, _XPUMemPool] = weakref.WeakValueDictionary()
_open: dict[tuple[int, int], list[AbstractContextManager[Any]]] = {}


class _XPUMemPool:
    """Memory of its own for what runs in ``torch.xpu.use_mem_pool(pool)``.

    ``use_on_oom``: any allocation that would otherwise fail may use its free memory. ``no_split``: a cached
    segment serves one allocation at a time, whatever its size. With an allocator,
    what runs there takes its memory from that allocator's functions, tensor by tensor.
    """

    def __init__(
        self,
        allocator: XPUAllocator | None = None,
        is_user_created: bool = True,
        use_on_oom: bool = False,
        no_split: bool = False,
    ) -> None:
        import xpu_runtime

        self._pool = xpu_runtime.memory.Pool(give_back=True, splits=not no_split)
        self._allocator = allocator
        _living[self._pool.id] = self
        if use_on_oom:
            from . import _device

            _device.set_use_on_oom(self._pool.id, True)
            weakref.finalize(self, _device.set_use_on_oom, self._pool.id, False)

    @property
    def id(self) -> PoolHandle:
        """The pool's number, as a pair."""
        return (0, self._pool.id)

    @property
    def allocator(self) -> XPUAllocator | None:
        """None for the allocator of the device."""
        return self._allocator

    def use_count(self) -> int:
        """Return 1 for this object, plus 1 for each ``with`` block that the pool serves now."""
        return 1 + sum(len(blocks) for (_, pool), blocks in _open.items() if pool == self._pool.id)


@contextmanager
def _using(allocator: XPUAllocator, device: int) -> Iterator[None]:
    _bridge.use_allocator(*allocator.functions, device)
    try:
        yield
    finally:
        _bridge.leave_allocator()


def begin_allocate(device: int, pool: PoolHandle) -> None:
    """Let the pool serve allocations of this thread on the device until end_allocate()."""
    import xpu_runtime

    found = _living.get(pool[1])
    if found is not None and found.allocator is not None:
        block = _using(found.allocator, device)
    else:
        block = (found._pool if found else xpu_runtime.memory.Pool(pool[1])).use(device)
    block.__enter__()
    _open.setdefault((device, pool[1]), []).append(block)


def end_allocate(device: int, pool: PoolHandle) -> None:
    """End the latest begin_allocate() of the device and pool."""
    _open[device, pool[1]].pop().__exit__(None, None, None)

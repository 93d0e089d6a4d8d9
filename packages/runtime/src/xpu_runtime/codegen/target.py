"""Properties of the device for which a kernel is written, and the tiles that follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._device import Device


@dataclass(frozen=True)
class Target:
    """The properties of the device for which a kernel is written."""

    lanes: int
    units: int
    gpu: bool
    max_items: int
    local_memory: int

    @classmethod
    def of(cls, device: Device) -> Target:
        """Return the properties of a device of this process."""
        return cls(
            lanes=device.sub_group_size,
            units=device.max_compute_units,
            gpu=device.is_gpu,
            max_items=device.max_work_group_size,
            local_memory=device.local_memory,
        )

    @property
    def sub_groups(self) -> int:
        """Sub-groups per work-group. On the CPU device a work-group is one sub-group."""
        return max(1, min(self.max_items, 256) // self.lanes) if self.gpu else 1

    @property
    def vector_loop(self) -> str:
        """The keyword of vector loops, on CPUs with a pragma: compiling unrolled loops takes too long."""
        return "for" if self.gpu else '_Pragma("clang loop unroll(disable)") for'

    def cache_bytes(self, columns: int) -> int:
        """Return the bytes of local memory per element of a row; on GPUs a group uses a quarter of it."""
        rows = self.sub_groups if columns < self.lanes * self.sub_groups else 1
        room = self.local_memory // 4 if self.gpu else self.local_memory * 15 // 16
        return room // (rows * columns)

    def tile(self, vectors: int) -> int:
        """Return the number of vectors that one sub-group processes."""
        min_tile, max_tile, tiles = (
            (1, 16, self.units * 16) if self.gpu else (32, 2048, self.units * 8)
        )
        return min(max(-(-vectors // tiles), min_tile), max_tile)

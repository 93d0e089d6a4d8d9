"""Properties of the device for which a kernel is written, and the tiles that follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .work_division import WORK_DIVISIONS, WorkDivision

if TYPE_CHECKING:
    from .._device import Device


@dataclass(frozen=True)
class Target:
    """The properties of the device for which a kernel is written.

    ``matrix_lanes`` is the sub-group size with which kernels may use its matrix units, 0 if they may not.
    """

    lanes: int
    units: int
    gpu: bool
    max_items: int
    local_memory: int
    matrix_lanes: int = 0

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
    def division(self) -> WorkDivision:
        """The numbers of work division of this kind of device."""
        return WORK_DIVISIONS["gpu" if self.gpu else "cpu"]

    @property
    def sub_groups(self) -> int:
        """Sub-groups per work-group. On the CPU device a work-group is one sub-group."""
        return max(1, min(self.max_items, self.division.max_group_items) // self.lanes)

    @property
    def vector_loop(self) -> str:
        """The keyword of vector loops, on CPUs with a pragma: compiling unrolled loops takes too long."""
        return "for" if self.gpu else '_Pragma("clang loop unroll(disable)") for'

    def cache_bytes(self, columns: int) -> int:
        """Return the bytes of local memory per element of a row; on GPUs a group uses a quarter of it."""
        rows = self.sub_groups if columns < self.lanes * self.sub_groups else 1
        room = self.local_memory // 4 if self.gpu else self.local_memory * 15 // 16
        return room // (rows * columns)

    @property
    def tiles(self) -> int:
        """The number of tiles that fills the device."""
        return self.units * self.division.tiles_per_unit

    def is_filled_by(self, tiles: int) -> bool:
        """Return True if half of ``tiles`` are there: lanes have several loads in flight."""
        return 2 * tiles >= self.tiles

    def tile(self, vectors: int) -> int:
        """Return the number of vectors that one sub-group processes."""
        division = self.division
        length = -(-vectors // self.tiles)
        return min(max(length, division.min_tile_length), division.max_tile_length)

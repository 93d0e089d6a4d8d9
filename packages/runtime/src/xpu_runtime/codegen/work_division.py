"""How kernels divide work on a kind of device, from work_division.toml, which explains the fields."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True)
class WorkDivision:
    """The numbers of a kind of device."""

    max_group_items: int
    lane_bytes: int
    wide_f16: bool
    min_tile_length: int
    max_tile_length: int
    tiles_per_unit: int
    column_vectors: int
    streaming_bytes: int


def _read() -> dict[str, WorkDivision]:
    text = resources.files(__package__).joinpath("work_division.toml").read_text()
    return {kind: WorkDivision(**numbers) for kind, numbers in tomllib.loads(text).items()}


WORK_DIVISIONS = _read()

"""Shardings of arrays over the devices of a program, independent of meshes and their axes."""

from __future__ import annotations

import math

from jaxlib.xla_client import HloSharding, OpSharding

from ..failures import Unsupported

# The sharding of one dimension: for each partition, which of the equal parts it has.
Parts = tuple[int, ...]
# The sharding of an array: that of each dimension.
DimShardings = tuple[Parts, ...]
# The field `type`, which serializers omit because it is 0; but an empty message is not a sharding.
_REPLICATED = b"\x08\x00"


def count(parts: Parts) -> int:
    """Return the number of parts."""
    return max(parts) + 1


def unsharded(partitions: int) -> Parts:
    """Return the sharding of a dimension that every partition has completely."""
    return (0,) * partitions


def local_shape(shape: tuple[int, ...], sharding: DimShardings) -> tuple[int, ...]:
    """Return the shape of one partition's part."""
    return tuple(size // count(parts) for size, parts in zip(shape, sharding, strict=True))


def refines(fine: Parts, coarse: Parts) -> bool:
    """Return True if each coarse part consists of consecutive fine parts."""
    ratio, rest = divmod(count(fine), count(coarse))
    return not rest and all(f // ratio == c for f, c in zip(fine, coarse, strict=True))


def are_independent(dims: tuple[Parts, ...], scope: Parts) -> bool:
    """Return True if, in each scope, the partitions have all combinations of parts."""
    rows = set(zip(scope, *dims, strict=True))
    return len(rows) == count(scope) * math.prod(map(count, dims))


def determines(fine: Parts, coarse: Parts) -> bool:
    """Return True if partitions with the same fine part have the same coarse part."""
    return len(set(zip(fine, coarse, strict=True))) == len(set(fine))


def joint(*each: Parts) -> Parts:
    """Number the combinations of parts that occur."""
    rows = list(zip(*each, strict=True))
    numbers = {row: number for number, row in enumerate(sorted(set(rows)))}
    return tuple(numbers[row] for row in rows)


def groups(same: tuple[Parts, ...], parts: Parts) -> list[list[int]]:
    """Group partitions that agree in all of ``same``; each group has one of each part, in order."""
    found: dict[tuple[int, ...], dict[int, list[int]]] = {}
    for partition, part in enumerate(parts):
        key = tuple(way[partition] for way in same)
        found.setdefault(key, {}).setdefault(part, []).append(partition)
    result: list = []
    for by_part in found.values():
        columns = [by_part[part] for part in sorted(by_part)]
        if len({len(column) for column in columns}) != 1:
            raise Unsupported("a sharding repeats the parts of an array unevenly over the devices")
        result.extend(list(row) for row in zip(*columns, strict=True))
    return result


def op_sharding(sharding: DimShardings, along: Parts) -> bytes:
    """Return a serialized xla.OpSharding; ``along``: see ``Meshes.unreduced``."""
    proto = proto_of(sharding) if count(along) == 1 else _proto_of_summands(sharding, along)
    return bytes(proto.SerializeToString()) or _REPLICATED


def _proto_of_summands(sharding: DimShardings, along: Parts) -> OpSharding:
    proto = OpSharding()
    if count(along) == len(along):
        proto.type = OpSharding.Type.UNREDUCED
        return proto
    proto.type = OpSharding.Type.OTHER
    counts = [*map(count, sharding), count(along)]
    repeats = len(along) // math.prod(counts)
    tiles = list(zip(*sharding, along, strict=True))
    proto.tile_assignment_devices = sorted(range(len(along)), key=lambda device: tiles[device])
    proto.tile_assignment_dimensions = [*counts, repeats] if repeats > 1 else counts
    kinds = [OpSharding.Type.UNREDUCED, OpSharding.Type.REPLICATED]
    proto.last_tile_dims = kinds[: 2 if repeats > 1 else 1]
    return proto


def proto_of(sharding: DimShardings) -> OpSharding:
    """Return the OpSharding of an array that is not unreduced."""
    proto = OpSharding()
    if all(count(parts) == 1 for parts in sharding):
        return proto
    holders: dict[tuple[int, ...], list[int]] = {}
    for partition, tile in enumerate(zip(*sharding, strict=True)):
        holders.setdefault(tile, []).append(partition)
    repeats = len(next(iter(holders.values())))
    proto.type = OpSharding.Type.OTHER
    counts = [count(parts) for parts in sharding]
    proto.tile_assignment_dimensions = [*counts, repeats] if repeats > 1 else counts
    proto.tile_assignment_devices = [p for tile in sorted(holders) for p in holders[tile]]
    proto.replicate_on_last_tile_dim = repeats > 1
    return proto


def hlo_text_of(sharding: DimShardings) -> str:
    """Return HLO's text of a sharding, in its short form if the devices are in the order of the parts."""
    proto = proto_of(sharding)
    devices = list(proto.tile_assignment_devices)
    if not devices or devices != list(range(len(devices))):
        return str(HloSharding.from_proto(proto))
    kinds = [OpSharding.Type.REPLICATED] if proto.replicate_on_last_tile_dim else []
    dims = list(proto.tile_assignment_dimensions)
    return str(HloSharding.iota_tile(dims, [len(devices)], [0], kinds))

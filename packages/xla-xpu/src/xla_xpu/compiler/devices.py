"""The devices of a program, and the properties that kernels depend on."""

from __future__ import annotations

from functools import cache
from typing import Any

import xpu_runtime
from xpu_runtime.codegen.target import Target


def local_device(device: int) -> int:
    """Return the device, or the first one if this machine has no such device."""
    return device if device < xpu_runtime.device_count() else 0


@cache
def target_of(device: int) -> Target:
    """Return the properties of a device that kernels depend on."""
    return Target.of(xpu_runtime.Device(local_device(device)))


def assignment_of(options: Any) -> list[int]:
    """Return the ids of the program's devices, replica by replica."""
    assignment = options.device_assignment
    count = options.num_replicas * options.num_partitions
    if assignment is None:
        return list(range(count))
    return _decode(assignment.serialize(), options.num_replicas, options.num_partitions)


def _decode(data: bytes, replicas: int, partitions: int) -> list[int]:
    """Decode a DeviceAssignmentProto: field 3 has, for each partition, the devices of its replicas."""
    rows = [
        _ids(value) for field, value in _fields(data) if field == 3 and isinstance(value, bytes)
    ]
    return [
        rows[partition][replica] for replica in range(replicas) for partition in range(partitions)
    ]


def _ids(data: bytes) -> list[int]:
    ids: list[int] = []
    for _, value in _fields(data):
        if isinstance(value, int):
            ids.append(value)
        else:  # packed
            at = 0
            while at < len(value):
                number, at = _varint(value, at)
                ids.append(number)
    return ids


def _fields(data: bytes) -> list[tuple[int, int | bytes]]:
    found: list[tuple[int, int | bytes]] = []
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, at = _varint(data, at)
        if tag & 7 == 2:
            found.append((tag >> 3, data[at : at + number]))
            at += number
        else:
            found.append((tag >> 3, number))
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at

"""Faults that kernels report, such as an index out of range: for adapters that write kernels."""

from __future__ import annotations

from ._native import C


def record(device: int) -> int:
    """Return the address of the device's record, which a kernel takes as an argument."""
    return C.fault_record(device)


def code(op: str, text: str) -> int:
    """Return the code of a fault: the next wait raises `KernelFault` with the operator and the text."""
    return C.fault_code(op, text)

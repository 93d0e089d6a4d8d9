"""Measure launch cost, memory bandwidth and matrix products of this machine's devices."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

from .. import printing

HELP = "measure this machine's devices"

TRIAD = """
#include <xpu/core.h>
XPU_KERNEL(1) triad(xpu::global<float> a, xpu::global<const float> b, xpu::global<const float> c, long n) {
  long i = xpu::global_id();
  if (i < n) a[i] = b[i] + 3.0f * c[i];
}
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``, which prints one list for all devices instead of tables."""
    parser.add_argument("--json", action="store_true", help="for programs")


def _median_time(action: Callable[[], None], repetitions: int = 15) -> float:
    action()
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def measure_device(index: int) -> list[dict[str, Any]]:
    """Measure one device, with medians over calls that wait; compile time is not counted."""
    import numpy as np
    import xpu_runtime as xr

    rows: list[dict[str, Any]] = []

    def add(name: str, seconds: float, rate: float, unit: str) -> None:
        rows.append({"device": index, "name": name, "seconds": seconds, "rate": rate, "unit": unit})

    with xr.device(index):
        kernel = xr.compile(TRIAD).kernel("triad")
        n = 1 << 24
        a, b, c = (xr.zeros(n) for _ in range(3))

        def triad(items: int = n) -> None:
            xr.launch(kernel, items, 256, [a, b, c, np.int64(items)])
            xr.synchronize()

        add("launch and wait", _median_time(lambda: triad(256), 201), 0.0, "")
        seconds = _median_time(triad)
        add("triad, 3 x 64 MiB", seconds, 3 * a.nbytes / seconds / 1e9, "GB/s")
        for dtype in ("f32", "bf16"):
            left, right = (xr.zeros((1024, 1024), dtype) for _ in range(2))

            def product(left=left, right=right) -> None:  # type: ignore[no-untyped-def]
                xr.dnn.matmul(left, right)
                xr.synchronize()

            seconds = _median_time(product)
            add(f"matmul 1024^3 {dtype}", seconds, 2 * 1024**3 / seconds / 1e9, "GFLOP/s")
    return rows


def run(options: argparse.Namespace) -> int:
    """Measure every device before any is printed. Always returns 0: no result is judged."""
    import xpu_runtime as xr

    rows = [row for index in range(xr.device_count()) for row in measure_device(index)]
    if options.json:
        printing.print_json(rows)
        return 0
    for device in xr.devices():
        cells = [
            (
                row["name"],
                printing.format_duration(row["seconds"]),
                f"{row['rate']:.4g} {row['unit']}" if row["unit"] else "-",
            )
            for row in rows
            if row["device"] == device.index
        ]
        printing.print_table(f"xpu:{device.index} {device.name}", ("what", "time", "rate"), cells)
    return 0

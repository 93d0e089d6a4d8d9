"""Lowerings of all operations that are not elementwise, one file per family."""

from . import (  # noqa: F401
    annotations,
    control,
    convolution,
    custom,
    dot_general,
    exchange,
    indexing,
    linear_algebra,
    random,
    reductions,
    sort_fft,
    windows,
)

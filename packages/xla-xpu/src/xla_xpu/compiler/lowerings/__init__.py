"""How operations that are no elementwise ones become steps: a file for each family."""

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

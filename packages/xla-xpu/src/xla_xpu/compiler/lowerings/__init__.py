"""How operations that are no elementwise ones become steps: a file for each family."""

from . import (  # noqa: F401
    annotations,
    control,
    convolution,
    custom,
    exchange,
    indexing,
    linear_algebra,
    order,
    products,
    random,
    reductions,
    windows,
)

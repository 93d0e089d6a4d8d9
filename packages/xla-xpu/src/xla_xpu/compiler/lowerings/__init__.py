"""How operations that are no elementwise ones become steps: a file for each family."""

from . import (  # noqa: F401
    collectives,
    control,
    convolution,
    custom,
    indexing,
    linear_algebra,
    order,
    products,
    random,
    reductions,
    windows,
)

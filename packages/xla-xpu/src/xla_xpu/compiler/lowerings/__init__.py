"""How operations that are no elementwise ones become steps: a file for each family."""

from . import control, convolution, custom, indexing, order, products, reductions  # noqa: F401

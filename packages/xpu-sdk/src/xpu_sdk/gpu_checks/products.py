"""The GPUs for which programs can be checked, and their limits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Product:
    """An Intel GPU, named as its compiler names it."""

    name: str
    meaning: str
    local_memory: int
    fp64: bool


PRODUCTS = {
    product.name: product
    for product in (
        Product("dg2", "Arc A-series and Flex", 64 * 1024, fp64=False),
        Product("pvc", "Data Center GPU Max", 128 * 1024, fp64=True),
    )
}

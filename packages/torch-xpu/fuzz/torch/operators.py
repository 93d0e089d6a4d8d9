"""All the tables."""

from __future__ import annotations

import random

import indexing
import moves
import networks
import pointwise
import products
import reductions
from operator_line import Operator

OPERATORS: list[Operator] = [
    line
    for table in (pointwise, reductions, moves, indexing, products, networks)
    for line in table.OPERATORS
]


def chosen(draw: random.Random) -> Operator:
    """An operator, each as likely as any other."""
    return draw.choice(OPERATORS)

"""A random call of an operator: how it is made, with which arguments, and its text."""

from __future__ import annotations

import random
from typing import Any

import torch
from generator import DIFFERENTIABLE, Generator, View
from operator_line import Operator
from torch.utils._pytree import tree_leaves, tree_map
from xpu_testing.float_formats import FloatFormat, format_of

WIDE = {torch.complex64: torch.complex128} | dict.fromkeys(
    (torch.float16, torch.bfloat16, torch.float32), torch.float64
)
FLOATING = (*DIFFERENTIABLE, *WIDE)


class Call:
    """An operator, arguments, and the mode: function, in place, ``out``, gradients or second gradients."""

    def __init__(self, draw: random.Random, operator: Operator) -> None:
        self.operator = operator
        self.generator = g = Generator(draw)
        self.arguments, self.named = operator.arguments(g)
        self.mode = self._choose_mode(draw)
        self.out_seed = draw.getrandbits(31)
        self.out_style = draw.choice(
            ["right"] * 4 + ["strided"] * 4 + ["empty", "shape", "dtype"] + ["alias", "overlap"]
        )
        if self.out_style in ("alias", "overlap") and not operator.overlaps:
            self.out_style = "right"
        if self.mode == "i" and operator.overlaps and draw.random() < 0.15:
            self._overlap()

    def _choose_mode(self, draw: random.Random) -> str:
        operator, first = self.operator, (self.arguments or [None])[0]
        weights = {"f": 5, "i": 2, "o": 2, "g": 4, "G": 1}
        possible = {
            "f": True,
            # What is written twice depends on the order, unless that is refused.
            "i": operator.inplace is not None
            and isinstance(first, View)
            and (not first.shares_memory or (operator.overlaps and first.expanded)),
            "o": operator.takes_out,
            "g": any(view.dtype in DIFFERENTIABLE for view in self.generator.views),
        }
        possible["G"] = possible["g"]
        modes = [mode for mode in weights if mode.lower() in operator.modes and possible[mode]] or [
            "f"
        ]
        return draw.choices(modes, [weights[mode] for mode in modes])[0]

    def _overlap(self) -> None:
        """Another argument becomes a view of the storage that is written."""
        g, own = self.generator, self.arguments[0]
        for i, other in enumerate(self.arguments[1:], 1):
            if isinstance(other, View) and other.dtype == own.dtype and own.dense:
                self.arguments[i] = g.overlapping(own)
                return

    def __str__(self) -> str:
        names = {id(view): f"t{i}" for i, view in enumerate(self.views())}

        def show(leaf: Any) -> Any:
            return Text(names[id(leaf)]) if isinstance(leaf, View) else leaf

        arguments = [repr(tree_map(show, a, is_leaf=is_view)) for a in self.arguments]
        arguments += [f"{k}={tree_map(show, v, is_leaf=is_view)!r}" for k, v in self.named.items()]
        name = self.operator.name + ("_" if self.mode == "i" else "")
        if self.mode == "o":
            arguments.append(f"out=<{self.out_style}>")
        text = f"{name}({', '.join(arguments)})"
        text += {"g": " and its gradients", "G": " and its second gradients"}.get(self.mode, "")
        for i, view in enumerate(self.views()):
            storage = self.generator.storages[view.storage]
            text += (
                f"\n  t{i} = {str(view.dtype)[6:]} {list(view.size)} strides {list(view.stride)}"
            )
            text += f" offset {view.offset} of storage {view.storage} of {storage.count} {storage.values!r}"
        return text

    @property
    def gradients(self) -> bool:
        """True if the call is differentiated."""
        return self.mode in ("g", "G")

    def views(self) -> list[View]:
        leaves = tree_leaves([self.arguments, self.named], is_leaf=is_view)
        return list({id(leaf): leaf for leaf in leaves if isinstance(leaf, View)}.values())

    def format(self) -> FloatFormat:
        """Return the format with the fewest digits that the case computes in."""
        dtypes = [view.dtype for view in self.views()] + [self.named.get("dtype")]
        formats = [format_of(dtype) for dtype in dtypes if dtype in FLOATING]
        return max(formats or [format_of(torch.float32)], key=lambda each: each.epsilon)


class Text(str):
    """A name that ``repr()`` leaves as it is."""

    def __repr__(self) -> str:
        return str(self)


def is_view(leaf: Any) -> bool:
    """Return True for an argument that stands for a tensor."""
    return isinstance(leaf, View)

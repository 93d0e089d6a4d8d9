"""The passes over a program before it is written, whichever framework it comes from.

A pass returns the program unless it finds what it looks for. Passes over the loops of one writer are called
there: hoisting, loads of words, streaming stores.
"""

from __future__ import annotations

from .gelu import use_gelu
from .keep_values import keep_slow_values
from .program import LoopProgram
from .softmax import simplify_softmax
from .target import Target
from .unused import drop_unused


def run_passes(program: LoopProgram, target: Target) -> LoopProgram:
    """Return the program as it is written for a device."""
    changed = keep_slow_values(simplify_softmax(use_gelu(program)), target)
    return program if changed is program else drop_unused(changed)

"""Lines of the user's program beside the statements of kernels, in code that is shown.

With ``TORCH_LOGS=output_code`` or ``TORCH_COMPILE_DEBUG=1``, loops remember the node of the graph that made
them, and their operations get its stack trace, by means of torch.fx. Kernels are then written with comments,
which stand behind the statements that these operations add.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.fx import traceback

_FRAME = re.compile(r'\s*File "(.+)", line (\d+), in ')


def is_wanted() -> bool:
    """Return True if compiled code is shown to the user."""
    from torch._inductor import config
    from torch._inductor.codecache import output_code_log

    return bool(config.trace.enabled) or output_code_log.isEnabledFor(logging.DEBUG)


class Attributed:
    """The function of a loop's elements; operations that it makes get the stack trace of ``node``."""

    def __init__(self, function: Callable[..., Any], node: torch.fx.Node) -> None:
        self.function, self.node = function, node

    def __call__(self, *args: Any) -> Any:
        """Make the operations of an element."""
        with traceback.preserve_node_meta(), traceback.set_current_meta(self.node):
            return self.function(*args)


def attribute(loops: Any) -> None:
    """Let the operations of loops be attributed to the node that Inductor lowers."""
    from torch._inductor.virtualized import V

    node = getattr(V.graph, "current_node", None)
    if isinstance(node, torch.fx.Node) and not isinstance(loops.inner_fn, Attributed):
        object.__setattr__(loops, "inner_fn", Attributed(loops.inner_fn, node))


def current_line(scheduled: Any) -> str:
    """Return the line of the operation being written, or of the loops of the scheduler's node.

    It is "" for nodes that passes of Inductor's made without a stack trace.
    """
    from torch._inductor.virtualized import V

    operation = getattr(V.interpreter, "current_node", None)
    function = getattr(getattr(getattr(scheduled, "node", None), "data", None), "inner_fn", None)
    for node in (operation, getattr(function, "node", None)):
        if node is not None and node.stack_trace:
            return line_of(node.stack_trace)
    return ""


def line_of(stack_trace: str) -> str:
    """Return file, number and text of the innermost frame, which Dynamo chose outside of PyTorch.

    It is escaped for the string of Python in which the kernel's source stands.
    """
    lines = stack_trace.splitlines()
    for frame, text in zip(reversed(lines[:-1]), reversed(lines[1:]), strict=True):
        found = _FRAME.match(frame)
        if found:
            line = f"{Path(found[1]).name}:{found[2]}: {text.strip()}"
            return line.replace("\\", "\\\\").replace("'''", '"""')
    return ""

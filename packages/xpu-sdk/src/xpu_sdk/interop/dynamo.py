"""Calls that ``torch.compile`` does not trace."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch._C._dynamo import eval_frame

# Dynamo does not trace a function's own code, and looks at the functions that it calls.
_SKIP = eval_frame._FrameExecStrategy(eval_frame._FrameAction.SKIP, eval_frame._FrameAction.DEFAULT)


def break_graph(function: Callable) -> Callable:
    """Wrap a function that Dynamo cannot trace: a call of it breaks the graph and runs eagerly.

    ``torch.compiler.disable`` would import Dynamo, which takes seconds, also where nothing is compiled.
    """
    disabled = functools.cache(lambda: torch.compiler.disable(function))

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        # Dynamo traces nothing before it is imported.
        run = disabled() if "torch._dynamo" in sys.modules else function
        return run(*arguments)

    call._torchdynamo_disable = True  # type: ignore[attr-defined]
    call._torchdynamo_disable_msg = "a function of JAX"  # type: ignore[attr-defined]
    eval_frame.set_code_exec_strategy(call.__code__, _SKIP)  # type: ignore[attr-defined]
    return call

"""mode="reduce-overhead": a compiled graph is captured once for each set of sizes, then replayed."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch._inductor.compile_fx import get_expanded_dims, index_expanded_dims
from torch._inductor.cudagraph_utils import CUDAGraphPolicy

from .results import Results

# Calls without capture, which build kernels and let the memory pool grow.
WARM_CALLS = 2
# Sets of sizes of one compiled graph, each of which has memory of its own.
MAX_CAPTURES = 16


class GraphPolicy(CUDAGraphPolicy):
    """Captures what Inductor compiled for xpu; other devices are Inductor's own."""

    def cudagraphify(
        self,
        model: Callable[..., Any],
        example_inputs: Sequence[Any],
        static_input_idxs: Sequence[int],
        **named: Any,
    ) -> Callable[..., Any]:
        """Return a function that replays the model's work."""
        tensors = [x for x in example_inputs if isinstance(x, torch.Tensor)]
        if any(tensor.device.type == "cuda" for tensor in tensors):
            return super().cudagraphify(model, example_inputs, static_input_idxs, **named)
        static, changed = set(static_input_idxs), set(named["mutated_input_idxs"])
        is_backward = named["is_backward"]
        # The shapes of what a forward pass saved for a backward one may vary without its knowing.
        is_fixed = not is_backward and all(map(_has_fixed_sizes, example_inputs))
        fixed = static if is_fixed else ()
        call = ReplayedModel(model, named["device_index"], static, changed, fixed, is_backward)

        def run(inputs: list[Any]) -> Any:
            return call(inputs)

        run._boxed_call = True  # type: ignore[attr-defined]
        return run


@dataclass
class _Capture:
    """A captured call, with the memory of its inputs and results.

    ``copied`` are the numbers of the inputs that are copied in, ``changed`` of those that are copied back.
    """

    graph: Any
    inputs: list[Any]
    results: Results
    copied: list[int]
    changed: list[int]


class ReplayedModel:
    """Runs a compiled model by replaying its captured work, on its device, which need not be the current one.

    ``static`` inputs, such as parameters, stay where they are; others are copied to memory of the capture,
    and those that the model changes are copied back. Results are copied out: the next call overwrites them.
    Each set of sizes has a capture; those of the inputs ``fixed`` never vary. A model that ``consumes`` its
    inputs, as a backward pass what was saved for it, may have put results into their memory.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        device: int,
        static: set[int],
        changed: set[int],
        fixed: Collection[int],
        consumes: bool,
    ) -> None:
        self.model, self.device, self.static, self.changed = model, device, static, changed
        self.fixed, self.consumes = frozenset(fixed), consumes
        self.captures: dict[tuple[Any, ...], _Capture] = {}
        self.calls: dict[tuple[Any, ...], int] = {}
        self.addresses: list[int] | None = None
        self.refusal = ""
        self.stream: Any = None
        self.lock = threading.Lock()

    def __call__(self, inputs: list[Any]) -> Any:
        """Run the model; like a compiled one, it empties the list of inputs."""
        with self.lock, torch.xpu.device(self.device):
            key = tuple([_key(x) for number, x in enumerate(inputs) if number not in self.fixed])
            self._notice_moves(inputs)
            if self.refusal or not self._is_warm(key) or torch.xpu.is_current_stream_capturing():
                return self.model(inputs)
            given = list(inputs)
            inputs.clear()
            capture = self.captures.get(key) or self._capture(key, given)
            return self.model(given) if capture is None else self._replay(capture, given)

    def _notice_moves(self, inputs: Sequence[Any]) -> None:
        """Drop the captures if an input is no longer where they were made; from now on, it is copied."""
        addresses = [_address(inputs[number]) for number in self.static]
        if addresses == self.addresses:
            return
        if self.addresses is not None:
            pairs = zip(self.static, addresses, self.addresses, strict=True)
            self.static = {number for number, now, before in pairs if now == before}
            self.captures.clear()
            addresses = [_address(inputs[number]) for number in self.static]
        self.addresses = addresses

    def _is_warm(self, key: tuple[Any, ...]) -> bool:
        if key not in self.calls and len(self.calls) >= MAX_CAPTURES:
            self._refuse(f"it was called with more than {MAX_CAPTURES} sets of sizes")
            return False
        self.calls[key] = self.calls.get(key, 0) + 1
        return self.calls[key] > WARM_CALLS

    def _refuse(self, reason: str) -> None:
        self.refusal = reason
        warnings.warn(
            f"torch.compile: mode='reduce-overhead' does not capture a graph on xpu, since {reason}.",
            stacklevel=2,
        )

    def _capture(self, key: tuple[Any, ...], given: list[Any]) -> _Capture | None:
        held = [
            _like(x) if isinstance(x, torch.Tensor) and number not in self.static else x
            for number, x in enumerate(given)
        ]
        graph = torch.xpu.XPUGraph()
        try:
            with torch.xpu.graph(graph, stream=_capture_stream(self.device)):
                results = self.model(list(held))
        except RuntimeError as error:
            self._refuse(f"its work cannot be captured: {error}")
            return None
        copied = [
            n for n, x in enumerate(held) if isinstance(x, torch.Tensor) and x is not given[n]
        ]
        changed = [number for number in copied if number in self.changed]
        intact = [None if self.consumes and n in copied else x for n, x in enumerate(held)]
        self.captures[key] = _Capture(graph, held, Results(results, intact), copied, changed)
        return self.captures[key]

    def _replay(self, capture: _Capture, given: Sequence[Any]) -> list[Any]:
        stream = torch.xpu.current_stream()
        if self.stream is not None and self.stream != stream:
            stream.wait_stream(self.stream)  # the memory of captures is that of all streams
        self.stream = stream
        for number in capture.copied:
            _copy(capture.inputs[number], given[number])
        capture.graph.replay()
        for number in capture.changed:
            _copy(given[number], capture.inputs[number])
        return capture.results.copies(given)


@cache
def _capture_stream(device: int) -> torch.xpu.Stream:
    """Return the stream of a device on which its work is captured."""
    return torch.xpu.Stream(device)


def _has_fixed_sizes(value: Any) -> bool:
    if not isinstance(value, torch.Tensor):
        return False
    return not any(isinstance(n, torch.SymInt) for n in (*value.shape, *value.stride()))


def _address(value: Any) -> int:
    return value.data_ptr() if isinstance(value, torch.Tensor) else 0


def _key(value: Any) -> Any:
    return (value.shape, value.stride()) if isinstance(value, torch.Tensor) else value


def _like(tensor: torch.Tensor) -> torch.Tensor:
    copy = torch.empty_strided(
        tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device
    )
    _copy(copy, tensor)
    return copy


def _copy(to: torch.Tensor, source: torch.Tensor) -> None:
    """Copy elements, nothing between them; of those that share memory, as in an expanded tensor, one."""
    if not to.is_contiguous():  # the unusual case
        expanded = get_expanded_dims(to)
        to, source = (index_expanded_dims(x, expanded) for x in (to, source))
    to.copy_(source)

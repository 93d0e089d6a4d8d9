"""A reduction of the runtime, whose expressions are not written yet."""

from __future__ import annotations

from dataclasses import dataclass, field

from xpu_runtime.codegen.affine import Affine

from .graph import Graph, Value
from .plan import Step, View
from .reducers import Reducer


@dataclass(frozen=True)
class ReducedInputs:
    """What a reduction reads: elements a0, a1, ... of views of one shape, from which inputs are computed.

    Each element is one of ``loads``; without these, the views are those of the inputs. ``reads`` are the
    views that the computation finds. ``places`` are expressions of inputs that count along the reduced
    dimensions.
    """

    inputs: list[Value]
    views: list[View]
    loads: list[tuple[View, Affine]] = field(default_factory=list)
    reads: dict[Value, View] = field(default_factory=dict)
    places: dict[Value, str] = field(default_factory=dict)


@dataclass(eq=False)
class PendingReduction(Step):
    """A reduction of the runtime. ``common`` is its name if the runtime has the reducer, otherwise empty."""

    found: ReducedInputs = field(default_factory=lambda: ReducedInputs([], []))
    reducer: Reducer = field(default_factory=lambda: Reducer(Graph(), [], [], []))
    common: str = ""

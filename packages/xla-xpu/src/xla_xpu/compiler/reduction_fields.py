"""Write the expressions of the runtime's reductions, which compute the inputs too."""

from __future__ import annotations

from typing import Any

from xpu_runtime.codegen.affine import Affine, counters
from xpu_runtime.codegen.conversions import of_bits
from xpu_runtime.codegen.render import Renderer
from xpu_runtime.codegen.statements import Let, Load, Operand, Statement, Term, operands, rewrite

from .elementwise import headers_of
from .emit import Emitter
from .pending_reduction import PendingReduction, ReducedInputs
from .regions import rare_headers


def reduction_fields(step: PendingReduction) -> dict[str, Any]:
    """Return the fields of the step that say what the reduction computes."""
    reducer, emitter = step.reducer, Emitter(step.found.reads.get)
    statements, names = _elements(step.found, emitter)
    if step.common and reducer.finish() == ["s0"] and _is_unchanged(statements):
        return {"name": step.common}
    renderer = Renderer()
    pairs = zip(reducer.elements, reducer.identities, strict=True)
    return {
        "name": "xla",
        "accumulators": [[element.math, identity] for element, identity in pairs],
        "combine": renderer.text(reducer.combine()),
        "update": renderer.text([*statements, *reducer.update(names)]),
        "outputs": [renderer.operand(output) for output in reducer.finish()],
        "headers": headers_of(emitter.rare_headers | rare_headers(reducer.region)),
        "uses_index": bool(step.found.places),
    }


def _elements(found: ReducedInputs, emitter: Emitter) -> tuple[list[Statement], list[Operand]]:
    """Return the statements that compute an element of each input, and its name."""
    if not found.loads:
        return [], [f"a{k}" for k in range(len(found.inputs))]
    at = counters(found.inputs[0].shape)
    names = [found.places.get(value) or emitter.value(value, at) for value in found.inputs]
    numbers: dict[tuple[int, Affine], int] = {}
    for number, (view, place) in enumerate(found.loads):
        numbers.setdefault((emitter.argument(view.buffer, view.element), place), number)

    def loaded(statement: Statement) -> Statement:
        """Replace a load: the reduction has loaded the element, maybe as bytes."""
        if type(statement) is not Load:
            return statement
        number = numbers[statement.array, statement.position]
        element = found.views[number].element
        template = of_bits(element, "{0}") if element.foreign else "{0}"
        return Let(statement.name, element.math, Term(template, (f"a{number}",)))

    return rewrite(emitter.statements, loaded), names


def _is_unchanged(statements: list[Statement]) -> bool:
    """Return True if nothing is computed of the one view's element."""
    if not statements:
        return True
    return len(statements) == 1 and operands(statements[0]) == (Term("{0}", ("a0",)),)

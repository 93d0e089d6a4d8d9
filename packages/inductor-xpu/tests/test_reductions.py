"""In the templates of reductions each name is an argument, so that passes and checks see it."""

import re

import pytest
import torch
from xpu_runtime.codegen.check import TYPES
from xpu_runtime.codegen.elements import element
from xpu_runtime.codegen.functions import functions
from xpu_runtime.codegen.statements import Do, Term, operands, walk

from inductor_xpu.reader.reductions import fold

# Of each kind, the numbers of its values and of its results.
KINDS = {
    "sum": (1, 1),
    "prod": (1, 1),
    "max": (1, 1),
    "min": (1, 1),
    "any": (1, 1),
    "xor_sum": (1, 1),
    "argmax": (1, 1),
    "argmin": (1, 1),
    "welford_reduce": (1, 3),
    "welford_combine": (3, 3),
    "online_softmax_reduce": (1, 2),
}
OF_FLOATS = ("welford_reduce", "welford_combine", "online_softmax_reduce")
DTYPES = {"f32": torch.float32, "i64": torch.int64, "bool": torch.bool}


def templates(operand):
    if isinstance(operand, Term):
        yield operand.template
        for argument in operand.args:
            yield from templates(argument)


@pytest.mark.parametrize("is_in_order", [False, True])
@pytest.mark.parametrize(
    ("kind", "dtype"), [(k, d) for k in KINDS for d in DTYPES if d == "f32" or k not in OF_FLOATS]
)
def test_names_are_arguments(kind, dtype, is_in_order):
    """Passes and the check of programs do not see a name that a template contains."""
    values, results = KINDS[kind]
    names = [f"result{number}" for number in range(results)]
    given = [f"value{number}" for number in range(values)]
    found = fold(kind, names, element(dtype), DTYPES[dtype], given, "place", is_in_order)
    statements = list(walk([*found.update, *found.combine]))
    assert not any(isinstance(statement, Do) for statement in statements)
    words = {
        word
        for statement in statements
        for operand in operands(statement)
        for template in templates(operand)
        for word in re.findall(r"[A-Za-z_]\w*", template)
    }
    assert words <= TYPES | {function.name for function in functions()}

"""Functions that the templates of elementwise operations call, beside the table of the device library."""

import re
from collections.abc import Iterator

import pytest
from xpu_runtime.codegen.functions import functions

from xla_xpu.compiler.elementwise import TABLE, Rule, headers_of

# Functions of core.h, which works with elements of any type.
CORE = {"select": 3}
# The rules of functions.toml whose functions take elements of a kind.
RULES = {
    "float": {"float", "arithmetic", "predicate"},
    "int": {"arithmetic", "integral", "bits"},
    "uint": {"arithmetic", "integral", "bits"},
    "bool": {"bits"},
}
CALL = re.compile(r"([A-Za-z_]\w*)\(")


def calls(template: str) -> Iterator[tuple[str, int]]:
    """Yield the name and the number of arguments of each call in a template."""
    for found in CALL.finditer(template):
        depth, commas = 0, 0
        for character in template[found.end() :]:
            depth += (character == "(") - (character == ")")
            if depth < 0:
                break
            commas += depth == 0 and character == ","
        yield found[1], commas + 1


def kinds_of(rule: Rule, kind: str) -> set[str]:
    """Return the kinds of elements for which a rule of the table has a template, of a kind or of any."""
    return {kind} if kind else {"float", "int", "uint", "bool", "complex"} - rule.kinds.keys()


def known(name: str, arguments: int, kinds: set[str]) -> bool:
    """Return True if the device library has such a function, in a header that kernels include."""
    if name in CORE:
        return CORE[name] == arguments
    for function in functions():
        if function.name != name or function.arity != arguments:
            continue
        if function.header_for("real") in headers_of([function.header]) and any(
            function.rule in RULES.get(kind, ()) for kind in kinds
        ):
            return True
        if "complex" in kinds and (function.complex or function.rule == "complex"):
            return True
    return False


CASES = [
    pytest.param(rule, kind, template, id=f"{op}-{kind or 'any'}")
    for op, rule in TABLE.items()
    for kind, template in {"": rule.any, **rule.kinds}.items()
    if CALL.search(template)
]


@pytest.mark.parametrize(("rule", "kind", "template"), CASES)
def test_the_device_library_has_the_functions_of_a_template(rule, kind, template):
    unknown = [call for call in calls(template) if not known(*call, kinds_of(rule, kind))]
    assert not unknown


@pytest.mark.parametrize(
    ("template", "kind"),
    [
        ("atan3({0}, {1})", "float"),
        ("atan2({0})", "float"),
        ("erf({0})", "complex"),
        ("exp({0})", "int"),
        ("maximum({0}, absent({1}))", "int"),
        ("j0({0})", "float"),
    ],
)
def test_other_functions_are_found(template, kind):
    assert any(not known(*call, {kind}) for call in calls(template))

"""What follows a product or convolution in a graph, as steps that it can take itself."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from torch._prims_common import is_contiguous_or_false
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import statically_known_true

from .expressions import match
from .steps import ACTIVATIONS, Step

# The runtime takes 8 post-ops: a bias and the factor alpha may be among them.
MAX_STEPS = 6
# No activation has as many operators.
_MAX_OPERATORS = 16
_NARROW = (torch.float16, torch.bfloat16)
FUSIBLE_DTYPES = (torch.float32, *_NARROW)

aten = torch.ops.aten
_BINARY = {
    aten.add.Tensor: "add",
    aten.sub.Tensor: "sub",
    aten.mul.Tensor: "mul",
    aten.div.Tensor: "div",
}
_COMMUTATIVE = ("add", "mul")
_VIEWS = (aten.view.default, aten.reshape.default, aten._unsafe_view.default)
_LAYOUTS = (*_VIEWS, aten.permute.default, aten.expand.default, aten.unsqueeze.default)
# Their results are tensors in memory, whoever reads them.
_CALLS = (
    aten.mm.default,
    aten.addmm.default,
    aten.bmm.default,
    aten.baddbmm.default,
    aten.convolution.default,
    torch.ops.torch_xpu.fused_gemm.default,
    torch.ops.torch_xpu.fused_convolution.default,
    operator.getitem,
)


@dataclass(frozen=True)
class Chain:
    """Steps from ``start`` to ``end``. ``view`` is a view on the way, which keeps the last dimension."""

    start: Node
    end: Node
    steps: tuple[Step, ...] = ()
    view: Node | None = field(default=None)

    def is_worthwhile(self) -> bool:
        """Return True unless one kernel reads all of the result: it can take the steps for nothing."""
        return bool(self.steps) and not all(map(_is_pointwise, _readers(self.end)))


def value_of(node: Node) -> torch.Tensor:
    """Return the fake tensor of a node."""
    value = node.meta["val"]
    assert isinstance(value, torch.Tensor)
    return value


def chains(start: Node, views: bool) -> Iterator[Chain]:
    """Yield the chain without steps, then ever longer ones. With ``views``, one view may be on the way."""
    chain = Chain(start, start)
    yield chain
    while len(chain.steps) < MAX_STEPS:
        longer = _with_activation(chain) or _with_operand(chain)
        if longer is None and views and chain.view is None:
            view = _only_reader(chain.end)
            if view is not None and _keeps_last_dimension(view):
                chain = Chain(start, view, chain.steps, view)
                longer = _with_activation(chain) or _with_operand(chain)
        if longer is None or len(longer.steps) > MAX_STEPS:
            return
        chain = longer
        yield chain


def _with_activation(chain: Chain) -> Chain | None:
    value, source = chain.end, chain.end
    dtype = value_of(value).dtype
    wide = dtype in _NARROW and (reader := _only_reader(value)) and _converts(reader, torch.float32)
    if wide:
        assert reader is not None
        source = reader
    for end in reversed(list(_dependents(source))):
        for activation in ACTIVATIONS:
            numbers = match(activation.expression, end, source)
            if numbers is None or not (steps := activation.steps(numbers)):
                continue
            if not all(step.has_f32_factors() for step in steps):
                continue
            last: Node | None = end
            if wide:
                last = _only_reader(end)
                if last is None or not _converts(last, dtype):
                    continue
            assert last is not None
            if value_of(last).dtype == dtype:
                return Chain(chain.start, last, chain.steps + steps, chain.view)
    return None


def _with_operand(chain: Chain) -> Chain | None:
    value, node = chain.end, _only_reader(chain.end)
    if node is None or node.target not in _BINARY or node.kwargs or len(node.args) != 2:
        return None
    name = _BINARY[node.target]
    first, second = node.args
    if second is value and name in _COMMUTATIVE:
        first, second = second, first
    if first is not value or not isinstance(second, Node) or second is value:
        return None
    operand, own, result = second.meta.get("val"), value_of(value), value_of(node)
    if not isinstance(operand, torch.Tensor) or not _in_memory(second):
        return None
    if not (operand.device == own.device and operand.dtype == own.dtype == result.dtype):
        return None
    if not _have_equal_sizes(result, own):
        return None
    if chain.view is not None and not _fits_view(second, node):
        return None
    return Chain(chain.start, node, (*chain.steps, Step(name, operand=second)), chain.view)


def _fits_view(operand: Node, result: Node) -> bool:
    """Return True if an operand of a viewed result can be viewed as one of the product's result."""
    given = value_of(operand)
    if given.dim() and all(statically_known_true(size == 1) for size in given.shape[:-1]):
        return True
    return _have_equal_sizes(given, value_of(result)) and is_contiguous_or_false(given)


def _have_equal_sizes(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return True if sizes are known to be equal, without a guard on those that vary."""
    return one.dim() == other.dim() and all(
        statically_known_true(a == b) for a, b in zip(one.shape, other.shape, strict=True)
    )


def _dependents(source: Node) -> Iterator[Node]:
    """Yield the operators of nothing but ``source``, each after those that it reads."""
    inside, waiting = {source}, list(source.users)
    while waiting and len(inside) <= _MAX_OPERATORS:
        node = waiting.pop(0)
        if node in inside or node.op != "call_function":
            continue
        if all(read in inside for read in node.all_input_nodes):
            inside.add(node)
            waiting.extend(node.users)
            yield node


def _only_reader(node: Node) -> Node | None:
    return next(iter(node.users)) if len(node.users) == 1 else None


def _converts(node: Node, dtype: torch.dtype) -> bool:
    return node.target is torch.ops.prims.convert_element_type.default and node.args[1] == dtype


def _keeps_last_dimension(node: Node) -> bool:
    if node.target not in _VIEWS:
        return False
    source = node.args[0]
    assert isinstance(source, Node)
    before, after = value_of(source).shape, value_of(node).shape
    is_fixed = len(after) > 0 and isinstance(before[-1], int) and isinstance(after[-1], int)
    return is_fixed and before[-1] == after[-1]


def _in_memory(node: Node) -> bool:
    while node.target in _LAYOUTS and len(node.users) == 1:
        source = node.args[0]
        assert isinstance(source, Node)
        node = source
    return node.op in ("placeholder", "get_attr") or node.target in _CALLS or len(node.users) > 1


def _readers(node: Node) -> Iterator[Node]:
    for user in node.users:
        if user.target in _VIEWS:
            yield from _readers(user)
        else:
            yield user


def _is_pointwise(node: Node) -> bool:
    if isinstance(node.target, torch._ops.OpOverload):
        return torch.Tag.pointwise in node.target.tags or node.target.namespace == "prims"
    return False

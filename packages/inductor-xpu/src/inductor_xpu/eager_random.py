"""Random numbers of eager mode in compiled code, for ``torch._inductor.config.align_random_eager``.

A pass replaces draws on xpu by ``random``, which Inductor fuses, and takes the states that these draw from
from the device's generator, as eager fills do (``random_states``). Kernels compute the numbers of an element
from state and position (see reader/draws.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch._inductor import config
from torch._inductor.virtualized import V
from torch.fx.experimental.symbolic_shapes import statically_known_true

aten = torch.ops.aten

_LIBRARY = torch.library.Library("inductor_xpu", "DEF")
_LIBRARY.define(
    "random_states(int count, Device device) -> Tensor",
    tags=(torch.Tag.nondeterministic_seeded,),
)
_LIBRARY.define(
    "random(SymInt[] size, Tensor states, int index, str distribution, ScalarType dtype, "
    "int low=0, int count=0) -> Tensor"
)
_random_states = torch.ops.inductor_xpu.random_states.default
_random = torch.ops.inductor_xpu.random.default

# The distributions of operators, by the operator.
_DISTRIBUTIONS = {
    aten.rand.default: "uniform",
    aten.rand.generator: "uniform",
    aten.randn.default: "normal",
    aten.randn.generator: "normal",
    aten.randint.low: "integers",
}
_FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
_INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


@torch.library.impl(_LIBRARY, "random_states", "CompositeExplicitAutograd")
def _draw_states(count: int, device: torch.device) -> torch.Tensor:
    from torch_xpu import compiled_code

    index = torch.xpu.current_device() if device.index is None else device.index
    return compiled_code.random_states(index, count)


@torch.library.impl(_LIBRARY, "random_states", "Meta")
def _states_like(count: int, device: torch.device) -> torch.Tensor:
    return torch.empty(count, 2, dtype=torch.int64, device="meta")


@torch.library.register_fake("inductor_xpu::random_states", lib=_LIBRARY)
def _fake_states(count: int, device: torch.device) -> torch.Tensor:
    return torch.empty(count, 2, dtype=torch.int64, device=device)


@torch.library.register_fake("inductor_xpu::random", lib=_LIBRARY)
def _fake_random(
    size: Any,
    states: torch.Tensor,
    index: int,
    distribution: str,
    dtype: torch.dtype,
    low: int = 0,
    count: int = 0,
) -> torch.Tensor:
    return torch.empty(size, dtype=dtype, device=states.device)


def replace_draws(graph: torch.fx.Graph) -> int:
    """Replace the draws on xpu whose numbers kernels can compute; return their number.

    Draws take their states together, except across other operators that may draw.
    """
    count, pending = 0, []
    for node in list(graph.nodes):
        if _is_draw(node):
            pending.append(node)
        elif pending and _may_draw(node):
            count += _replace(graph, pending)
            pending = []
    return count + _replace(graph, pending)


def _is_draw(node: torch.fx.Node) -> bool:
    if node.op != "call_function" or node.target not in _DISTRIBUTIONS:
        return False
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor) or value.device.type != "xpu":
        return False
    if node.kwargs.get("generator") is not None or node.kwargs.get("pin_memory"):
        return False
    if _DISTRIBUTIONS[node.target] != "integers":
        return value.dtype in _FLOATS
    return value.dtype in _INTEGERS and all(isinstance(end, int) for end in node.args[:2])


def _may_draw(node: torch.fx.Node) -> bool:
    if node.op != "call_function":
        return False
    if isinstance(node.target, torch._ops.OpOverload):
        return torch.Tag.nondeterministic_seeded in node.target.tags
    return isinstance(node.target, torch._ops.HigherOrderOperator)


def _replace(graph: torch.fx.Graph, draws: Iterable[torch.fx.Node]) -> int:
    by_device: dict[torch.device, list[torch.fx.Node]] = {}
    for node in draws:
        value = node.meta["val"]
        if statically_known_true(value.numel() == 0):
            _replace_empty(graph, node)
        else:
            by_device.setdefault(value.device, []).append(node)
    for device, nodes in by_device.items():
        with graph.inserting_before(nodes[0]):
            states = graph.call_function(_random_states, (len(nodes), device))
        with V.fake_mode:
            states.meta["val"] = _fake_states(len(nodes), device)
        for number, node in enumerate(nodes):
            _replace_one(graph, node, states, number)
    return sum(map(len, by_device.values()))


def _replace_empty(graph: torch.fx.Graph, node: torch.fx.Node) -> None:
    """Replace a draw of no elements, for which the generator does not advance."""
    value = node.meta["val"]
    size = node.args[2 if node.target is aten.randint.low else 0]
    with graph.inserting_before(node):
        empty = graph.call_function(
            aten.full.default, (size, 0), {"dtype": value.dtype, "device": value.device}
        )
    _take_the_place(graph, node, empty)


def _replace_one(
    graph: torch.fx.Graph, node: torch.fx.Node, states: torch.fx.Node, number: int
) -> None:
    distribution, dtype = _DISTRIBUTIONS[node.target], node.meta["val"].dtype
    size = node.args[0]
    ends: tuple[Any, ...] = ()
    if distribution == "integers":
        low, high, size = node.args
        ends = (low, _signed(high - low))
    with graph.inserting_before(node):
        drawn = graph.call_function(_random, (size, states, number, distribution, dtype, *ends))
    _take_the_place(graph, node, drawn)


def _signed(count: int) -> int:
    """Return the 64 bits of a count as an operator's int, which is signed."""
    return count - (1 << 64) if count >= 1 << 63 else count


def _take_the_place(graph: torch.fx.Graph, node: torch.fx.Node, by: torch.fx.Node) -> None:
    by.meta.update(node.meta)
    node.replace_all_uses_with(by)
    graph.erase_node(node)


def _like(
    rand: Callable[..., torch.Tensor],
    stock: Callable[..., torch.Tensor],
    x: torch.Tensor,
    dtype: torch.dtype | None = None,
    device: torch.device | None = None,
    memory_format: torch.memory_format = torch.preserve_format,
    **named: Any,
) -> torch.Tensor:
    """Return a draw with the strides of ``x``: eager mode numbers elements by index, stock by address."""
    from torch._inductor.decomposition import _get_shape_permutation_like

    device = x.device if device is None else device
    if device.type != "xpu" or memory_format != torch.preserve_format:
        return stock(x, dtype=dtype, device=device, memory_format=memory_format, **named)
    drawn = rand(x.shape, dtype=x.dtype if dtype is None else dtype, device=device, **named)
    _, permutation = _get_shape_permutation_like(x)
    if permutation == sorted(permutation):
        return drawn
    order = [permutation.index(dim) for dim in range(len(permutation))]
    return drawn.permute(order).clone(memory_format=torch.contiguous_format).permute(permutation)


def _native_dropout(
    stock: Callable[..., Any], x: torch.Tensor, p: float, train: bool | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Keep elements where eager mode's Bernoulli numbers do; stock drops where these do."""
    if x.device.type != "xpu" or train is False or p == 1 or not x.dtype.is_floating_point:
        return stock(x, p, train)
    mask = torch.rand_like(x, dtype=torch.float32) < 1 - p
    return torch.where(mask, x * (1 / (1 - p)), 0), mask


def decompositions(stock: dict[Any, Callable[..., Any]]) -> dict[Any, Callable[..., Any]]:
    """Return Inductor's decompositions, with those of random operators that keep eager mode's numbers."""

    def like(operator: Any, rand: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        return lambda x, **named: _like(rand, stock[operator], x, **named)

    def dropout(x: torch.Tensor, p: float, train: bool | None) -> Any:
        return _native_dropout(stock[aten.native_dropout.default], x, p, train)

    return {
        **stock,
        aten.rand_like.default: like(aten.rand_like.default, torch.rand),
        aten.randn_like.default: like(aten.randn_like.default, torch.randn),
        aten.native_dropout.default: dropout,
    }


def keep_order(operations: Iterable[Any]) -> None:
    """Order the operators on xpu that draw as in the program, if the numbers are to be eager mode's."""
    if not (config.align_random_eager or config.fallback_random):
        return
    previous: dict[torch.device, str] = {}
    for operation in operations:
        target = getattr(operation, "op_overload", None)
        if not isinstance(target, torch._ops.OpOverload):
            continue
        device = operation.get_device()
        if torch.Tag.nondeterministic_seeded in target.tags and device and device.type == "xpu":
            name = operation.get_name()
            if device in previous:
                dependencies = V.graph.additional_buffer_deps[operation.get_operation_name()]
                dependencies.add(previous[device])
            previous[device] = name


def is_on() -> bool:
    """Return True if kernels draw the numbers of eager mode, instead of a call of its operators."""
    return config.align_random_eager and not config.fallback_random

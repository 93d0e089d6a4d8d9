"""Flex attention as plain operators, for what the kernels cannot compute; each use is counted.

The scores are a tensor in memory.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch

aten = torch.ops.aten
_uses: Counter[str] = Counter()
# The operator of gradients has more.
FORWARD_ARGUMENTS = 9


def fallbacks() -> dict[str, int]:
    """Return how often each operator was compiled unfused, as plain operators, since the start."""
    return dict(_uses)


def lower_as_plain_operators(
    operator: torch._ops.HigherOrderOperator, dense: Callable[..., Any], args: Sequence[Any]
) -> Any:
    """Lower what ``dense`` computes of the arguments, which are those of a lowering."""
    from torch._inductor import ir
    from torch._inductor.decomposition import select_decomp_table
    from torch._inductor.lowering import process_subgraph_nodes
    from torch._inductor.virtualized import V
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.utils import _pytree as pytree

    def example(x: Any) -> Any:
        if not isinstance(x, torch.fx.Node):
            return x
        if x.op == "get_attr" and "val" not in x.meta:
            return _with_batched_conversions(getattr(V.graph.module, str(x.target)))
        return x.meta["val"]

    examples = pytree.tree_map_only(torch.fx.Node, example, V.graph.current_node.args)
    if len(examples) > FORWARD_ARGUMENTS:
        examples = _with_wanted_gradients(examples)
    leaves, spec = pytree.tree_flatten(examples)
    lowered = pytree.tree_leaves(args, is_leaf=lambda x: isinstance(x, ir.IRNode))
    inputs = [n for n, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor | torch.SymInt)]

    def call(*given: Any) -> Any:
        every = list(leaves)
        for n, value in zip(inputs, given, strict=True):
            every[n] = value
        return dense(*pytree.tree_unflatten(every, spec))

    with V.fake_mode, torch.no_grad(), torch.autocast("xpu", enabled=False):
        graph = make_fx(call, decomposition_table=select_decomp_table())(
            *(leaves[n] for n in inputs)
        )
    for node in graph.graph.nodes:
        if node.target is aten.max.dim:
            # Nothing asks where the largest scores are.
            node.target = aten.amax.default
            for value in list(node.users):
                value.replace_all_uses_with(node)
                graph.graph.erase_node(value)
        if node.op == "get_attr":
            name = f"{node.target}_of_{V.graph.current_node.name}"
            setattr(V.graph.module, name, getattr(graph, node.target))
            node.target = name
    _uses[operator.name()] += 1
    return process_subgraph_nodes(graph, [lowered[n] for n in inputs])


def _with_batched_conversions(module: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """Return a function whose conversions have a rule for vmap, which otherwise calls them for each score."""
    module = copy.deepcopy(module)
    convert = torch.ops.prims.convert_element_type.default
    for node in module.graph.find_nodes(op="call_function", target=convert):
        value, dtype = node.args
        node.target, node.args, node.kwargs = aten._to_copy.default, (value,), {"dtype": dtype}
    module.recompile()
    return module


def _with_wanted_gradients(args: Sequence[Any]) -> tuple[Any, ...]:
    """Let the captured tensors require a gradient for which the graph of gradients has a result."""
    *before, captured, of_mask = args
    joint, positions = before[8], 5
    (results,) = joint.graph.output_node().args
    wanted = tuple(
        tensor if result is None else tensor.detach().requires_grad_()
        for tensor, result in zip(captured, results[positions:], strict=True)
    )
    return (*before, wanted, of_mask)

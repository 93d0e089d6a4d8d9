"""Import StableHLO: parse PJRT's bytes, inline calls, canonicalize, and build a graph."""

from __future__ import annotations

import re
from typing import Any

from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import stablehlo

from . import async_collectives, async_custom_calls, elementwise
from .failures import Unsupported
from .graph import Graph, Node, Value
from .literals import array_of
from .types import ELEMENTS, TOKEN, Type, unknown

# Composites that have a lowering; others are inlined.
_COMPOSITES = {op for op in elementwise.OPERATIONS if "@" in op} | {"composite@chlo.top_k"}

# Operations that have no effect on one device, or on scalars.
_SHARDING = ("sdy.sharding_constraint", "sdy.reshard", "sdy.propagation_barrier")


def parse(code: bytes) -> ir.Module:
    """Parse a module and inline all calls, so that one function remains."""
    context = jax_mlir.make_ir_context()
    context.allow_unregistered_dialects = True
    if b"StableHLO" in code[:32]:
        module = stablehlo.deserialize_portable_artifact(context, code)
    else:
        module = ir.Module.parse(code, context)
    inline(module)
    return module


def inline(module: ir.Module) -> None:
    """Replace every call by the function's body."""
    functions = {
        ir.StringAttr(op.attributes["sym_name"]).value: op
        for op in module.body.operations
        if op.operation.name == "func.func"
    }
    while calls := list(_calls(functions["main"].operation)):
        for call in calls:
            name = "callee" if call.operation.name == "func.call" else "decomposition"
            callee = functions[ir.FlatSymbolRefAttr(call.attributes[name]).value]
            with module.context, ir.InsertionPoint(call), call.location:
                results = _jax_mlir_ext.inlined_func_call(
                    callee.operation, list(call.operands), call.location
                )
            for old, new in zip(call.results, results, strict=True):
                old.replace_all_uses_with(new)
            call.operation.erase()
    async_collectives.inline_async_ops(functions["main"].operation)
    async_custom_calls.inline_async_calls(functions["main"].operation, functions)
    with module.context:
        passes = passmanager.PassManager.parse("builtin.module(symbol-dce,canonicalize,cse)")
        passes.run(module.operation)


def _calls(op: ir.Operation) -> Any:
    for region in op.regions:
        for block in region:
            for inner in block:
                if inner.operation.name == "func.call" or _is_foreign(inner.operation):
                    yield inner
                else:
                    yield from _calls(inner.operation)


def _is_foreign(op: ir.Operation) -> bool:
    """Return True for a composite that has no lowering."""
    if op.name != "stablehlo.composite":
        return False
    return f"composite@{ir.StringAttr(op.attributes['name']).value}" not in _COMPOSITES


def main_of(module: ir.Module) -> ir.Operation:
    """Return the function ``main``, which every module that JAX emits has."""
    return next(
        op.operation
        for op in module.body.operations
        if op.operation.name == "func.func"
        and ir.StringAttr(op.attributes["sym_name"]).value == "main"
    )


def graph_of(module: ir.Module, with_shardings: bool = False) -> Graph:
    """Build the program's graph; ``with_shardings`` keeps operations that describe shardings."""
    main = main_of(module)
    if not with_shardings:
        _erase_shardings(main)
    return _block(main.regions[0].blocks[0], {})


def _erase_shardings(op: ir.Operation) -> None:
    for region in op.regions:
        for block in region:
            for inner in list(block):
                if inner.operation.name == "sdy.sharding_group":
                    inner.operation.erase()
                elif inner.operation.name in _SHARDING:
                    inner.operation.result.replace_all_uses_with(inner.operation.operands[0])
                    inner.operation.erase()
                else:
                    _erase_shardings(inner.operation)


def type_of(mlir: ir.Type) -> Type:
    """Return the type of an array or a token; raise Unsupported for others, such as tuples."""
    if not isinstance(mlir, ir.RankedTensorType):
        if "token" in str(mlir):
            return Type(TOKEN, ())
        raise Unsupported(f"values of type {mlir} are not supported")
    name = str(mlir.element_type)
    return Type(ELEMENTS.get(name) or unknown(name), tuple(mlir.shape))


def _block(block: ir.Block, known: dict[ir.Value, Value]) -> Graph:
    known, graph = dict(known), Graph()
    for index, argument in enumerate(block.arguments):
        graph.parameters.append(Value(type_of(argument.type), None, index))
        known[argument] = graph.parameters[-1]
    for op in block.operations:
        op = op.operation
        inputs = [known[operand] for operand in op.operands]
        if op.name in ("func.return", "stablehlo.return", "sdy.return"):
            graph.results = inputs
        elif _is_transparent(op):
            known.update(zip(op.results, inputs, strict=True))
        elif op.name != "sdy.mesh":
            node = _node(op, inputs, known)
            graph.nodes.append(node)
            known.update(zip(op.results, node.outputs, strict=True))
    return graph


def _is_transparent(op: ir.Operation) -> bool:
    if op.name in _SHARDING:
        return not type_of(op.result.type).shape
    return op.name == "stablehlo.optimization_barrier" or _is_placement(op)


def _is_placement(op: ir.Operation) -> bool:
    """Return True for a placement, which has no effect: only parameters and results have a memory kind."""
    if op.name != "stablehlo.custom_call":
        return False
    return ir.StringAttr(op.attributes["call_target_name"]).value == "annotate_device_placement"


def _node(op: ir.Operation, inputs: list[Value], known: dict[ir.Value, Value]) -> Node:
    name = "constant" if op.name == "sdy.constant" else op.name.removeprefix("stablehlo.")
    types = [type_of(result.type) for result in op.results]
    regions = [_block(region.blocks[0], known) for region in op.regions if len(region.blocks)]
    attributes: dict[str, Any] = {}
    mlir: dict[str, ir.Attribute] = {}
    if name == "constant":
        attributes["value"] = array_of(op, types[0])
    else:
        for key in op.attributes:
            key = key if isinstance(key, str) else key.name
            mlir[key] = op.attributes[key]
            attributes[key] = _attribute(mlir[key])
    if name == "custom_call":
        name = f"custom_call@{attributes['call_target_name']}"
    elif name == "composite":
        name = f"composite@{attributes['name']}"
    node = Node(name, inputs, types, attributes, regions, _where(op.location))
    node.mlir = mlir
    return node


def _attribute(attribute: ir.Attribute) -> Any:
    match attribute:
        case ir.IntegerAttr() | ir.FloatAttr() | ir.BoolAttr() | ir.StringAttr():
            return attribute.value
        case ir.FlatSymbolRefAttr():
            return attribute.value
        case ir.DenseI64ArrayAttr() | ir.DenseBoolArrayAttr() | ir.DenseI32ArrayAttr():
            return list(attribute)
        case ir.ArrayAttr():
            return [_attribute(item) for item in attribute]
        case ir.DictAttr():
            return {item.name: _attribute(item.attr) for item in attribute}
        case ir.DenseIntElementsAttr():
            import numpy as np

            return np.array(attribute).tolist()
    for read in _STRUCTURES:
        if (value := read(attribute)) is not None:
            return value
    return attribute


def _named(cls: Any, *fields: str) -> Any:
    def read(attribute: ir.Attribute) -> Any:
        if not cls.isinstance(attribute):
            return None
        known = cls(attribute)
        values = {field: getattr(known, field) for field in fields}
        return {k: v if isinstance(v, int) else list(v) for k, v in values.items()}

    return read


def _word(cls: Any) -> Any:
    return lambda attribute: cls(attribute).value if cls.isinstance(attribute) else None


_STRUCTURES = (
    _word(stablehlo.ComparisonDirectionAttr),
    _word(stablehlo.ComparisonTypeAttr),
    _word(stablehlo.FftTypeAttr),
    _word(stablehlo.PrecisionAttr),
    _word(stablehlo.TransposeAttr),
    _word(stablehlo.RngAlgorithmAttr),
    _word(stablehlo.RngDistributionAttr),
    _named(
        stablehlo.DotDimensionNumbers,
        "lhs_batching_dimensions",
        "rhs_batching_dimensions",
        "lhs_contracting_dimensions",
        "rhs_contracting_dimensions",
    ),
    _named(
        stablehlo.ConvDimensionNumbers,
        "input_batch_dimension",
        "input_feature_dimension",
        "input_spatial_dimensions",
        "kernel_input_feature_dimension",
        "kernel_output_feature_dimension",
        "kernel_spatial_dimensions",
        "output_batch_dimension",
        "output_feature_dimension",
        "output_spatial_dimensions",
    ),
    _named(
        stablehlo.GatherDimensionNumbers,
        "offset_dims",
        "collapsed_slice_dims",
        "operand_batching_dims",
        "start_indices_batching_dims",
        "start_index_map",
        "index_vector_dim",
    ),
    _named(
        stablehlo.ScatterDimensionNumbers,
        "update_window_dims",
        "inserted_window_dims",
        "input_batching_dims",
        "scatter_indices_batching_dims",
        "scattered_dims_to_operand_dims",
        "index_vector_dim",
    ),
)


def _where(location: ir.Location) -> str:
    """Return JAX's name of an operation and the user's line, such as "jit(step)/sin, model.py:12"."""
    text = str(location)
    name = re.search(r'"([^"]*)"', text)
    line = re.search(r'"([^"]+)":(\d+)', text)
    parts = [name[1] if name and not (line and name[1] == line[1]) else ""]
    parts.append(f"{line[1].rpartition('/')[2]}:{line[2]}" if line else "")
    return ", ".join(filter(None, parts))

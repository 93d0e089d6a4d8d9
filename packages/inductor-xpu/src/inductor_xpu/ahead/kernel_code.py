"""Kernels in the C++ of a graph: their definitions and their calls (see include/xpu_program.h)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import sympy
from torch._inductor.codegen.cpp_utils import cexpr
from torch._inductor.virtualized import V

if TYPE_CHECKING:
    from ..reader.kernel_call import KernelCall

# The end of a raw string; no kernel has it.
_MARK = "xpu~"


def definition(name: str, source: str, kernel: KernelCall) -> str:
    """Return the constants that describe a kernel, and the function that divides its work."""
    arguments = ", ".join(
        f"{{{8 * number}, {size}, {'true' if is_pointer else 'false'}}}"
        for number, (size, is_pointer) in enumerate(_arguments(kernel))
    )
    faults = ", ".join(
        f"{{{_text(fault.op)}, {_text(fault.text)}}}" for fault in kernel.faults.codes
    )
    count = len(kernel.faults.codes)
    lines = [
        f"constexpr XpuArgument {name}_arguments[] = {{{arguments}}};",
        f"constexpr XpuFault {name}_faults[] = {{{faults}}};" if count else "",
        f"constexpr XpuKernelCode {name}_code = {{",
        f'{_text(name)}, R"{_MARK}({source}){_MARK}", {kernel.written.group}, {name}_arguments,',
        f"std::size({name}_arguments), {f'{name}_faults' if count else 'nullptr'}, {count}}};",
    ]
    if _is_divided(kernel):
        lines += _division(name, kernel)
    if not V.graph.aot_mode:
        lines.append(f"XpuKernel {name};")
    text = "\n".join(filter(None, lines))
    return f"namespace torch::aot_inductor {{\nnamespace {{\n{text}\n}}  // namespace\n}}\n"


def call(name: str, kernel: KernelCall, arrays: list[str]) -> str:
    """Return the block that launches a kernel with arrays, by their names in the graph."""
    wrapper, written = V.graph.wrapper_code, kernel.written
    device = V.graph.get_current_device_or_throw()
    if V.graph.aot_mode:
        owner, index, stream = f"kernels.{name}", "this->device_idx_", "stream"
    else:
        stream = wrapper.write_get_raw_stream(device.index, V.graph.name)
        owner, index = name, str(device.index)
    values = [f"xpu_pointer({array})" for array in arrays]
    codes = len(kernel.faults.codes)
    values += [f"kernel.faults[{number}]" for number in range(codes + 1 if codes else 0)]
    symbols = [f"n{number}" for number in range(len(kernel.symbols.of))]
    values += symbols
    steps = [f"auto& kernel = {owner}.on({name}_code, {index})"]
    steps += [
        f"const std::int64_t {symbol} = {_expression(expr)}"
        for symbol, expr in zip(symbols, kernel.symbols.of, strict=True)
    ]
    if _is_divided(kernel):
        read = ", ".join(symbols[number] for number in _divided_symbols(kernel))
        steps.append(f"const auto division = {name}_divide({read})")
        values += [f"division.sizes[{number}]" for number in range(len(written.sizes))]
        groups = f"division.groups({written.division.tiles_per_group})"
    else:
        count, sizes = written.division.launch({}) if symbols else (written.groups, written.sizes)
        values += [f"{size}L" for size in sizes]
        groups = f"{count}L"
    steps.append(f"const std::int64_t values[] = {{{', '.join(values)}}}")
    steps.append(f"kernel.launch({stream}, {groups}, values)")
    return f"{{ {'; '.join(steps)}; }}"


def _arguments(kernel: KernelCall) -> Iterator[tuple[int, bool]]:
    """Yield the size of each argument, and whether it is a pointer."""
    count = len(kernel.symbols.of) + len(kernel.written.sizes)
    codes = len(kernel.faults.codes)
    yield from [(8, True)] * (len(kernel.inner_names) + bool(codes))
    yield from [(4, False)] * codes
    yield from [(8, False)] * count


def _is_divided(kernel: KernelCall) -> bool:
    """Return True if a launch divides the work, because its size is not known before."""
    return bool(kernel.symbols.of) and bool(kernel.written.division.symbols)


def _divided_symbols(kernel: KernelCall) -> list[int]:
    names = [symbol.name for symbol in kernel.symbols.of.values()]
    return [names.index(name) for name in kernel.written.division.symbols]


def _division(name: str, kernel: KernelCall) -> list[str]:
    division = kernel.written.division
    on, work = division.target, division.target.division
    target = (on.lanes, on.sub_groups, on.tiles, work.min_tile_length, work.max_tile_length)
    more = {
        "line": [],
        "rows": [division.limit],
        "folds": [division.items],
        "columns": [
            division.items,
            _product(division.outer),
            _product(division.inner),
            "true" if division.overlap else "false",
        ],
    }[division.form]
    arguments = ["target", _product(division.rows), _product(division.columns), *map(str, more)]
    parameters = ", ".join(f"std::int64_t {symbol}" for symbol in division.symbols)
    return [
        f"inline XpuDivision {name}_divide({parameters}) {{",
        f"  constexpr XpuTarget target{{{', '.join(map(str, target))}}};",
        f"  auto division = xpu_divide_{division.form}({', '.join(arguments)});",
        *(f"  division.divisor({_product(divisor)});" for divisor in division.divisors),
        "  return division;",
        "}",
    ]


def _product(factors: tuple[int | str, ...]) -> str:
    return " * ".join(f"{x}L" if isinstance(x, int) else x for x in factors) or "1L"


def _expression(expr: sympy.Expr) -> str:
    """Return a number that a launch computes; elements of tensors of the host are read first."""
    wrapper = V.graph.wrapper_code
    read = {}
    for symbol in sorted(expr.free_symbols, key=str):
        if symbol.name.endswith(".item()"):
            tensor = symbol.name.removesuffix(".item()")
            element = f"{tensor}_element_{next(wrapper.arg_var_id)}"
            wrapper.codegen_tensor_item(V.graph.get_dtype(tensor), tensor, element)
            read[symbol] = sympy.Symbol(element)
        else:
            wrapper.ensure_size_computed(symbol)
    return str(cexpr(expr.xreplace(read)))


def _text(text: str) -> str:
    return json.dumps(text)

"""A kernel of Triton's IR as SYCL source."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache
from importlib import resources

from xpu_runtime.codegen.target import Target

from .elements import argument_type, memory_headers, memory_type, pointer_type, register_type
from .errors import UnsupportedKernelError
from .ir.facts import IntegerFacts
from .ir.inductions import simplify_inductions
from .ir.inline import kernel_of
from .ir.program import Op, Value
from .ir.read import read
from .ir.spins import reject_spins
from .ir.types import Pointer, Scalar, element_of
from .layout_choice import LayoutChoice
from .layouts import LANE, TEAM
from .matrix import MatrixProduct, find_products
from .plan import Plan
from .writer.costs import keep_costly
from .writer.emit import emit_block
from .writer.group import Expr
from .writer.kernel import KernelWriter
from .writer.storage import Storage

# Names that functions of Python may have, but not those of C++.
# fmt: off
_KEYWORDS = frozenset([
    "alignas", "alignof", "asm", "auto", "bool", "case", "catch", "char", "concept", "const",
    "constexpr", "const_cast", "decltype", "default", "delete", "do", "double", "dynamic_cast",
    "enum", "explicit", "export", "extern", "float", "friend", "goto", "inline", "int", "long",
    "main", "mutable", "namespace", "new", "noexcept", "nullptr", "operator", "private",
    "protected", "public", "register", "reinterpret_cast", "requires", "short", "signed", "sizeof",
    "static", "static_assert", "static_cast", "struct", "switch", "template", "this",
    "thread_local", "throw", "typedef", "typeid", "typename", "union", "unsigned", "using",
    "virtual", "void", "volatile", "wchar_t", "half", "xpu", "triton", "libdevice", "lane_id",
    "team_id", "local_memory",
])
# fmt: on
# Runs that forget about values what the next loops may make different. Those after them only add.
_MAX_FORGETTING = 32
# A warp of Triton has 32 threads.
_WARP = 32


@dataclass(frozen=True)
class Translation:
    """The SYCL source of a kernel, and how it is launched.

    The kernel ``name`` runs in work-groups of ``group`` items, one for each program: the range is
    (gridZ, gridY, gridX * group), of groups of (1, 1, group). ``types`` are those of the arguments, as
    xpu_runtime.Launcher takes them: the kernel's, and if there are ``faults`` those of load_faults().
    """

    name: str
    source: str
    types: str
    group: int
    local_bytes: int
    faults: tuple[tuple[str, str], ...] = ()


def translate(text: str, target: Target, num_warps: int) -> Translation:
    """Return the SYCL source of a module in MLIR's generic form.

    Raises UnsupportedKernelError, which names the operation and the user's line.
    """
    function = kernel_of(read(text))
    reject_spins(function.body)
    simplify_inductions(function.body)
    products = find_products(function.body, target.matrix_lanes)
    lanes = target.matrix_lanes if products else target.lanes
    teams = _teams(target, lanes, num_warps)
    writer = _write(function, target, lanes, teams, products)
    name = _cpp_name(function.attributes["sym_name"])
    return Translation(
        name=name,
        source=_source(name, function, writer),
        types=_types(function, writer),
        group=lanes * teams,
        local_bytes=_local_bytes(writer),
        faults=tuple(writer.faults),
    )


def _cpp_name(name: str) -> str:
    """Return the kernel's name in C++: another one where the name is a keyword or is used by the text."""
    return f"{name}_kernel" if name in _KEYWORDS else name


def _teams(target: Target, lanes: int, num_warps: int) -> int:
    """Return the number of sub-groups of a program: one on a CPU, whose lanes are a vector."""
    if not target.gpu:
        return 1
    wanted = max(1, min(num_warps * _WARP, target.max_items) // lanes)
    return 1 << (wanted.bit_length() - 1)


def _write(
    function: Op, target: Target, lanes: int, teams: int, products: dict[Op, MatrixProduct]
) -> KernelWriter:
    """Write a kernel until its plan is complete, then with arrays that are used again."""
    body, plan = function.body, Plan()
    choice = LayoutChoice(body, lanes, teams, products)
    facts = IntegerFacts(function)
    last_reads: dict[int, int] | None = None
    for run in itertools.count():
        plan.begin()
        local_bytes = target.local_memory * 3 // 4
        storage = Storage(0 if target.gpu else lanes, local_bytes, last_reads, bool(products))
        writer = KernelWriter(function, plan, choice, facts, target, storage)
        for index, argument in enumerate(body.arguments):
            writer.scalars[argument] = Expr(f"x{index}")
        emit_block(writer, body)
        writer.close()
        keep_costly(writer)
        if plan.changed:
            last_reads = None
            if plan.loops_changed and run < _MAX_FORGETTING:
                plan.forget_values()
        elif writer.incomplete:
            raise UnsupportedKernelError(
                function.attributes["sym_name"],
                "the kernel's loops cannot be arranged; please report it with the file",
                function.location,
            )
        elif last_reads is None:
            last_reads = storage.reads
        else:
            return writer
    raise AssertionError("a plan without end")


def _local_bytes(writer: KernelWriter) -> int:
    return writer.local.bytes + writer.storage.used


def _parameter(value: Value, name: str) -> str:
    type = element_of(value.type)
    if isinstance(type, Pointer):
        return f"{pointer_type(type)} {name}"
    return f"{memory_type(type)} {name}"


def _source(name: str, function: Op, writer: KernelWriter) -> str:
    arguments = function.body.arguments
    for value in arguments:
        writer.need(*memory_headers(element_of(value.type)))
    parameters = [_parameter(value, f"p{index}") for index, value in enumerate(arguments)]
    if writer.faults:
        parameters.append("global<FaultRecord> record")
        parameters += [f"u32 {code}" for code in writer.faults.values()]
    # Triton rejects configurations that need more local memory than their device has.
    lines = ["#define XPU_SIZED_FOR_DEVICE"]
    if writer.choice.lanes != writer.target.lanes:
        lines += ["#undef XPU_SUB_GROUP", f"#define XPU_SUB_GROUP {writer.choice.lanes}"]
    lines += [f"#include <xpu/{header}.h>" for header in writer.headers]
    lines.append("#include <xpu/local.h>")
    lines += ["using namespace xpu;", *writer.preludes]
    if any("triton::toward_zero" in line for line in writer.lines):
        lines.append(_device_functions())
    lines.append(f"XPU_KERNEL(3) {name}({', '.join(parameters)}) {{")
    body = [f"const i32 {LANE} = lane();"]
    if writer.choice.teams > 1:
        body.append(f"const i32 {TEAM} = sub_group_id();")
    if _local_bytes(writer):
        body.append(f"static Local<u64, {_local_bytes(writer) // 8}> local_memory;")
    body += [_argument(value, index) for index, value in enumerate(arguments)]
    body += [*writer.storage.declarations(writer.local.bytes), *writer.lines]
    return "\n".join([*lines, *(f"  {line}" for line in body), "}", ""])


@cache
def _device_functions() -> str:
    return resources.files(__package__).joinpath("device.h").read_text()


def _argument(value: Value, index: int) -> str:
    type = element_of(value.type)
    if isinstance(type, Scalar):
        text = f"p{index} != 0" if type.name == "i1" else f"p{index}"
        return f"const {register_type(type)} x{index} = {text};"
    return f"const {pointer_type(type)} x{index} = p{index};"


def _types(function: Op, writer: KernelWriter) -> str:
    types = "".join(argument_type(element_of(value.type)) for value in function.body.arguments)
    return types + ("p" + "u4" * len(writer.faults) if writer.faults else "")

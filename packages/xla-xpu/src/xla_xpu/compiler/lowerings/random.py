"""Lowering of counter-based random bits, equal to XLA's on other platforms."""

from __future__ import annotations

import math

from xpu_runtime.codegen.affine import Affine, counters, dot
from xpu_runtime.codegen.statements import Operand, Term

from ..emit import Emitter
from ..failures import Unsupported
from ..graph import Node
from ..lower import Lowerer, lowering
from ..plan import View
from ..types import ELEMENTS, Element, Type, row_major

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


@lowering("rng_bit_generator")
def rng_bit_generator(lowerer: Lowerer, node: Node) -> None:
    """Generate bits from the state, a key and a counter, each value of which gives 2 or 4 words."""
    state, bits = node.inputs[0], node.outputs[1]
    if bits.type.element.kind not in ("int", "uint"):
        raise Unsupported(f"random bits of type {bits.type} are not supported on xpu")
    if node.attributes["rng_algorithm"] == "THREE_FRY":
        steps = _threefry_bits(lowerer, node)
    else:
        steps = _philox_bits(lowerer, node)

    def advance(emitter: Emitter) -> list[Operand]:
        names = [emitter.value(state, (Affine(k),)) for k in range(state.shape[0])]
        element = state.type.element
        after = emitter.variable(element, Term(f"{{0}} + {steps}ul", (names[1],)))
        if len(names) == 2:
            return [names[0], after]
        carried = Term("{0} + ({1} < {2})", (names[2], after, names[1]))
        return [names[0], after, emitter.variable(element, carried)]

    out = lowerer.result(node.outputs[0])
    words = [out.with_layout((1,), (1,), k) for k in range(state.shape[0])]
    lowerer.add_kernel(advance, words, [state])


def _threefry_bits(lowerer: Lowerer, node: Node) -> int:
    """Add the kernel of Threefry; return by how much the counter advances."""
    state, bits = node.inputs[0], node.outputs[1]
    out = lowerer.result(bits)
    element, shape = bits.type.element, bits.shape or (1,)
    whole = element.size == 8
    split = next((d for d, n in enumerate(shape) if n % 2 == 0), shape.index(max(shape)))
    half = shape if whole else _with(shape, split, -(-shape[split] // 2))
    count = math.prod(half)
    if not count:
        return 0
    target = out.with_layout(shape, row_major(shape))
    if not whole and shape[split] % 2:
        target = lowerer.new(Type(element, _with(shape, split, shape[split] + 1)))

    def write(emitter: Emitter) -> list[str]:
        key, start = (emitter.value(state, (Affine(k),)) for k in (0, 1))
        place = dot(counters(half), row_major(half))
        count = emitter.variable(ELEMENTS["ui64"], Term("{0} + (u64)({1})", (start, place)))
        words = _threefry(emitter, key, count)
        if whole:
            return [emitter.variable(element, _joined(element, *words))]
        return [emitter.variable(element, Term(f"({element.math}){{0}}", (w,))) for w in words]

    steps = [s * (1 if whole or d != split else 2) for d, s in enumerate(target.strides)]
    views = [
        target.with_layout(half, tuple(steps), k * target.strides[split])
        for k in range(1 if whole else 2)
    ]
    lowerer.add_kernel(write, views, [state])
    if target.buffer is not out.buffer:
        lowerer.copy(
            out.with_layout(shape, row_major(shape)), target.slice((0,) * len(shape), shape)
        )
    return count


def _with(shape: tuple[int, ...], dim: int, size: int) -> tuple[int, ...]:
    return (*shape[:dim], size, *shape[dim + 1 :])


def _joined(element: Element, low: str, high: str) -> Term:
    """Return an element of two words."""
    return Term(f"({element.math})((u64){{0}} | (u64){{1}} << 32)", (low, high))


def _word(emitter: Emitter, template: str, *args: Operand) -> str:
    return emitter.variable(ELEMENTS["ui32"], Term(template, args))


def _threefry(emitter: Emitter, key: Operand, count: str) -> tuple[str, str]:
    first, second = (_word(emitter, f"(u32)({{0}} >> {at})", key) for at in (0, 32))
    third = _word(emitter, "{0} ^ {1} ^ 0x1bd11bdau", first, second)
    keys = (first, second, third)
    x = _word(emitter, "(u32){0} + {1}", count, first)
    y = _word(emitter, "(u32)({0} >> 32) + {1}", count, second)
    for group in range(5):
        for turn in _ROTATIONS[group % 2]:
            text = f"{{0}} += {{1}}; {{1}} = ({{1}} << {turn} | {{1}} >> {32 - turn}) ^ {{0}};"
            emitter.do(text, x, y, assigned=(x, y))
        text = f"{{0}} += {{2}}; {{1}} += {{3}} + {group + 1}u;"
        emitter.do(text, x, y, keys[(group + 1) % 3], keys[(group + 2) % 3], assigned=(x, y))
    return x, y


def _philox_bits(lowerer: Lowerer, node: Node) -> int:
    """Add the kernel of Philox; return by how much the counter advances."""
    state, bits = node.inputs[0], node.outputs[1]
    out = lowerer.result(bits)
    element = bits.type.element
    each = 2 if element.size == 8 else 4
    count = -(-bits.type.count // each)
    if not count:
        return 0
    exact = bits.type.count % each == 0
    target = out if exact else lowerer.new(Type(element, (count * each,)))

    def write(emitter: Emitter) -> list[str]:
        values = [emitter.value(state, (Affine(k),)) for k in range(state.shape[0])]
        # A short state uses the key as the counter's upper half.
        key, low, high = values if len(values) == 3 else (*values, values[0])
        first = Term("{0} + (u64)({1})", (low, *counters((count,)))) if count > 1 else low
        begin = emitter.variable(ELEMENTS["ui64"], first)
        words = _philox(emitter, key, begin, Term("({0} + ({1} < {2}))", (high, begin, low)))
        if each == 4:
            return [emitter.variable(element, Term(f"({element.math}){{0}}", (w,))) for w in words]
        return [
            emitter.variable(element, _joined(element, *pair)) for pair in (words[:2], words[2:])
        ]

    views = [target.with_layout((count,), (each,), k) for k in range(each)]
    lowerer.add_kernel(write, views, [state])
    if not exact:
        lowerer.copy(_flat(out), target.slice((0,), (bits.type.count,)))
    return count


def _flat(view: View) -> View:
    return view.with_layout((view.type.count,), (1,))


def _philox(emitter: Emitter, key: Operand, low: Operand, high: Operand) -> list[str]:
    halves = [(low, 0), (low, 32), (high, 0), (high, 32)]
    words = [_word(emitter, f"(u32)({{0}} >> {at})", half) for half, at in halves]
    keys = [_word(emitter, f"(u32)({{0}} >> {at})", key) for at in (0, 32)]
    emitter.do(_PHILOX_ROUNDS, *words, *keys, assigned=(*words, *keys))
    return words


_PHILOX_ROUNDS = (
    "for (int round = 0; round < 10; ++round) {{ "
    "const u64 p = (u64){0} * 0xd2511f53u, q = (u64){2} * 0xcd9e8d57u; "
    "{0} = (u32)(q >> 32) ^ {1} ^ {4}; {1} = (u32)q; "
    "{2} = (u32)(p >> 32) ^ {3} ^ {5}; {3} = (u32)p; "
    "{4} += 0x9e3779b9u; {5} += 0xbb67ae85u; }}"
)

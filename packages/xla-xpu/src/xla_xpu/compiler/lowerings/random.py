"""Lowering of counter-based random bits, equal to XLA's on other platforms."""

from __future__ import annotations

import math

from ..affine import Affine, dot
from ..emit import Emitter
from ..failures import Unsupported
from ..graph import Node
from ..kernel_writer import Output
from ..lower import Lowerer, lowering
from ..plan import View
from ..space import counters
from ..types import ELEMENTS, Type, row_major

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

    def advance(emitter: Emitter) -> list[str]:
        names = [emitter.value(state, (Affine(k),)) for k in range(state.shape[0])]
        element = state.type.element
        after = emitter.variable(element, f"{names[1]} + {steps}ul")
        if len(names) == 2:
            return [names[0], after]
        return [names[0], after, emitter.variable(element, f"{names[2]} + ({after} < {names[1]})")]

    emitter, names = lowerer.emit(advance, [state])
    out = lowerer.result(node.outputs[0])
    outputs = [Output(name, out.with_layout((1,), (1,), k)) for k, name in enumerate(names)]
    lowerer.add_kernel(emitter, outputs)


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
        emitter.irregular = True
        place = emitter.position(dot(counters(half), row_major(half)))
        count = emitter.variable(ELEMENTS["ui64"], f"{start} + (u64)({place})")
        words = _threefry(emitter, key, count)
        if whole:
            both = f"({element.math})((u64){words[0]} | (u64){words[1]} << 32)"
            return [emitter.variable(element, both)]
        return [emitter.variable(element, f"({element.math}){word}") for word in words]

    emitter, names = lowerer.emit(write, [state])
    steps = [s * (1 if whole or d != split else 2) for d, s in enumerate(target.strides)]
    lowerer.add_kernel(
        emitter,
        [
            Output(name, target.with_layout(half, tuple(steps), k * target.strides[split]))
            for k, name in enumerate(names)
        ],
    )
    if target.buffer is not out.buffer:
        lowerer.copy(
            out.with_layout(shape, row_major(shape)), target.slice((0,) * len(shape), shape)
        )
    return count


def _with(shape: tuple[int, ...], dim: int, size: int) -> tuple[int, ...]:
    return (*shape[:dim], size, *shape[dim + 1 :])


def _threefry(emitter: Emitter, key: str, count: str) -> tuple[str, str]:
    word = ELEMENTS["ui32"]
    first, second = (emitter.variable(word, f"(u32)({key} >> {at})") for at in (0, 32))
    third = emitter.variable(word, f"{first} ^ {second} ^ 0x1bd11bdau")
    keys = (first, second, third)
    x = emitter.variable(word, f"(u32){count} + {first}")
    y = emitter.variable(word, f"(u32)({count} >> 32) + {second}")
    for group in range(5):
        for turn in _ROTATIONS[group % 2]:
            emitter.lines.append(f"{x} += {y}; {y} = ({y} << {turn} | {y} >> {32 - turn}) ^ {x};")
        emitter.lines.append(
            f"{x} += {keys[(group + 1) % 3]}; {y} += {keys[(group + 2) % 3]} + {group + 1}u;"
        )
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
        emitter.irregular = True
        wide = ELEMENTS["ui64"]
        begin = emitter.variable(
            wide, f"{low} + (u64)({emitter.position(counters((count,))[0])})" if count > 1 else low
        )
        words = _philox(emitter, key, begin, f"({high} + ({begin} < {low}))")
        if each == 4:
            return [emitter.variable(element, f"({element.math}){word}") for word in words]
        pairs = (words[:2], words[2:])
        return [
            emitter.variable(element, f"({element.math})((u64){a} | (u64){b} << 32)")
            for a, b in pairs
        ]

    emitter, names = lowerer.emit(write, [state])
    outputs = [
        Output(name, target.with_layout((count,), (each,), k)) for k, name in enumerate(names)
    ]
    lowerer.add_kernel(emitter, outputs)
    if not exact:
        lowerer.copy(_flat(out), target.slice((0,), (bits.type.count,)))
    return count


def _flat(view: View) -> View:
    return view.with_layout((view.type.count,), (1,))


def _philox(emitter: Emitter, key: str, low: str, high: str) -> list[str]:
    word = ELEMENTS["ui32"]
    halves = [(low, 0), (low, 32), (high, 0), (high, 32)]
    words = [emitter.variable(word, f"(u32)({text} >> {at})") for text, at in halves]
    keys = [emitter.variable(word, f"(u32)({key} >> {at})") for at in (0, 32)]
    a, b, c, d = words
    k, m = keys
    emitter.lines.append(
        "for (int round = 0; round < 10; ++round) { "
        f"const u64 p = (u64){a} * 0xd2511f53u, q = (u64){c} * 0xcd9e8d57u; "
        f"{a} = (u32)(q >> 32) ^ {b} ^ {k}; {b} = (u32)q; "
        f"{c} = (u32)(p >> 32) ^ {d} ^ {m}; {d} = (u32)p; "
        f"{k} += 0x9e3779b9u; {m} += 0xbb67ae85u; }}"
    )
    return words

"""Memory, control flow, atomics, random numbers and calls: kernels as users write them, one for each feature."""

from __future__ import annotations

from collections.abc import Iterator

from .case import TRITON, Case, Numbers, Result

_HELPERS = """
@triton.jit(noinline=True)
def apart(x, y):
    return x * y + 1.0

@triton.jit(noinline=True)
def store_apart(ptr, x):
    tl.store(ptr, x)

@triton.jit
def two(x, y):
    return x + y, x - y

@triton.jit
def early(x):
    if x > 3:
        return x * 2
    return x - 1

@triton.constexpr_function
def doubled(n):
    return 2 * n
"""
_V = Numbers("f32", (128,))
_W = Numbers("f32", (128,))
_OUT = Result("f32", (128,))
_I = "    i = tl.arange(0, 128)\n"
# The body of a kernel, its arguments, and the grid. `i` is 0 to 127.
BODIES: dict[str, tuple[str, str, tuple[object, ...], tuple[int, ...]]] = {
    "masked": (
        "a, out, n",
        "tl.store(out + i, tl.load(a + i, i < n, other=7.0) + 1, i < n + 5)",
        (_V, _OUT, 100),
        (1,),
    ),
    "masked_without_other": (
        "a, out, n",
        "tl.store(out + i, tl.load(a + i, i < n) + 1, i < n)",
        (_V, _OUT, 77),
        (1,),
    ),
    "mask_of_values": (
        "a, out",
        "x = tl.load(a + i)\n    tl.store(out + i, x, x > 0)",
        (_V, _OUT),
        (1,),
    ),
    "broadcast_mask": ("a, out", "tl.store(out + i, tl.load(a + i, True))", (_V, _OUT), (1,)),
    "scalars": (
        "a, out, s, f",
        "tl.store(out + i, tl.load(a + i) * f + s)",
        (_V, _OUT, 3, 2.5),
        (1,),
    ),
    "scalar_store": ("a, out", "tl.store(out, tl.load(a + 5))", (_V, _OUT), (1,)),
    "scalar_of_sum": (
        "a, out",
        "tl.store(out + tl.program_id(0), tl.sum(tl.load(a + i)))",
        (_V, _OUT),
        (3,),
    ),
    "strided": ("a, out, s", "tl.store(out + i, tl.load(a + (i * s) % 128))", (_V, _OUT, 3), (1,)),
    "reversed": ("a, out", "tl.store(out + 127 - i, tl.load(a + i))", (_V, _OUT), (1,)),
    "gathered": (
        "a, p, out",
        "tl.store(out + i, tl.load(a + tl.load(p + i)))",
        (_V, Numbers("i64", (128,), (0, 128)), _OUT),
        (1,),
    ),
    "read_after_write": (
        "a, out",
        "tl.store(out + i, tl.load(a + i))\n    tl.debug_barrier()\n    tl.store(out + i, tl.load(out + 127 - i) + 1)",
        (_V, _OUT),
        (1,),
    ),
    "modifiers": (
        "a, out",
        'tl.store(out + i, tl.load(a + i, cache_modifier=".cg", eviction_policy="evict_last", volatile=True), cache_modifier=".wb")',
        (_V, _OUT),
        (1,),
    ),
    "hints": (
        "a, out",
        "j = tl.max_contiguous(tl.multiple_of(i, 16), 16)\n    tl.store(out + j, tl.load(a + j))",
        (_V, _OUT),
        (1,),
    ),
    "assumed": (
        "a, out, n",
        "tl.assume(n > 0)\n    tl.store(out + i, tl.load(a + i) / n)",
        (_V, _OUT, 9),
        (1,),
    ),
    "bools": (
        "a, out",
        "tl.store(out + i, tl.load(a + i) & (i % 2 == 0))",
        (Numbers("b1", (128,)), Result("b1", (128,))),
        (1,),
    ),
    "grid": (
        "out",
        "at = tl.program_id(0) + 4 * (tl.program_id(1) + 2 * tl.program_id(2))\n    tl.store(out + at, at + 100 * tl.num_programs(0) + 1000 * tl.num_programs(1) + 10000 * tl.num_programs(2))",
        (Result("i32", (32,)),),
        (4, 2, 3),
    ),
    "swizzle": (
        "out",
        "x, y = tl.swizzle2d(tl.program_id(0), tl.program_id(1), 8, 4, 2)\n    tl.store(out + tl.program_id(0) * 4 + tl.program_id(1), x * 100 + y)",
        (Result("i32", (32,)),),
        (8, 4),
    ),
    "for": (
        "a, out, n",
        "s = tl.zeros((128,), tl.float32)\n    for k in range(0, n):\n        s += tl.load(a + i) * k\n    tl.store(out + i, s)",
        (_V, _OUT, 5),
        (1,),
    ),
    "for_step": (
        "out, n",
        "s = 0\n    for k in range(3, n, 4):\n        s = s * 2 + k\n    tl.store(out, s)",
        (Result("i32", (1,)), 30),
        (1,),
    ),
    "for_down": (
        "out, n",
        "s = 0\n    for k in range(n, 0, -1):\n        s = s * 3 + k\n    tl.store(out, s)",
        (Result("i32", (1,)), 6),
        (1,),
    ),
    "for_pointers": (
        "a, out, n",
        "s = tl.zeros((32,), tl.float32)\n    p = a + tl.arange(0, 32)\n    for k in range(n):\n        s += tl.load(p)\n        p += 32\n    tl.store(out + tl.arange(0, 32), s)",
        (_V, _OUT, 4),
        (1,),
    ),
    "for_two_values": (
        "a, out, n",
        "x = tl.load(a + i)\n    y = x\n    for k in range(n):\n        x, y = y + 1, x * 0.5\n    tl.store(out + i, x - y)",
        (_V, _OUT, 7),
        (1,),
    ),
    "for_nested": (
        "a, out, n",
        "s = tl.zeros((128,), tl.float32)\n    for k in range(n):\n        for j in range(k):\n            s += tl.load(a + i) * (k - j)\n    tl.store(out + i, s)",
        (_V, _OUT, 4),
        (1,),
    ),
    "for_empty": (
        "a, out, n",
        "s = tl.load(a + i)\n    for k in range(n):\n        s = s + 1\n    tl.store(out + i, s)",
        (_V, _OUT, 0),
        (1,),
    ),
    "for_reduce": (
        "a, out, n",
        "m = -float('inf')\n    for k in range(n):\n        m = tl.maximum(m, tl.max(tl.load(a + k * 32 + tl.arange(0, 32))))\n    tl.store(out, m)",
        (_V, Result("f32", (1,)), 4),
        (1,),
    ),
    "static_range": (
        "a, out",
        "s = tl.zeros((128,), tl.float32)\n    for k in tl.static_range(4):\n        s += tl.load(a + i) * k\n    tl.store(out + i, s)",
        (_V, _OUT),
        (1,),
    ),
    "unrolled": (
        "a, out, n",
        "s = tl.zeros((128,), tl.float32)\n    for k in tl.range(0, n, loop_unroll_factor=2):\n        s += tl.load(a + i) * k\n    tl.store(out + i, s)",
        (_V, _OUT, 5),
        (1,),
    ),
    "while": (
        "out, n",
        "c = 0\n    while n > 1:\n        n = n // 2 if n % 2 == 0 else 3 * n + 1\n        c += 1\n    tl.store(out, c)",
        (Result("i32", (1,)), 27),
        (1,),
    ),
    "while_tile": (
        "a, out, n",
        "x = tl.load(a + i)\n    k = 0\n    while k < n:\n        x = x * 0.5 + k\n        k += 1\n    tl.store(out + i, x)",
        (_V, _OUT, 6),
        (1,),
    ),
    "while_of_values": (
        "a, out",
        "x = tl.abs(tl.load(a + i))\n    k = 0\n    while (tl.max(x) > 0.1) & (k < 50):\n        x = x * 0.7\n        k += 1\n    tl.store(out + i, x)",
        (_V, _OUT),
        (1,),
    ),
    "if": (
        "a, out, n",
        "x = tl.load(a + i)\n    if n > 3:\n        x = x + 1\n    else:\n        x = x - 1\n    tl.store(out + i, x)",
        (_V, _OUT, 4),
        (1,),
    ),
    "if_program": (
        "a, out",
        "x = tl.load(a + i)\n    if tl.program_id(0) == 1:\n        tl.store(out + i, x)",
        (_V, _OUT),
        (2,),
    ),
    "if_nested": (
        "a, out, n",
        "x = tl.load(a + i)\n    if n > 3:\n        if n > 10:\n            x = x * 2\n        else:\n            x = x * 3\n    tl.store(out + i, x)",
        (_V, _OUT, 7),
        (1,),
    ),
    "if_value": (
        "a, out",
        "x = tl.load(a)\n    y = 1.0 if x > 0 else -1.0\n    tl.store(out + i, y)",
        (_V, _OUT),
        (1,),
    ),
    "return_early": (
        "a, out, n",
        "if tl.program_id(0) * 32 >= n:\n        return\n    j = tl.program_id(0) * 32 + tl.arange(0, 32)\n    tl.store(out + j, tl.load(a + j))",
        (_V, _OUT, 64),
        (4,),
    ),
    "call": (
        "a, out",
        "x, y = two(tl.load(a + i), 2.0)\n    tl.store(out + i, x * y)",
        (_V, _OUT),
        (1,),
    ),
    "call_early": (
        "out",
        "tl.store(out + tl.program_id(0), early(tl.program_id(0)))",
        (Result("i32", (8,)),),
        (8,),
    ),
    "noinline": (
        "a, out",
        "tl.store(out, apart(tl.load(a), tl.load(a + 1)))",
        (_V, Result("f32", (1,))),
        (1,),
    ),
    "noinline_store": (
        "a, out",
        "store_apart(out + tl.program_id(0), tl.load(a + tl.program_id(0)))",
        (_V, _OUT),
        (4,),
    ),
    "constexpr_function": (
        "a, out",
        "n: tl.constexpr = doubled(16)\n    tl.store(out + tl.arange(0, n), tl.load(a + tl.arange(0, n)))",
        (_V, _OUT),
        (1,),
    ),
    "tuples": (
        "a, out",
        "t = (tl.load(a + i), 2.0, 3)\n    tl.store(out + i, t[0] * t[1] + t[2])",
        (_V, _OUT),
        (1,),
    ),
    "static_assert": (
        "a, out",
        "tl.static_assert(True, 'never')\n    tl.store(out + i, tl.load(a + i))",
        (_V, _OUT),
        (1,),
    ),
    "device_assert": (
        "a, out",
        "x = tl.load(a + i)\n    tl.device_assert(x == x, 'no NaN')\n    tl.store(out + i, x)",
        (_V, _OUT),
        (1,),
    ),
    "i64_index": (
        "a, out, n",
        "j = i.to(tl.int64) + n - n\n    tl.store(out + j, tl.load(a + j))",
        (_V, _OUT, 2**40),
        (1,),
    ),
    "one_is_a_constant": (
        "a, out, n",
        "tl.store(out + i * n, tl.load(a + i * n) + n)",
        (_V, _OUT, 1),
        (1,),
    ),
    "random": ("out, seed", "tl.store(out + i, tl.rand(seed, i))", (_OUT, 42), (1,)),
    "normal": ("out, seed", "tl.store(out + i, tl.randn(seed, i))", (_OUT, 42), (1,)),
    "random_integers": (
        "out, seed",
        "tl.store(out + i, tl.randint(seed, i))",
        (Result("i32", (128,)), 7),
        (1,),
    ),
    "random_four": (
        "out, seed",
        "a, b, c, d = tl.randint4x(seed, i)\n    tl.store(out + i, a ^ b ^ c ^ d)",
        (Result("i32", (128,)), 2**33),
        (1,),
    ),
    "two_results": (
        "a, b, out, last",
        "x = tl.load(a + i) + tl.load(b + i)\n    tl.store(out + i, x)\n    tl.store(last + i, x * x)",
        (_V, _W, _OUT, _OUT),
        (1,),
    ),
    "in_place": ("a", "tl.store(a + i, tl.load(a + i) * 2)", (_V,), (1,)),
    "softmax_rows": (
        "a, out, n",
        "r = tl.program_id(0)\n    x = tl.load(a + r * n + tl.arange(0, 32), tl.arange(0, 32) < n, other=-float('inf'))\n    e = tl.exp(x - tl.max(x, 0))\n    tl.store(out + r * n + tl.arange(0, 32), e / tl.sum(e, 0), tl.arange(0, 32) < n)",
        (Numbers("f32", (4, 27)), Result("f32", (4, 27)), 27),
        (4,),
    ),
}
ATOMICS = {
    "add": ("i32", "u32", "i64", "f16", "f32", "f64"),
    "max": ("i32", "u32", "i64", "f32"),
    "min": ("i32", "u32", "i64", "f32"),
    "and": ("i32", "i64"),
    "or": ("i32", "u32"),
    "xor": ("i32", "i64"),
    "xchg": ("i32", "i64"),
}
_BLOCK = """
def kernel(a, out, rows, columns, {parameters}M: tl.constexpr, N: tl.constexpr):
    p = tl.make_block_ptr(a, (rows, columns), (columns, 1), (tl.program_id(0) * M, 0), (M, N), (1, 0))
    q = tl.make_block_ptr(out, (rows, columns), (columns, 1), (tl.program_id(0) * M, 0), (M, N), (1, 0))
    for k in range(0, columns, N):
        tl.store(q, tl.load(p, boundary_check=(0, 1), padding_option="{padding}") + 1, boundary_check=(0, 1))
        p = tl.advance(p, (0, N))
        q = tl.advance(q, (0, N))
"""
_DESCRIPTOR = """
def kernel(a, out, rows, columns, M: tl.constexpr, N: tl.constexpr):
    p = tl.make_tensor_descriptor(a, (rows, columns), (columns, 1), (M, N))
    q = tl.make_tensor_descriptor(out, (rows, columns), (columns, 1), (M, N))
    r = tl.program_id(0) * M
    for k in range(0, columns, N):
        q.store([r, k], p.load([r, k]) + 1)
"""


def cases() -> Iterator[Case]:
    """Return all cases of this file."""
    for name, (parameters, body, arguments, grid) in BODIES.items():
        source = f"def kernel({parameters}):\n{_I}    {body}\n"
        yield Case(name, source, arguments, grid=grid, helpers=_HELPERS)
    yield from _atomics()
    for padding in ("zero", "nan") if TRITON < (3, 9) else ():
        source = _BLOCK.replace("{padding}", padding).replace("{parameters}", "")
        arguments = (Numbers("f32", (20, 28)), Result("f32", (20, 28)), 20, 28)
        yield Case(f"block_pointer-{padding}", source, arguments, {"M": 8, "N": 16}, (3,))
    arguments = (Numbers("f32", (20, 28)), Result("f32", (20, 28)), 20, 28)
    yield Case("descriptor", _DESCRIPTOR, arguments, {"M": 8, "N": 16}, (3,))


def _atomics() -> Iterator[Case]:
    source = """
def kernel(a, slots, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    tl.atomic_{name}(slots + i % {slots}, x, mask=i < N - 3)
"""
    kinds = {"i32": (-50, 50), "i64": (-50, 50), "u32": (0, 100)}
    for name, types in ATOMICS.items():
        for dtype in types:
            kind = kinds.get(dtype, (-4, 5))
            # Where the order shows, each has a slot of its own.
            slots = "N" if name == "xchg" else "8"
            text = source.replace("{name}", name).replace("{slots}", slots)
            arguments = (Numbers(dtype, (64,), kind), Result(dtype, (64,)), Result(dtype, (64,)))
            yield Case(f"atomic_{name}-{dtype}", text, arguments, {"N": 64}, dtype=dtype)
    source = """
def kernel(a, slots, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.atomic_{name}(slots + i, tl.load(a + i), sem="relaxed"))
"""
    for name in ("add", "max", "xchg"):
        for dtype in ("i32", "i64" if name == "xchg" else "f32"):
            arguments = (Numbers(dtype, (64,)), Numbers(dtype, (64,)), Result(dtype, (64,)))
            text = source.replace("{name}", name)
            yield Case(f"atomic_{name}-result-{dtype}", text, arguments, {"N": 64})
    source = """
def kernel(slots, out):
    old = tl.atomic_add(slots, 1)
    tl.store(out + tl.program_id(0), old * 0 + 1)
    tl.atomic_cas(slots + 1, 0, tl.program_id(0) * 0 + 5)
"""
    yield Case("atomic-scalar", source, (Result("i32", (2,)), Result("i32", (16,))), grid=(16,))
    source = """
def kernel(a, b, slots, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.atomic_cas(slots + i, tl.load(a + i), tl.load(b + i)))
"""
    for dtype in ("i32", "i64"):
        few = Numbers(dtype, (64,), (0, 2))
        arguments = (few, Numbers(dtype, (64,)), few, Result(dtype, (64,)))
        yield Case(f"atomic_cas-{dtype}", source, arguments, {"N": 64})

"""A random program, made and judged from random numbers alone."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import control  # noqa: F401
import elementwise  # noqa: F401
import far_integers  # noqa: F401
import indices  # noqa: F401
import jax
import jax.numpy as jnp
import numpy as np
import reductions  # noqa: F401
import structure  # noqa: F401
from operations import OPERATIONS
from values import Value, random_array, random_dtype, random_shape
from xpu_testing.fuzzing import PASSED, REFUSED, Difference

# The widest difference, in parts of the largest number of a result.
TOLERANCES = {"float64": 1e-9, "complex128": 1e-9, "float32": 2e-4, "complex64": 2e-4}
HALF = 3e-2
NARROW = (jnp.bfloat16, jnp.float16)
# How much larger than the effect of a small change of the arguments differences may be.
_SENSITIVE = 4
# How much of a program is shown.
_MAX_TEXT = 4000


class Case:
    """A program: arguments, and a function of them; ``names`` are the operations it has."""

    def __init__(self, random: Random) -> None:
        self.number = random.getrandbits(62)
        rng = np.random.default_rng([7, self.number])
        self.wide = bool(rng.random() < 0.2)
        self.arguments = []
        for _ in range(int(rng.integers(1, 4))):
            dtype = random_dtype(rng, self.wide)
            self.arguments.append(random_array(rng, random_shape(rng), dtype))
        self.length = int(rng.integers(1, 14))
        self.differentiated = bool(rng.random() < 0.15)
        self.names: list[str] = []
        # Whether floats of 16 bits are computed with as float32.
        self.widened = False

    @property
    def subject(self) -> str:
        return "gradient" if self.differentiated else "program"

    def __str__(self) -> str:
        arguments = ", ".join(f"{a.dtype}{list(a.shape)}" for a in self.arguments)
        return f"{self.length} operations from {arguments}{' with x64' if self.wide else ''}"

    def __call__(self, *arguments: Any) -> list[Any]:
        """Traced on either side alike: what is chosen depends on shapes and dtypes only."""
        rng = np.random.default_rng([8, self.number])
        pool = [self._value(jnp.asarray(argument), True) for argument in arguments]
        names = list(OPERATIONS)
        weights = np.array([weight for _, weight in OPERATIONS.values()])
        used: list[str] = []

        def pick() -> Value:
            recent = max(1, min(4, len(pool)))
            if rng.random() < 0.6:
                return pool[-int(rng.integers(1, recent + 1))]
            return pool[int(rng.integers(0, len(pool)))]

        for _ in range(self.length):
            name = str(rng.choice(names, p=weights / weights.sum()))
            result = OPERATIONS[name][0](rng, pick)
            if result is not None and result.array.size <= 40_000:
                pool.append(self._value(result.array, result.exact))
                used.append(name)
        self.names = used
        results = pool[len(arguments) :]
        return [value.array for value in results[-3:]] or [pool[-1].array]

    def _value(self, array: Any, exact: bool) -> Value:
        narrow = self.widened and array.dtype in NARROW
        return Value(array.astype(jnp.float32) if narrow else array, exact)

    def function(self) -> Callable[..., Any]:
        """What is compiled: the program, or its gradient by the first float it takes."""
        floats = [
            index
            for index, argument in enumerate(self.arguments)
            if jnp.issubdtype(argument.dtype, jnp.floating)
        ]
        if not self.differentiated or not floats:
            # Another function each time: JAX keeps what it has traced, and ``widened`` may have changed.
            return lambda *arguments: self(*arguments)

        def total(x: Any, *rest: Any) -> Any:
            arguments = list(rest)
            arguments.insert(floats[0], x)
            results = [r for r in self(*arguments) if jnp.issubdtype(r.dtype, jnp.floating)]
            return sum((r.astype(jnp.float32).sum() for r in results), start=jnp.float32(0))

        def gradient(*arguments: Any) -> list[Any]:
            rest = list(arguments)
            first = rest.pop(floats[0])
            return [jax.grad(total)(first, *rest)]

        return gradient

    def run(self) -> str:
        """Runs it on both. What is wrong says which operations there were, and the whole program."""
        with jax.enable_x64(self.wide), np.errstate(all="ignore"):
            try:
                return judge(self)
            except Exception as error:
                text = f"of {', '.join(self.names)}\n{self.jaxpr()[:_MAX_TEXT]}"
                if isinstance(error, Difference):
                    raise Difference(f"{error}\n{text}") from None
                error.add_note(text)
                raise

    def jaxpr(self) -> str:
        """The program as JAX has it."""
        return str(jax.make_jaxpr(self.function())(*self.arguments))


def on(platform: str, case: Case, arguments: list[np.ndarray]) -> list[np.ndarray]:
    """What a platform makes of it."""
    print(f"on {platform}", flush=True)  # for who sees the process end
    device = jax.devices(platform)[0]
    with jax.default_device(device):
        return [np.asarray(r) for r in jax.jit(case.function())(*jax.device_put(arguments, device))]


def judge(case: Case) -> str:
    """Raises what differs."""
    try:
        expected = on("cpu", case, case.arguments)
    except Exception:  # noqa: BLE001 - whatever it is, there is nothing to compare
        return _without_reference(case)
    got = on("xpu", case, case.arguments)
    narrowest = _narrowest(case)
    try:
        compare(got, expected, [0.0] * len(got), narrowest)
    except Difference:
        try:
            compare(got, expected, _apart(case, expected, narrowest), narrowest)
        except Difference:
            if narrowest != HALF or not _nearer(case, got, expected):
                raise
    return PASSED


def _without_reference(case: Case) -> str:
    try:
        on("xpu", case, case.arguments)
    except Exception:  # noqa: BLE001 - one that JAX itself refuses, mostly
        return REFUSED
    return PASSED


def _narrowest(case: Case) -> float:
    """The tolerance of the narrowest floats in which anything is computed."""
    text = case.jaxpr()
    if "f16[" in text:
        return HALF
    return TOLERANCES["float32" if "f32[" in text or "c64[" in text else "float64"]


def _apart(case: Case, expected: list[np.ndarray], narrowest: float) -> list[float]:
    """Return the allowed differences of results: a few times the effect of a small change of arguments."""
    moved = []
    for argument in case.arguments:
        if jnp.issubdtype(argument.dtype, jnp.inexact):
            epsilon = max(narrowest / 16, float(jnp.finfo(argument.dtype).eps))
            argument = (argument * (1 + 2 * epsilon)).astype(argument.dtype)
        moved.append(argument)
    return [_SENSITIVE * far for far in _distances(expected, on("cpu", case, moved))]


def _nearer(case: Case, got: list[np.ndarray], expected: list[np.ndarray]) -> bool:
    """Whether xpu's results are no further than JAX's CPU's from what float32 makes of a program in 16 bits.

    The CPU's rounds each step of a sum, which stands still once what is added is less than half its last bit.
    """
    names = case.names
    case.widened = True
    try:
        wide = on("cpu", case, case.arguments)
    finally:
        case.widened = False
    if case.names != names:  # another program: what is chosen depends on dtypes
        return False
    wide = [one.astype(other.dtype) for one, other in zip(wide, expected, strict=True)]
    try:
        compare(got, wide, _distances(expected, wide), HALF)
    except Difference:
        return False
    return True


def _distances(ones: list[np.ndarray], others: list[np.ndarray]) -> list[float]:
    """Return the largest difference of each pair of results where both are finite; 0 for integers."""
    distances = []
    for one, other in zip(ones, others, strict=True):
        if one.dtype.kind in "biu" or not one.size:
            distances.append(0.0)
            continue
        wide = np.complex128 if one.dtype.kind == "c" else np.float64
        a, b = one.astype(wide), other.astype(wide)
        finite = np.isfinite(a) & np.isfinite(b)
        distances.append(float(np.abs(a - b)[finite].max(initial=0)))
    return distances


def compare(
    got: list[np.ndarray], expected: list[np.ndarray], differences: list[float], narrowest: float
) -> None:
    """Raise ``Difference`` if results differ by more than their dtypes and ``differences`` allow."""
    for index, (one, other, more) in enumerate(zip(got, expected, differences, strict=True)):
        what = f"result {index}, {other.dtype}{list(other.shape)}"
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            raise Difference(f"{what}: got {one.dtype}{list(one.shape)}")
        if one.dtype.kind in "biu":
            if not np.array_equal(one, other):
                raise Difference(f"{what}: {_first(one, other, one != other)}")
            continue
        wide = np.complex128 if one.dtype.kind == "c" else np.float64
        a, b = one.astype(wide), other.astype(wide)
        with np.errstate(all="ignore"):
            finite = np.isfinite(b)
            scale = float(np.abs(b[finite]).max(initial=1.0))
            allowed = max(narrowest, TOLERANCES.get(one.dtype.name, HALF)) * scale + more
            same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= allowed)
        if not np.all(same):
            raise Difference(f"{what}: {_first(one, other, ~same)}")


def _first(one: np.ndarray, other: np.ndarray, wrong: np.ndarray) -> str:
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {wrong.size} differ, first at {at}: got {one[at]}, expected {other[at]}"

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
from wide import evaluate
from xpu_testing.float_formats import format_of
from xpu_testing.fuzzing import PASSED, REFUSED, Difference, announce, check
from xpu_testing.judge import describe, element_texts, wrong_elements
from xpu_testing.noise import trials

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

    @property
    def subject(self) -> str:
        return "gradient" if self.differentiated else "program"

    def __str__(self) -> str:
        arguments = ", ".join(f"{a.dtype}{list(a.shape)}" for a in self.arguments)
        return f"{self.length} operations from {arguments}{' with x64' if self.wide else ''}"

    def __call__(self, *arguments: Any) -> list[Any]:
        """Traced on either side alike: what is chosen depends on shapes and dtypes only."""
        rng = np.random.default_rng([8, self.number])
        pool = [Value(jnp.asarray(argument), True) for argument in arguments]
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
                pool.append(result)
                used.append(name)
        self.names = used
        results = pool[len(arguments) :]
        return [value.array for value in results[-3:]] or [pool[-1].array]

    def function(self) -> Callable[..., Any]:
        """What is compiled: the program, or its gradient by the first float it takes."""
        floats = [
            index
            for index, argument in enumerate(self.arguments)
            if jnp.issubdtype(argument.dtype, jnp.floating)
        ]
        if not self.differentiated or not floats:
            return self

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
                    raise Difference(f"{error}\n{text}", error.elements) from None
                error.add_note(text)
                raise

    def jaxpr(self) -> str:
        """The program as JAX has it."""
        return str(jax.make_jaxpr(self.function())(*self.arguments))


def on(platform: str, case: Case, arguments: list[np.ndarray]) -> list[np.ndarray]:
    """What a platform makes of it."""
    announce("xpu" if platform == "xpu" else "reference")
    device = jax.devices(platform)[0]
    with jax.default_device(device):
        return [np.asarray(r) for r in jax.jit(case.function())(*jax.device_put(arguments, device))]


def judge(case: Case) -> str:
    """Raise Difference if a result of xpu is wrong."""
    try:
        expected = on("cpu", case, case.arguments)
    except Exception:  # noqa: BLE001 - whatever it is, there is nothing to compare
        return _without_reference(case)
    got = on("xpu", case, case.arguments)
    announce("reference")
    finer = _finer(case)

    def compare(results: list[np.ndarray]) -> None:
        for index, (one, other) in enumerate(zip(results, expected, strict=True)):
            require_right(f"result {index}", one, other, [each[index] for each in finer])

    check(got, compare)
    return PASSED


def _without_reference(case: Case) -> str:
    try:
        on("xpu", case, case.arguments)
    except Exception:  # noqa: BLE001 - one that JAX itself refuses, mostly
        return REFUSED
    return PASSED


def _finer(case: Case) -> list[list[np.ndarray]]:
    """Return the results in double precision: without noise, then of each trial with noise."""
    program = jax.make_jaxpr(case.function())(*case.arguments)
    with jax.enable_x64(True), jax.default_device(jax.devices("cpu")[0]):
        found = [evaluate(program, case.arguments, n) for n in (None, *trials(case.number))]
        return [[np.asarray(each) for each in results] for results in found]


def require_right(
    name: str, got: np.ndarray, expected: np.ndarray, finer: list[np.ndarray]
) -> None:
    """Raise Difference if elements are wrong; integers must be those of JAX's CPU backend."""
    what = f"{name}, {expected.dtype}{list(expected.shape)}"
    if (got.dtype, got.shape) != (expected.dtype, expected.shape):
        raise Difference(f"{what}: got {got.dtype}{list(got.shape)}")
    about = format_of(got.dtype)
    if about is None:
        wrong, right = got != expected, expected
    else:
        right, *noisy = finer
        wrong = wrong_elements(got.astype(right.dtype), right, noisy, about)
    if wrong.any():
        texts = element_texts(wrong, got, right)
        raise Difference(f"{what}: {describe(wrong, texts)}", texts)

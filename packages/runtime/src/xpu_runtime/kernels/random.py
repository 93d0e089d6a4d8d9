"""Random fills that depend on the seed and the element only, not on the device or its cores.

The source of the numbers is a :class:`xpu_runtime.Generator`, which moves on, or the pair
``(seed, offset)`` that its ``take`` gives. By default it is the device's own generator.
"""

from __future__ import annotations

from .._native import C
from .._stream import Stream, current_stream
from ..array import Array
from ..errors import UsageError
from ..random import Generator, default_generator

Source = Generator | tuple[int, int] | None


def _where(out: Array, source: Source, stream: Stream | None) -> tuple[Stream, object, Array]:
    chosen = default_generator(out.device) if source is None else source
    return stream or current_stream(out.device), chosen, out


def random_bits(out: Array, source: Source = None, stream: Stream | None = None) -> None:
    """Enqueue a fill with the generator's bits as they come, for integer dtypes."""
    C.random_bits(*_where(out, source, stream))


def integers(
    out: Array, low: int, high: int, source: Source = None, stream: Stream | None = None
) -> None:
    """Enqueue a fill with integers from ``low`` to below ``high``, as any number dtype."""
    if not -(2**63) <= low < high <= 2**64 or high - low > 2**64:
        raise UsageError(
            f"random integers: got {low} to {high}, expected low < high within 64 bits"
        )
    signed = low - 2**64 if low >= 2**63 else low
    C.random_integers(*_where(out, source, stream), signed, (high - low) % 2**64)


def bernoulli(
    out: Array, p: float | Array, source: Source = None, stream: Stream | None = None
) -> None:
    """Enqueue a fill with 1 at probability ``p``, a number or an array of them, otherwise 0."""
    fill = C.random_bernoulli_each if isinstance(p, Array) else C.random_bernoulli
    fill(*_where(out, source, stream), p)


def uniform(
    out: Array,
    low: float = 0.0,
    high: float = 1.0,
    source: Source = None,
    stream: Stream | None = None,
) -> None:
    """Enqueue a fill from the interval ``low`` to below ``high``."""
    C.random_uniform(*_where(out, source, stream), low, high)


def normal(
    out: Array,
    mean: float = 0.0,
    deviation: float = 1.0,
    source: Source = None,
    stream: Stream | None = None,
) -> None:
    """Enqueue a fill from the normal distribution."""
    C.random_normal(*_where(out, source, stream), mean, deviation)


def log_normal(
    out: Array,
    mean: float = 1.0,
    deviation: float = 2.0,
    source: Source = None,
    stream: Stream | None = None,
) -> None:
    """Enqueue a fill with numbers whose logarithm is normal."""
    C.random_log_normal(*_where(out, source, stream), mean, deviation)


def exponential(
    out: Array, rate: float = 1.0, source: Source = None, stream: Stream | None = None
) -> None:
    """Enqueue a fill from the exponential distribution."""
    C.random_exponential(*_where(out, source, stream), rate)


def cauchy(
    out: Array,
    median: float = 0.0,
    scale: float = 1.0,
    source: Source = None,
    stream: Stream | None = None,
) -> None:
    """Enqueue a fill from the Cauchy distribution."""
    C.random_cauchy(*_where(out, source, stream), median, scale)


def geometric(out: Array, p: float, source: Source = None, stream: Stream | None = None) -> None:
    """Enqueue a fill with the number of trials up to the first success of probability ``p``."""
    C.random_geometric(*_where(out, source, stream), p)

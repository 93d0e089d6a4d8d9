"""Evaluation of a traced program in double precision on the CPU, with or without rounding errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal
from numpy_rules import rule
from xpu_testing.float_formats import FORMATS, format_of
from xpu_testing.noise import Noise, clipped

# Operations that move, compare or choose numbers round nothing.
_EXACT = frozenset(
    """
    abs argmax argmin broadcast_in_dim clamp concatenate copy cummax cummin dynamic_slice
    dynamic_update_slice expand_dims gather max min neg pad real imag reduce_max reduce_min
    reduce_window_max reshape rev scatter scatter-max scatter-min select_n sign slice sort split squeeze
    stop_gradient top_k transpose iota floor ceil round optimization_barrier select_and_gather_add conj
    complex eq ne lt le gt ge is_finite
    """.split()  # noqa: SIM905
)
# Of the bits of a number, or one step of its dtype: they are applied to exact numbers only.
_OF_BITS = ("bitcast_convert_type", "nextafter", "reduce_precision", "random_bits")
# Positions beyond this size are never made: programs take small parts of them.
_MAX_SIZE = 1 << 28
_WIDE = {np.dtype(jnp.complex64): np.dtype(np.complex128)}


def wide_dtype(dtype: Any) -> Any:
    """Return the dtype of double precision for a float or complex one, others as they are."""
    if not isinstance(dtype, np.dtype) and not isinstance(dtype, type):
        return dtype
    if jnp.issubdtype(dtype, jnp.floating):
        return np.dtype(np.float64)
    return _WIDE.get(np.dtype(dtype), dtype)


def evaluate(program: ClosedJaxpr, arguments: Sequence[Any], noise: Noise | None) -> list[Any]:
    """Return the results of a program. Call it with 64-bit types enabled and the CPU as default device."""
    return _run(program.jaxpr, program.consts, [_widened(a) for a in arguments], noise)


def _widened(value: Any) -> Any:
    if not hasattr(value, "dtype") or jax.dtypes.issubdtype(value.dtype, jax.dtypes.extended):
        return value
    if isinstance(value, jax.core.Tracer):  # inside of what reduces
        return value.astype(wide_dtype(value.dtype))
    return np.asarray(value).astype(wide_dtype(value.dtype))


def _run(jaxpr: Jaxpr, consts: Sequence[Any], arguments: Sequence[Any], noise: Any) -> list[Any]:
    values = dict(zip(jaxpr.invars, arguments, strict=True))
    values |= {v: _widened(c) for v, c in zip(jaxpr.constvars, consts, strict=True)}

    def read(variable: Any) -> Any:
        if isinstance(variable, Literal):
            return np.asarray(variable.val, wide_dtype(variable.aval.dtype))
        return values[variable]

    for equation in jaxpr.eqns:
        given = [read(variable) for variable in equation.invars]
        out = equation.outvars[0]
        if out.aval.size > _MAX_SIZE and equation.primitive.name in _UNMADE:
            values[out] = _UNMADE[equation.primitive.name](equation.params, *given)
            continue
        if any(_is_unmade(each) for each in given):
            values[out] = _part(equation.params, *given)
            continue
        found = _apply(equation, given, noise)
        values |= dict(zip(equation.outvars, found, strict=True))
    return [read(variable) for variable in jaxpr.outvars]


def _positions(params: dict[str, Any]) -> range:
    (size,) = params["shape"]
    return range(size)


def _spread(params: dict[str, Any], value: Any) -> np.ndarray:
    """Return a view that repeats the elements of an array."""
    shape, dims = params["shape"], params["broadcast_dimensions"]
    sizes = [1] * len(shape)
    for dim, size in zip(dims, np.shape(value), strict=True):
        sizes[dim] = size
    return np.broadcast_to(np.reshape(value, sizes), shape)


# Operations whose large results are not made.
_UNMADE = {"iota": _positions, "broadcast_in_dim": _spread}


def _is_unmade(value: Any) -> bool:
    return isinstance(value, range) or getattr(value, "size", 0) > _MAX_SIZE


def _part(params: dict[str, Any], whole: range | np.ndarray) -> np.ndarray:
    """Return a slice of an array that is too large to be made."""
    starts, limits = params["start_indices"], params["limit_indices"]
    places = tuple(map(slice, starts, limits, params["strides"] or [1] * len(starts)))
    return np.array(whole[places[0]] if isinstance(whole, range) else whole[places])


def _apply(equation: Any, given: list[Any], noise: Noise | None) -> list[Any]:
    """Return the results of one operation; with noise its operands and its results are off."""
    name, params = equation.primitive.name, equation.params
    if name in _CONTROL:
        return _CONTROL[name](params, given, noise)
    inner = params.get("jaxpr") or params.get("call_jaxpr")
    if inner is not None and name not in ("reduce", "reduce_window"):
        closed = isinstance(inner, ClosedJaxpr)
        return _run(inner.jaxpr if closed else inner, inner.consts if closed else (), given, noise)
    if name in _OF_BITS:
        narrow = [_as(v, x.aval.dtype) for v, x in zip(given, equation.invars, strict=True)]
        found = equation.primitive.bind(*narrow, **params)
        return _listed(equation, found)
    rounds = noise is not None and name not in _EXACT
    if rounds:
        given = [
            _noisy(v, x.aval.dtype, noise) for v, x in zip(given, equation.invars, strict=True)
        ]
    found = _listed(equation, _bind(equation, given, noise))
    if rounds:
        found = [
            _noisy(v, x.aval.dtype, noise) for v, x in zip(found, equation.outvars, strict=True)
        ]
    return found


def _bind(equation: Any, given: list[Any], noise: Noise | None) -> Any:
    name, params = equation.primitive.name, dict(equation.params)
    if all(isinstance(each, np.ndarray) for each in given) and (known := rule(name, params, given)):
        with np.errstate(all="ignore"):
            return np.asarray(known(*given))
    if name == "polygamma":  # whose order is a whole number
        given[0] = np.round(given[0])
    if name == "convert_element_type" and wide_dtype(params["new_dtype"]) == given[0].dtype:
        return given[0]
    if name in _SCATTERS and jnp.issubdtype(given[0].dtype, jnp.inexact):
        number = np.zeros((), given[0].dtype)
        params["update_jaxpr"] = jax.make_jaxpr(_SCATTERS[name])(number, number).jaxpr
    if name == "reduce":
        inner, count = params["jaxpr"], len(given) // 2

        def combine(a: Any, b: Any) -> Any:
            return tuple(_run(inner.jaxpr, inner.consts, [*_tuple(a), *_tuple(b)], None))

        return lax.reduce(tuple(given[:count]), tuple(given[count:]), combine, params["dimensions"])
    if name == "conv_general_dilated":
        given[0], params = _with_explicit_padding(given[0], params)
    for key in ("new_dtype", "dtype", "preferred_element_type"):
        if params.get(key) is not None:
            params[key] = wide_dtype(params[key])
    return equation.primitive.bind(*given, **params)


def _with_explicit_padding(x: Any, params: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the input of a convolution with its padding as zeros, whose product with NaN is NaN."""
    order = params["dimension_numbers"].lhs_spec
    config = [(0, 0, 0)] * x.ndim
    pairs = zip(order[2:], params["padding"], params["lhs_dilation"], strict=True)
    for dim, (low, high), dilation in pairs:
        config[dim] = (low, high, dilation - 1)
    none = [(0, 0)] * (x.ndim - 2)
    padded = lax.pad(x, jnp.zeros((), x.dtype), config)
    return padded, params | {"padding": tuple(none), "lhs_dilation": (1,) * (x.ndim - 2)}


def _noisy(value: Any, dtype: Any, noise: Noise) -> Any:
    """Return a value with errors, and infinite where it is out of range.

    What is fused is computed in float32: every other trial has the range of the dtype of 16 bits.
    """
    about = format_of(dtype)
    if about is None or not hasattr(value, "size") or not value.size:
        return value
    numbers = noise.rounded(np.asarray(value), about)
    least = FORMATS["f64" if about.name == "f64" else "f32"]
    for limit in (least, about)[: 1 + noise.number % 2]:
        numbers = clipped(numbers, limit)
    return np.asarray(numbers)


def _as(value: Any, dtype: Any) -> Any:
    return value.astype(dtype) if wide_dtype(dtype) != dtype else value


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def _listed(equation: Any, found: Any) -> list[Any]:
    found = list(found) if equation.primitive.multiple_results else [found]
    return [_widened(each) for each in found]


def _cond(params: dict[str, Any], given: list[Any], noise: Noise | None) -> list[Any]:
    index, *operands = given
    branches = params["branches"]
    chosen = branches[int(np.clip(int(index), 0, len(branches) - 1))]
    return _run(chosen.jaxpr, chosen.consts, operands, noise)


def _while(params: dict[str, Any], given: list[Any], noise: Noise | None) -> list[Any]:
    first, second = params["cond_nconsts"], params["body_nconsts"]
    of_condition, of_body = given[:first], given[first : first + second]
    state = given[first + second :]
    condition, body = params["cond_jaxpr"], params["body_jaxpr"]
    while bool(_run(condition.jaxpr, condition.consts, [*of_condition, *state], None)[0]):
        state = _run(body.jaxpr, body.consts, [*of_body, *state], noise)
    return state


def _scan(params: dict[str, Any], given: list[Any], noise: Noise | None) -> list[Any]:
    body = params["jaxpr"]
    if "ft_in" in params:  # JAX 0.12
        consts, carried, _ = map(len, params["ft_in"].unpack())
    else:
        consts, carried = params["num_consts"], params["num_carry"]
    fixed, state = given[:consts], given[consts : consts + carried]
    rows = given[consts + carried :]
    order = range(params["length"])
    outputs: list[list[Any]] = []
    for number in reversed(order) if params["reverse"] else order:
        found = _run(body.jaxpr, body.consts, [*fixed, *state, *(r[number] for r in rows)], noise)
        state = found[:carried]
        outputs.append(found[carried:])
    if params["reverse"]:
        outputs.reverse()
    stacked = [np.stack(each) for each in zip(*outputs, strict=True)]
    if not outputs:
        shapes = body.out_avals[carried:]
        stacked = [np.zeros((0, *s.shape), wide_dtype(s.dtype)) for s in shapes]
    return [*state, *stacked]


def _linear_solve(params: dict[str, Any], given: list[Any], noise: Noise | None) -> list[Any]:
    solve, lengths = params["jaxprs"].solve, params["const_lengths"]
    begin = lengths.matvec + lengths.vecmat
    sides = given[begin + lengths.solve + lengths.transpose_solve :]
    return _run(solve.jaxpr, solve.consts, [*given[begin : begin + lengths.solve], *sides], noise)


_CONTROL = {"cond": _cond, "while": _while, "scan": _scan, "custom_linear_solve": _linear_solve}
_SCATTERS = {
    "scatter-add": lax.add,
    "scatter-mul": lax.mul,
    "scatter-min": lax.min,
    "scatter-max": lax.max,
}

"""Arguments of operators that work element by element."""

from __future__ import annotations

import torch
from generator import ALL, COMPLEX, FLOATS, INTEGERS, NUMBERS, REAL, Generator, View
from operator_line import Arguments, lines

promises = {"strides": True, "overlaps": True}


def one(g: Generator, dtypes=ALL, apart: bool = False) -> View:
    return g.tensor(g.shape(), g.pick(*dtypes), apart=apart)


def unary(g: Generator) -> Arguments:
    return [one(g)], {}


def unary_float(g: Generator) -> Arguments:
    return [one(g, (*FLOATS, torch.int64, torch.bool, torch.uint8))], {}


def unary_differentiable(g: Generator) -> Arguments:
    return [one(g, FLOATS + FLOATS + COMPLEX)], {}


def real(g: Generator) -> Arguments:
    return [one(g, FLOATS + FLOATS)], {}


def with_number(*numbers):
    """A float tensor, and some of these numbers behind it."""

    def arguments(g: Generator) -> Arguments:
        chosen = [g.pick(*choices) for choices in numbers]
        return [one(g, FLOATS), *chosen[: g.randrange(len(chosen) + 1)]], {}

    return arguments


def binary_of(dtypes, scalars: float = 0.2, divisor: bool = False):
    """Two tensors that broadcast, or a tensor and a number; their dtypes are mostly the same.

    Integers are seldom divided by zero: what that gives is not defined.
    """

    def arguments(g: Generator) -> Arguments:
        shape = g.shape()
        dtype = g.pick(*dtypes)
        a = g.tensor(shape, dtype)
        if g.chance(scalars):
            return [a, g.scalar(dtype)], {}
        other = g.pick(*dtypes) if g.chance(0.3) else dtype
        nonzero = divisor and not other.is_floating_point and g.chance(0.9)
        b = g.tensor(g.broadcast_with(shape), other, "positive" if nonzero else "")
        return [b, a] if g.chance(0.2) and not divisor else [a, b], {}

    return arguments


def plus_options(arguments, **options):
    """Each option is given in half of the cases."""

    def more(g: Generator) -> Arguments:
        given, named = arguments(g)
        return given, named | {k: g.pick(*v) for k, v in options.items() if g.chance(0.5)}

    return more


def alpha(g: Generator) -> Arguments:
    given, named = binary_of(ALL)(g)
    if g.chance(0.3):
        named["alpha"] = g.scalar(given[0].dtype, wider=0.05)
    return given, named


def ternary_of(dtypes, scale: str | None = None):
    def arguments(g: Generator) -> Arguments:
        shape, dtype = g.shape(), g.pick(*dtypes)
        of = [g.pick(*dtypes) if g.chance(0.1) else dtype for _ in range(3)]
        given = [g.tensor(shape, of[0]), *(g.tensor(g.broadcast_with(shape), d) for d in of[1:])]
        named = {scale: g.scalar(dtype, wider=0.05)} if scale and g.chance(0.5) else {}
        return given, named

    return arguments


def lerp(g: Generator) -> Arguments:
    shape, dtype = g.shape(), g.pick(*FLOATS, *COMPLEX)
    weight = g.pick(0.0, 0.3, 0.5, 0.9, 2.0)
    if g.chance(0.5):
        weight = g.tensor(g.broadcast_with(shape), dtype, "unit")
    ends = [g.tensor(shape, dtype, g.mild()) for _ in range(2)]
    return [*ends, weight], {}


def where(g: Generator) -> Arguments:
    given, _ = binary_of(ALL, 0)(g)
    condition = g.tensor(g.broadcast_with(given[0].size), torch.bool)
    given = [g.scalar(x.dtype) if g.chance(0.1) else x for x in given]
    return [condition, *given], {}


def clamp(g: Generator) -> Arguments:
    shape, dtype = g.shape(), g.pick(*REAL)
    bounds = [None, None]
    tensors = g.chance(0.4)
    for i in range(2):
        if g.chance(0.7):
            bound = g.scalar(dtype, wider=0.2)
            bounds[i] = g.tensor(g.broadcast_with(shape), dtype) if tensors else bound
    return [g.tensor(shape, dtype), *bounds], {}


def masked_fill(g: Generator) -> Arguments:
    shape, dtype = g.shape(), g.pick(*ALL)
    mask = g.tensor(g.broadcast_with(shape), torch.bool)
    return [g.tensor(shape, dtype), mask, g.scalar(dtype, wider=0.05)], {}


def fill(g: Generator) -> Arguments:
    a = one(g, apart=True)
    return [a, g.scalar(a.dtype) if g.chance(0.7) else g.tensor([], g.pick(*ALL))], {}


def copy(g: Generator) -> Arguments:
    shape = g.shape()
    a = g.tensor(shape, g.pick(*ALL), apart=True)
    other = a.dtype if g.chance(0.5) else g.pick(*FLOATS, *COMPLEX, torch.int64, torch.bool)
    # A number that an integer cannot hold becomes any integer.
    values = "normal" if other != a.dtype else ""
    return [a, g.tensor(g.broadcast_with(shape), other, values)], {}


def convert(g: Generator) -> Arguments:
    dtype = g.pick(*ALL)
    a = g.tensor(g.shape(), dtype, "small")
    named = {"copy": True} if g.chance(0.2) else {}
    if g.chance(0.2):
        named["memory_format"] = g.pick(torch.contiguous_format, torch.preserve_format)
    return [a, g.pick(*ALL)], named


def shifts(g: Generator) -> Arguments:
    shape, dtype = g.shape(), g.pick(*INTEGERS)
    if g.chance(0.3):
        return [g.tensor(shape, dtype), g.pick(0, 1, 3, 7)], {}
    return [g.tensor(shape, dtype), g.tensor(g.broadcast_with(shape), dtype, "positive small")], {}


def order_first(orders, second=True):
    """An order (a number) before the tensor."""

    def arguments(g: Generator) -> Arguments:
        return [one(g, FLOATS[:2]), g.pick(*orders)][:: 1 if second else -1], {}

    return arguments


def polynomial(g: Generator) -> Arguments:
    shape, dtype = g.shape(), g.pick(*FLOATS[:2])
    if g.chance(0.5):
        return [g.tensor(shape, dtype, "normal"), g.pick(0, 1, 2, 5, -1)], {}
    degrees = g.tensor(g.broadcast_with(shape), torch.int64, "index 0 6")
    return [g.tensor(shape, dtype, "normal"), degrees], {}


def positive_pairs(g: Generator) -> Arguments:
    shape, dtype = g.shape(), g.pick(*FLOATS)
    return [
        g.tensor(shape, dtype, "positive"),
        g.tensor(g.broadcast_with(shape), dtype, "positive"),
    ], {}


def pairs_of_floats(g: Generator) -> Arguments:
    return binary_of(FLOATS, 0)(g)


def prelu(g: Generator) -> Arguments:
    shape, dtype = g.shape(1), g.pick(*FLOATS)
    channels = shape[1] if len(shape) > 1 else 1
    return [g.tensor(shape, dtype), g.tensor([g.pick(1, channels)], dtype, "normal")], {}


def quantized(g: Generator) -> Arguments:
    return [
        one(g, FLOATS[:1]),
        g.pick(0.1, 0.5),
        g.pick(0, 3, -2),
        g.pick(-128, 0),
        g.pick(127, 15),
    ], {}


UNARY = """
    abs absolute acos acosh angle asin asinh atan atanh bitwise_not ceil conj_physical cos cosh deg2rad
    erf erfc exp exp2 expm1 floor frac log log10 log1p log2 logical_not neg negative positive
    rad2deg reciprocal round rsqrt sgn sigmoid sign signbit sin sinh sqrt square tan tanh trunc
    isnan isinf isfinite isposinf isneginf isreal fix nan_to_num conj real resolve_conj
    Tensor.bool Tensor.half Tensor.double Tensor.float Tensor.bfloat16
"""
EXACT = set(
    """
    neg negative positive sign signbit logical_not bitwise_not ceil floor trunc fix round nan_to_num
    isnan isinf isfinite isposinf isneginf isreal Tensor.half Tensor.double Tensor.float Tensor.bfloat16
    Tensor.bool real resolve_conj frac
""".split()  # noqa: SIM905
)
SPECIAL = """
    erfinv i0 special.entr special.erfcx special.i0e special.i1 special.i1e
    special.ndtri special.modified_bessel_i0
    special.modified_bessel_i1
    special.modified_bessel_k0 special.modified_bessel_k1 special.scaled_modified_bessel_k0
    special.scaled_modified_bessel_k1 special.exp2
    special.expit special.logit
"""
OSCILLATING = """
    special.bessel_j0 special.bessel_j1 special.bessel_y0 special.bessel_y1 special.spherical_bessel_j0
    special.airy_ai
"""
ACTIVATIONS = """
    F.relu F.relu6 F.selu F.silu F.mish F.hardswish F.softsign
    F.hardtanh F.celu F.elu relu selu celu_
"""
POLYNOMIALS = """
    special.chebyshev_polynomial_t special.chebyshev_polynomial_u special.chebyshev_polynomial_v
    special.chebyshev_polynomial_w special.hermite_polynomial_h special.hermite_polynomial_he
    special.laguerre_polynomial_l special.legendre_polynomial_p special.shifted_chebyshev_polynomial_t
    special.shifted_chebyshev_polynomial_u
"""

OPERATORS = [
    *(
        line
        for name in UNARY.split()
        for line in lines(name, unary, exact=name in EXACT, **promises)
    ),
    *lines(SPECIAL, unary_float, slack=64, **promises),
    *lines("special.log_ndtr", unary_float, slack=64, doubles=1e-9, **promises),
    *lines("special.ndtr", unary_float, slack=64, around=1.0, **promises),  # of PyTorch's 1 + erf
    # Their roots below zero are where two larger numbers cancel.
    *lines(
        "digamma lgamma special.psi special.gammaln",
        unary_float,
        slack=64,
        around=1.0,
        doubles=1e-8,
        **promises,
    ),
    *lines(OSCILLATING, unary_float, slack=64, around=1.0, doubles=1e-5, **promises),
    *lines("sinc special.sinc", unary, around=1.0, **promises),
    *lines("logit", with_number([None, 0.1, 1e-6]), **promises),
    *lines("nan_to_num", with_number([0.0, 1.5], [None, 5.0], [None, -7.0]), **promises),
    *lines(
        "Tensor.round", lambda g: ([one(g, FLOATS)], {"decimals": g.pick(-2, 0, 1, 3)}), **promises
    ),
    *lines(
        "mvlgamma special.multigammaln",
        lambda g: ([one(g, FLOATS[:2]), g.pick(1, 2, 4)], {}),
        slack=256,
        doubles=1e-8,
    ),
    *lines("polygamma", order_first((0, 1, 2, 3), False), slack=256, doubles=1e-8, **promises),
    *lines(ACTIVATIONS.replace("celu_", "celu"), unary_float, **promises),
    *lines(
        "F.gelu", plus_options(real, approximate=["none", "tanh"]), slack=32, around=1.0, **promises
    ),
    *lines("F.logsigmoid", unary_float),
    *lines("F.tanhshrink", unary_float, around=1.0, **promises),
    *lines("F.hardsigmoid", unary_float, doubles=1e-7, **promises),
    *lines("F.leaky_relu", with_number([0.0, 0.01, -0.5, 2.0]), **promises),
    *lines("F.elu F.celu", with_number([1.0, 0.5, 2.0]), **promises),
    *lines("F.softplus", with_number([1, 0.5, 3.0], [20, 2]), slack=32, **promises),
    *lines("F.softshrink F.hardshrink", with_number([0.0, 0.5, 1.5]), **promises),
    *lines("F.hardtanh", with_number([-1.0, -0.2], [0.3, 1.0]), **promises),
    *lines(
        "F.threshold", lambda g: ([one(g, REAL), g.pick(0, 1, 0.5), g.pick(0, -3)], {}), **promises
    ),
    *lines(
        "F.glu",
        lambda g: (
            [g.tensor(s := [2 * n for n in g.shape(1)], g.pick(*FLOATS)), g.dim(len(s))],
            {},
        ),
    ),
    *lines("F.prelu", prelu),
    *lines("F.rrelu", with_number([0.1, 0.2], [0.3, 0.4])),
    *lines("fake_quantize_per_tensor_affine", quantized),
    *lines("add sub subtract", alpha, **promises),
    *lines("rsub", alpha, strides=True),
    *lines("mul multiply true_divide", binary_of(ALL), **promises),
    # The logarithm of a large complex power has as many digits less as the power has before its point.
    *lines("pow float_power", binary_of(ALL), doubles=1e-11, **promises),
    *lines("eq ne lt le gt ge not_equal greater", binary_of(ALL), exact=True, **promises),
    *lines(
        "div divide",
        plus_options(binary_of(ALL, divisor=True), rounding_mode=[None, "trunc", "floor"]),
        **promises,
    ),
    *lines("floor_divide fmod remainder", binary_of(REAL, divisor=True), **promises),
    *lines("maximum minimum fmax fmin", binary_of((*REAL, torch.bool), 0), exact=True, **promises),
    *lines("atan2 arctan2 copysign heaviside", binary_of(REAL), **promises),
    *lines("hypot nextafter", pairs_of_floats, **promises),
    *lines("logaddexp logaddexp2", pairs_of_floats, around=1.0, **promises),
    *lines("logical_and logical_or logical_xor", binary_of(ALL, 0), exact=True, **promises),
    *lines(
        "bitwise_and bitwise_or bitwise_xor",
        binary_of((*INTEGERS, torch.bool)),
        exact=True,
        **promises,
    ),
    *lines("bitwise_left_shift bitwise_right_shift", shifts, exact=True, **promises),
    *lines("gcd lcm", binary_of(INTEGERS, 0), exact=True, **promises),
    *lines("ldexp xlogy special.xlog1py special.zeta", binary_of(REAL, 0.1), slack=64),
    *lines("igamma igammac", positive_pairs, slack=512),
    *lines(POLYNOMIALS, polynomial, slack=256, cancels=True),
    *lines("isclose", plus_options(binary_of(ALL, 0), equal_nan=[True], rtol=[0.0, 0.1])),
    *lines("allclose equal", binary_of(ALL, 0)),
    *lines(
        "complex",
        lambda g: ([g.tensor(s := g.shape(), d := g.pick(*FLOATS[:2])), g.tensor(s, d)], {}),
        exact=True,
    ),
    *lines(
        "polar",
        lambda g: (
            [
                g.tensor(s := g.shape(), d := g.pick(*FLOATS[:2]), "normal"),
                g.tensor(s, d, "normal"),
            ],
            {},
        ),
    ),
    *lines(
        "view_as_complex",
        lambda g: ([g.tensor([*g.shape(0, 5), 2], g.pick(*FLOATS[:2]))], {}),
        exact=True,
    ),
    *lines("view_as_real imag Tensor.conj adjoint", lambda g: ([one(g, COMPLEX)], {}), exact=True),
    *lines("addcmul", ternary_of(NUMBERS, "value"), cancels=True, **promises),
    *lines("addcdiv", ternary_of(FLOATS + COMPLEX, "value"), cancels=True, **promises),
    *lines("lerp", lerp, cancels=True, **promises),
    *lines("where", where, exact=True, strides=True),
    *lines("clamp clip", clamp, exact=True, **promises),
    *lines(
        "clamp_min clamp_max",
        lambda g: (x[:2] if (x := clamp(g)[0])[1] is not None else [x[0], 1], {}),
        exact=True,
        **promises,
    ),
    *lines("masked_fill", masked_fill, exact=True),
    *lines("fill Tensor.fill_", fill, exact=True),
    *lines("Tensor.copy_", copy, exact=True, overlaps=True),
    *lines("Tensor.to", convert, exact=True, strides=True),
    *lines("frexp", lambda g: ([one(g, FLOATS)], {}), exact=True),
    *lines(
        "Tensor.int Tensor.short Tensor.byte",
        lambda g: ([g.tensor(g.shape(), g.pick(*ALL), "small")], {}),
    ),
    *lines("Tensor.zero_", unary, exact=True),
    *lines(
        "zeros_like ones_like",
        plus_options(unary, dtype=ALL, memory_format=[torch.contiguous_format]),
        exact=True,
        strides=True,
    ),
    *lines("full_like", lambda g: ([a := one(g), g.scalar(a.dtype)], {}), exact=True, strides=True),
]

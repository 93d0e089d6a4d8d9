"""Arguments of products, solvers of linear equations and Fourier transforms."""

from __future__ import annotations

import torch
from generator import COMPLEX, FLOATS, NUMBERS, Generator
from operator_line import Arguments, lines

FINE = (torch.float32, torch.float64, torch.complex64, torch.complex128)
VALUES = ("normal", "small", "unit")


def factors(*shapes: str, dtypes=NUMBERS, scaled: bool = False):
    """Tensors whose dimensions of the same letter have the same size; seldom one is off."""

    def arguments(g: Generator) -> Arguments:
        sizes = {letter: g.size(0 if g.chance(0.1) else 1) for letter in set("".join(shapes))}
        dtype = g.pick(*dtypes)
        given = []
        for shape in shapes:
            own = [sizes[letter] for letter in shape]
            if g.chance(0.01) and own:
                own[0] += 1
            given.append(g.tensor(own, dtype, g.pick(*VALUES)))
        named = {}
        if scaled and g.chance(0.5):
            named = {"alpha": _factor(g, dtype), "beta": _factor(g, dtype)}
        return given, named

    return arguments


def _factor(g: Generator, dtype: torch.dtype):
    return (
        g.pick(0, 1, 2, -1)
        if not (dtype.is_floating_point or dtype.is_complex)
        else g.pick(0, 1, 0.5, -2.0)
    )


def matmul(g: Generator) -> Arguments:
    batch = g.shape(0, 4, 20)
    n, m, k = (g.size(0 if g.chance(0.1) else 1, 33) for _ in range(3))
    dtype = g.pick(*NUMBERS)
    a, b = g.pick([[k], [k]], [[n, k], [k]], [[k], [k, m]], [[n, k], [k, m]], [[n, k], [k, m]])
    if len(a) == 2 and g.chance(0.7):
        a = [*g.broadcast_with(batch), *a]
    if len(b) == 2 and g.chance(0.5):
        b = [*g.broadcast_with(batch), *b]
    return [g.tensor(a, dtype, g.pick(*VALUES)), g.tensor(b, dtype, g.pick(*VALUES))], {}


EQUATIONS = (
    *(
        "ij,jk->ik",
        "bij,bjk->bik",
        "i,j->ij",
        "ij->ji",
        "ii->i",
        "ij,ij->",
        "bij->b",
        "...ij,...jk->...ik",
    ),
    *("bhqd,bhkd->bhqk", "ij,jk,kl->il", "i,i", "abc,cd->abd", "ij->"),
)


def einsum(g: Generator) -> Arguments:
    equation = g.pick(*EQUATIONS)
    sizes = {letter: g.size(1, 9) for letter in "abcdefhijklq"}
    dtype = g.pick(*FLOATS, torch.complex64)
    given = []
    for shape in equation.split("->")[0].split(","):
        own = [2] if "..." in shape else []
        given.append(g.tensor(own + [sizes[c] for c in shape if c != "."], dtype, "normal"))
    return [equation, *given], {}


def square(g: Generator, dtypes=FINE, most: int = 9):
    n = g.size(0 if g.chance(0.05) else 1, most)
    batch = [g.size(1, 3) for _ in range(g.pick(0, 0, 1, 2))]
    return g.tensor([*batch, n, n], g.pick(*dtypes), "normal"), n


def conditioned(a: torch.Tensor) -> torch.Tensor:
    """What its numbers determine well: the diagonal is large."""
    return a + 4 * a.shape[-1] * torch.eye(a.shape[-1], dtype=a.dtype, device=a.device)


def positive(a: torch.Tensor) -> torch.Tensor:
    return conditioned(a @ a.mH)


def of_square(g: Generator) -> Arguments:
    return [square(g)[0]], {}


def with_right_side(g: Generator) -> Arguments:
    a, n = square(g)
    shape = [*a.size[:-2], n, g.size(0 if g.chance(0.05) else 1, 5)]
    return [a, g.tensor(shape, a.dtype, "normal")], {}


def triangular(g: Generator) -> Arguments:
    given, _ = with_right_side(g)
    named: dict = {"upper": g.chance(0.5), "unitriangular": g.chance(0.3)}
    return given, named


def powers(g: Generator) -> Arguments:
    return [square(g, (*FINE, torch.int64))[0], g.pick(0, 1, 2, 3, 5)], {}


def tensordot(g: Generator) -> Arguments:
    common = [g.size(1, 5) for _ in range(g.pick(0, 1, 2))]
    dtype = g.pick(*FINE, torch.int64)
    a, b = [g.size(1, 5) for _ in range(2)] + common, [*common, g.size(1, 5)]
    return [g.tensor(a, dtype, "normal"), g.tensor(b, dtype, "normal")], {"dims": len(common)}


def cross(g: Generator) -> Arguments:
    shape = g.shape(1, 5)
    dim = g.dim(len(shape), 0)
    shape[dim] = 3 if g.chance(0.97) else 2
    dtype = g.pick(*NUMBERS)
    return [g.tensor(shape, dtype, "normal"), g.tensor(shape, dtype, "normal")], {"dim": dim}


def distances(g: Generator) -> Arguments:
    batch = [g.size(1, 3)] if g.chance(0.4) else []
    n, m, d, dtype = g.size(0, 33), g.size(0, 33), g.size(0, 9), g.pick(*FLOATS[:2])
    p = g.pick(0.0, 1.0, 2.0, 2.0, 3.0, float("inf"))
    return [g.tensor([*batch, n, d], dtype, "normal"), g.tensor([*batch, m, d], dtype, "normal")], {
        "p": p
    }


def transform(dtypes, least: int = 1, most: int = 5):
    def arguments(g: Generator) -> Arguments:
        shape = g.shape(least, most)
        a = g.tensor(shape, g.pick(*dtypes), "normal")
        named: dict = {"norm": g.pick("backward", "forward", "ortho")} if g.chance(0.5) else {}
        if g.chance(0.5):
            named["dim"] = g.dim(len(shape))
        if g.chance(0.3):
            named["n"] = g.size(1, 33)
        return [a], named

    return arguments


def transforms(dtypes, pairs: bool):
    def arguments(g: Generator) -> Arguments:
        shape = g.shape(2, 4)
        a = g.tensor(shape, g.pick(*dtypes), "normal")
        dims = g.random.sample(range(len(shape)), 2 if pairs else g.random.randint(1, len(shape)))
        return [a], {"dim": dims, "norm": g.pick(None, "ortho")}

    return arguments


def shifted(g: Generator) -> Arguments:
    shape = g.shape(1, 5)
    return [g.tensor(shape, g.pick(*NUMBERS))], {"dim": g.dims(len(shape))}


summed = {"slack": 64, "cancels": True}
solved = {"slack": 512, "cancels": True, "modes": "fg"}
reals = (torch.float32, torch.float64)
any_fft = (*reals, *COMPLEX, torch.int64)

OPERATORS = [
    *lines("mm", factors("nk", "km"), **summed),
    *lines("bmm", factors("bnk", "bkm"), **summed),
    *lines("mv", factors("nk", "k"), **summed),
    *lines("dot vdot", factors("k", "k"), **summed),
    *lines("inner kron", factors("ab", "cb"), **summed),
    *lines("outer ger", factors("a", "b"), **summed),
    *lines("addmm", factors("nm", "nk", "km", scaled=True), **summed),
    *lines("addmm", factors("m", "nk", "km", scaled=True), **summed),
    *lines("addmv", factors("n", "nk", "k", scaled=True), **summed),
    *lines("addr", factors("nm", "n", "m", scaled=True), **summed),
    *lines("baddbmm", factors("bnm", "bnk", "bkm", scaled=True), **summed),
    *lines("addbmm", factors("nm", "bnk", "bkm", scaled=True), **summed),
    *lines("F.linear", factors("xyk", "mk", "m", dtypes=FLOATS + COMPLEX), **summed),
    *lines("F.linear", factors("nk", "mk", dtypes=FLOATS), **summed),
    *lines("F.bilinear", factors("na", "nb", "mab", dtypes=FLOATS[:2]), **summed),
    *lines("chain_matmul", factors("ab", "bc", "cd", dtypes=FINE), **summed),
    *lines("matmul", matmul, **summed),
    *lines("einsum", einsum, **summed),
    *lines("tensordot", tensordot, **summed),
    *lines("linalg.cross", cross, **summed),
    *lines("cdist", distances, slack=256, cancels=True),
    *lines(
        "F.pdist",
        lambda g: ([g.tensor([g.size(0, 17), g.size(0, 9)], g.pick(*reals), "normal")], {}),
        **summed,
    ),
    *lines(
        "F.cosine_similarity F.pairwise_distance",
        lambda g: (
            [
                g.tensor(s := g.shape(1, 4), d := g.pick(*FLOATS[:2]), "normal"),
                g.tensor(s, d, "normal"),
            ],
            {},
        ),
        **summed,
    ),
    *lines("linalg.inv", of_square, composed=lambda a: torch.linalg.inv(conditioned(a)), **solved),
    *lines("linalg.det", of_square, composed=lambda a: torch.linalg.det(conditioned(a)), **solved),
    *lines(
        "linalg.slogdet",
        of_square,
        composed=lambda a: torch.linalg.slogdet(conditioned(a)),
        **solved,
    ),
    *lines("linalg.lu", of_square, composed=lambda a: torch.linalg.lu(conditioned(a)), **solved),
    *lines(
        "linalg.cholesky",
        of_square,
        composed=lambda a: torch.linalg.cholesky(positive(a)),
        **solved,
    ),
    *lines(
        "linalg.solve",
        with_right_side,
        composed=lambda a, b: torch.linalg.solve(conditioned(a), b),
        **solved,
    ),
    *lines(
        "linalg.solve_triangular",
        triangular,
        composed=lambda a, b, **n: torch.linalg.solve_triangular(conditioned(a), b, **n),
        **solved,
    ),
    *lines(
        "cholesky_solve",
        with_right_side,
        composed=lambda a, b: torch.cholesky_solve(b, torch.linalg.cholesky(positive(a))),
        **solved,
    ),
    *lines(
        "linalg.matrix_exp", of_square, composed=lambda a: torch.linalg.matrix_exp(a / 4), **solved
    ),
    *lines("linalg.matrix_power", powers, **summed),
    *lines(
        "linalg.matrix_norm",
        lambda g: ([square(g)[0], g.pick("fro", 1, -1, float("inf"))], {}),
        **summed,
    ),
    *lines("fft.fft fft.ifft", transform(any_fft), **summed),
    *lines("fft.rfft fft.ihfft", transform((*reals, torch.int64)), **summed),
    *lines("fft.irfft fft.hfft", transform(any_fft), **summed),
    *lines("fft.fft2 fft.ifft2", transforms(any_fft, True), **summed),
    *lines("fft.fftn fft.ifftn", transforms(any_fft, False), **summed),
    *lines("fft.rfftn", transforms(reals, False), **summed),
    *lines("fft.fftshift fft.ifftshift", shifted, exact=True),
]

"""Arguments of the operators of networks."""

from __future__ import annotations

import torch
from generator import FLOATS, Generator
from operator_line import Arguments, lines

FINE = FLOATS[:2]


def convolution(dims: int, transposed: bool = False):
    def arguments(g: Generator) -> Arguments:
        groups = g.pick(1, 1, 1, 2, 3)
        ins, outs = groups * g.pick(1, 2, 3), groups * g.pick(1, 2, 4)
        dtype = g.pick(*FLOATS)
        kernel = [g.pick(1, 2, 3) for _ in range(dims)]
        stride, dilation = [g.pick(1, 1, 2, 3) for _ in kernel], [g.pick(1, 1, 2) for _ in kernel]
        padding = [g.pick(0, 0, 1, 2) for _ in kernel]
        size = [g.size(1, 9) + (k - 1) * d for k, d in zip(kernel, dilation, strict=True)]
        batch = g.pick([], [1], [2], [3])
        a = g.tensor([*batch, ins, *size], dtype, "normal")
        sides = [ins, outs // groups] if transposed else [outs, ins // groups]
        weight = g.tensor([*sides, *kernel], dtype, "normal")
        bias = g.tensor([outs], dtype, "normal") if g.chance(0.5) else None
        named: dict = {"stride": stride, "dilation": dilation, "groups": groups}
        named["padding"] = padding
        if transposed and g.chance(0.3):
            named["output_padding"] = [
                min(1, max(s, d) - 1) for s, d in zip(stride, dilation, strict=True)
            ]
        if not transposed and g.chance(0.1):
            named |= {"stride": 1, "padding": g.pick("same", "valid")}
        return [a, weight, bias], named

    return arguments


def _image(g: Generator, dims: int, dtypes=FLOATS, least: int = 3):
    lead = [g.size(1, 4), g.size(1, 5)][g.randrange(2) :]
    return g.tensor([*lead, *(g.size(least, 13) for _ in range(dims))], g.pick(*dtypes), "normal")


def average_pool(dims: int):
    def arguments(g: Generator) -> Arguments:
        a = _image(g, dims)
        kernel = [g.pick(1, 2, 3) for _ in range(dims)]
        named: dict = {"stride": [g.pick(1, 2, 3) for _ in kernel]} if g.chance(0.6) else {}
        named["padding"] = [g.randrange(k // 2 + 1) for k in kernel]
        named |= {"ceil_mode": g.chance(0.3), "count_include_pad": g.chance(0.6)}
        if dims > 1 and g.chance(0.2):
            named["divisor_override"] = g.pick(1, 3, 7)
        return [a, kernel], named

    return arguments


def max_pool(dims: int):
    def arguments(g: Generator) -> Arguments:
        (a, kernel), named = average_pool(dims)(g)
        for name in ("count_include_pad", "divisor_override"):
            named.pop(name, None)
        if g.chance(0.3):
            named["dilation"] = g.pick(1, 2)
        return [a, kernel], named | {"return_indices": g.chance(0.5)}

    return arguments


def adaptive(dims: int, indices: bool = False):
    def arguments(g: Generator) -> Arguments:
        named = {"return_indices": g.chance(0.5)} if indices else {}
        return [_image(g, dims), [g.size(1, 9) for _ in range(dims)]], named

    return arguments


def norm_pool(dims: int):
    def arguments(g: Generator) -> Arguments:
        return [_image(g, dims, FINE), g.pick(1.0, 2.0, 3.0), g.pick(1, 2, 3)], {
            "ceil_mode": g.chance(0.3)
        }

    return arguments


def batch_norm(g: Generator) -> Arguments:
    channels, dtype = g.size(1, 9), g.pick(*FLOATS)
    rest = [g.size(1, 9) for _ in range(g.randrange(4))]
    a = g.tensor([g.size(2, 9), channels, *rest], dtype, "normal")
    # They are written in training.
    mean = g.tensor([channels], dtype, "normal", apart=True)
    variance = g.tensor([channels], dtype, "positive", apart=True)
    weight, bias = _affine(g, [channels], dtype)
    named = {"training": g.chance(0.5), "momentum": g.pick(0.1, 0.5), "eps": g.pick(1e-5, 1e-2)}
    return [a, mean, variance, weight, bias], named


def _affine(g: Generator, shape, dtype):
    return [g.tensor(shape, dtype, "normal") if g.chance(0.6) else None for _ in range(2)]


def layer_norm(g: Generator) -> Arguments:
    shape, dtype = g.shape(1, 6), g.pick(*FLOATS)
    inner = shape[g.randrange(len(shape)) :]
    return [g.tensor(shape, dtype, "normal"), inner, *_affine(g, inner, dtype)], {
        "eps": g.pick(1e-5, 1e-2)
    }


def rms_norm(g: Generator) -> Arguments:
    given, named = layer_norm(g)
    return given[:3], named


def group_norm(g: Generator) -> Arguments:
    groups = g.pick(1, 2, 3)
    channels, dtype = groups * g.size(1, 4), g.pick(*FLOATS)
    shape = [g.size(1, 4), channels, *(g.size(1, 9) for _ in range(g.randrange(4)))]
    return [g.tensor(shape, dtype, "normal"), groups, *_affine(g, [channels], dtype)], {"eps": 1e-2}


def instance_norm(g: Generator) -> Arguments:
    a = _image(g, g.pick(1, 2), least=2)
    return [a], {"eps": 1e-2}


def response_norm(g: Generator) -> Arguments:
    return [
        g.tensor([g.size(1, 3), g.size(1, 9), g.size(1, 9)], g.pick(*FINE), "normal"),
        g.pick(1, 2, 3),
    ], {}


def loss(values=("normal", "normal"), **options):
    """Two tensors of one shape, a reduction and options."""

    def arguments(g: Generator) -> Arguments:
        shape, dtype = g.shape(0, 6), g.pick(*FLOATS)
        given = [g.tensor(shape, dtype, value) for value in values]
        named = {k: g.pick(*v) for k, v in options.items() if g.chance(0.6)}
        return given, named | {"reduction": g.pick("none", "mean", "sum")}

    return arguments


def classes(g: Generator) -> Arguments:
    count, dtype = g.size(1, 17), g.pick(*FLOATS)
    lead = g.pick([], [g.size(1, 9)], [g.size(1, 5), g.size(1, 5), g.size(1, 5)])
    shape = [*lead[:1], count, *lead[1:]]
    target = g.index(lead, count)
    named: dict = {"reduction": g.pick("none", "mean", "sum")}
    if g.chance(0.3):
        named["ignore_index"] = g.randrange(count)
    if g.chance(0.4):
        named["weight"] = g.tensor([count], dtype, "positive")
    return [g.tensor(shape, dtype, "normal"), target], named


def cross_entropy(g: Generator) -> Arguments:
    given, named = classes(g)
    if g.chance(0.3):
        named["label_smoothing"] = g.pick(0.1, 0.5)
    return given, named


def nll(logits, target, **named):
    return torch.nn.functional.nll_loss(
        logits.log_softmax(min(1, logits.dim() - 1)), target, **named
    )


def margins(g: Generator) -> Arguments:
    n, count = g.size(1, 9), g.size(1, 9)
    a = g.tensor([n, count], g.pick(*FINE), "normal")
    return [a, g.index([n], count)], {"p": g.pick(1, 2), "reduction": g.pick("none", "mean", "sum")}


def interpolate(g: Generator) -> Arguments:
    dims = g.pick(1, 2, 2, 3)
    smooth = {1: ["linear"], 2: ["bilinear", "bicubic"], 3: ["trilinear"]}[dims]
    mode = g.pick("nearest", "nearest-exact", "area", *smooth)
    lead = [g.size(1, 3), g.size(1, 4)]
    a = g.tensor([*lead, *(g.size(1, 9) for _ in range(dims))], g.pick(*FLOATS), "normal")
    named: dict = {"mode": mode}
    if g.chance(0.5):
        named["size"] = [g.size(1, 17) for _ in range(dims)]
    else:
        named["scale_factor"] = [g.pick(0.5, 1.0, 1.5, 2.0, 3.3) for _ in range(dims)]
        named["recompute_scale_factor"] = g.pick(None, True)
    if mode in ("linear", "bilinear", "bicubic", "trilinear"):
        named["align_corners"] = g.chance(0.5)
        if mode.startswith("bi") and g.chance(0.3):
            named["antialias"] = True
    return [a], named


def grid_sample(g: Generator) -> Arguments:
    dims, n, dtype = g.pick(2, 2, 3), g.size(1, 3), g.pick(*FINE)
    a = g.tensor([n, g.size(1, 4), *(g.size(1, 9) for _ in range(dims))], dtype, "normal")
    grid = g.tensor([n, *(g.size(1, 7) for _ in range(dims)), dims], dtype, "normal")
    modes = ["bilinear", "nearest"] + (["bicubic"] if dims == 2 else [])
    named = {"mode": g.pick(*modes), "padding_mode": g.pick("zeros", "border", "reflection")}
    return [a, grid], named | {"align_corners": g.chance(0.5)}


def affine_grid(g: Generator) -> Arguments:
    n, dims = g.size(1, 3), g.pick(2, 3)
    size = [n, g.size(1, 3), *(g.size(1, 7) for _ in range(dims))]
    return [g.tensor([n, dims, dims + 1], g.pick(*FINE), "normal"), size], {
        "align_corners": g.chance(0.5)
    }


def windows(g: Generator) -> Arguments:
    named = {"dilation": g.pick(1, 2), "padding": g.pick(0, 1), "stride": g.pick(1, 2)}
    return [_image(g, 2, FLOATS, least=5), [g.pick(1, 2, 3), g.pick(1, 2, 3)]], named


def attention(g: Generator) -> Arguments:
    dtype, heads = g.pick(*FLOATS[:2], *FLOATS), g.pick(1, 2, 4)
    lead = [g.size(1, 3), heads]
    queries, keys, inner, outer = g.size(1, 33), g.size(1, 33), g.pick(4, 8, 16, 17, 32), 0
    outer = inner if g.chance(0.8) else g.size(1, 17)
    groups = g.pick(1, 2) if heads % 2 == 0 else 1
    few = [lead[0], heads // groups]
    given = [
        g.tensor([*lead, queries, inner], dtype, "normal"),
        g.tensor([*few, keys, inner], dtype, "normal"),
        g.tensor([*few, keys, outer], dtype, "normal"),
    ]
    named: dict = {"enable_gqa": True} if groups > 1 else {}
    style = g.randrange(4)
    if style == 0:
        named["is_causal"] = True
    if style == 1:
        named["attn_mask"] = g.tensor(
            g.broadcast_with([*lead, queries, keys])[-4:], dtype, "normal"
        )
    if style == 2:
        named["attn_mask"] = g.tensor([queries, keys], torch.bool)
    if g.chance(0.3):
        named["scale"] = g.pick(0.5, 1.0)
    return given, named


summed = {"slack": 64, "cancels": True}

OPERATORS = [
    *(line for d in (1, 2, 3) for line in lines(f"F.conv{d}d", convolution(d), **summed)),
    *(
        line
        for d in (1, 2, 3)
        for line in lines(f"F.conv_transpose{d}d", convolution(d, True), **summed)
    ),
    *(line for d in (1, 2, 3) for line in lines(f"F.avg_pool{d}d", average_pool(d), **summed)),
    *(
        line
        for d in (1, 2, 3)
        for line in lines(f"F.max_pool{d}d", max_pool(d), exact=True, slack=64)
    ),
    *(line for d in (1, 2, 3) for line in lines(f"F.adaptive_avg_pool{d}d", adaptive(d), **summed)),
    *(
        line
        for d in (1, 2, 3)
        for line in lines(f"F.adaptive_max_pool{d}d", adaptive(d, True), exact=True, slack=64)
    ),
    *(
        line
        for d in (1, 2, 3)
        for line in lines(f"F.lp_pool{d}d", norm_pool(d), slack=256, cancels=True)
    ),
    *lines("F.batch_norm", batch_norm, slack=128, cancels=True),
    *lines("F.layer_norm", layer_norm, slack=128, cancels=True),
    *lines("F.rms_norm", rms_norm, slack=128, cancels=True),
    *lines("F.group_norm", group_norm, slack=128, cancels=True),
    *lines("F.instance_norm", instance_norm, slack=128, cancels=True),
    *lines("F.local_response_norm", response_norm, **summed),
    *lines("F.l1_loss F.mse_loss F.soft_margin_loss", loss(), **summed),
    *lines("F.smooth_l1_loss", loss(beta=[0.0, 0.5, 2.0]), **summed),
    *lines("F.huber_loss", loss(delta=[0.5, 2.0]), **summed),
    *lines("F.binary_cross_entropy", loss(("unit", "unit")), **summed),
    *lines("F.binary_cross_entropy_with_logits", loss(("normal", "unit")), **summed),
    *lines("F.kl_div", loss(("normal", "unit"), log_target=[True, False]), **summed),
    *lines(
        "F.poisson_nll_loss",
        loss(("normal", "unit"), log_input=[True], full=[True, False]),
        **summed,
    ),
    *lines("F.hinge_embedding_loss", loss(margin=[0.5, 1.0]), **summed),
    *lines("F.gaussian_nll_loss", loss(("normal", "normal", "positive"), full=[True]), **summed),
    *lines(
        "F.margin_ranking_loss", loss(("normal", "normal", "small"), margin=[0.0, 0.5]), **summed
    ),
    *lines(
        "F.multilabel_soft_margin_loss",
        lambda g: (
            [
                g.tensor(s := [g.size(1, 5), g.size(1, 5)], d := g.pick(*FINE), "normal"),
                g.tensor(s, d, "unit"),
            ],
            {},
        ),
        **summed,
    ),
    *lines(
        "F.triplet_margin_loss",
        lambda g: (
            [
                g.tensor(s := g.shape(1, 3), d := g.pick(*FINE), "normal"),
                g.tensor(s, d, "normal"),
                g.tensor(s, d, "normal"),
            ],
            {"swap": g.chance(0.5)},
        ),
        **summed,
    ),
    *lines("F.nll_loss", classes, composed=nll, **summed),
    *lines("F.cross_entropy", cross_entropy, **summed),
    *lines("F.multi_margin_loss", margins, **summed),
    *lines("F.interpolate", interpolate, **summed),
    *lines("F.grid_sample", grid_sample, slack=256, cancels=True),
    *lines("F.affine_grid", affine_grid, **summed),
    *lines("F.unfold", windows, **summed),
    *lines("F.scaled_dot_product_attention", attention, slack=64, cancels=True),
]

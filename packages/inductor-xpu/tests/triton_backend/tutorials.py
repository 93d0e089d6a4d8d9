"""Kernels with the content of Triton's tutorials, and functions of PyTorch that launch them."""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl


@triton.jit
def _add(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(out_ptr + at, tl.load(x_ptr + at, inside) + tl.load(y_ptr + at, inside), inside)


def add(x, y, block=1024):
    out = torch.empty_like(x)
    _add[(triton.cdiv(x.numel(), block),)](x, y, out, x.numel(), BLOCK=block)
    return out


@triton.jit
def _softmax(x_ptr, out_ptr, rows, columns, stride, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * stride + at, at < columns, other=-float("inf"))
        e = tl.exp(x - tl.max(x, 0))
        tl.store(out_ptr + row * columns + at, e / tl.sum(e, 0), at < columns)


def softmax(x):
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    rows, columns = x.shape
    block = triton.next_power_of_2(columns)
    _softmax[(min(rows, 64),)](x, out, rows, columns, x.stride(0), BLOCK=block)
    return out


MATMUL_CONFIGS = [
    triton.Config({"M": 32, "N": 64, "K": 32, "GROUP": 4}, num_warps=4, num_stages=2),
    triton.Config({"M": 64, "N": 32, "K": 64, "GROUP": 8}, num_warps=8),
]


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def _matmul(
    a_ptr, b_ptr, c_ptr, m, n, k, stride_am, stride_ak, stride_bk, stride_bn,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr, ACTIVATION: tl.constexpr,
):  # fmt: skip
    # Programs of GROUP rows of tiles follow each other, so that they find columns of B in a cache.
    program = tl.program_id(0)
    rows, columns = tl.cdiv(m, M), tl.cdiv(n, N)
    group = program // (GROUP * columns)
    height = min(rows - group * GROUP, GROUP)
    row = group * GROUP + (program % (GROUP * columns)) % height
    column = (program % (GROUP * columns)) // height
    i = (row * M + tl.arange(0, M)) % m
    j = (column * N + tl.arange(0, N)) % n
    depth = tl.arange(0, K)
    a = a_ptr + i[:, None] * stride_am + depth[None, :] * stride_ak
    b = b_ptr + depth[:, None] * stride_bk + j[None, :] * stride_bn
    total = tl.zeros((M, N), tl.float32)
    for step in range(tl.cdiv(k, K)):
        left = k - step * K
        x = tl.load(a, depth[None, :] < left, other=0.0)
        y = tl.load(b, depth[:, None] < left, other=0.0)
        total = tl.dot(x, y, total)
        a += K * stride_ak
        b += K * stride_bk
    if ACTIVATION == "leaky_relu":
        total = leaky_relu(total)
    i = row * M + tl.arange(0, M)
    j = column * N + tl.arange(0, N)
    result = total.to(c_ptr.dtype.element_ty)
    tl.store(c_ptr + i[:, None] * n + j[None, :], result, (i[:, None] < m) & (j[None, :] < n))


tuned_matmul = triton.autotune(MATMUL_CONFIGS, key=["m", "n", "k"])(_matmul)


def matmul(a, b, activation="", tuned=False):
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty((m, n), dtype=a.dtype, device=a.device)
    arguments = (a, b, out, m, n, k, *a.stride(), *b.stride())

    def grid(meta):
        return (triton.cdiv(m, meta["M"]) * triton.cdiv(n, meta["N"]),)

    if tuned:
        tuned_matmul[grid](*arguments, ACTIVATION=activation)
    else:
        _matmul[grid](*arguments, M=32, N=64, K=32, GROUP=4, ACTIVATION=activation)
    return out


@triton.jit
def _dropout(x_ptr, out_ptr, count, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, at < count)
    tl.store(out_ptr + at, tl.where(tl.rand(seed, at) > p, x / (1 - p), 0.0), at < count)


def dropout(x, p, seed):
    out = torch.empty_like(x)
    _dropout[(triton.cdiv(x.numel(), 512),)](x, out, x.numel(), p, seed, BLOCK=512)
    return out


@triton.jit
def _layer_norm(
    x_ptr, out_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, columns, eps, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    x_ptr += row * columns
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + at, at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, 0) / columns
    square = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, at < columns, other=0.0).to(tl.float32)
        x = tl.where(at < columns, x - mean, 0.0)
        square += x * x
    rstd = 1 / tl.sqrt(tl.sum(square, 0) / columns + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < columns
        x = tl.load(x_ptr + at, inside, other=0.0).to(tl.float32)
        y = (x - mean) * rstd * tl.load(w_ptr + at, inside) + tl.load(b_ptr + at, inside)
        tl.store(out_ptr + row * columns + at, y, inside)


@triton.jit
def _layer_norm_backward(
    x_ptr, dy_ptr, dx_ptr, w_ptr, mean_ptr, rstd_ptr, dw_ptr, db_ptr, rows, columns, BLOCK: tl.constexpr
):  # fmt: skip
    # Each program sums the gradients of the weights over its rows; a second kernel sums over programs.
    at = tl.arange(0, BLOCK)
    inside = at < columns
    w = tl.load(w_ptr + at, inside, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK,), tl.float32)
    db = tl.zeros((BLOCK,), tl.float32)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * columns + at, inside, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * columns + at, inside, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        normal = tl.where(inside, (x - tl.load(mean_ptr + row)) * rstd, 0.0)
        along = tl.sum(normal * w * dy, 0) / columns
        mean = tl.sum(w * dy, 0) / columns
        tl.store(dx_ptr + row * columns + at, (w * dy - normal * along - mean) * rstd, inside)
        dw += dy * normal
        db += dy
    tl.store(dw_ptr + tl.program_id(0) * columns + at, dw, inside)
    tl.store(db_ptr + tl.program_id(0) * columns + at, db, inside)


@triton.jit
def _sum_columns(x_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
    c = tl.program_id(0) * C + tl.arange(0, C)
    total = tl.zeros((R, C), tl.float32)
    for start in range(0, rows, R):
        r = start + tl.arange(0, R)
        inside = (r[:, None] < rows) & (c[None, :] < columns)
        total += tl.load(x_ptr + r[:, None] * columns + c[None, :], inside, other=0.0)
    tl.store(out_ptr + c, tl.sum(total, 0), c < columns)


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        out = torch.empty_like(x)
        rows, columns = x.shape
        mean, rstd = (torch.empty(rows, device=x.device) for _ in range(2))
        _layer_norm[(rows,)](x, out, weight, bias, mean, rstd, columns, eps, BLOCK=256)
        ctx.save_for_backward(x, weight, mean, rstd)
        return out

    @staticmethod
    def backward(ctx, dy):
        x, weight, mean, rstd = ctx.saved_tensors
        (rows, columns), programs = x.shape, 16
        dx = torch.empty_like(x)
        parts = [torch.empty((programs, columns), device=x.device) for _ in range(2)]
        block = triton.next_power_of_2(columns)
        _layer_norm_backward[(programs,)](
            x, dy.contiguous(), dx, weight, mean, rstd, *parts, rows, columns, BLOCK=block
        )
        sums = [torch.empty_like(weight) for _ in range(2)]
        for part, total in zip(parts, sums, strict=True):
            _sum_columns[(triton.cdiv(columns, 64),)](part, total, programs, columns, R=8, C=64)
        return dx, *sums, None


@triton.jit
def _attention(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, scale, length,
    CAUSAL: tl.constexpr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    first, head = tl.program_id(0) * M, tl.program_id(1) * length * D
    m, n, d = first + tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    q = tl.load(q_ptr + head + m[:, None] * D + d[None, :], m[:, None] < length, other=0.0)
    top = tl.full((M,), -float("inf"), tl.float32)
    total = tl.zeros((M,), tl.float32)
    out = tl.zeros((M, D), tl.float32)
    end = tl.minimum(first + M, length) if CAUSAL else length
    for start in range(0, end, N):
        j = start + n
        k = tl.load(k_ptr + head + j[:, None] * D + d[None, :], j[:, None] < length, other=0.0)
        v = tl.load(v_ptr + head + j[:, None] * D + d[None, :], j[:, None] < length, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        seen = j[None, :] < length
        if CAUSAL:
            seen = seen & (m[:, None] >= j[None, :])
        s = tl.where(seen, s, -1e30)
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - new[:, None])
        shrink = tl.exp(top - new)
        total = total * shrink + tl.sum(p, 1)
        out = out * shrink[:, None] + tl.dot(p.to(v.dtype), v)
        top = new
    tl.store(lse_ptr + tl.program_id(1) * length + m, top + tl.log(total), m < length)
    result = (out / total[:, None]).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + head + m[:, None] * D + d[None, :], result, m[:, None] < length)


@triton.jit
def _attention_keys(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, scale, length,
    CAUSAL: tl.constexpr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    # The gradients of N keys and values: a loop over queries.
    first, head = tl.program_id(0) * N, tl.program_id(1) * length
    j, d = first + tl.arange(0, N), tl.arange(0, D)
    at = head * D + j[:, None] * D + d[None, :]
    k = tl.load(k_ptr + at, j[:, None] < length, other=0.0)
    v = tl.load(v_ptr + at, j[:, None] < length, other=0.0)
    dk = tl.zeros((N, D), tl.float32)
    dv = tl.zeros((N, D), tl.float32)
    for start in range((first // M) * M if CAUSAL else 0, length, M):
        i = start + tl.arange(0, M)
        place = head * D + i[:, None] * D + d[None, :]
        q = tl.load(q_ptr + place, i[:, None] < length, other=0.0)
        do = tl.load(do_ptr + place, i[:, None] < length, other=0.0)
        lse = tl.load(lse_ptr + head + i, i < length, other=0.0)
        delta = tl.load(delta_ptr + head + i, i < length, other=0.0)
        seen = (i[:, None] < length) & (j[None, :] < length)
        if CAUSAL:
            seen = seen & (i[:, None] >= j[None, :])
        p = tl.where(seen, tl.exp(tl.dot(q, tl.trans(k)) * scale - lse[:, None]), 0.0)
        dv += tl.dot(tl.trans(p.to(do.dtype)), do)
        ds = p * (tl.dot(do, tl.trans(v)) - delta[:, None]) * scale
        dk += tl.dot(tl.trans(ds.to(q.dtype)), q)
    tl.store(dk_ptr + at, dk.to(dk_ptr.dtype.element_ty), j[:, None] < length)
    tl.store(dv_ptr + at, dv.to(dv_ptr.dtype.element_ty), j[:, None] < length)


@triton.jit
def _attention_queries(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dq_ptr, scale, length,
    CAUSAL: tl.constexpr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    first, head = tl.program_id(0) * M, tl.program_id(1) * length
    i, d = first + tl.arange(0, M), tl.arange(0, D)
    at = head * D + i[:, None] * D + d[None, :]
    q = tl.load(q_ptr + at, i[:, None] < length, other=0.0)
    do = tl.load(do_ptr + at, i[:, None] < length, other=0.0)
    lse = tl.load(lse_ptr + head + i, i < length, other=0.0)
    delta = tl.load(delta_ptr + head + i, i < length, other=0.0)
    dq = tl.zeros((M, D), tl.float32)
    end = tl.minimum(first + M, length) if CAUSAL else length
    for start in range(0, end, N):
        j = start + tl.arange(0, N)
        place = head * D + j[:, None] * D + d[None, :]
        k = tl.load(k_ptr + place, j[:, None] < length, other=0.0)
        v = tl.load(v_ptr + place, j[:, None] < length, other=0.0)
        seen = (i[:, None] < length) & (j[None, :] < length)
        if CAUSAL:
            seen = seen & (i[:, None] >= j[None, :])
        p = tl.where(seen, tl.exp(tl.dot(q, tl.trans(k)) * scale - lse[:, None]), 0.0)
        ds = p * (tl.dot(do, tl.trans(v)) - delta[:, None]) * scale
        dq += tl.dot(ds.to(k.dtype), k)
    tl.store(dq_ptr + at, dq.to(dq_ptr.dtype.element_ty), i[:, None] < length)


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, causal):
        batch, heads, length, depth = q.shape
        out = torch.empty_like(q)
        lse = torch.empty((batch, heads, length), device=q.device)
        ctx.scale, ctx.causal = 1 / math.sqrt(depth), causal
        grid = (triton.cdiv(length, 32), batch * heads)
        _attention[grid](q, k, v, out, lse, ctx.scale, length, CAUSAL=causal, M=32, N=32, D=depth)
        ctx.save_for_backward(q, k, v, out, lse)
        return out

    @staticmethod
    def backward(ctx, do):
        q, k, v, out, lse = ctx.saved_tensors
        batch, heads, length, depth = q.shape
        do = do.contiguous()
        delta = (do.float() * out.float()).sum(-1)
        dq, dk, dv = (torch.empty_like(x) for x in (q, k, v))
        sizes = {"CAUSAL": ctx.causal, "M": 32, "N": 32, "D": depth}
        grid = (triton.cdiv(length, 32), batch * heads)
        given = (q, k, v, do, lse, delta)
        _attention_keys[grid](*given, dk, dv, ctx.scale, length, **sizes)
        _attention_queries[grid](*given, dq, ctx.scale, length, **sizes)
        return dq, dk, dv, None


@triton.jit
def _grouped_matmul(
    a_ptrs, b_ptrs, c_ptrs, sizes_ptr, groups, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):  # fmt: skip
    # As many programs as the device runs take the tiles of all products one after the other.
    tile, passed = tl.program_id(0), 0
    for group in range(groups):
        m = tl.load(sizes_ptr + group * 3)
        n = tl.load(sizes_ptr + group * 3 + 1)
        k = tl.load(sizes_ptr + group * 3 + 2)
        columns = tl.cdiv(n, N)
        tiles = tl.cdiv(m, M) * columns
        while tile < passed + tiles:
            a = tl.load(a_ptrs + group).to(tl.pointer_type(tl.float32))
            b = tl.load(b_ptrs + group).to(tl.pointer_type(tl.float32))
            c = tl.load(c_ptrs + group).to(tl.pointer_type(tl.float32))
            i = (tile - passed) // columns * M + tl.arange(0, M)
            j = (tile - passed) % columns * N + tl.arange(0, N)
            total = tl.zeros((M, N), tl.float32)
            for start in range(0, k, K):
                d = start + tl.arange(0, K)
                x = tl.load(
                    a + i[:, None] * k + d[None, :], (i[:, None] < m) & (d[None, :] < k), other=0.0
                )
                y = tl.load(
                    b + d[:, None] * n + j[None, :], (d[:, None] < k) & (j[None, :] < n), other=0.0
                )
                total += tl.dot(x, y)
            tl.store(c + i[:, None] * n + j[None, :], total, (i[:, None] < m) & (j[None, :] < n))
            tile += tl.num_programs(0)
        passed += tiles


def grouped_matmul(lefts, rights):
    device = lefts[0].device
    outs = [
        torch.empty((a.shape[0], b.shape[1]), device=device)
        for a, b in zip(lefts, rights, strict=True)
    ]
    addresses = [
        torch.tensor([x.data_ptr() for x in group], dtype=torch.int64, device=device)
        for group in (lefts, rights, outs)
    ]
    sizes = [[a.shape[0], b.shape[1], a.shape[1]] for a, b in zip(lefts, rights, strict=True)]
    sizes = torch.tensor(sizes, dtype=torch.int32, device=device)
    _grouped_matmul[(8,)](*addresses, sizes, len(lefts), M=32, N=32, K=32)
    return outs

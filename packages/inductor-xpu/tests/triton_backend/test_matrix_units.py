"""Products on the matrix units of Intel GPUs: values by emulated units, and binaries of the GPUs' compiler."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from xpu_testing import run_child

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import tutorials  # noqa: E402

from inductor_xpu.triton import compiler  # noqa: E402
from inductor_xpu.triton.ir.types import Scalar  # noqa: E402
from inductor_xpu.triton.matrix import MatrixProduct  # noqa: E402
from inductor_xpu.triton.target import target_of  # noqa: E402

CLOSE = {torch.float32: (1e-4, 1e-4), torch.float16: (5e-3, 5e-3), torch.bfloat16: (3e-2, 3e-2)}
SUMS = {torch.int8: tl.int32, torch.float16: tl.float32, torch.bfloat16: tl.float32}


@triton.jit
def _multiply(
    a_ptr, b_ptr, c_ptr, m, n, k, stride_am, stride_ak, stride_bk, stride_bn,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    at = tl.arange(0, K)
    a = a_ptr + i[:, None] * stride_am + at[None, :] * stride_ak
    b = b_ptr + at[:, None] * stride_bk + j[None, :] * stride_bn
    total = tl.load(c_ptr + i[:, None] * n + j[None, :], (i[:, None] < m) & (j[None, :] < n))
    total = total.to(SUM)
    for step in range(tl.cdiv(k, K)):
        left = k - step * K
        x = tl.load(a, (i[:, None] < m) & (at[None, :] < left), other=0)
        y = tl.load(b, (at[:, None] < left) & (j[None, :] < n), other=0)
        total = tl.dot(x, y, total, out_dtype=SUM)
        a += K * stride_ak
        b += K * stride_bk
    tl.store(c_ptr + i[:, None] * n + j[None, :], total, (i[:, None] < m) & (j[None, :] < n))


@triton.jit
def _multiply_batches(
    a_ptr, b_ptr, c_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    g, i, j, k = tl.arange(0, B), tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + g[:, None, None] * M * K + i[None, :, None] * K + k[None, None, :])
    b = tl.load(b_ptr + g[:, None, None] * K * N + k[None, :, None] * N + j[None, None, :])
    c = tl.dot(a, b, out_dtype=tl.float32)
    tl.store(c_ptr + g[:, None, None] * M * N + i[None, :, None] * N + j[None, None, :], c)


@triton.jit
def _square(x_ptr, c_ptr, SIZE: tl.constexpr):
    # One tile is both operands, and products of other types are in the kernel.
    i, j = tl.arange(0, SIZE), tl.arange(0, SIZE)
    at = i[:, None] * SIZE + j[None, :]
    x = tl.load(x_ptr + at)
    square = tl.dot(x, x)
    c = (
        tl.dot(square, square * 0.5)
        + tl.dot(tl.trans(x), x)
        + tl.dot(x, x.to(tl.float32).to(x.dtype))
    )
    tl.store(c_ptr + at, c)


@triton.jit
def _sum_rows(x_ptr, c_ptr, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    constant = tl.full((SIZE, SIZE), 0.3, tl.bfloat16)
    tl.store(c_ptr + at, tl.dot(tl.load(x_ptr + at), constant))


KERNELS = [_multiply, _multiply_batches, _square, _sum_rows]
KERNELS += [f for f in vars(tutorials).values() if hasattr(f, "device_caches")]


@pytest.fixture
def emulated(matrix_units):
    """Kernels of this file are compiled for emulated matrix units."""
    for kernel in KERNELS:
        kernel.device_caches.clear()
    yield
    for kernel in KERNELS:
        kernel.device_caches.clear()


def whole_numbers(*shape, dtype):
    """Return numbers whose products and sums are exact."""
    return torch.randint(-4, 5, shape).to("xpu", dtype)


def multiply(a, b, c, tile, num_warps=4, sum_type=None):
    """Add the product of two matrices to a third; return what the kernel became."""
    (m, k), n = a.shape, b.shape[1]
    sizes = dict(zip("MNK", tile, strict=True), SUM=sum_type or SUMS[a.dtype])
    grid = triton.cdiv(m, tile[0]), triton.cdiv(n, tile[1])
    return _multiply[grid](a, b, c, m, n, k, *a.stride(), *b.stride(), **sizes, num_warps=num_warps)


def uses_matrix_units(compiled):
    return "_matrix_mad_k" in compiled.asm["sycl"].decode().partition("XPU_KERNEL")[2]


@pytest.mark.values
@pytest.mark.parametrize("dtype", SUMS)
@pytest.mark.parametrize(
    ("tile", "num_warps", "sizes", "transposed"),
    [
        ((64, 64, 32), 4, (100, 70, 50), (False, False)),
        ((32, 32, 64), 1, (32, 32, 128), (False, True)),
        ((16, 64, 64), 2, (20, 130, 65), (True, False)),
        ((128, 16, 32), 8, (130, 17, 40), (True, True)),
        ((8, 16, 32), 4, (9, 17, 33), (False, True)),  # more sub-groups than fragments
    ],
)
def test_products_are_exact(emulated, dtype, tile, num_warps, sizes, transposed):
    m, n, k = sizes
    a, b = whole_numbers(m, k, dtype=dtype), whole_numbers(k, n, dtype=dtype)
    a, b = (x.T.contiguous().T if t else x for x, t in zip((a, b), transposed, strict=True))
    c = whole_numbers(m, n, dtype=torch.int32 if dtype == torch.int8 else torch.float32)
    expected = c.cpu().double() + a.cpu().double() @ b.cpu().double()
    assert uses_matrix_units(multiply(a, b, c, tile, num_warps))
    assert torch.equal(c.cpu().double(), expected)


@pytest.mark.values
def test_sums_of_f16_are_rounded_in_every_trip(emulated):
    a, b = torch.zeros(32, 64, dtype=torch.float16), torch.ones(64, 32, dtype=torch.float16)
    a[:, 0], a[:, 1], a[:, 32] = 2048, 1, 1
    c = torch.zeros(32, 32, device="xpu", dtype=torch.float16)
    compiled = multiply(a.to("xpu"), b.to("xpu"), c, (32, 32, 32), sum_type=tl.float16)
    assert uses_matrix_units(compiled)
    assert torch.equal(c.cpu(), torch.full((32, 32), 2048, dtype=torch.float16))


@pytest.mark.values
@pytest.mark.parametrize("num_warps", [1, 4])
def test_batches(emulated, num_warps):
    a, b = (
        whole_numbers(4, 16, 32, dtype=torch.float16),
        whole_numbers(4, 32, 16, dtype=torch.float16),
    )
    c = torch.empty(4, 16, 16, device="xpu")
    compiled = _multiply_batches[(1,)](a, b, c, B=4, M=16, N=16, K=32, num_warps=num_warps)
    assert uses_matrix_units(compiled)
    assert torch.equal(c.cpu(), a.cpu().float() @ b.cpu().float())


@pytest.mark.values
def test_one_tile_is_both_operands(emulated):
    x = whole_numbers(32, 32, dtype=torch.bfloat16)
    c = torch.empty(32, 32, device="xpu")
    assert uses_matrix_units(_square[(1,)](x, c, SIZE=32))
    y = x.cpu().double()
    expected = 0.5 * (y @ y) @ (y @ y) + y.T @ y + y @ y
    assert torch.equal(c.cpu().double(), expected)


@pytest.mark.values
def test_constants_are_numbers_of_their_type(emulated):
    x = whole_numbers(32, 32, dtype=torch.bfloat16)
    c = torch.empty(32, 32, device="xpu")
    assert uses_matrix_units(_sum_rows[(1,)](x, c, SIZE=32))
    constant = torch.full((32, 32), 0.3, dtype=torch.bfloat16)
    assert torch.equal(c.cpu(), x.cpu().float() @ constant.float())


@pytest.mark.values
def test_small_tiles_have_no_units(emulated):
    a, b = whole_numbers(4, 32, dtype=torch.float16), whole_numbers(32, 16, dtype=torch.float16)
    c = torch.zeros(4, 16, device="xpu")
    assert not uses_matrix_units(multiply(a, b, c, (4, 16, 32)))
    assert torch.equal(c.cpu(), a.cpu().float() @ b.cpu().float())


@pytest.mark.values
@pytest.mark.parametrize(("dtype", "causal"), [(torch.float16, True), (torch.bfloat16, False)])
def test_attention_with_gradients(emulated, dtype, causal):
    q, k, v = (
        torch.randn(1, 2, 100, 32, device="xpu", dtype=dtype).requires_grad_() for _ in range(3)
    )
    do = torch.randn(q.shape, device="xpu", dtype=dtype)
    out = tutorials.Attention.apply(q, k, v, causal)
    host = [x.detach().cpu().float().requires_grad_() for x in (q, k, v)]
    expected = torch.nn.functional.scaled_dot_product_attention(*host, is_causal=causal)
    rtol, atol = CLOSE[dtype]
    torch.testing.assert_close(out.cpu().float(), expected, rtol=rtol, atol=atol)
    given = torch.autograd.grad(out, (q, k, v), do)
    wanted = torch.autograd.grad(expected, host, do.cpu().float())
    for got, its in zip(given, wanted, strict=True):
        torch.testing.assert_close(got.cpu().float(), its, rtol=2 * rtol, atol=2 * atol)


@pytest.mark.parametrize("lanes", [8, 16])
@pytest.mark.parametrize("element", ["f16", "bf16", "i8"])
def test_every_bit_has_one_place(lanes, element):
    product = MatrixProduct(Scalar(element), lanes)
    for shape in ((64, 64), (2, 32, 128), (8, 32, 32)):
        bits = sorted(
            (dim, bit) for dim, size in enumerate(shape) for bit in range(size.bit_length() - 1)
        )
        assert sorted(product.left_order(shape)) == bits
        assert sorted(product.right_order(shape)) == bits
        for teams in (1, 4, 64):
            layout = product.layout(shape, teams)
            places = (*layout.lanes, *layout.teams, *layout.registers)
            assert sorted(place for place in places if place is not None) == bits
            assert 1 << len(layout.teams) == teams


def capability(product):
    """Return what is known of a GPU that kernels are compiled for, without one."""
    sizes = {"dg2": [8, 16, 32], "pvc": [16, 32]}[product]
    return {
        "type": "gpu",
        "max_compute_units": 512,
        "max_work_group_size": 1024,
        "local_mem_size": 65536 if product == "dg2" else 131072,
        "sub_group_sizes": sizes,
        "sub_group_size": 16,
        "has_subgroup_matrix_multiply_accumulate": True,
    }


def test_the_device_says_how_many_lanes_its_units_have():
    assert target_of(capability("dg2")).matrix_lanes == 8
    assert target_of(capability("pvc")).matrix_lanes == 16
    for other in (
        {"type": "cpu"},
        {"has_subgroup_matrix_multiply_accumulate": False},
        {"sub_group_size": 32},  # XPU_GENERIC_BACKEND=1
        {"sub_group_size": 32, "sub_group_sizes": [32]},  # a GPU of others
        {"sub_group_sizes": [4, 8, 16]},
    ):
        assert target_of(capability("pvc") | other).matrix_lanes == 0


def compile_for(product, kernel, types, **constants):
    """Return what a kernel becomes on a GPU. ``types`` are those of its parameters, by Triton's names."""
    names = [p.name for p in kernel.params]
    signature = dict.fromkeys(names, "constexpr") | dict(zip(names, types.split(), strict=False))
    source = ASTSource(kernel, signature, constexprs=constants)
    with triton.knobs.cache.scope():
        triton.knobs.compilation.always_compile = True
        return triton.compile(source, target=GPUTarget("xpu", capability(product), 16))


def test_other_devices_have_no_units(monkeypatch):
    types, sizes = "*fp16 *fp16 *fp32 i32 i32 i32 i32 i32 i32 i32", {"M": 64, "N": 64, "K": 32}
    assert uses_matrix_units(compile_for("pvc", _multiply, types, **sizes, SUM=tl.float32))
    source = compile_for("pvc", _multiply, types.replace("fp16", "fp32"), **sizes, SUM=tl.float32)
    assert "triton::" not in source.asm["sycl"].decode()
    stock = compiler.target_of
    monkeypatch.setattr(compiler, "target_of", lambda given: replace(stock(given), matrix_lanes=0))
    source = compile_for("pvc", _multiply, types, **sizes, SUM=tl.float32).asm["sycl"].decode()
    assert "triton::" not in source


BUILD = """
import sys
import xpu_runtime as xr

name, file = sys.argv[1:]
xr.compile(open(file).read()).kernel(name)
"""
CASES = {
    "bf16": (_multiply, "*bf16 *bf16 *fp32 i32 i32 i32 i32 i32 i32 i32", {"SUM": tl.float32}),
    "f16": (_multiply, "*fp16 *fp16 *fp32 i32 i32 i32 i32 i32 i32 i32", {"SUM": tl.float32}),
    "i8": (_multiply, "*i8 *i8 *i32 i32 i32 i32 i32 i32 i32 i32", {"SUM": tl.int32}),
    "attention": (
        tutorials._attention,
        "*bf16 *bf16 *bf16 *bf16 *fp32 fp32 i32",
        {"CAUSAL": True, "D": 32},
    ),
}


@pytest.mark.cpu_device
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("product", ["dg2", "pvc"])
def test_gpus_run_them_on_their_units(tmp_path, product, case):
    gpu_checks = pytest.importorskip("xpu_sdk.gpu_checks.virtual_gpu")
    products = pytest.importorskip("xpu_sdk.gpu_checks.products")
    if not gpu_checks.DRIVER.exists() or not shutil.which("ocloc"):
        pytest.skip(f"needs Intel's GPU driver: {gpu_checks.INSTALL}")
    kernel, types, constants = CASES[case]
    sizes = {name: 64 for name in "MNK" if name in kernel.arg_names}
    compiled = compile_for(product, kernel, types, **sizes, **constants)
    source, dump = tmp_path / "kernel.sycl", tmp_path / "dump"
    source.write_bytes(compiled.asm["sycl"])
    dump.mkdir()
    env = gpu_checks.variables(products.PRODUCTS[product])
    env |= {"XPU_DUMP_KERNELS": str(dump), "XPU_CACHE_DIR": str(tmp_path / "cache")}
    run_child(BUILD, env, arguments=(compiled.metadata.name, str(source))).check()
    (spirv,), (binary,) = dump.glob("*.spv"), dump.glob("*.bin")
    assert b"_matrix_mad_k" in spirv.read_bytes()
    description = binary.read_bytes()
    assert b"has_dpas:        true" in description
    lanes = {"dg2": 8, "pvc": 16}[product]
    assert f"simd_size:       {lanes}".encode() in description

"""Launches of kernels of @triton.jit: arguments, streams, devices, hooks, tuning, errors before the launch."""

import sys
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
from triton import knobs
from triton.runtime.errors import OutOfResources
from xpu_testing import run_child

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import kernels  # noqa: E402

pytestmark = pytest.mark.values


@pytest.fixture
def pair():
    torch.manual_seed(0)
    return torch.randn(2, 1000, device="xpu")


def run_file(tmp_path, program, **options):
    """Run a program whose kernels are in a file, where Triton reads their source."""
    path = tmp_path / "program.py"
    path.write_text(f"import sys\nsys.path.insert(0, {str(FOLDER)!r})\n{program}")
    return run_child(path, **options)


def test_a_kernel_is_compiled_once(pair):
    x, y = pair
    for _ in range(3):
        assert torch.equal(kernels.add(x, y), x + y)
    cache = kernels.add_kernel.device_caches[x.device.index][0]
    before = len(cache)
    kernels.add(x, y)
    kernels.add(x[1:], y[1:])  # another alignment is another kernel
    assert len(cache) == before + 1
    assert torch.equal(kernels.add(x[1:], y[1:]), x[1:] + y[1:])


def test_the_source_is_readable(pair):
    x, y = pair
    out = torch.empty_like(x)
    compiled = kernels.add_kernel[(8,)](x, y, out, 1000, BLOCK=128)
    assert "XPU_KERNEL" in compiled.asm["sycl"].decode()
    assert "tt.load" in compiled.asm["ttir"]
    assert compiled.metadata.target.backend == "xpu"


@pytest.mark.parametrize("grid", [(0,), (4, 0), (1, 1, 0)])
def test_an_empty_grid_launches_nothing(pair, grid):
    x, y = pair
    out = torch.zeros_like(x)
    kernels.add_kernel[grid](x, y, out, 1000, BLOCK=128)
    assert not out.any()


def test_options_of_other_backends(pair):
    x, y = pair
    out = torch.empty_like(x)
    options = {"num_warps": 8, "num_stages": 4, "enable_fp_fusion": False, "maxnreg": 64}
    kernels.add_kernel[(8,)](x, y, out, 1000, BLOCK=128, **options)
    assert torch.equal(out, x + y)
    with pytest.raises(KeyError, match="no_such_option"):
        kernels.add_kernel[(8,)](x, y, out, 1000, BLOCK=128, no_such_option=1)
    with pytest.raises(ValueError, match="num_warps must be a power of 2"):
        kernels.add_kernel[(8,)](x, y, out, 1000, BLOCK=128, num_warps=3)
    with pytest.raises(ValueError, match="xpu has no clusters"):
        kernels.add_kernel[(8,)](x, y, out, 1000, BLOCK=128, num_ctas=2)
    with pytest.raises(ValueError, match="launch_cooperative_grid"):
        kernels.add_kernel[(8,)](x, y, out, 1000, BLOCK=128, launch_cooperative_grid=True)


@triton.jit
def _of_types(ptr, a, b, c, d, e):
    tl.store(ptr, a)
    tl.store(ptr + 1, b)
    tl.store(ptr + 2, c + d[0] * d[1])
    tl.store(ptr + 3, e)


def test_arguments_of_every_kind():
    out = torch.zeros(4, device="xpu", dtype=torch.float64)
    _of_types[(1,)](out, 2**31 + 5, -3, 1.5, (2, 4.0), True)
    assert out.tolist() == [2**31 + 5, -3, 9.5, 1]
    _of_types[(1,)](out, 2**63 + 2048, 1, 0.0, (7, 1), None if False else 16)
    assert out.tolist() == [2.0**63 + 2048, 1, 7, 16]


@triton.jit
def _of_minifloats(x_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out_ptr + at, tl.load(x_ptr + at).to(tl.float32))


def test_a_tensor_with_another_type():
    x = torch.tensor([1.0, -2.5, 0.0, 448.0], device="xpu").to(torch.float8_e4m3fn)
    out = torch.empty(4, device="xpu")
    _of_minifloats[(1,)](triton.reinterpret(x.view(torch.int8), tl.float8e4nv), out, N=4)
    assert out.tolist() == [1.0, -2.5, 0.0, 448.0]
    on_host = triton.reinterpret(torch.zeros(4, dtype=torch.int8), tl.float8e4nv)
    with pytest.raises(ValueError, match="tensor of the host"):
        _of_minifloats[(1,)](on_host, out, N=4)


def test_a_tensor_on_the_host_is_an_error(pair):
    x, y = pair
    with pytest.raises(ValueError, match="argument 1 is a tensor of the host") as caught:
        kernels.add_kernel[(8,)](x, y.cpu(), torch.empty_like(x), 1000, BLOCK=128)
    assert "its parameter y_ptr" in "".join(caught.value.__notes__)


def test_launches_follow_the_current_stream(pair):
    x, y = pair
    stream = torch.xpu.Stream()
    stream.wait_stream(torch.xpu.current_stream())
    with torch.xpu.stream(stream):
        z = kernels.add(x, y)
        for _ in range(20):
            z = kernels.add(z, y)
        event = stream.record_event()
    event.synchronize()
    torch.testing.assert_close(z, x + 21 * y, rtol=1e-4, atol=1e-4)
    compiled = kernels.add_kernel[(8,)](x, y, z, 1000, BLOCK=128)
    handle = triton.runtime.driver.active.get_current_stream(x.device.index)
    compiled[(8, 1, 1)](y, y, z, 1000, 128, stream=handle)
    assert torch.equal(z, y + y)


def test_streams_stay_the_drivers():
    """No SYCL queue is asked for, after which launches would take longer."""
    run_child(
        f"""
import sys, torch
sys.path.insert(0, {str(FOLDER)!r})
from torch_xpu import _device
asked = []
for name in ("current_queue", "stream_queue"):
    setattr(_device, name, lambda *arguments: asked.append(name))
import kernels
x = torch.ones(100, device="xpu")
assert kernels.add(x, x).sum().item() == 200
f = torch.compile(lambda x: kernels.add(x.sin(), x) * 2)
f(x)
assert not asked
""",
        timeout=200,
    ).check()


def test_two_devices(tmp_path):
    run_file(
        tmp_path,
        """
import torch, kernels
assert torch.xpu.device_count() == 2
x, y = torch.randn(2, 1000, device="xpu:1")
for device in (1, 0, 1):
    with torch.xpu.device(device):
        a, b = x.to(f"xpu:{device}"), y.to(f"xpu:{device}")
        assert torch.equal(kernels.add(a, b), a + b)
        assert torch.equal(kernels.add_tuned(a, b), a + b)
try:
    kernels.add(x, y)
except ValueError as error:
    assert "is a tensor of device 1, expected one of device 0" in str(error), error
else:
    raise AssertionError("no error")
both = torch.compile(lambda x, y: kernels.add(x.sin(), y) + 1)
for device in (0, 1):
    a, b = x.to(f"xpu:{device}"), y.to(f"xpu:{device}")
    torch.testing.assert_close(both(a, b), a.sin() + b + 1)
""",
        env={"XPU_CPU_DEVICES": "2"},
        timeout=300,
    ).check()


def test_hooks(pair, monkeypatch):
    x, y = pair
    seen = []
    names = (
        "launch_enter_hook",
        "launch_exit_hook",
        "kernel_load_start_hook",
        "kernel_load_end_hook",
    )
    hooks = {name: (lambda *args, name=name: seen.append(name)) for name in names}
    for name, hook in hooks.items():
        getattr(knobs.runtime, name).add(hook)
    try:
        out = torch.empty_like(x)
        for _ in range(2):
            kernels.add_kernel[(8,)](x, y, out, 1000, BLOCK=128, num_stages=7)
    finally:
        for name, hook in hooks.items():
            getattr(knobs.runtime, name).remove(hook)
    launch = ["launch_enter_hook", "launch_exit_hook"]
    assert seen == ["kernel_load_start_hook", "kernel_load_end_hook", *launch, *launch]
    metadata = []
    monkeypatch.setattr(
        knobs.runtime, "launch_enter_hook", lambda lazy: metadata.append(lazy.get())
    )
    kernels.add_kernel[(8,)](x, y, out, 1000, BLOCK=128, num_stages=7)
    assert metadata[0]["name"] == "add_kernel"
    assert torch.equal(out, x + y)


def test_a_hook_before_each_run(pair):
    x, y = pair
    grid, calls = (8,), []
    kernel = triton.jit(kernels.add_kernel.fn)
    kernel.add_pre_run_hook(lambda *args, **options: calls.append(options["BLOCK"]))
    for _ in range(3):
        kernel[grid](x, y, torch.empty_like(x), 1000, BLOCK=128)
    assert calls == [128] * 3


def test_autotune(pair):
    x, y = pair
    assert torch.equal(kernels.add_tuned(x, y), x + y)
    assert len(kernels.tuned_add.cache) >= 1
    assert kernels.tuned_add.best_config.kwargs["BLOCK"] in (64, 256)


@triton.jit
def _of_local_memory(x_ptr, out_ptr, N: tl.constexpr):
    i, j = tl.arange(0, N), tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + j[None, :])
    tl.store(out_ptr + i[:, None] * N + j[None, :], tl.dot(x, tl.trans(x)))


def test_what_a_device_has_not_is_out_of_resources():
    """A tile beyond local memory is an error that autotuning passes over."""
    x = torch.eye(1024, device="xpu")
    with pytest.raises(OutOfResources, match=r"shared memory|local memory"):
        _of_local_memory[(1,)](x, torch.empty_like(x), N=1024)
    configs = [triton.Config({"N": 1024}), triton.Config({"N": 64})]
    tuned = triton.autotune(configs, key=[])(triton.jit(_of_local_memory.fn))
    small = torch.eye(64, device="xpu")
    out = torch.empty(1024, 1024, device="xpu")
    tuned[(1,)](small, out)
    assert tuned.best_config.kwargs["N"] == 64
    assert torch.equal(out.view(-1)[: 64 * 64].view(64, 64), small)


def test_measurements():
    from triton.testing import do_bench

    x = torch.randn(1 << 20, device="xpu")
    measure = triton.runtime.driver.active.get_benchmarker()
    small = measure(lambda: kernels.double(x[:1000]), quantiles=[0.5])
    large = measure(lambda: kernels.double(x), quantiles=[0.5])
    assert 0 < small < large
    low, high = measure(lambda: kernels.double(x), quantiles=(0.2, 0.8))
    assert low <= high
    assert do_bench(lambda: kernels.double(x), warmup=1, rep=5) > 0


def test_global_variables_that_change_are_an_error(tmp_path):
    run_file(
        tmp_path,
        """
import torch, triton, triton.language as tl
SIZE = tl.constexpr(16)
@triton.jit
def kernel(ptr):
    tl.store(ptr + tl.arange(0, SIZE), tl.arange(0, SIZE))
out = torch.zeros(32, device="xpu", dtype=torch.int32)
for _ in range(3):
    kernel[(1,)](out)
SIZE = tl.constexpr(32)
try:
    kernel[(1,)](out)
except RuntimeError as error:
    assert "Global variable SIZE has changed" in str(error)
else:
    raise AssertionError("no error")
""",
    ).check()


def test_the_interpreter(tmp_path):
    program = "import torch, kernels\nx = torch.ones(100, device='xpu')\nassert kernels.add(x, x).sum().item() == 200\n"
    run_file(tmp_path, program, env={"TRITON_INTERPRET": "1"}).check()


def test_assertions_name_the_users_line(tmp_path):
    child = run_file(
        tmp_path,
        """
import torch, kernels
x = torch.zeros(64, device="xpu")
out = torch.empty_like(x)
kernels.checked[(1,)](x, out, BLOCK=64, debug=True)
torch.xpu.synchronize()
x[5] = 300
kernels.checked[(1,)](x, out, BLOCK=64, debug=True)
try:
    torch.xpu.synchronize()
except Exception as error:
    print(type(error).__name__, error)
""",
    ).check()
    assert "too large" in child.out
    assert "kernels.py:" in child.out


@triton.jit
def _scaled(x_ptr, s_ptr, out_ptr):
    i, k = tl.arange(0, 32), tl.arange(0, 64)
    x = tl.load(x_ptr + i[:, None] * 64 + k[None, :])
    s = tl.load(s_ptr + i[:, None] * 2 + tl.arange(0, 2)[None, :])
    r = tl.dot_scaled(x, s, "e5m2", tl.trans(x), s, "e5m2")
    tl.store(out_ptr + i[:, None] * 32 + tl.arange(0, 32)[None, :], r)


@triton.jit
def _assembly(out_ptr):
    i = tl.arange(0, 32)
    x = tl.inline_asm_elementwise("mov $0, $1;", "=r,r", [i], tl.int32, is_pure=True, pack=1)
    tl.store(out_ptr + i, x)


@triton.jit
def _rounding_up(out_ptr):
    i = tl.arange(0, 32).to(tl.float32)
    tl.store(out_ptr + tl.arange(0, 32), tl.extra.libdevice.add_ru(i, i))


@triton.jit
def _waiting(lock_ptr, out_ptr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(out_ptr, tl.load(out_ptr) + 1)
    tl.atomic_xchg(lock_ptr, 0)


@pytest.mark.parametrize(
    ("kernel", "what"),
    [
        (_scaled, "dot_scaled"),
        (_assembly, "inline_asm|elementwise_inline_asm"),
        (_rounding_up, "add_ru"),
        (_waiting, "wait"),
    ],
    ids=["dot_scaled", "inline_asm", "libdevice", "waits"],
)
def test_what_is_not_supported_is_named_with_the_users_line(kernel, what):
    u8, f32 = torch.uint8, torch.float32
    operands = {
        _scaled: (torch.zeros(32, 64, dtype=u8), torch.zeros(32, 2, dtype=u8), torch.zeros(32, 32)),
        _assembly: (torch.zeros(32, dtype=torch.int32),),
        _rounding_up: (torch.zeros(32, dtype=f32),),
        _waiting: (torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)),
    }[kernel]
    with pytest.raises(Exception, match=what) as caught:
        kernel[(1,)](*(x.to("xpu") for x in operands))
    assert Path(__file__).name in str(caught.value)


def test_a_descriptor_made_on_the_host_is_named():
    from triton.tools.tensor_descriptor import TensorDescriptor

    @triton.jit
    def kernel(descriptor, out_ptr):
        tl.store(out_ptr + tl.arange(0, 16), descriptor.load([0]))

    x = torch.zeros(16, device="xpu")
    with pytest.raises(Exception, match="descriptor"):
        kernel[(1,)](TensorDescriptor.from_tensor(x, [16]), torch.empty_like(x))

"""``inductor_xpu.settings.reader = "triton"``: Inductor's loops by way of Triton; and its templates, tuned."""

import re
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch._inductor.utils import fresh_inductor_cache, run_and_get_code

import inductor_xpu.settings

sys.path.insert(0, str(Path(__file__).parents[1]))

from programs import PROGRAMS

pytestmark = [
    pytest.mark.values,
    # What Inductor imports and does warns about itself.
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:TypedStorage is deprecated"),
    pytest.mark.usefixtures("forget_compiled_code"),
]


@pytest.fixture
def by_triton():
    with inductor_xpu.settings.patch(reader="triton"):
        yield


def to_xpu(inputs):
    return [x.to("xpu") if isinstance(x, torch.Tensor) else x for x in inputs]


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, by_triton):
    function, inputs = PROGRAMS[name]
    given = to_xpu(inputs(50))
    expected = function(*(x.clone() for x in given))
    torch.testing.assert_close(
        torch.compile(function)(*(x.clone() for x in given)), expected, rtol=2e-2, atol=1e-3
    )


@pytest.mark.parametrize("name", ["softmax", "layer norm", "sum of columns"])
def test_programs_of_varying_sizes(name, by_triton):
    function, inputs = PROGRAMS[name]
    call = torch.compile(function, dynamic=True)
    for rows in (3, 64, 301):
        given = to_xpu(inputs(rows))
        torch.testing.assert_close(call(*given), function(*given), rtol=1e-3, atol=1e-3)


def test_kernels_are_triton_and_none_waits_for_others(by_triton):
    x = torch.randn(1 << 18, device="xpu")
    _, (code,) = run_and_get_code(torch.compile(lambda x: (x.sin() * 2).sum()), x)
    assert "async_compile.triton(" in code
    assert "load_kernel(" not in code
    for function in (lambda x: x.cumsum(0) + 1, lambda x: x.sort()[0] * 2):
        result, (code,) = run_and_get_code(torch.compile(function), x)
        torch.testing.assert_close(result, function(x), rtol=1e-3, atol=1e-2)
        assert "exclusive_scan_decoupled_lookback" not in code
        assert "sort_with_index" not in code
    with torch._inductor.config.patch({"triton.cooperative_reductions": True}):
        torch._dynamo.reset()
        total, (code,) = run_and_get_code(torch.compile(lambda x: x.sum() + 1), x)
        assert "x_grid_barrier" not in code
        torch.testing.assert_close(total, x.sum() + 1, rtol=1e-4, atol=1e-2)


def test_training(by_triton):
    model = torch.nn.Sequential(
        torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.LayerNorm(128)
    ).to("xpu")
    x = torch.randn(32, 64, device="xpu")

    def step(call):
        model.zero_grad()
        F.mse_loss(call(x), torch.ones(32, 128, device="xpu")).backward()
        return [p.grad.clone() for p in model.parameters()]

    for got, expected in zip(step(torch.compile(model)), step(model), strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-3, atol=1e-4)


def test_random_numbers_of_eager_mode(by_triton):
    x = torch.ones(1000, device="xpu")
    with torch._inductor.config.patch(align_random_eager=True):
        torch.manual_seed(3)
        expected = F.dropout(x, 0.5)
        torch.manual_seed(3)
        assert torch.equal(torch.compile(F.dropout)(x, 0.5), expected)


def test_replayed_graphs(by_triton):
    call = torch.compile(lambda x: torch.softmax(x.sin() + 1, -1), mode="reduce-overhead")
    for step in range(5):
        x = torch.randn(40, 50, device="xpu") + step
        torch.testing.assert_close(call(x), torch.softmax(x.sin() + 1, -1))


def test_another_reader_is_an_error():
    with (
        inductor_xpu.settings.patch(reader="halide"),
        pytest.raises(Exception, match='"loops" or "triton"'),
    ):
        torch.compile(lambda x: x + 1)(torch.ones(3, device="xpu"))


PRODUCTS = {
    "mm": (lambda a, b: (a @ b).relu(), ((96, 64), (64, 80))),
    "addmm": (lambda a, b, c: torch.addmm(c, a, b).sin(), ((96, 64), (64, 80), (96, 80))),
    "bmm": (lambda a, b: torch.bmm(a, b) + 1, ((3, 32, 48), (3, 48, 64))),
}


@pytest.mark.parametrize("backends", ["TRITON", "ATEN,TRITON"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_tuned_products(name, backends, capfd):
    """Triton's templates are right, also where they do not compete, and one line says what was chosen."""
    function, shapes = PRODUCTS[name]
    given = [torch.randn(shape, device="xpu") for shape in shapes]
    with fresh_inductor_cache(), torch._inductor.config.patch(max_autotune_gemm_backends=backends):
        call = torch.compile(function, mode="max-autotune-no-cudagraphs")
        result, (code,) = run_and_get_code(call, *given)
    torch.testing.assert_close(result, function(*given), rtol=1e-3, atol=1e-3)
    lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("xpu: ")]
    if backends == "TRITON":
        assert "tem_fused" in code
    else:
        assert len(lines) == 1
        # Inductor may take the sum out of addmm, to fuse it with what follows.
        assert re.match(
            rf"xpu: (add)?{name.removeprefix('add')}\(.*\): (oneDNN|Triton) [\d.]+ ms", lines[0]
        )


def test_results_of_tuning_stay_on_disk(tmp_path):
    from xpu_testing import run_child

    program = """
import torch
a, b = torch.randn(64, 48, device="xpu"), torch.randn(48, 32, device="xpu")
torch.compile(lambda a, b: a @ b + 1, mode="max-autotune-no-cudagraphs")(a, b)
"""
    env = {
        "TORCHINDUCTOR_CACHE_DIR": str(tmp_path),
        "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
        "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
    }
    first, second = (run_child(program, env=env, timeout=300).check().err for _ in range(2))
    assert "xpu: mm(" in first
    assert "xpu: mm(" not in second


def test_the_cpu_device_tunes_tiles_that_differ():
    import triton
    from torch._inductor.runtime.hints import DeviceProperties, HeuristicType

    from inductor_xpu.tuning import suitable_configs

    device = DeviceProperties.create(torch.device("xpu", 0))
    sizes = [(1024, 4), (512, 4), (1024, 8), (32, 4)]
    configs = [triton.Config({"XBLOCK": size}, num_warps=warps) for size, warps in sizes]
    on_cpu = device._replace(cc={"type": "cpu"})
    kind = HeuristicType.POINTWISE
    assert suitable_configs(configs, on_cpu, kind, None) == configs[:2]
    assert suitable_configs(configs[3:], on_cpu, kind, None) == configs[3:]
    different = [configs[0], configs[1], configs[3]]
    kind = HeuristicType.PERSISTENT_REDUCTION
    assert suitable_configs(configs, on_cpu, kind, {"x": 9, "r0_": 128}) == different
    (single,) = suitable_configs(configs, on_cpu, kind, {"x": 9, "r0_": 1024})
    assert single.kwargs == {"XBLOCK": 1}
    (single,) = suitable_configs(configs, on_cpu, kind, {"x": 9, "r0_": 1024}, {"XBLOCK": 4})
    assert single.kwargs == {"XBLOCK": 4}
    without_rows = [triton.Config({}, num_warps=1)]
    assert suitable_configs(without_rows, on_cpu, kind, {"r0_": 1024})[0].kwargs == {}
    for other in (device._replace(cc={"type": "gpu"}), device._replace(type="cuda", cc=90)):
        assert suitable_configs(configs, other, kind, {"x": 9, "r0_": 1024}) == configs
    assert configs[0].kwargs == {"XBLOCK": 1024}

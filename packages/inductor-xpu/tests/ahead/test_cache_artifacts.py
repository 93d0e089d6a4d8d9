"""torch.compiler.save_cache_artifacts takes kernels along: another machine compiles nothing."""

import pytest
from xpu_testing import run_child

PROGRAM = """
import sys, torch
from pathlib import Path
from torch._dynamo.utils import counters

def activate(x, bias):
    return torch.nn.functional.gelu(x + bias).sum(1), x.softmax(-1)

file = Path({file!r})
if {loads}:
    torch.compiler.load_cache_artifacts(file.read_bytes())
x, bias = torch.randn(50, 30), torch.randn(30)
for got, expected in zip(torch.compile(activate)(x.to("xpu"), bias.to("xpu")), activate(x, bias)):
    torch.testing.assert_close(got.cpu(), expected)
print(counters["inductor"]["fxgraph_cache_hit"], counters["inductor"]["fxgraph_cache_miss"])
print("libsycl-jit" in open("/proc/self/maps").read())  # the compiler
if not {loads}:
    data, info = torch.compiler.save_cache_artifacts()
    assert len(info.artifacts["xpu_kernels"]) == 1, info
    file.write_bytes(data)
"""


@pytest.mark.values
@pytest.mark.driver_binaries
def test_a_second_machine_has_graphs_and_kernels(tmp_path):
    def run(loads):
        folder = tmp_path / str(loads)
        env = {
            "TORCHINDUCTOR_CACHE_DIR": str(folder / "graphs"),
            "XPU_CACHE_SIZE": "0",
            "XPU_BUILD_PROCESSES": "0",
            "XPU_DUMP_KERNELS": "",
        }
        code = PROGRAM.format(file=str(tmp_path / "artifacts"), loads=loads)
        return run_child(code, env=env, timeout=200).check()

    assert run(False).out.split() == ["0", "1", "True"]
    assert run(True).out.split() == ["1", "0", "False"]

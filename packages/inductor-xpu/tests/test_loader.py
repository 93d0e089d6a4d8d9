"""The launchers of kernels for many shapes."""

import pytest
from xpu_runtime.codegen.division import Division
from xpu_runtime.codegen.target import Target

from inductor_xpu import builds
from inductor_xpu.loader import MAX_LAUNCHES, SizedLauncher

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")

TARGET = Target(lanes=16, units=2, gpu=False, max_items=8192, local_memory=262144)


@pytest.mark.parametrize(("rows", "columns"), [((1,), (5,)), (("n",), (1,)), (("m", 3), ("n",))])
def test_a_launch_has_the_groups_and_sizes_of_its_values(rows, columns):
    """The kernel has another symbol, which changes with every launch, as a learning rate does."""
    launched = []
    division = Division("line", rows, columns, 16, TARGET)
    launcher = SizedLauncher(lambda *args: launched.append(args), 16, ("m", "rate", "n"), division)
    for rate in range(MAX_LAUNCHES):
        for m, n in [(4, 100), (5, 100), (4, 2000), (4, 100)]:
            launcher((m, rate, n), "array")
            groups, sizes = division.launch({"m": m, "n": n})
            assert launched.pop() == (groups * 16, 16, "array", m, rate, n, *sizes)
    assert len(launcher.launches) <= 3


def test_nothing_is_launched_for_no_elements():
    launcher = SizedLauncher(None, 16, ("n",), Division("line", ("n",), (1,), 16, TARGET))
    launcher((0,), "array")


def test_the_number_of_remembered_launches_is_bounded():
    launched = []
    division = Division("line", ("n",), (1,), 16, TARGET)
    launcher = SizedLauncher(lambda *args: launched.append(args), 16, ("n",), division)
    for n in range(1, 2 * MAX_LAUNCHES):
        launcher((n,))
    assert 0 < len(launcher.launches) <= MAX_LAUNCHES
    assert len(launched) == 2 * MAX_LAUNCHES - 1


def test_kernels_are_built_once_and_before_the_graph_is_written(monkeypatch):
    import torch
    from torch._inductor.graph import GraphLowering
    from torch._inductor.utils import fresh_cache

    built = []
    stock = builds._build, GraphLowering.codegen
    monkeypatch.setattr(builds, "_build", lambda *args: built.append(args) or stock[0](*args))

    def codegen(graph):
        written = stock[1](graph)
        assert len(graph.scheduler.get_backend(torch.device("xpu", 0)).builds) == 2
        return written

    monkeypatch.setattr(GraphLowering, "codegen", codegen)
    x = torch.randn(40, 40, device="xpu")
    with fresh_cache():
        out = torch.compile(lambda x: (x.sin() @ x).cos())(x)
    torch.testing.assert_close(out, (x.sin() @ x).cos())
    assert len(built) == len(set(built)) == 2


def test_a_build_that_failed_is_tried_again(monkeypatch):
    results = [OSError("No space left on device"), "kernel"]

    def build(*_):
        result = results.pop(0)
        if isinstance(result, OSError):
            raise result
        return result

    monkeypatch.setattr(builds, "_build", build)
    failed = builds.start_build("a kernel", 0, "its source")
    with pytest.raises(OSError, match="No space"):
        failed.result(100)
    built = builds.start_build("a kernel", 0, "its source")
    assert built.result(100) == "kernel"
    assert builds.start_build("a kernel", 0, "its source") is built

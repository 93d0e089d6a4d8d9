"""XPUGraph and MemPool: recorded work, its memory, and what others may do meanwhile."""

from pathlib import Path

import pytest
import torch
from xpu_testing import assert_close


def captured(function, *inputs):
    for _ in range(2):
        function(*inputs)
    graph = torch.xpu.XPUGraph()
    with torch.xpu.graph(graph):
        result = function(*inputs)
    return graph, result


@pytest.mark.values
def test_replay_computes_from_new_inputs():
    x = torch.ones(1000, device="xpu")
    graph, y = captured(lambda t: (t * 2 + 1).relu(), x)
    x.fill_(4)
    graph.replay()
    assert torch.equal(y.cpu(), torch.full((1000,), 9.0))


@pytest.mark.values
def test_memory_of_a_graph_goes_to_nobody_else():
    x = torch.ones(1 << 16, device="xpu")
    graph, y = captured(lambda t: (t + 1) * (t + 2), x)
    others = [torch.full((1 << 16,), 7.0, device="xpu") for _ in range(8)]
    graph.replay()
    assert torch.equal(y.cpu(), torch.full((1 << 16,), 6.0))
    assert all(torch.equal(o.cpu(), torch.full((1 << 16,), 7.0)) for o in others)


@pytest.mark.values
def test_backward_in_a_graph():
    weight = torch.full((64, 64), 0.5, device="xpu", requires_grad=True)
    x = torch.ones(8, 64, device="xpu")

    def step(t):
        loss = (t @ weight).relu().sum()
        return torch.autograd.grad(loss, weight)[0]

    graph, grad = captured(step, x)
    keep = [torch.full((64, 64), 3.0, device="xpu") for _ in range(8)]
    x.fill_(2)
    graph.replay()
    assert torch.equal(grad.cpu(), torch.full((64, 64), 16.0))
    assert all(bool((k == 3).all()) for k in keep)


@pytest.mark.values
# PyTorch warns so on every device: the leaves were made on another stream than the capture's.
@pytest.mark.filterwarnings("ignore:The AccumulateGrad node's stream")
def test_graphed_callable_trains():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    plain = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    plain.load_state_dict(net.state_dict())
    net.to("xpu")
    sample = torch.randn(8, 16).to("xpu")
    graphed = torch.xpu.make_graphed_callables(net, (sample,))
    for module, device in ((graphed, "xpu"), (plain, "cpu")):
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        for k in range(3):
            optimizer.zero_grad()
            x = torch.full((8, 16), 0.1 * (k + 1), device=device)
            module(x).square().sum().backward()
            optimizer.step()
    for ours, theirs in zip(net.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(ours.detach().cpu(), theirs.detach(), rtol=1e-4, atol=1e-5)


@pytest.mark.values
def test_pool_is_shared_between_graphs():
    """The second graph's memory is of the first one's pool, none of what the first still has."""
    x = torch.ones(1 << 20, device="xpu")
    first, y = captured(lambda t: (t + 1) * 2, x)
    second = torch.xpu.XPUGraph()
    with torch.xpu.graph(second, pool=first.pool()):
        z = (x + 2) * 3
    assert second.pool() == first.pool()
    mine = {
        block["address"]
        for segment in torch.xpu.memory_snapshot(first.pool())
        for block in segment["blocks"]
    }
    assert {y.data_ptr(), z.data_ptr()} <= mine
    first.replay()
    second.replay()
    assert torch.equal(y.cpu(), torch.full((1 << 20,), 4.0))
    assert torch.equal(z.cpu(), torch.full((1 << 20,), 9.0))


def test_waiting_while_capturing_is_an_error():
    graph = torch.xpu.XPUGraph()
    with torch.xpu.graph(graph):
        assert torch.xpu.is_current_stream_capturing()
        y = torch.ones(4, device="xpu")
        with pytest.raises(RuntimeError, match="captured"):
            y.sum().item()
    assert not torch.xpu.is_current_stream_capturing()


def test_reset_gives_memory_back():
    x = torch.ones(1 << 20, device="xpu")
    torch.xpu.empty_cache()
    graph, y = captured(lambda t: t + 1, x)
    del y
    handle = graph.pool()
    graph.reset()
    assert not torch.xpu.memory_snapshot(handle)


def test_mem_pool():
    pool = torch.xpu.MemPool()
    assert pool.use_count() == 1
    with torch.xpu.use_mem_pool(pool):
        inside = torch.ones(5000, device="xpu")
        assert pool.use_count() == 2
    outside = torch.ones(5000, device="xpu")
    segments = pool.snapshot()
    addresses = {b["address"] for s in segments for b in s["blocks"]}
    assert inside.data_ptr() in addresses
    assert outside.data_ptr() not in addresses


@pytest.mark.values
def test_every_replay_draws_other_numbers():
    x = torch.ones(1000, device="xpu")
    torch.xpu.manual_seed(5)
    first, second = torch.nn.functional.dropout(x, 0.5), torch.rand_like(x)
    graph = torch.xpu.XPUGraph()
    with torch.xpu.graph(graph):
        dropped, drawn = torch.nn.functional.dropout(x, 0.5), torch.rand_like(x)
    torch.xpu.manual_seed(5)
    graph.replay()
    torch.testing.assert_close(dropped, first)
    torch.testing.assert_close(drawn, second)
    after = torch.rand_like(x)
    seen = [first, drawn.clone(), after]
    graph.replay()
    for earlier in seen:
        assert not torch.equal(drawn, earlier)
    assert not torch.equal(dropped, first)
    torch.xpu.manual_seed(5)
    graph.replay()
    torch.testing.assert_close(dropped, first)
    torch.testing.assert_close(torch.rand_like(x), after)


@pytest.mark.values
def test_a_generator_of_its_own_moves_on_with_a_replay():
    generator = torch.Generator("xpu").manual_seed(3)
    expected = [torch.rand(10, device="xpu", generator=generator) for _ in range(2)]
    generator.manual_seed(3)
    graph = torch.xpu.XPUGraph()
    with torch.xpu.graph(graph):
        drawn = torch.rand(10, device="xpu", generator=generator)
    for numbers in expected:
        graph.replay()
        torch.testing.assert_close(drawn, numbers)


@pytest.mark.values
def test_attention_drops_anew_in_every_replay():
    q = torch.randn(1, 2, 16, 8, device="xpu")

    def attention():
        return torch.nn.functional.scaled_dot_product_attention(q, q, q, dropout_p=0.5)

    attention()
    graph = torch.xpu.XPUGraph()
    with torch.xpu.graph(graph):
        out = attention()
    graph.replay()
    first = out.clone()
    graph.replay()
    assert not torch.equal(out, first)


def test_the_generic_graph():
    x = torch.ones(1000, device="xpu")
    stream = torch.Stream("xpu")
    (x * 2 + 1).relu()
    torch.xpu.synchronize()
    graph = torch.accelerator.Graph()
    with pytest.raises(RuntimeError, match="no pool before"):
        graph.pool()
    with stream, graph:
        y = (x * 2 + 1).relu()
    x.fill_(4)
    torch.xpu.synchronize()
    graph.replay()
    torch.xpu.synchronize()
    assert_close(y.cpu().numpy(), torch.full((1000,), 9.0).numpy())
    assert graph.pool()[1] > 0
    graph.reset()
    with stream, graph:
        y = x - 1
    graph.replay()
    torch.xpu.synchronize()
    assert_close(y.cpu().numpy(), torch.full((1000,), 3.0).numpy())


DROPPED = Path(__file__).parent / "programs" / "dropped_graphs.py"


@pytest.mark.values
@pytest.mark.parametrize("mode", ["native", "list"])
def test_a_graph_dropped_while_it_runs(child, mode):
    child(DROPPED, env={"XPU_GRAPH": mode}).check()

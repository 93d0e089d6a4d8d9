"""Graphs that are dropped while their replays run."""

import torch


def work(x):
    for _ in range(8):
        x = torch.tanh(x @ x)
    return x


x = torch.randn(300, 300, device="xpu")
expected = work(x)
for i in range(12):
    graph = torch.xpu.XPUGraph()
    with torch.xpu.graph(graph):
        y = work(x)
    side = torch.xpu.Stream() if i % 2 else torch.xpu.current_stream()
    with torch.xpu.stream(side):
        for _ in range(3):
            graph.replay()
        result = y.clone()
    if i % 3 == 0:
        graph.reset()
    del graph, y
    if i % 4:
        torch.xpu.empty_cache()
    with torch.xpu.stream(torch.xpu.Stream()):
        other = [torch.full_like(x, float("nan")) for _ in range(12)]
    more = [torch.full_like(x, float("nan")) for _ in range(12)]
    torch.xpu.synchronize()
    assert torch.equal(result, expected), i

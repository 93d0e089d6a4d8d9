"""Replicas on two devices train as one module."""

import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
x = torch.randn(7, 4)
net(x).square().sum().backward()
expected = [p.grad.clone() for p in net.parameters()]
net.zero_grad()
net.to("xpu:0")
parallel = torch.nn.DataParallel(net)
assert parallel.device_ids == [0, 1]
for source in (x, x.to("xpu:0")):
    net.zero_grad()
    out = parallel(source)
    assert out.device == torch.device("xpu:0")
    out.square().sum().backward()
    torch.testing.assert_close([p.grad.cpu() for p in net.parameters()], expected)

"""Train on batches of varied shapes: memory stays what it was."""

import random

import torch

random.seed(3)
net = torch.nn.Sequential(
    torch.nn.Conv2d(3, 8, 3),
    torch.nn.ReLU(),
    torch.nn.AdaptiveAvgPool2d(4),
    torch.nn.Flatten(),
    torch.nn.Linear(128, 10),
).to("xpu")
optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
sizes = [(random.randint(1, 16), random.randint(8, 40)) for _ in range(20)]


def step(batch, side):
    optimizer.zero_grad()
    net(torch.zeros(batch, 3, side, side, device="xpu")).sum().backward()
    optimizer.step()


for size in sizes:
    step(*size)
torch.xpu.synchronize()
allocated, reserved = torch.xpu.memory_allocated(), torch.xpu.memory_reserved()
for _ in range(1000):
    step(*random.choice(sizes))
torch.xpu.synchronize()
assert torch.xpu.memory_allocated() <= allocated, (allocated, torch.xpu.memory_allocated())
assert torch.xpu.memory_reserved() <= reserved + 20 * 2**20, (reserved, torch.xpu.memory_reserved())
print(allocated, reserved, torch.xpu.memory_reserved())

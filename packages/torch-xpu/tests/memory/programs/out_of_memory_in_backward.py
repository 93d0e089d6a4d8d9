"""Run out of memory in backward passes, and train on."""

import torch

_, total = torch.xpu.mem_get_info()
torch.xpu.set_per_process_memory_fraction(200 * 2**20 / total)
net = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(3)]).to("xpu")
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)


class Greedy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        torch.empty(2**30, dtype=torch.uint8, device="xpu")
        return grad


def step(last=lambda x: x):
    optimizer.zero_grad()
    loss = last(net(torch.ones(64, 256, device="xpu"))).square().mean()
    loss.backward()
    optimizer.step()
    return loss.detach()


losses = [step()]
held = torch.xpu.memory_allocated()
for _ in range(3):
    try:
        step(Greedy.apply)
    except torch.OutOfMemoryError as error:
        assert "1.00 GiB" in str(error), error
    else:
        raise SystemExit("no error")
    losses.append(step())
assert torch.xpu.memory_stats()["num_ooms"] == 3
assert torch.xpu.memory_allocated() <= held + 4096
print([loss.item() for loss in losses])

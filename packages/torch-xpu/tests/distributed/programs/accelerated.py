"""A training script with accelerate, as users write it: nothing in it names xpu."""

from __future__ import annotations

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(gradient_accumulation_steps=2)
assert accelerator.device.type == "xpu", accelerator.device
assert accelerator.num_processes == 2, accelerator.num_processes
set_seed(0)
generator = torch.Generator().manual_seed(0)
inputs = torch.randn(64, 8, generator=generator)
data = TensorDataset(inputs, (inputs.sum(1, keepdim=True) > 0).float())
network = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
steps = torch.optim.AdamW(network.parameters(), lr=0.02)
network, steps, loader = accelerator.prepare(
    network, steps, DataLoader(data, batch_size=8, shuffle=True)
)
losses = []
for _ in range(10):
    for batch, targets in loader:
        with accelerator.accumulate(network):
            loss = nn.functional.binary_cross_entropy_with_logits(network(batch), targets)
            accelerator.backward(loss)
            steps.step()
            steps.zero_grad()
    losses.append(accelerator.gather_for_metrics(loss.detach().view(1)).mean().item())
assert losses[-1] < 0.5 * losses[0], losses
weights = torch.cat([parameter.detach().flatten() for parameter in network.parameters()])
both = accelerator.gather(weights.unsqueeze(0))
assert both.shape[0] == 2
assert torch.equal(both[0], both[1])
print("done", flush=True)
accelerator.end_training()

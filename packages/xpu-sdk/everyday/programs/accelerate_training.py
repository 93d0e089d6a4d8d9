"""Train with accelerate: mixed precision, accumulation, clipping, a saved state, and its launcher."""

import argparse
import subprocess
import sys
import tempfile

import torch
import torch_xpu
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_data(seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(600, 20, generator=generator)
    return TensorDataset(x, (x[:, :5].sum(1) > x[:, 5:10].sum(1)).long())


def train(epochs, folder=None, resume=False, precision="bf16", cpu=False):
    """Return the losses and the accelerator with its model; a state is saved after the first epoch."""
    set_seed(0)
    accelerator = Accelerator(mixed_precision=precision, gradient_accumulation_steps=2, cpu=cpu)
    model = nn.Sequential(nn.Linear(20, 64), nn.LayerNorm(64), nn.GELU(), nn.Linear(64, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.9)
    loader = DataLoader(make_data(1), batch_size=40)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    first = 0
    if resume:
        accelerator.load_state(folder)
        first = 1

    losses = []
    for epoch in range(first, epochs):
        model.train()
        for x, y in loader:
            with accelerator.accumulate(model):
                with accelerator.autocast():
                    loss = nn.functional.cross_entropy(model(x), y)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
            losses.append(loss.item())
        scheduler.step()
        if epoch == 0 and folder and not resume:
            accelerator.save_state(folder)
    return losses, accelerator, accelerator.unwrap_model(model)


def accuracy(accelerator, model):
    loader = accelerator.prepare(DataLoader(make_data(2), batch_size=70))
    right, seen = 0, 0
    model.eval()
    for x, y in loader:
        with torch.no_grad():
            guesses = model(x).argmax(-1)
        guesses, y = accelerator.gather_for_metrics((guesses, y))
        right, seen = right + (guesses == y).sum().item(), seen + len(y)
    assert seen == 600
    return right / seen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--launched", action="store_true")
    if parser.parse_args().launched:
        losses, accelerator, _ = train(2, precision=None)
        assert accelerator.mixed_precision == "bf16"
        accelerator.print(f"launched on {accelerator.device}, loss {losses[-1]:.4f}")
        return

    with tempfile.TemporaryDirectory() as folder:
        losses, accelerator, model = train(4, folder)
        assert accelerator.device.type == "xpu"
        assert next(model.parameters()).device.type == "xpu"
        again, _, resumed = train(4, folder, resume=True)
    print(f"loss {losses[0]:.4f} to {losses[-1]:.4f}")
    assert sum(losses[-5:]) < 0.5 * sum(losses[:5])
    assert again == losses[15:]
    for one, other in zip(model.parameters(), resumed.parameters(), strict=True):
        assert torch.equal(one, other)
    assert accuracy(accelerator, model) > 0.9
    assert torch_xpu.fallbacks() == {}

    command = [sys.executable, "-m", "accelerate.commands.launch", "--num_processes", "1"]
    command += ["--num_machines", "1", "--dynamo_backend", "no", "--mixed_precision", "bf16"]
    launched = subprocess.run(
        [*command, __file__, "--launched"], capture_output=True, text=True, timeout=120
    )
    print(launched.stdout, launched.stderr[-2000:])
    assert launched.returncode == 0
    assert "launched on xpu" in launched.stdout


if __name__ == "__main__":
    main()

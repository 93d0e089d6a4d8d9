"""Train a small network for images with mixed precision, stop, and resume from a checkpoint."""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F
import torch_xpu
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 4


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1, bias=False),
            nn.GroupNorm(4, 32),
            nn.SiLU(),
            nn.AdaptiveAvgPool2d(4),
        )
        self.classifier = nn.Sequential(nn.Flatten(), nn.Dropout(0.1), nn.Linear(512, 4))

    def forward(self, x):
        return self.classifier(self.features(x))


def make_images(count, seed):
    """Noise with stripes in one of four directions."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 4, (count,), generator=generator)
    row, column = torch.meshgrid(torch.arange(24.0), torch.arange(24.0), indexing="ij")
    waves = torch.stack([row, column, row + column, row - column]).mul(0.9).sin()
    images = waves[labels][:, None].expand(-1, 3, -1, -1)
    return images + torch.randn(count, 3, 24, 24, generator=generator), labels


def evaluate(model, images, labels):
    model.eval()
    with torch.inference_mode():
        guesses = model(images.to("xpu")).argmax(1)
    return (guesses.cpu() == labels).float().mean().item()


def train(last_epoch, checkpoint, resume=False):
    torch.manual_seed(0)
    model = Net().to("xpu", memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS)
    scaler = torch.amp.GradScaler("xpu", init_scale=1024)
    order = torch.Generator()
    first_epoch, losses = 0, []

    if resume:
        state = torch.load(checkpoint, map_location="xpu", weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        scheduler.load_state_dict(state["scheduler"])
        scaler.load_state_dict(state["scaler"])
        torch.xpu.set_rng_state(state["rng"].cpu())
        first_epoch, losses = state["epoch"], state["losses"]

    dataset = TensorDataset(*make_images(512, seed=1))
    loader = DataLoader(dataset, batch_size=64, shuffle=True, generator=order, pin_memory=True)
    for epoch in range(first_epoch, last_epoch):
        model.train()
        order.manual_seed(epoch)
        total = 0.0
        for images, labels in loader:
            images = images.to("xpu", non_blocking=True, memory_format=torch.channels_last)
            labels = labels.to("xpu", non_blocking=True)
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("xpu", dtype=torch.float16):
                outputs = model(images)
                assert outputs.dtype == torch.float16
                loss = F.cross_entropy(outputs, labels)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            scaler.step(optimizer)
            scaler.update()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(loader))
        print(f"epoch {epoch}: loss {losses[-1]:.4f}", flush=True)

    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "scaler": scaler.state_dict(),
        "rng": torch.xpu.get_rng_state(),
        "epoch": last_epoch,
        "losses": losses,
    }
    torch.save(state, checkpoint)
    return model, losses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume", type=Path, help="a checkpoint to go on from")
    options = parser.parse_args()
    if options.resume:
        train(EPOCHS, options.resume, resume=True)
        return

    with tempfile.TemporaryDirectory() as folder:
        whole, stopped = Path(folder, "whole.pt"), Path(folder, "stopped.pt")
        model, losses = train(EPOCHS, whole)
        train(EPOCHS // 2, stopped)
        # Another process goes on, as after a crash.
        subprocess.run([sys.executable, __file__, "--resume", stopped], check=True)
        expected = torch.load(whole, map_location="cpu", weights_only=True)
        resumed = torch.load(stopped, map_location="cpu", weights_only=True)

    accuracy = evaluate(model, *make_images(256, seed=2))
    print(f"accuracy {accuracy:.3f}")
    assert losses[-1] < 0.3 * losses[0]
    assert accuracy > 0.9
    assert resumed["losses"] == expected["losses"]
    for name, weight in expected["model"].items():
        assert torch.equal(resumed["model"][name], weight), name
    assert torch_xpu.fallbacks() == {}


if __name__ == "__main__":
    main()

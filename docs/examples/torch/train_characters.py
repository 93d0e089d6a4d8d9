"""Train a small transformer to continue a text, letter by letter, in bf16 autocast.

    python train_characters.py [TEXT FILE] [--device xpu] [--steps 300]

Writes ``characters.pt``; ``generate_characters.py`` continues from there.
"""

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

CONTEXT, WIDTH, HEADS, LAYERS = 128, 192, 6, 4


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH), nn.Dropout(0.1)
        )

    def forward(self, x, past=None):
        n, t, _ = x.shape
        q, k, v = self.qkv(self.before(x)).view(n, t, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        if past is not None:
            k, v = past.append(k, v)
        y = F.scaled_dot_product_attention(
            q, k, v, attn_mask=past and past.mask, is_causal=past is None
        )
        x = x + self.out(y.transpose(1, 2).reshape(n, t, WIDTH))
        return x + self.wide(self.between(x))


class Characters(nn.Module):
    def __init__(self, count: int) -> None:
        super().__init__()
        self.letter, self.place = nn.Embedding(count, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.last, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, count)

    def forward(self, letters, places=None, past=None):
        places = torch.arange(letters.shape[1], device=letters.device) if places is None else places
        x = self.letter(letters) + self.place(places)
        for i, block in enumerate(self.blocks):
            x = block(x, past and past[i])
        return self.head(self.last(x))


class Windows(torch.utils.data.Dataset):
    """Pieces of a text, and the same moved on by a letter."""

    def __init__(self, numbers: torch.Tensor) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers) - CONTEXT

    def __getitem__(self, at: int):
        piece = self.numbers[at : at + CONTEXT + 1]
        return piece[:-1], piece[1:]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("text", nargs="?", type=Path, default=Path(__file__))
    options.add_argument("--device", default="xpu")
    options.add_argument("--steps", type=int, default=300)
    options = options.parse_args()

    text = options.text.read_text()
    letters = sorted(set(text))
    numbers = torch.tensor([letters.index(c) for c in text])
    torch.manual_seed(0)
    net = Characters(len(letters)).to(options.device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, options.steps)
    draw = torch.utils.data.RandomSampler(
        Windows(numbers), replacement=True, num_samples=16 * options.steps
    )
    batches = torch.utils.data.DataLoader(
        Windows(numbers), batch_size=16, sampler=draw, pin_memory=options.device != "cpu"
    )
    for step, (x, y) in enumerate(batches):
        x, y = (t.to(options.device, non_blocking=True) for t in (x, y))
        with torch.autocast(options.device, torch.bfloat16):
            loss = F.cross_entropy(net(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 20 == 0 or step == options.steps - 1:
            print(f"step {step:4d}  loss {loss.item():.3f}")
    torch.save({"letters": letters, "net": net.state_dict()}, "characters.pt")


if __name__ == "__main__":
    main()

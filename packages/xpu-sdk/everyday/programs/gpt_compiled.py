"""Train a small GPT, compiled, with accumulated and clipped gradients, and let it write."""

import math

import torch
import torch.nn.functional as F
import torch_xpu
from torch import nn
from torch._dynamo.utils import counters

WORDS, LENGTH, WIDTH, HEADS, LAYERS = 32, 48, 64, 4, 2
MICRO_BATCH, ACCUMULATE, STEPS = 8, 4, 45


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.project = nn.Linear(WIDTH, WIDTH, bias=False)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(approximate="tanh"), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x):
        batch, length, _ = x.shape
        heads = self.attention(self.norm1(x)).view(batch, length, 3, HEADS, WIDTH // HEADS)
        q, k, v = heads.permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.project(y.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(WORDS, WIDTH)
        self.position = nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        self.head.weight = self.token.weight
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, words, targets=None):
        positions = torch.arange(words.shape[1], device=words.device)
        x = self.token(words) + self.position(positions)
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        if targets is None:
            return logits
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def sequences(count, generator):
    """Each sequence counts up by a step of its own, which its first two words tell."""
    start = torch.randint(0, WORDS, (count, 1), generator=generator)
    step = torch.randint(1, 5, (count, 1), generator=generator)
    return (start + step * torch.arange(LENGTH + 1)) % WORDS


def write(model, words, count):
    """Write greedily. The sequence keeps one size: what comes later does not count."""
    length = words.shape[1]
    written = F.pad(words, (0, count))
    for place in range(length, length + count):
        with torch.no_grad():
            written[:, place] = model(written)[:, place - 1].argmax(-1)
    return written


def gradients(model):
    return [parameter.grad.clone() for parameter in model.parameters()]


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    model = GPT().to("xpu")
    compiled = torch.compile(model)

    # The same gradients: compiled in pieces, eager in pieces, and eager at once.
    batch = sequences(MICRO_BATCH * ACCUMULATE, generator).to("xpu")
    losses, found = {}, {}
    for name, network, pieces in (
        ("compiled", compiled, ACCUMULATE),
        ("eager", model, ACCUMULATE),
        ("at once", model, 1),
    ):
        model.zero_grad()
        losses[name] = 0.0
        for piece in batch.chunk(pieces):
            loss = network(piece[:, :-1], piece[:, 1:]) / pieces
            loss.backward()
            losses[name] += loss.item()
        found[name] = gradients(model)
    print(losses)
    assert abs(losses["compiled"] - math.log(WORDS)) < 0.2
    for name in ("eager", "at once"):
        assert abs(losses[name] - losses["compiled"]) < 1e-4
        torch.testing.assert_close(found[name], found["compiled"], atol=2e-5, rtol=1e-3)

    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, fused=True, weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, total_steps=STEPS)
    history = []
    for step in range(STEPS):
        optimizer.zero_grad()
        total = torch.zeros((), device="xpu")
        for _ in range(ACCUMULATE):
            words = sequences(MICRO_BATCH, generator).to("xpu")
            loss = compiled(words[:, :-1], words[:, 1:]) / ACCUMULATE
            loss.backward()
            total += loss.detach()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        clipped = torch.linalg.vector_norm(torch.stack([g.norm() for g in gradients(model)]))
        assert clipped.item() <= min(1.0, norm.item()) + 1e-3
        optimizer.step()
        scheduler.step()
        history.append(total.item())
        if step % 15 == 14:
            print(f"step {step + 1}: loss {history[-1]:.4f}, norm {norm.item():.3f}", flush=True)
    assert history[-1] < 0.3 * history[0], history

    prompt = sequences(4, generator)[:, :8].to("xpu")
    compiled.eval()
    text = write(compiled, prompt, 24)
    assert torch.equal(text, write(model, prompt, 24))
    assert torch.equal(text.cpu(), write(model.cpu(), prompt.cpu(), 24))
    print(text[0].tolist())
    assert not counters["graph_break"], counters["graph_break"]
    assert torch_xpu.fallbacks() == {}


if __name__ == "__main__":
    main()

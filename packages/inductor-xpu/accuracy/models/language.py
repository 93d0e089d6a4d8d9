"""Small language models: blocks of GPT-2, BERT, LLaMA, a translator, an LSTM and a speech recognizer."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Attention(nn.Module):
    """Attention of several heads to the sequence itself."""

    def __init__(self, width: int, heads: int, causal: bool = False) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, -1).transpose(1, 2)
            for part in self.project(x).chunk(3, -1)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    """Attention and an MLP, normalized before (GPT-2, ViT) or after (BERT) each."""

    def __init__(self, width: int, heads: int, causal: bool = False, norm_first: bool = True):
        super().__init__()
        self.norm_first = norm_first
        self.attention = Attention(width, heads, causal)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        if self.norm_first:
            x = x + self.attention(self.norm1(x))
            return x + self.mlp(self.norm2(x))
        x = self.norm1(x + self.attention(x))
        return self.norm2(x + self.mlp(x))


class LanguageModel(nn.Module):
    """Embeddings of words and places, blocks, and the logits of each word."""

    def __init__(self, blocks: list[nn.Module], words: int, length: int, width: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*blocks)
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.blocks(self.words(tokens) + self.places(places))
        return F.linear(self.norm(x), self.words.weight)


def gpt(width: int = 64, heads: int = 4, depth: int = 2, words: int = 200, length: int = 64):
    """Return a decoder as GPT-2."""
    blocks: list[nn.Module] = [Block(width, heads, causal=True) for _ in range(depth)]
    return LanguageModel(blocks, words, length, width)


def bert(width: int = 64, heads: int = 4, depth: int = 2, words: int = 200, length: int = 64):
    """Return an encoder as BERT."""
    blocks: list[nn.Module] = [Block(width, heads, norm_first=False) for _ in range(depth)]
    return LanguageModel(blocks, words, length, width)


class LlamaBlock(nn.Module):
    """Rotary attention with groups of heads that share keys and values, and a gated MLP."""

    def __init__(self, width: int, heads: int, key_heads: int) -> None:
        super().__init__()
        self.size = width // heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, self.size * key_heads, bias=False)
        self.value = nn.Linear(width, self.size * key_heads, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate, self.up = (nn.Linear(width, 3 * width, bias=False) for _ in range(2))
        self.down = nn.Linear(3 * width, width, bias=False)
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)

    def _heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, self.size)).transpose(1, 2)

    def _rotate(self, x: Tensor) -> Tensor:
        places = torch.arange(x.shape[2], device=x.device, dtype=torch.float32)
        speeds = 10000 ** -torch.arange(0, 1, 2 / self.size, device=x.device)
        angles = torch.outer(places, speeds)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        low, high = x.chunk(2, -1)
        return torch.cat([low * cos - high * sin, high * cos + low * sin], -1)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm1(x)
        q, k = (self._rotate(self._heads(part(y))) for part in (self.query, self.key))
        v = self._heads(self.value(y))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    """A decoder as LLaMA."""

    def __init__(self, width: int = 64, heads: int = 4, depth: int = 2, words: int = 200) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.blocks = nn.Sequential(*(LlamaBlock(width, heads, heads // 2) for _ in range(depth)))
        self.norm = nn.RMSNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.norm(self.blocks(self.words(tokens))))


class Translator(nn.Module):
    """PyTorch's own encoder and decoder of transformers."""

    def __init__(self, width: int = 64, heads: int = 4, depth: int = 1, words: int = 200) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.transformer = nn.Transformer(
            width, heads, depth, depth, 4 * width, dropout=0.0, batch_first=True
        )
        self.head = nn.Linear(width, words)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        length = target.shape[1]
        hidden = torch.ones(length, length, dtype=torch.bool, device=target.device).triu(1)
        # Without `tgt_is_causal` it compares the mask with one, which breaks the graph.
        y = self.transformer(
            self.words(source), self.words(target), tgt_mask=hidden, tgt_is_causal=True
        )
        return self.head(y)


class LSTMLanguageModel(nn.Module):
    """Embeddings, layers of LSTM, and the logits of each word."""

    def __init__(self, width: int = 48, depth: int = 2, words: int = 200) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, width, depth, batch_first=True)
        self.head = nn.Linear(width, words)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.lstm(self.words(tokens))[0])


class SpeechRecognizer(nn.Module):
    """Convolutions over a spectrogram, a GRU in both directions, and letters' log probabilities."""

    def __init__(self, bands: int = 32, width: int = 32, letters: int = 29) -> None:
        super().__init__()
        self.convolve = nn.Sequential(
            nn.Conv2d(1, 8, 5, stride=2, padding=2),
            nn.BatchNorm2d(8),
            nn.Hardtanh(0, 20),
            nn.Conv2d(8, 8, 3, stride=(2, 1), padding=1),
            nn.BatchNorm2d(8),
            nn.Hardtanh(0, 20),
        )
        self.gru = nn.GRU(8 * bands // 4, width, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * width, letters)

    def forward(self, spectrogram: Tensor) -> Tensor:
        x = self.convolve(spectrogram.unsqueeze(1))
        x = self.gru(x.flatten(1, 2).transpose(1, 2))[0]
        return F.log_softmax(self.head(x), -1)

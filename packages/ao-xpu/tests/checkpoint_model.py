"""A small model, and int4 checkpoints of it."""

import checkpoint_files as files
import torch


class Model(torch.nn.Module):
    def __init__(self, device="xpu", dtype=torch.float16):
        super().__init__()
        options = {"device": device, "dtype": dtype}
        self.embedding = torch.nn.Embedding(32, 64, **options)
        self.up = torch.nn.Linear(64, 128, **options)
        self.down = torch.nn.Linear(128, 64, bias=False, **options)
        self.norm = torch.nn.LayerNorm(64, **options)
        self.head = torch.nn.Linear(64, 32, bias=False, **options)
        self.head.weight = self.embedding.weight
        self.register_buffer("position", torch.ones(1, device=device), persistent=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        return self.head(self.norm(x + self.down(torch.relu(self.up(x)))))


PACKERS = {
    "gptq": files.gptq,
    "awq": files.awq,
    "compressed": files.compressed_tensors,
}


def checkpoint(pack, order=None, part="g_idx", seed=0):
    """Return a state dict, and one of the same elements in float64. Tied weights are stored once.

    ``order`` returns the group of each column, which is stored as ``part``.
    """
    torch.manual_seed(seed)
    plain = {
        "embedding.weight": torch.randn(32, 64).half(),
        "up.bias": torch.randn(128).half(),
        "norm.weight": torch.ones(64).half(),
        "norm.bias": torch.zeros(64).half(),
    }
    state, expected = dict(plain), {k: v.double() for k, v in plain.items()}
    for i, (name, rows, columns) in enumerate([("up", 128, 64), ("down", 64, 128)]):
        layer = files.random_layer(rows, columns, 32, seed=2 * seed + i)
        parts = pack(*layer)
        if order is not None:
            parts[part] = order(columns).to(torch.int32)
        groups = parts[part].long() if part in parts else None
        expected[f"{name}.weight"] = files.elements(*layer, groups)
        state |= {f"{name}.{part}": tensor for part, tensor in parts.items()}
    expected["head.weight"] = expected["embedding.weight"]
    return state, expected


def assert_computes(model, expected):
    reference = Model("cpu", torch.float64)
    reference.load_state_dict(expected)
    tokens = torch.arange(32)
    got = model(tokens.to("xpu")).cpu().double()
    torch.testing.assert_close(got, reference(tokens), atol=0.3, rtol=0.02)

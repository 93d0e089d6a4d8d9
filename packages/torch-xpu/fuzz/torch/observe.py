"""What one device makes of a call: results, gradients, and what is left in memory."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from call import WIDE, Call, is_view
from generator import DIFFERENTIABLE, Generator, Storage, View
from rounding import RoundingErrors, add_noise
from torch.utils._pytree import tree_flatten, tree_map
from values import elements
from xpu_testing.noise import Noise, trials

RESULTS = ("results", "outs", "gradients")


@dataclass
class Observed:
    """What one device made of a case."""

    error: Exception | None = None
    results: list[Any] = field(default_factory=list)
    aliases: list[int | None] = field(default_factory=list)
    outs: list[torch.Tensor] = field(default_factory=list)
    gradients: list[Any] = field(default_factory=list)
    storages: list[torch.Tensor] = field(default_factory=list)
    layouts: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


def observe(
    call: Call, device: str, wide: bool = False, noise: Noise | None = None, mode: str = ""
) -> Observed:
    """Return what a device makes of the call; ``wide`` in double precision, with noise or without."""
    seen = Observed()
    torch.set_default_dtype(torch.float64 if wide else torch.float32)
    try:
        _make(call, device, wide, seen, noise, mode or call.mode)
        if device == "xpu":
            torch.xpu.synchronize()
        for name in (*RESULTS, "storages"):
            leaves = getattr(seen, name)
            seen.layouts[name] = [_layout(leaf) for leaf in leaves]
            setattr(seen, name, [_to_host(leaf) for leaf in leaves])
    except Exception as error:  # noqa: BLE001 - a refusal is a result
        seen.error = error
    return seen


def observe_finer(call: Call) -> list[Observed]:
    """Return the call in double precision, without and with noise; nothing if that is refused."""
    exact = observe(call, "cpu", wide=True)
    if exact.error:
        return []
    found = [observe(call, "cpu", wide=True, noise=each) for each in trials(call.out_seed)]
    for each in found:
        if each.error:
            raise each.error
    return [exact, *found]


def _make(
    call: Call, device: str, wide: bool, seen: Observed, noise: Noise | None, mode: str
) -> None:
    about, gradients = call.format(), mode in ("g", "G")
    # Which of equal numbers is the largest does not depend on rounding.
    moves = noise and (call.operator.cancels or (gradients and not call.operator.exact))
    writes = mode in ("i", "o")

    def widened(storage: Storage) -> torch.Tensor:
        whole = elements(storage)
        if wide:
            whole = whole.to(WIDE.get(whole.dtype, whole.dtype))
        if moves and writes:
            add_noise(whole, noise, about)
        return whole

    seen.storages = [widened(storage).to(device) for storage in call.generator.storages]
    tensors: dict[int, torch.Tensor] = {}

    def build(leaf: Any) -> Any:
        if isinstance(leaf, View):
            if id(leaf) not in tensors:
                whole = seen.storages[leaf.storage]
                tensor = whole.as_strided(leaf.size, leaf.stride, leaf.offset)
                if moves and not writes:  # the elements of an expanded one differ then, too
                    tensor = tensor.clone(memory_format=torch.contiguous_format)
                    add_noise(tensor, noise, about)
                if gradients and leaf.dtype in DIFFERENTIABLE:
                    tensor = tensor.detach().requires_grad_()
                tensors[id(leaf)] = tensor
            return tensors[id(leaf)]
        if isinstance(leaf, torch.dtype) and wide:
            return WIDE.get(leaf, leaf)
        return leaf

    def arguments() -> tuple[list[Any], dict[str, Any]]:
        return tree_map(build, (call.arguments, call.named), is_leaf=is_view)

    function = call.operator.inplace if mode == "i" else call.operator.function
    positional, named = arguments()
    if mode == "o":
        seen.outs = _outs(call, device, wide, seen.storages)
        named["out"] = seen.outs[0] if len(seen.outs) == 1 else tuple(seen.outs)
    errors = RoundingErrors(noise, about) if noise else contextlib.nullcontext()
    with errors:
        result = function(*positional, **named)
    seen.results = list(tree_flatten(result)[0])
    seen.aliases = [_alias(leaf, seen.storages) for leaf in seen.results]
    if gradients:
        with errors:
            _differentiate(call, seen, [t for t in tensors.values() if t.requires_grad])


def _outs(call: Call, device: str, wide: bool, storages: list[torch.Tensor]) -> list[torch.Tensor]:
    """What ``out`` is given: made to fit, or not to fit, what the CPU returns without it."""
    found = observe(call, "cpu", wide, mode="f")
    draw = Generator(random.Random(call.out_seed))
    outs = []
    for like in [leaf for leaf in found.results if isinstance(leaf, torch.Tensor)] or [
        torch.ones(2)
    ]:
        shape, dtype, style = list(like.shape), like.dtype, call.out_style
        if style in ("alias", "overlap"):
            same = [view for view in call.views() if storages[view.storage].dtype == dtype]
            if same:
                view = draw.pick(*same)
                whole = storages[view.storage]
                if style == "alias" and list(view.size) == shape:
                    outs.append(whole.as_strided(view.size, view.stride, view.offset))
                    continue
                room = whole.numel() - like.numel()
                if room >= 0 and all(view.dense for view in same):
                    outs.append(whole[draw.randrange(room + 1) :][: like.numel()].view(shape))
                    continue
            style = "right"
        if style == "shape":
            shape = draw.pick([*shape, 2], shape[1:], [2, 3])
        if style == "empty":
            shape = [0]
        if style == "dtype":
            dtype = draw.pick(torch.float32, torch.float64, torch.int64, torch.bool, torch.float16)
            dtype = WIDE.get(dtype, dtype) if wide else dtype
        apart = not call.operator.overlaps or draw.chance(0.9)
        view = draw.tensor(shape, dtype, "normal", contiguous=style != "strided", apart=apart)
        if view.shares_memory and not view.expanded:
            view = draw.tensor(shape, dtype, "normal", contiguous=True)
        whole = elements(draw.storages[-1]).to(device)
        storages.append(whole)
        outs.append(whole.as_strided(view.size, view.stride, view.offset))
    return outs


def _differentiate(call: Call, seen: Observed, leaves: list[torch.Tensor]) -> None:
    draw = random.Random(call.out_seed)

    def gradients(outputs: Sequence[Any], twice: bool) -> list[torch.Tensor]:
        wanted = [t for t in outputs if isinstance(t, torch.Tensor) and t.requires_grad]
        if not wanted:
            return []
        directions = []
        for output in wanted:
            # Numbers that every dtype holds, so that finer runs go the same way.
            values = Storage(output.dtype, output.numel(), draw.getrandbits(31), "quarters")
            direction = elements(values).to(output.device)
            directions.append(direction.view(output.shape))
        found = torch.autograd.grad(
            wanted, leaves, directions, allow_unused=True, create_graph=twice
        )
        return [gradient for gradient in found if gradient is not None]

    first = gradients(seen.results, call.mode == "G")
    seen.gradients = first + (gradients(first, False) if call.mode == "G" else [])


def _layout(leaf: Any) -> dict[str, Any]:
    if not isinstance(leaf, torch.Tensor):
        return {}
    # The stride of a dimension of one element, or of none at all, means nothing.
    pairs = zip(leaf.shape, leaf.stride(), strict=True)
    strides = [stride for size, stride in pairs if size > 1 and leaf.numel()]
    return {"dtype": leaf.dtype, "shape": tuple(leaf.shape), "strides": strides}


def _alias(leaf: Any, storages: Sequence[torch.Tensor]) -> int | None:
    if not isinstance(leaf, torch.Tensor) or not leaf.numel():
        return None
    own = leaf.untyped_storage().data_ptr()
    return next((i for i, s in enumerate(storages) if s.untyped_storage().data_ptr() == own), None)


def _to_host(leaf: Any) -> Any:
    return leaf.detach().to("cpu") if isinstance(leaf, torch.Tensor) else leaf

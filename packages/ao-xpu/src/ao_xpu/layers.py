"""Which layers of a model are quantized, how they compute, and which were left out and why."""

from __future__ import annotations

import contextlib
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


class DoesNotFitError(ValueError):
    """A weight that a scheme does not take: `quantize_` leaves the layer as it is, and names it."""


# Why layers are as they were after quantize_.
_reasons: weakref.WeakKeyDictionary[torch.nn.Module, str] = weakref.WeakKeyDictionary()

_is_strict: ContextVar[bool] = ContextVar("ao_xpu_is_strict", default=False)

_LOW_BIT = "low_bit_linear"
_PRODUCTS = {
    "Int4Tensor": _LOW_BIT,
    "Int4PlainInt32Tensor": _LOW_BIT,
    "Int4PreshuffledTensor": _LOW_BIT,
    "Int4TilePackedTo4dTensor": _LOW_BIT,
    "Int8Tensor": _LOW_BIT,
    "Float8Tensor": _LOW_BIT,
    "IntxUnpackedToInt8Tensor": _LOW_BIT,
    "IntxPackedTensor": _LOW_BIT,
    "MXTensor": _LOW_BIT,
    "NVFP4Tensor": _LOW_BIT,
    "GgufTensor": _LOW_BIT,
    "SemiSparseTensor": "matmul",
}
_DYNAMIC_PRODUCTS = {"Int8Tensor": "_int_mm", "Float8Tensor": "_scaled_mm"}


@dataclass(frozen=True)
class Layer:
    """A linear layer or embedding: bytes of its weight as floats and as stored, and what multiplies by it."""

    name: str
    kind: str
    product: str
    bytes_before: int
    bytes_after: int
    reason: str = ""


class Report(list[Layer]):
    """The layers of a model; its text is a table."""

    def __str__(self) -> str:
        lines = ["layer  weight  product  bytes before  after  why it is not quantized"]
        lines += [
            f"{layer.name}  {layer.kind}  {layer.product}  {layer.bytes_before}  "
            f"{layer.bytes_after}  {layer.reason}".rstrip()
            for layer in self
        ]
        return "\n".join(lines)


def report(model: torch.nn.Module) -> Report:
    """Return the linear layers and embeddings of a model, and what became of them."""
    layers = Report()
    for name, module in model.named_modules():
        weight = getattr(module, "weight", None)
        if isinstance(module, torch.nn.Linear | torch.nn.Embedding) and isinstance(weight, Tensor):
            layers.append(_layer(name, module, weight))
    return layers


@contextlib.contextmanager
def strict() -> Iterator[None]:
    """Let `quantize_` raise DoesNotFitError in the place of the warning that names layers.

    The model is then as it was: its floats are kept until all layers have been quantized.
    """
    token = _is_strict.set(True)
    try:
        yield
    finally:
        _is_strict.reset(token)


def name_skipped(stock: Any) -> Any:
    """Name in one warning the layers on xpu that match the filter of quantize_ and stay as they were."""

    def replace(
        model: torch.nn.Module,
        replacement_fn: Callable[..., torch.nn.Module],
        filter_fn: Callable[[torch.nn.Module, str], bool],
        cur_fqn: str = "",
        device: Any = None,
        extra_args: Any = (),
    ) -> Any:
        if cur_fqn or len(extra_args) != 1:
            return stock(model, replacement_fn, filter_fn, cur_fqn, device, extra_args)
        names: dict[int, str] = {}
        skipped: list[str] = []

        def matches(module: torch.nn.Module, name: str) -> bool:
            names[id(module)] = name
            return filter_fn(module, name)

        def quantize(module: torch.nn.Module, config: Any) -> torch.nn.Module:
            cls, reason = type(module), None
            try:
                result = replacement_fn(module, config)
            except DoesNotFitError as error:
                if hasattr(config, "step"):  # the layer is in the middle of GPTQ or of training
                    raise
                result, reason = module, str(error)
            weight = getattr(result, "weight", None)
            is_unchanged = result is module and type(result) is cls and _is_plain(weight)
            if is_unchanged and isinstance(weight, Tensor) and weight.device.type == "xpu":
                _reasons[module] = reason = reason or _reason(weight, config)
                skipped.append(f"{names[id(module)] or type(module).__name__} ({reason})")
            return result

        with _restored_on_error(model) if _is_strict.get() else contextlib.nullcontext():
            result = stock(model, quantize, matches, cur_fqn, device, extra_args)
            message = f"not quantized: {', '.join(skipped)}"
            if skipped and _is_strict.get():
                raise DoesNotFitError(message)
        if skipped:
            warnings.warn(message, stacklevel=3)
        return result

    return replace


@contextlib.contextmanager
def _restored_on_error(model: torch.nn.Module) -> Iterator[None]:
    """Give all modules their classes, parameters and children again if an error is raised."""
    before = [
        (m, type(m), {k: v.copy() if isinstance(v, dict) else v for k, v in vars(m).items()})
        for m in model.modules()
    ]
    try:
        yield
    except BaseException:
        for module, cls, attributes in before:
            module.__class__ = cls
            vars(module).clear()
            vars(module).update(attributes)
        raise


def _reason(weight: Tensor, config: Any) -> str:
    group = getattr(config, "group_size", None)
    if isinstance(group, int) and weight.shape[-1] % group:
        return f"rows of {weight.shape[-1]} elements are no groups of {group}"
    shape, dtype = tuple(weight.shape), str(weight.dtype).removeprefix("torch.")
    return f"{type(config).__name__} does not take a weight {shape} of {dtype}"


def _is_plain(weight: Any) -> bool:
    return type(weight) in (Tensor, torch.nn.Parameter)


def _layer(name: str, module: torch.nn.Module, weight: Tensor) -> Layer:
    if _is_plain(weight):
        size, kind = weight.nbytes, str(weight.dtype).removeprefix("torch.")
        return Layer(
            name, kind, "matmul", size, size, _reasons.get(module, "no config was applied")
        )
    kind = type(weight).__name__
    is_dynamic = getattr(weight, "act_quant_kwargs", None) is not None
    products = _DYNAMIC_PRODUCTS if is_dynamic and kind in _DYNAMIC_PRODUCTS else _PRODUCTS
    dtype = weight.dtype if weight.dtype.itemsize > 1 else torch.bfloat16
    before = weight.numel() * dtype.itemsize
    return Layer(name, kind, products.get(kind, "torchao's"), before, _stored_bytes(weight))


def _stored_bytes(weight: Any) -> int:
    """Return the bytes of the tensors that a tensor of torchao is made of."""
    names, _ = weight.__tensor_flatten__()
    parts = [getattr(weight, name) for name in names]
    return sum(part.nbytes if _is_plain(part) else _stored_bytes(part) for part in parts)

"""GGUF files, llama.cpp's: a state dict by transformers' names, whose matrices stay quantized."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from .blocks import from_blocks
from .rope import FACTORS, Rope, set_frequencies

# Whether llama.cpp's rows of queries and keys have the two halves of rotated numbers interleaved.
_IS_INTERLEAVED = {"llama": True, "qwen2": False, "qwen3": False}

_NAMES = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
_NAMES_IN_BLOCK = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def load_gguf(
    path: str | os.PathLike[str],
    device: torch.device | str = "xpu",
    dtype: torch.dtype = torch.bfloat16,
) -> dict[str, Tensor]:
    """Return the parameters of a model, by the names that transformers has for them.

    Quantized matrices are GgufTensors, others have the type ``dtype``. A head that the file does not have is
    the embedding. A warning says if frequencies of rotations are changed, as `set_rope_frequencies` does.
    """
    with _errors_of(path):
        file, architecture = _open(path)
        heads = _value(file, f"{architecture}.attention.head_count")
        heads_of = {"attn_q": heads, "attn_k": heads}
        if (key := f"{architecture}.attention.head_count_kv") in file.fields:
            heads_of["attn_k"] = _value(file, key)
        state = {}
        for tensor in file.tensors:
            if tensor.name == FACTORS:
                continue
            name, kind = name_of(tensor.name), tensor.name.split(".")[-2]
            data = torch.from_numpy(tensor.data.copy())
            if _IS_INTERLEAVED[architecture] and kind in heads_of:
                data = _halves(data, heads_of[kind], tensor.name)
            format = tensor.tensor_type.name
            state[name] = _parameter(data.to(device), format, dtype, tensor.name)
        if "model.embed_tokens.weight" not in state:
            raise ValueError("the file has no tensor token_embd.weight")
        state.setdefault("lm_head.weight", state["model.embed_tokens.weight"])
        warning = Rope(file, architecture).warning
    if warning:
        warnings.warn(f"{os.fspath(path)}: {warning}", stacklevel=3)
    return state


def set_rope_frequencies(model: torch.nn.Module, path: str | os.PathLike[str]) -> None:
    """Give a model of transformers the frequencies of rotations of a file, whatever its config says.

    Raise ValueError, and change nothing, if the model has no rotations of their number.
    """
    with _errors_of(path):
        set_frequencies(model, Rope(*_open(path)).frequencies())


@contextlib.contextmanager
def _errors_of(path: str | os.PathLike[str]) -> Iterator[None]:
    """Name the file in errors of its content."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from error


def _open(path: str | os.PathLike[str]) -> tuple[Any, str]:
    """Return the reader of a file and the architecture of its model."""
    try:
        import gguf
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("load_gguf needs the package gguf: pip install gguf") from error

    try:
        file = gguf.GGUFReader(path)
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except Exception as error:  # the reader trusts the numbers that it reads
        raise ValueError(f"no GGUF file, or one that was cut: {error!r}") from error
    architecture = str(_value(file, "general.architecture"))
    if architecture not in _IS_INTERLEAVED:
        known = ", ".join(_IS_INTERLEAVED)
        raise ValueError(f"got a model of architecture {architecture}, expected {known}")
    return file, architecture


def name_of(name: str) -> str:
    """Return transformers' name of a parameter of a GGUF file."""
    *path, kind, suffix = name.split(".")
    if not path and kind in _NAMES:
        return f"{_NAMES[kind]}.{suffix}"
    if len(path) == 2 and path[0] == "blk" and kind in _NAMES_IN_BLOCK:
        return f"model.layers.{path[1]}.{_NAMES_IN_BLOCK[kind]}.{suffix}"
    raise ValueError(f"GGUF's tensor {name} is no parameter of a Llama or Qwen model")


def _value(file: Any, key: str) -> Any:
    if key not in file.fields:
        raise ValueError(f"the file has no field {key}")
    return file.fields[key].contents()


def _halves(data: Tensor, heads: int, name: str) -> Tensor:
    """Return rows of queries or keys in the order of transformers, which rotates the halves of a head."""
    if not isinstance(heads, int) or heads < 1 or data.shape[0] % (2 * heads):
        raise ValueError(f"{name}: {data.shape[0]} rows are no {heads} heads of an even size")
    return data.unflatten(0, (heads, -1, 2)).transpose(1, 2).flatten(0, 2)


def _parameter(data: Tensor, format: str, dtype: torch.dtype, name: str) -> Tensor:
    if format in ("F32", "F16"):
        return data.to(dtype)
    if format == "BF16":
        return data.view(torch.bfloat16).to(dtype)
    try:
        return from_blocks(data, format, dtype)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None

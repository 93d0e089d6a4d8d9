"""GGUF files become state dicts by transformers' names, with the values that the package gguf reads."""

import sys

import gguf_files
import gguf_reference
import numpy as np
import pytest
import torch
from gguf_files import DEPTH, HEADS, HIDDEN, KV_HEADS, WIDTH, WORDS

import ao_xpu
from ao_xpu import _llama
from ao_xpu.gguf_tensor import GgufTensor


@pytest.mark.parametrize("format", gguf_reference.LAYOUTS)
def test_the_reference_of_these_tests_is_right(format):
    rows = gguf_reference.random_rows(format, 3, 2)
    expected, got = gguf_files.dequantized(format, rows), gguf_files.reference(format, rows)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.values
@pytest.mark.parametrize("architecture", ["llama", "qwen2"])
@pytest.mark.parametrize("matrix", ["Q4_0", "Q4_1", "Q8_0", "F16", "BF16", "F32"])
def test_a_file_becomes_a_state_dict(architecture, matrix, tmp_path):
    values = gguf_files.write(tmp_path / "m.gguf", architecture, matrix)
    state = ao_xpu.load_gguf(tmp_path / "m.gguf", dtype=torch.float32)
    assert len(state) == len(values) + 1
    names = {
        "blk.1.attn_q.weight": "model.layers.1.self_attn.q_proj.weight",
        "blk.0.attn_k.weight": "model.layers.0.self_attn.k_proj.weight",
        "blk.0.ffn_down.weight": "model.layers.0.mlp.down_proj.weight",
        "blk.1.ffn_norm.weight": "model.layers.1.post_attention_layernorm.weight",
        "token_embd.weight": "model.embed_tokens.weight",
        "output_norm.weight": "model.norm.weight",
    }
    for ours, theirs in names.items():
        tensor = state[theirs]
        assert isinstance(tensor, GgufTensor) == (tensor.dim() == 2 and "F" not in matrix) or (
            theirs == "model.embed_tokens.weight"
        )
        got = tensor.dequantize() if isinstance(tensor, GgufTensor) else tensor
        expected = torch.from_numpy(values[ours])
        torch.testing.assert_close(got.cpu(), expected, rtol=1e-6, atol=1e-6)
    assert state["lm_head.weight"] is state["model.embed_tokens.weight"]
    assert all(tensor.device.type == "xpu" for tensor in state.values())


@pytest.mark.parametrize("has_head", [False, True])
@pytest.mark.values
def test_models_compute_what_transformers_reads_from_the_file(has_head, tmp_path):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    path = tmp_path / "m.gguf"
    gguf_files.write(path, has_head=has_head)
    expected_model = transformers.LlamaForCausalLM.from_pretrained(
        tmp_path, gguf_file=path.name, dtype=torch.float32
    )
    words = torch.tensor([3, 1, 4, 1, 5, 9, 2, 6])
    with torch.no_grad():
        expected = expected_model(words[None]).logits[0]
    state = ao_xpu.load_gguf(path, dtype=torch.float32)

    config = transformers.LlamaConfig.from_pretrained(tmp_path, gguf_file=path.name)
    model = transformers.LlamaForCausalLM(config).to("xpu").requires_grad_(False)
    model.load_state_dict(state, assign=True)
    assert {layer.kind for layer in ao_xpu.report(model)} == {"GgufTensor"}
    got = model(words[None].xpu()).logits[0]
    torch.testing.assert_close(got.cpu(), expected, rtol=1e-4, atol=1e-4)

    sizes = _llama.Sizes(WORDS, WIDTH, HEADS, KV_HEADS, HIDDEN, DEPTH, 16, 10000.0)
    ours = _llama.Llama(sizes).to("xpu").requires_grad_(False)
    ours.load_state_dict(_llama.state_of(state, DEPTH), assign=True)
    places = torch.arange(len(words), device="xpu")
    parts = [ours(words[part].xpu(), places[part]) for part in (slice(5), slice(5, 6), slice(6, 8))]
    torch.testing.assert_close(torch.cat(parts).cpu(), expected, rtol=1e-4, atol=1e-4)


def test_what_cannot_be_loaded_is_named(tmp_path):
    path = tmp_path / "m.gguf"
    gguf_files.write(path, matrix="Q5_1")
    with pytest.raises(ValueError, match=r"blk.0.attn_q.weight: GGUF's format Q5_1: expected one"):
        ao_xpu.load_gguf(path)
    gguf_files.write(path, "bloom")
    with pytest.raises(ValueError, match="architecture bloom, expected llama, qwen2, qwen3"):
        ao_xpu.load_gguf(path)
    gguf_files.write(path, extra=[("blk.0.ssm_in.weight", (4, WIDTH), "F32")])
    with pytest.raises(ValueError, match=r"tensor blk.0.ssm_in.weight is no parameter"):
        ao_xpu.load_gguf(path)


def test_the_frequencies_of_rotations_are_left_out(tmp_path):
    gguf_files.write(tmp_path / "m.gguf", extra=[("rope_freqs.weight", (8,), "F32")])
    assert not any("rope" in name for name in ao_xpu.load_gguf(tmp_path / "m.gguf"))


def test_a_file_that_is_cut_short_is_refused(tmp_path):
    path = tmp_path / "m.gguf"
    gguf_files.write(path)
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(ValueError):
        ao_xpu.load_gguf(path)


def test_without_the_package_gguf_the_error_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(ModuleNotFoundError, match="pip install gguf"):
        ao_xpu.load_gguf(tmp_path / "m.gguf")

"""GGUF files become state dicts by transformers' names, with the values that the package gguf reads."""

import sys
import warnings

import cached_llama
import gguf_files
import gguf_reference
import numpy as np
import pytest
import torch
from gguf_files import DEPTH, HEADS, HIDDEN, KV_HEADS, WIDTH, WORDS

import ao_xpu
from ao_xpu.gguf.tensor import GgufTensor


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

    sizes = cached_llama.Sizes(WORDS, WIDTH, HEADS, KV_HEADS, HIDDEN, DEPTH, 16, 10000.0)
    ours = cached_llama.Llama(sizes).to("xpu").requires_grad_(False)
    ours.load_state_dict(cached_llama.state_of(state, DEPTH), assign=True)
    places = torch.arange(len(words), device="xpu")
    parts = [ours(words[part].xpu(), places[part]) for part in (slice(5), slice(5, 6), slice(6, 8))]
    torch.testing.assert_close(torch.cat(parts).cpu(), expected, rtol=1e-4, atol=1e-4)


def test_what_cannot_be_loaded_is_named(tmp_path):
    path = tmp_path / "m.gguf"
    gguf_files.write(path, matrix="Q5_1")
    message = r"m\.gguf: blk.0.attn_q.weight: GGUF's format Q5_1: expected one"
    with pytest.raises(ValueError, match=message):
        ao_xpu.load_gguf(path)
    gguf_files.write(path, "bloom")
    message = r"m\.gguf: .*architecture bloom, expected llama, qwen2, qwen3"
    with pytest.raises(ValueError, match=message):
        ao_xpu.load_gguf(path)
    gguf_files.write(path, extra=[("blk.0.ssm_in.weight", (4, WIDTH), "F32")])
    with pytest.raises(ValueError, match=r"tensor blk.0.ssm_in.weight is no parameter"):
        ao_xpu.load_gguf(path)


# The factors of Llama 3.1 for heads of 16, and a scaling of all frequencies.
LLAMA3 = [1, 1, 1, 1.5, 3, 8, 8, 8]
ROPE = {
    "ones": {"rope_factors": [1] * 8},
    "llama3": {"rope_factors": LLAMA3},
    "linear": {"scaling": ("linear", 4.0)},
    "both": {"rope_factors": LLAMA3, "scaling": ("linear", 2.0)},
}


class Rotations(torch.nn.Module):
    """The buffers of transformers' rotations, on xpu."""

    def __init__(self, count=WIDTH // HEADS // 2, rope_type="default"):
        super().__init__()
        self.rope_type = rope_type
        for name in ("inv_freq", "original_inv_freq"):
            self.register_buffer(name, torch.ones(count, device="xpu"), persistent=False)


@pytest.mark.values
@pytest.mark.parametrize("kind", ROPE)
def test_frequencies_of_rotations(kind, tmp_path):
    """They are in no state dict: a warning names them unless they are those of the base."""
    path, options = tmp_path / "m.gguf", ROPE[kind]
    gguf_files.write(path, **options)
    if kind == "ones":
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            state = ao_xpu.load_gguf(path)
    else:
        what = "rope_freqs.weight is not all ones" if kind != "linear" else "rope.scaling.factor"
        with pytest.warns(UserWarning, match=rf"m\.gguf: .*{what}.*set_rope_frequencies") as caught:
            state = ao_xpu.load_gguf(path)
        assert caught[0].filename == __file__
    assert not any("rope" in name for name in state)
    model = torch.nn.Sequential(Rotations(), Rotations(rope_type="llama3"))
    ao_xpu.set_rope_frequencies(model, path)
    exact = 10000.0 ** (-np.arange(8) / 8) / np.array(options.get("rope_factors", [1] * 8))
    exact /= options.get("scaling", ("", 1))[1]
    for module in model:
        for buffer in (module.inv_freq, module.original_inv_freq):
            assert buffer.device.type == "xpu"
            np.testing.assert_allclose(buffer.cpu().numpy(), exact, rtol=1e-6)
    assert not model.state_dict()


def test_rotations_that_cannot_be_set_are_named(tmp_path):
    """An error leaves all frequencies as they were."""
    path = tmp_path / "m.gguf"
    gguf_files.write(path, rope_factors=LLAMA3)
    with pytest.raises(ValueError, match=r"m\.gguf: the model has no buffer inv_freq"):
        ao_xpu.set_rope_frequencies(torch.nn.Linear(2, 2), path)
    for other in (Rotations(4), Rotations(rope_type="dynamic")):
        model = torch.nn.Sequential(Rotations(), other)
        with pytest.raises(ValueError, match=r"inv_freq: got .*, expected \(8,\) of type default"):
            ao_xpu.set_rope_frequencies(model, path)
        assert all(torch.equal(b, torch.ones_like(b)) for b in model.buffers())
    gguf_files.write(path, rope_factors=LLAMA3[:4])
    with pytest.raises(ValueError, match=r"rope_freqs.weight: got shape \(4,\), expected \(8,\)"):
        ao_xpu.set_rope_frequencies(Rotations(), path)
    gguf_files.write(path, "qwen2", scaling=("yarn", 4.0))
    with pytest.warns(UserWarning, match="scaling of type yarn.* config of the model"):
        ao_xpu.load_gguf(path)
    with pytest.raises(ValueError, match="scaling of type yarn: expected linear"):
        ao_xpu.set_rope_frequencies(Rotations(), path)


@pytest.mark.values
def test_a_model_of_llama3_computes_what_its_config_says(tmp_path):
    transformers = pytest.importorskip("transformers")
    path = tmp_path / "m.gguf"
    factors = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    config = transformers.LlamaConfig(
        vocab_size=WORDS,
        hidden_size=WIDTH,
        intermediate_size=HIDDEN,
        num_hidden_layers=DEPTH,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        rms_norm_eps=1e-5,
        rope_scaling={"rope_type": "llama3", "original_max_position_embeddings": 64, **factors},
    )
    plain = transformers.LlamaConfig(**{**config.to_dict(), "rope_scaling": None})
    plain.rope_parameters = {"rope_type": "default", "rope_theta": 10000.0}
    right, model = (transformers.LlamaForCausalLM(c).to("xpu") for c in (config, plain))
    rotations = [m.model.rotary_emb.inv_freq for m in (model, right)]
    gguf_files.write(path, rope_factors=(rotations[0] / rotations[1]).tolist())
    with pytest.warns(UserWarning, match="rope_freqs"):
        state = ao_xpu.load_gguf(path, dtype=torch.float32)
    words = (torch.arange(60) * 7 % WORDS).xpu()[None]
    for m in (right, model):
        m.requires_grad_(False).load_state_dict(state, assign=True)
    expected = right(words).logits
    assert (model(words).logits - expected).norm() > 0.01 * expected.norm()
    ao_xpu.set_rope_frequencies(model, path)
    torch.testing.assert_close(model(words).logits, expected, rtol=1e-3, atol=1e-3)


def test_files_that_are_cut_are_named(tmp_path):
    """Wherever they are cut: in the fields, in the list of tensors, and in the tensors."""
    path = tmp_path / "m.gguf"
    gguf_files.write(path)
    data = path.read_bytes()
    for length in [*range(0, 1500, 37), 2000, len(data) - 1000, len(data) - 1]:
        path.write_bytes(data[:length])
        with pytest.raises(ValueError, match=r"m\.gguf: "):
            ao_xpu.load_gguf(path, "cpu")
    with pytest.raises(FileNotFoundError):
        ao_xpu.load_gguf(tmp_path / "none.gguf")


def test_without_the_package_gguf_the_error_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(ModuleNotFoundError, match="pip install gguf"):
        ao_xpu.load_gguf(tmp_path / "m.gguf")

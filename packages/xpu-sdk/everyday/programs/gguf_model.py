"""Write with a model from a GGUF file of llama.cpp: its matrices stay quantized on the device."""

import tempfile
import warnings
from pathlib import Path

import ao_xpu
import gguf
import numpy as np
import torch
import torch_xpu
from transformers import AutoConfig, AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

WORDS, WIDTH, HEADS, KV_HEADS, HIDDEN, DEPTH = 96, 256, 4, 2, 512, 2
FORMATS = ("Q8_0", "Q4_0", "Q4_1")


def train():
    """A model that has learned to count by ones, so that its words have no ties."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=WORDS,
        hidden_size=WIDTH,
        intermediate_size=HIDDEN,
        num_hidden_layers=DEPTH,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        max_position_embeddings=64,
        rms_norm_eps=1e-5,
        tie_word_embeddings=True,
        pad_token_id=None,
        bos_token_id=None,
        eos_token_id=None,
    )
    model = LlamaForCausalLM(config).to("xpu")
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for _ in range(60):
        words = (torch.randint(0, WORDS, (16, 1)) + torch.arange(20)) % WORDS
        loss = model(input_ids=words.to("xpu"), labels=words.to("xpu")).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"trained: loss {loss.item():.4f}", flush=True)
    assert loss.item() < 1.0
    return config, {name: value.cpu() for name, value in model.state_dict().items()}


def interleave(rows, heads):
    """Rows of queries or keys in llama.cpp's order: the halves of a head alternate."""
    return rows.reshape(heads, 2, -1, rows.shape[1]).swapaxes(1, 2).reshape(rows.shape)


NAMES = {
    "self_attn.q_proj": ("attn_q", HEADS),
    "self_attn.k_proj": ("attn_k", KV_HEADS),
    "self_attn.v_proj": ("attn_v", 0),
    "self_attn.o_proj": ("attn_output", 0),
    "mlp.gate_proj": ("ffn_gate", 0),
    "mlp.up_proj": ("ffn_up", 0),
    "mlp.down_proj": ("ffn_down", 0),
    "input_layernorm": ("attn_norm", 0),
    "post_attention_layernorm": ("ffn_norm", 0),
}


def write_file(path, state, matrix):
    """Convert the model as llama.cpp does; return the values that the file holds."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(DEPTH)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(WORDS)
    values = {}

    def add(name, own_name, heads=0):
        floats = state[own_name].numpy().astype(np.float32)
        kind = gguf.GGMLQuantizationType["F32" if floats.ndim == 1 else matrix]
        data = gguf.quantize(floats, kind)
        values[own_name] = torch.from_numpy(gguf.dequantize(data, kind).astype(np.float32))
        writer.add_tensor(name, interleave(data, heads) if heads else data, raw_dtype=kind)

    add("token_embd.weight", "model.embed_tokens.weight")
    for layer in range(DEPTH):
        for own, (name, heads) in NAMES.items():
            add(f"blk.{layer}.{name}.weight", f"model.layers.{layer}.{own}.weight", heads)
    add("output_norm.weight", "model.norm.weight")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    values["lm_head.weight"] = values["model.embed_tokens.weight"]
    return values


def load(path, dtype):
    config = AutoConfig.from_pretrained(path.parent, gguf_file=path.name)
    model = AutoModelForCausalLM.from_config(config, dtype=dtype)
    model.to("xpu").requires_grad_(False).eval()
    model.load_state_dict(ao_xpu.load_gguf(path, dtype=dtype), assign=True)
    return model


def main():
    config, state = train()
    prompt = (torch.tensor([[3], [40]]) + torch.arange(6)) % WORDS
    with tempfile.TemporaryDirectory() as folder:
        for matrix in FORMATS:
            path = Path(folder, f"{matrix}.gguf")
            values = write_file(path, state, matrix)
            expected = LlamaForCausalLM(config).eval()
            expected.load_state_dict(values)

            model = load(path, torch.float32)
            kinds = {
                type(layer.weight).__name__
                for layer in model.modules()
                if type(layer) is torch.nn.Linear
            }
            assert kinds == {"GgufTensor"}, kinds
            with torch.inference_mode():
                logits, wanted = model(prompt.to("xpu")).logits.cpu(), expected(prompt).logits
            torch.testing.assert_close(logits, wanted, atol=2e-3, rtol=2e-3)
            options = {"max_new_tokens": 16, "do_sample": False}
            written = model.generate(prompt.to("xpu"), **options).cpu()
            assert torch.equal(written, expected.generate(prompt, **options))
            print(matrix, written[0].tolist(), flush=True)

            half = load(path, torch.bfloat16)
            with torch.inference_mode():
                rounded = half(prompt.to("xpu")).logits.float().cpu()
            assert ((rounded - wanted).norm() / wanted.norm()).item() < 0.05

        data = path.read_bytes()
        broken = Path(folder, "broken.gguf")
        for content in (data[: len(data) // 2], b"nothing of the kind" * 100):
            broken.write_bytes(content)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    ao_xpu.load_gguf(broken)
            except ValueError as error:
                assert "broken.gguf" in str(error), error
            else:
                raise AssertionError("a broken file was read")
    assert torch_xpu.fallbacks() == {}


if __name__ == "__main__":
    main()

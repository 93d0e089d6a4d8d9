"""Small GGUF files, as llama.cpp converts models of transformers."""

import gguf
import gguf_reference
import numpy as np

WIDTH, HEADS, KV_HEADS, HIDDEN, WORDS, DEPTH = 64, 4, 2, 96, 40, 2
SHAPES = {
    "attn_q": (WIDTH, WIDTH),
    "attn_k": (WIDTH // 2, WIDTH),
    "attn_v": (WIDTH // 2, WIDTH),
    "attn_output": (WIDTH, WIDTH),
    "ffn_gate": (HIDDEN, WIDTH),
    "ffn_up": (HIDDEN, WIDTH),
    "ffn_down": (WIDTH, HIDDEN),
}
MATRIX = "Q4_1"


def interleave(rows, heads):
    """Rows of queries or keys in llama.cpp's order: the halves of a head alternate."""
    return rows.reshape(heads, 2, -1, rows.shape[1]).swapaxes(1, 2).reshape(rows.shape)


def write(
    path,
    architecture="llama",
    matrix=MATRIX,
    embedding="Q8_0",
    has_head=False,
    extra=(),
    rope_factors=None,
    scaling=None,
):
    """Write a model of random weights; return their values by llama.cpp's names, in transformers' order.

    ``scaling`` is the type of a scaling of rotations, and its factor.
    """
    generator = np.random.default_rng(0)
    writer = gguf.GGUFWriter(path, architecture)
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
    if scaling is not None:
        writer.add_rope_scaling_type(gguf.RopeScalingType(scaling[0]))
        writer.add_rope_scaling_factor(scaling[1])
    values = {}

    def add(name, shape, format):
        kind = gguf.GGMLQuantizationType[format]
        floats = (generator.standard_normal(shape) / 8).astype(np.float32)
        if len(shape) == 1:
            floats = floats + 1
        data = gguf.quantize(floats, kind)
        values[name] = gguf.dequantize(data, kind)
        heads = {"attn_q": HEADS, "attn_k": KV_HEADS}.get(name.split(".")[-2])
        if heads and architecture == "llama":
            data = interleave(data, heads)
        writer.add_tensor(name, data, raw_dtype=kind)

    add("token_embd.weight", (WORDS, WIDTH), embedding)
    for i in range(DEPTH):
        for name in ("attn_norm", "ffn_norm"):
            add(f"blk.{i}.{name}.weight", (WIDTH,), "F32")
        for name, shape in SHAPES.items():
            add(f"blk.{i}.{name}.weight", shape, matrix)
    add("output_norm.weight", (WIDTH,), "F32")
    if has_head:
        add("output.weight", (WORDS, WIDTH), matrix)
    for name, shape, format in extra:
        add(name, shape, format)
    if rope_factors is not None:
        writer.add_tensor("rope_freqs.weight", np.array(rope_factors, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return values


def dequantized(format, rows):
    """What the package gguf makes of rows of random blocks."""
    data = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), -1)
    return gguf.dequantize(data, gguf.GGMLQuantizationType[format])


def reference(format, rows):
    """What the reference of these tests makes of them."""
    return np.array([gguf_reference.elements(format, row) for row in rows])

"""Models of `transformers`: GPT-2 in training, Llama and GPT-2 writing text."""

import torch
import transformers as tf

SHAPE = {"vocab_size": 128, "max_position_embeddings": 64}
LLAMA = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
MODELS = (
    lambda: tf.GPT2LMHeadModel(tf.GPT2Config(vocab_size=128, n_embd=64, n_layer=2, n_head=4)),
    lambda: tf.LlamaForCausalLM(tf.LlamaConfig(**SHAPE, **LLAMA)),
)
SAMPLED = {"do_sample": True, "top_k": 5, "top_p": 0.9}
# A virtual GPU computes nothing, so that probabilities are none.
computes = torch.xpu.get_device_properties().type == "cpu"

for make in MODELS:
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        net = make().to("xpu", dtype).eval()
        words = torch.randint(1, 128, (2, 16), device="xpu")
        mask = torch.ones_like(words)
        for options in ({"do_sample": False}, SAMPLED)[: 1 + computes]:
            for prompt in (words, words[:1]):
                net.generate(
                    prompt,
                    attention_mask=mask[: len(prompt)],
                    max_new_tokens=4,
                    min_new_tokens=4,
                    pad_token_id=0,
                    **options,
                )
        net.train()
        optimizer = torch.optim.AdamW(net.parameters())
        for _ in range(2):
            net(input_ids=words, labels=words).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        torch.xpu.synchronize()

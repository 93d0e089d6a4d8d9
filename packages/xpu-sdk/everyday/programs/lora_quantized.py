"""Train LoRA adapters on models whose weights are int8 and int4 (torchao's plain_int32)."""

import tempfile

import torch
import torch_xpu
from peft import LoraConfig, PeftModel, get_peft_model
from torchao.quantization import Int4WeightOnlyConfig, Int8WeightOnlyConfig, quantize_
from transformers import LlamaConfig, LlamaForCausalLM, set_seed

WORDS = 64
SCHEMES = {
    "int8": Int8WeightOnlyConfig(),
    "plain_int32": Int4WeightOnlyConfig(group_size=32, int4_packing_format="plain_int32"),
}


def base_model():
    set_seed(0)
    config = LlamaConfig(
        vocab_size=WORDS,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=64,
    )
    return LlamaForCausalLM(config).to("xpu", torch.bfloat16)


def layers(module, name):
    return isinstance(module, torch.nn.Linear) and "lm_head" not in name


def quantized_model(scheme):
    model = base_model()
    quantize_(model, scheme, filter_fn=layers)
    return model


def batches(count):
    """Sentences that count up from anywhere."""
    generator = torch.Generator().manual_seed(1)
    for _ in range(count):
        start = torch.randint(0, WORDS, (16, 1), generator=generator)
        yield ((start + torch.arange(24)) % WORDS).to("xpu")


def dequantized(model):
    return {
        name: parameter.dequantize().cpu()
        for name, parameter in model.named_parameters()
        if hasattr(parameter, "dequantize") and type(parameter) is not torch.nn.Parameter
    }


def train(name, scheme, folder):
    words = next(batches(1))
    exact, quantized = base_model().eval(), quantized_model(scheme).eval()
    with torch.no_grad():
        expected, rounded = exact(words).logits.float(), quantized(words).logits.float()
    distance = ((rounded - expected).norm() / expected.norm()).item()
    assert 0 < distance < {"int8": 0.05, "plain_int32": 0.3}[name], distance

    frozen = dequantized(quantized)
    assert len(frozen) == 14, list(frozen)
    config = LoraConfig(
        r=8,
        lora_alpha=16,
        lora_dropout=0.0,
        target_modules=[
            "q_proj",
            "k_proj",
            "v_proj",
            "o_proj",
            "gate_proj",
            "up_proj",
            "down_proj",
        ],
        modules_to_save=["lm_head"],
        task_type="CAUSAL_LM",
    )
    model = get_peft_model(quantized, config)
    model.print_trainable_parameters()
    trainable = [p for p in model.parameters() if p.requires_grad]
    assert 0 < sum(p.numel() for p in trainable) < 0.5 * sum(p.numel() for p in model.parameters())

    optimizer = torch.optim.AdamW(trainable, lr=5e-3)
    model.train()
    losses = []
    for words in batches(40):
        loss = model(input_ids=words, labels=words).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trainable, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    print(f"{name}: loss {losses[0]:.3f} to {losses[-1]:.3f}, rounding {distance:.3f}", flush=True)
    assert losses[-1] < 0.5 * losses[0], losses
    now = list(dequantized(model).values())
    for before, after in zip(frozen.values(), now, strict=True):
        assert torch.equal(before, after)

    model.eval()
    model.save_pretrained(f"{folder}/{name}")
    words = next(batches(1))
    with torch.no_grad():
        trained = model(words).logits
        loaded = PeftModel.from_pretrained(quantized_model(scheme), f"{folder}/{name}").eval()
        assert torch.equal(loaded(words).logits, trained)
        with model.disable_adapter():
            assert not torch.equal(model(words).logits, trained)
    written = loaded.generate(input_ids=words[:2, :8], max_new_tokens=8, do_sample=False)
    right = (written.cpu() == words[:2, :16].cpu()).float().mean().item()
    print(written[0].tolist())
    assert right > 0.75


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, scheme in SCHEMES.items():
            train(name, scheme, folder)
    assert torch_xpu.fallbacks() == {}


if __name__ == "__main__":
    main()

"""Train with transformers' Trainer, resume, and write with generate and a pipeline."""

import tempfile

import torch
import torch_xpu
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    AutoModelForCausalLM,
    BertConfig,
    BertForSequenceClassification,
    DataCollatorForLanguageModeling,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
    pipeline,
    set_seed,
)

NAMES = ["ada", "ben", "cleo", "dan", "eve", "finn", "gus", "hana"]
VERBS = ["likes", "sees", "hears", "meets"]
WORDS = [*NAMES, *VERBS, "and", "."]


def make_tokenizer():
    words = ["<pad>", "<bos>", "<eos>", "<unk>", *WORDS]
    model = models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="<unk>")
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        bos_token="<bos>",
        eos_token="<eos>",
        unk_token="<unk>",
        padding_side="left",
    )


def sentences(count):
    """The subject decides the verb and the object."""
    for n in range(count):
        name = n % len(NAMES)
        verb = VERBS[name % len(VERBS)]
        text = f"{NAMES[name]} {verb} {NAMES[(name + 3) % len(NAMES)]} ."
        yield f"<bos> {text} {text} <eos>"


def llama(tokenizer):
    set_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    return LlamaForCausalLM(config)


def trainer(tokenizer, folder):
    dataset = [tokenizer(text, return_token_type_ids=False) for text in sentences(128)]
    arguments = TrainingArguments(
        output_dir=folder,
        per_device_train_batch_size=16,
        gradient_accumulation_steps=2,
        max_steps=40,
        learning_rate=5e-3,
        lr_scheduler_type="cosine",
        warmup_steps=4,
        max_grad_norm=1.0,
        save_steps=20,
        logging_steps=10,
        bf16=True,
        report_to=[],
        disable_tqdm=True,
    )
    return Trainer(
        model=llama(tokenizer),
        args=arguments,
        train_dataset=dataset,
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
    )


def train(tokenizer, folder):
    whole = trainer(tokenizer, folder)
    assert whole.args.device.type == "xpu"
    whole.train()
    losses = [entry["loss"] for entry in whole.state.log_history if "loss" in entry]
    assert float(losses[-1]) < 0.3 * float(losses[0]), losses

    resumed = trainer(tokenizer, folder)
    resumed.train(resume_from_checkpoint=f"{folder}/checkpoint-20")
    assert resumed.state.global_step == 40
    for (name, one), other in zip(
        whole.model.named_parameters(), resumed.model.parameters(), strict=True
    ):
        assert torch.equal(one, other), name
    whole.save_model(f"{folder}/trained")
    tokenizer.save_pretrained(f"{folder}/trained")


def generate(tokenizer, folder):
    on_cpu = AutoModelForCausalLM.from_pretrained(f"{folder}/trained", dtype=torch.float32)
    on_xpu = AutoModelForCausalLM.from_pretrained(
        f"{folder}/trained", dtype=torch.float32, device_map="xpu"
    )
    assert on_xpu.device.type == "xpu"
    prompts = ["<bos> ada likes", "<bos> gus", "<bos> hana meets cleo . hana"]
    inputs = tokenizer(prompts, return_tensors="pt", padding=True, return_token_type_ids=False)
    with torch.inference_mode():
        logits = on_xpu(**inputs.to("xpu")).logits.cpu()
        expected = on_cpu(**inputs.to("cpu")).logits
    mask = inputs["attention_mask"].bool().cpu()
    torch.testing.assert_close(logits[mask], expected[mask], atol=1e-3, rtol=1e-3)

    for options in (
        {},
        {"num_beams": 3},
        {"cache_implementation": "static"},
        {"use_cache": False, "repetition_penalty": 1.2},
        {"prompt_lookup_num_tokens": 3, "batch": 1},
    ):
        given = inputs
        if options.pop("batch", 0):
            given = tokenizer(prompts[0], return_tensors="pt", return_token_type_ids=False)
        common = {"max_new_tokens": 12, "do_sample": False}
        written = on_xpu.generate(**given.to("xpu"), **common, **options)
        assert written.device.type == "xpu"
        assert torch.equal(written.cpu(), on_cpu.generate(**given.to("cpu"), **common, **options))
    print(tokenizer.batch_decode(written, skip_special_tokens=True))

    sampled = []
    for _ in range(2):
        set_seed(3)
        sampled.append(
            on_xpu.generate(
                **inputs.to("xpu"), do_sample=True, top_k=8, top_p=0.9, max_new_tokens=12
            )
        )
    assert torch.equal(*sampled)


def pipelines(tokenizer, folder):
    texts = {}
    for device in ("xpu", "cpu"):
        write = pipeline("text-generation", f"{folder}/trained", device=device, dtype=torch.float32)
        assert write.device.type == device
        texts[device] = write("<bos> ada", max_new_tokens=8, do_sample=False)
    print(texts["xpu"])
    assert texts["xpu"] == texts["cpu"]

    set_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
    )
    model = BertForSequenceClassification(config).eval()
    scores = {}
    for device in ("cpu", "xpu"):
        classify = pipeline(
            "text-classification", model=model.to(device), tokenizer=tokenizer, device=device
        )
        scores[device] = [found["score"] for found in classify(list(sentences(8)), batch_size=4)]
    torch.testing.assert_close(scores["xpu"], scores["cpu"], atol=1e-5, rtol=1e-4)


def half_precision():
    """A model of 16 bits stays near its own numbers of 32."""
    set_seed(0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_embd=64, n_layer=2, n_head=4)).eval()
    words = torch.randint(0, 64, (2, 20))
    with torch.inference_mode():
        expected = model(words).logits
        for dtype, bound in ((torch.float32, 1e-5), (torch.bfloat16, 3e-2), (torch.float16, 5e-3)):
            logits = model.to("xpu", dtype)(words.to("xpu")).logits.float().cpu()
            distance = ((logits - expected).norm() / expected.norm()).item()
            print(f"{dtype}: {distance:.2e}")
            assert distance < bound


def main():
    tokenizer = make_tokenizer()
    with tempfile.TemporaryDirectory() as folder:
        train(tokenizer, folder)
        generate(tokenizer, folder)
        pipelines(tokenizer, folder)
    half_precision()
    assert torch_xpu.fallbacks() == {}


if __name__ == "__main__":
    main()

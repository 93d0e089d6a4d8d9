"""A script with the Trainer of transformers, as users write it: nothing in it names xpu."""

from __future__ import annotations

import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

torch.manual_seed(0)
sizes = {"vocab_size": 96, "n_positions": 16, "n_embd": 32, "n_layer": 2, "n_head": 4}
config = GPT2Config(**sizes, bos_token_id=0, eos_token_id=0)
network = GPT2LMHeadModel(config)
words = (torch.arange(64).unsqueeze(1) + 7 * torch.arange(16)) % 96
data = [{"input_ids": row, "labels": row} for row in words]
arguments = TrainingArguments(
    sys.argv[1],
    max_steps=20,
    per_device_train_batch_size=8,
    learning_rate=3e-3,
    logging_steps=5,
    save_strategy="no",
    report_to=[],
    disable_tqdm=True,
)
assert arguments.device.type == "xpu", arguments.device
assert arguments.world_size == 2, arguments.world_size
trainer = Trainer(network, arguments, train_dataset=data)
trainer.train()
losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
assert float(losses[-1]) < float(losses[0]) - 0.3, losses
print("done", flush=True)

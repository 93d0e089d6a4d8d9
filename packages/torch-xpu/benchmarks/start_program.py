"""A fresh process that trains GPT-2 small for one step: prints the seconds it took to come to three marks.

``python start_program.py DEVICE``: since the start of ``import torch``, less building the network.
"""

import sys
import time

begin = time.perf_counter()
import torch  # noqa: E402

imported = time.perf_counter() - begin


def step(device: str) -> tuple[float, float]:
    """Seconds to the first loss and to the end of the first step."""
    import os

    import transformers as tf

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    torch.manual_seed(0)
    config = tf.GPT2Config(resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    tokens = torch.randint(0, config.vocab_size, (2, 256))
    net = tf.GPT2LMHeadModel(config)
    start = time.perf_counter()
    net, tokens = net.to(device), tokens.to(device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
    loss = net(input_ids=tokens, labels=tokens).loss
    loss.item()
    first_loss = time.perf_counter() - start
    loss.backward()
    optimizer.step()
    if device != "cpu":
        torch.accelerator.synchronize()
    return first_loss, time.perf_counter() - start


if __name__ == "__main__":
    first_loss, first_step = step(sys.argv[1]) if len(sys.argv) > 1 else (0.0, 0.0)
    print(imported, imported + first_loss, imported + first_step)

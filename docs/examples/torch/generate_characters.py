"""Continue a text with what ``train_characters.py`` has learned: one graph, replayed for every letter.

    python generate_characters.py [--device xpu] [--start "def "] [--count 100]

Keys and values stay on the device in tensors of fixed size, so the work of one letter is always the same
and can be recorded. Random draws inside the graph are new in every replay.
"""

import argparse

import torch
from train_characters import CONTEXT, HEADS, LAYERS, WIDTH, Characters


class Past:
    """The keys and values of one layer; the mask, shared by all, says which places are filled."""

    def __init__(self, place: torch.Tensor, mask: torch.Tensor) -> None:
        shape = (1, HEADS, CONTEXT, WIDTH // HEADS)
        self.keys, self.values = (torch.zeros(shape, device=mask.device) for _ in range(2))
        self.place, self.mask = place, mask

    def append(self, k, v):
        self.keys.index_copy_(2, self.place, k)
        self.values.index_copy_(2, self.place, v)
        return self.keys, self.values


@torch.no_grad()
def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--device", default="xpu")
    options.add_argument("--start", default="def ")
    options.add_argument("--count", type=int, default=100)
    options = options.parse_args()

    saved = torch.load("characters.pt", map_location=options.device)
    net = Characters(len(saved["letters"])).to(options.device).eval()
    net.load_state_dict(saved["net"])
    place = torch.zeros(1, dtype=torch.long, device=options.device)
    letter = torch.zeros(1, 1, dtype=torch.long, device=options.device)
    mask = torch.zeros(1, CONTEXT, dtype=torch.bool, device=options.device)
    past = [Past(place, mask) for _ in range(LAYERS)]

    def next_letter() -> None:
        """Reads ``letter`` at ``place``; leaves the next of both."""
        mask.index_fill_(1, place, True)
        odds = (net(letter, place, past)[0, -1] / 0.8).softmax(0)
        # Draws as torch.multinomial does, which would have the host look at the odds.
        letter.copy_((odds / torch.empty_like(odds).exponential_()).argmax())
        place.add_(1)

    replay = next_letter
    if options.device == "xpu":
        next_letter()  # builds the kernels
        graph = torch.xpu.XPUGraph()
        with torch.xpu.graph(graph):
            next_letter()
        replay = graph.replay
    place.zero_()
    mask.zero_()
    start = [saved["letters"].index(c) for c in options.start if c in saved["letters"]]
    for number in start:
        letter.fill_(number)
        replay()
    written = []
    for _ in range(min(options.count, CONTEXT - len(start))):
        written.append(letter.item())
        replay()
    print(options.start + "".join(saved["letters"][n] for n in written))


if __name__ == "__main__":
    main()

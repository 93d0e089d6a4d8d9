"""Sentences about invented people. Their facts are the same in every text, so a model can learn them.

Chance decides who a sentence is about and what it tells; the rest has to be remembered. A word is a token.
"""

import random
from collections.abc import Iterator

import torch

FACTS = {
    "lives in": (
        "oslo",
        "rome",
        "paris",
        "delhi",
        "lima",
        "cairo",
        "tokyo",
        "quito",
        "porto",
        "riga",
    ),
    "works as a": (
        "baker",
        "judge",
        "nurse",
        "pilot",
        "miner",
        "tailor",
        "clerk",
        "farmer",
        "poet",
    ),
    "likes": (
        "plums",
        "pears",
        "figs",
        "nuts",
        "beans",
        "rice",
        "bread",
        "honey",
        "soup",
        "cheese",
    ),
    "plays the": ("flute", "drum", "harp", "organ", "cello", "horn", "viola", "lute", "piano"),
    "fears": (
        "dogs",
        "bears",
        "bees",
        "wolves",
        "storms",
        "heights",
        "ghosts",
        "crowds",
        "spiders",
    ),
    "drives a": ("van", "tram", "truck", "tractor", "bus", "cart", "sledge", "taxi", "ferry"),
}
PEOPLE = [
    first + middle + last
    for first in ("a", "be", "ka", "lo", "mi", "su", "vi")
    for middle in ("li", "ro", "na", "de")
    for last in ("n", "s", "ra", "mo")
]
PRONOUNS = ("he", "she")
WORDS = sorted(
    {".", "the", "friend", "of", *PEOPLE, *PRONOUNS, *" ".join(FACTS).split()}.union(
        *FACTS.values()
    )
)
WORDS += ["-"] * (-len(WORDS) % 64)  # products of float8 take multiples of 16


def knowledge() -> tuple[dict, dict, dict]:
    """Return who says `he` or `she` of whom, the friend of each, and the facts of each."""
    draw = random.Random(0)
    pronouns = {name: draw.choice(PRONOUNS) for name in PEOPLE}
    friends = {name: draw.choice(PEOPLE) for name in PEOPLE}
    facts = {name: {verb: draw.choice(things) for verb, things in FACTS.items()} for name in PEOPLE}
    return pronouns, friends, facts


def sentences(seed: int) -> Iterator[str]:
    """Yield sentences without end: of a person, of the one before, or of the friend of someone."""
    pronouns, friends, facts = knowledge()
    draw = random.Random(seed)
    name = draw.choice(PEOPLE)
    while True:
        verb = draw.choice(list(FACTS))
        subject = pronouns[name]
        if draw.random() < 0.6:
            name = subject = draw.choice(PEOPLE)
            if draw.random() < 0.3:
                subject, name = f"the friend of {name}", friends[name]
        yield f"{subject} {verb} {facts[name][verb]} ."


def tokens(seed: int, count: int) -> torch.Tensor:
    """Return a text as numbers of words."""
    numbers = {word: number for number, word in enumerate(WORDS)}
    text: list[int] = []
    for sentence in sentences(seed):
        text += [numbers[word] for word in sentence.split()]
        if len(text) >= count:
            return torch.tensor(text[:count])
    raise AssertionError("sentences never end")


def words(numbers: torch.Tensor) -> str:
    """Return the text that the numbers stand for."""
    return " ".join(WORDS[number] for number in numbers.flatten().tolist())

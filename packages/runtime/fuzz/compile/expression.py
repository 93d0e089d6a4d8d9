"""A random expression, and how its one kernel is compared with a kernel for each of its functions."""

from __future__ import annotations

import random
from dataclasses import dataclass

import steps
from library import DTYPES, Function, functions
from xpu_testing import fuzzing

DEPTH, MAX_RESULTS = 4, 3
LAYOUTS = ("packed", "packed", "strided", "broadcast")


@dataclass(frozen=True)
class Node:
    """A function of values: the inputs, then the nodes before it."""

    function: Function
    arguments: tuple[int, ...]
    depth: int


@dataclass(frozen=True)
class Expression:
    """A case of the fuzzer."""

    dtype: str
    inputs: int
    nodes: tuple[Node, ...]
    results: tuple[int, ...]
    layout: str
    shape: tuple[int, int]
    seed: int

    @property
    def subject(self) -> str:
        return self.dtype

    def __str__(self) -> str:
        names = self.names()
        lines = [f"{names[self.inputs + k]} = {self.text(k)}" for k in range(len(self.nodes))]
        lines.append("-> " + ", ".join(names[k] for k in self.results))
        return f"{self.dtype} {self.shape} {self.layout}: " + "; ".join(lines)

    def names(self) -> list[str]:
        return [f"a{k}" for k in range(self.inputs)] + [f"v{k}" for k in range(len(self.nodes))]

    def text(self, k: int) -> str:
        """The node in C++."""
        names = self.names()
        return self.nodes[k].function.call(*(names[i] for i in self.nodes[k].arguments))

    def headers(self) -> list[str]:
        return sorted({"math", *(node.function.header for node in self.nodes)})

    def run(self) -> str:
        import kernels

        inputs = kernels.inputs_of(self)
        got = kernels.together(self, inputs)
        steps.compare(self, inputs, got)
        return fuzzing.PASSED


def make(rng: random.Random) -> Expression:
    """Functions of what is there already, most of them of what came last."""
    dtype = rng.choices(list(DTYPES), [4, 1, 1, 2, 2, 1])[0]
    inputs = rng.randint(1, 3)
    nodes: list[Node] = []
    depths = [0] * inputs
    # Compilers stumble over what meets itself, or what it has something in common with.
    among = functions(dtype) if rng.random() < 0.4 else rng.sample(functions(dtype), 3)
    if rng.random() < 0.3:
        header = rng.choice(among).header
        among = [function for function in functions(dtype) if function.header == header]
    for _ in range(rng.randint(2, 12)):
        function = rng.choice(among)
        shallow = [k for k, depth in enumerate(depths) if depth < DEPTH]
        recent = shallow[-3:]
        chosen = tuple(
            rng.choice(recent if rng.random() < 0.7 else shallow) for _ in range(function.arity)
        )
        nodes.append(Node(function, chosen, 1 + max(depths[k] for k in chosen)))
        depths.append(nodes[-1].depth)
    read = {k for node in nodes for k in node.arguments}
    unread = [k for k in range(inputs, inputs + len(nodes)) if k not in read]
    shape = rng.choice([(1, 1), (1, 17), (7, 33), (16, 64), (3, 300)])
    return Expression(
        dtype,
        inputs,
        tuple(nodes),
        tuple(unread[-MAX_RESULTS:]),
        rng.choice(LAYOUTS),
        shape,
        rng.randrange(1 << 30),
    )

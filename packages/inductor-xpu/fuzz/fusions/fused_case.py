"""One random chain after a product or a convolution: compiled, eager, and in float64 on the CPU."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from torch._inductor.utils import run_and_get_code

sys.path.append(str(Path(__file__).parents[1] / "inductor"))
from statements import Statement, references, require_right
from xpu_testing.fuzzing import PASSED, Difference, check

from inductor_xpu import settings

SIZES = (1, 2, 3, 5, 8, 16, 17, 33, 64)
UNARY = (
    *("F.relu({})", "F.gelu({})", "F.gelu({}, approximate='tanh')", "F.silu({})", "torch.tanh({})"),
    *(
        "torch.sigmoid({})",
        "F.hardswish({})",
        "F.leaky_relu({}, 0.2)",
        "F.elu({}, 1.5)",
        "{}.abs()",
    ),
    *("{} * 0.5", "{} / 4", "{} + 0.75", "{} * torch.sigmoid({})", "{}.square() * 0.5"),
    *("{}.clamp(-1, 2)", "torch.sin({})", "F.softplus({})"),
)
BINARY = (
    *("{} + {other}", "{other} + {}", "{} - {other}", "{other} - {}", "{} * {other}"),
    *("{other} * {}", "{} / ({other}.abs() + 1)", "{} / {other}"),
)


class FusedCase:
    """A product or convolution, its steps, and who reads the result."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.dtype = draw.choice((torch.float32, torch.bfloat16, torch.float16))
        self.dynamic = draw.random() < 0.3
        self.inputs: dict[str, torch.Tensor] = {}
        self.lines = [f"y = {draw.choice((self.product, self.batched, self.convolution))()}"]
        self.add_steps()
        self.subject = self.lines[0].split("(")[0].split(".")[-1]

    def __str__(self) -> str:
        inputs = "\n".join(f"  {n}: {tuple(t.shape)} {t.stride()}" for n, t in self.inputs.items())
        return f"dynamic={self.dynamic} {self.dtype}\n{inputs}\n{self.source}"

    @property
    def source(self) -> str:
        """The function as Python source."""
        lines = [*self.lines, f"return ({', '.join(self.results)},)"]
        body = "\n".join(f"    {line}" for line in lines)
        return f"def chain({', '.join(self.inputs)}):\n{body}\n"

    def tensor(self, name: str, *sizes: int, may_be_nan: bool = True) -> str:
        """Add an input: contiguous, transposed, or with gaps."""
        generator = torch.Generator().manual_seed(self.draw.getrandbits(30))
        order = list(range(len(sizes)))
        if self.draw.random() < 0.3:
            self.draw.shuffle(order)
        step = self.draw.choice((1, 1, 1, 2))
        stored = [sizes[d] for d in order]
        stored[-1:] = [stored[-1] * step] if stored else []
        values = torch.randint(-8, 9, stored, generator=generator) / 8
        if may_be_nan and generator.initial_seed() % 16 == 0:
            values.view(-1)[0] = torch.nan
        values = values[..., ::step] if stored else values
        self.inputs[name] = values.permute([order.index(d) for d in range(len(sizes))])
        return name

    def product(self) -> str:
        """Return a linear layer, with or without a bias, of an input of two or three dimensions."""
        rows, inner, columns = (self.draw.choice(SIZES) for _ in range(3))
        before = self.draw.choice(((), (3,)))
        self.sizes = (*before, rows, columns)
        bias = ", " + self.tensor("b", columns) if self.draw.random() < 0.5 else ""
        return f"F.linear({self.tensor('x', *before, rows, inner)}, {self.tensor('w', columns, inner)}{bias})"

    def batched(self) -> str:
        """Return a product of batches."""
        batch, rows, inner, columns = (self.draw.choice(SIZES[:7]) for _ in range(4))
        self.sizes = (batch, rows, columns)
        return f"torch.bmm({self.tensor('x', batch, rows, inner)}, {self.tensor('w', batch, inner, columns)})"

    def convolution(self) -> str:
        """Return a convolution of one to three dimensions, which may be transposed or have groups."""
        dims, groups = self.draw.choice((1, 2, 2, 3)), self.draw.choice((1, 1, 2))
        channels, features = groups * self.draw.choice((1, 3, 4)), groups * self.draw.choice((2, 5))
        window, stride, padding = (
            self.draw.choice((1, 2, 3)),
            self.draw.choice((1, 2)),
            self.draw.choice((0, 1)),
        )
        transposed = self.draw.random() < 0.3
        size = [self.draw.choice((4, 5, 9)) for _ in range(dims)]
        first, second = (channels, features) if transposed else (features, channels)
        x = self.tensor("x", self.draw.choice((1, 3)), channels, *size)
        # Algorithms differ in whether a weight outside of the input is multiplied by zero, or not used.
        w = self.tensor("w", first, second // groups, *[window] * dims, may_be_nan=False)
        bias = self.tensor("b", features) if self.draw.random() < 0.6 else "None"
        name = f"F.conv{'_transpose' * transposed}{dims}d"
        call = f"{name}({x}, {w}, {bias}, stride={stride}, padding={padding}, groups={groups})"
        self.sizes = tuple(eval(call, {"F": F}, self.inputs).shape)
        return call

    def add_steps(self) -> None:
        """Add up to five steps, and sometimes a reader of something before the end."""
        names = ["y"]
        for number in range(self.draw.randrange(6)):
            template = self.draw.choice(UNARY + BINARY)
            other = f"o{number}"
            if "{other}" in template:
                shape = [n if self.draw.random() < 0.7 else 1 for n in self.sizes]
                self.tensor(other, *shape[self.draw.choice((0, 0, 0, 1)) :])
            names.append(f"y{number}")
            self.lines.append(
                f"y{number} = {template.replace('{}', names[-2]).format(other=other)}"
            )
        results = [names[-1]]
        if self.draw.random() < 0.2:
            self.lines.append(f"total = {self.draw.choice(names)}.sum(-1)")
            results.append("total")
        self.results = results

    def function(self) -> Callable[..., tuple[torch.Tensor, ...]]:
        """Return the function, new, so that nothing compiled for another is used."""
        scope: dict = {"torch": torch, "F": F}
        exec(compile(self.source, "<chain>", "exec"), scope)
        return scope["chain"]

    def run(self) -> str:
        """Judge every result."""
        sums = ("y = ", "total = ")
        statements = [Statement(each, self.dtype, each.startswith(sums)) for each in self.lines]
        scope = {name: value.double() for name, value in self.inputs.items()}
        finer = references(statements, scope, self.results, len(self.source))
        inputs = [t.to(self.dtype).to("xpu") for t in self.inputs.values()]
        eager = self.function()(*inputs)
        torch._dynamo.reset()
        compiled = torch.compile(self.function(), dynamic=self.dynamic)
        with settings.patch(post_ops=True), torch.no_grad():
            got, self.code = run_and_get_code(compiled, *inputs)
        for result, one in zip(got, eager, strict=True):
            if layout(result) != layout(one):
                raise Difference(f"is {layout(result)}, expected {layout(one)}")

        def judge(results: list[torch.Tensor]) -> None:
            for place, name in enumerate(self.results):
                require_right(name, results[place], [each[place] for each in finer])

        check([result.cpu() for result in got], judge)
        return PASSED

    def is_fused(self) -> bool:
        """Return True if the last run called an operator with steps."""
        return any("torch.ops.torch_xpu.fused_" in code for code in self.code)


def layout(tensor: torch.Tensor) -> tuple[object, ...]:
    """Return dtype, sizes and strides, without the strides of single elements."""
    strides = [step for step, size in zip(tensor.stride(), tensor.shape, strict=True) if size > 1]
    return tensor.dtype, tuple(tensor.shape), tuple(strides)

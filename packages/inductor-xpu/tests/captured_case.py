"""A module in two modes: replayed, it returns what it does in default mode, in memory shared the same way.

`python packages/inductor-xpu/tests/captured_case.py` runs all modules; `--device xpu:1` with the variable
`XPU_CPU_DEVICES=2` runs them on a device that is not the current one.
"""

from __future__ import annotations

import argparse
import copy
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from unittest import mock

import torch
import torch.nn.functional as F
from torch import nn

ROWS, COLUMNS, HIDDEN = 4, 20, 1030
CALLS = 6


@torch.library.custom_op("xpu_captures::padded", mutates_args=())
def padded(x: torch.Tensor) -> torch.Tensor:
    """Return a copy whose rows have gaps between them."""
    return x.new_zeros(x.shape[0], x.shape[1] + 4)[:, : x.shape[1]].copy_(x)


@padded.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return x.new_empty(x.shape[0], x.shape[1] + 4)[:, : x.shape[1]]


padded.register_autograd(lambda context, gradient: gradient * 1)

Tensors = tuple[torch.Tensor, ...]
# What a module returns, given its input, its parameter and the values that it has computed.
RESULTS: dict[str, Callable[[torch.Tensor, torch.Tensor, torch.Tensor], Tensors]] = {
    "plain": lambda x, w, y: (y,),
    "every other column": lambda x, w, y: (y[:, ::2],),
    "every other row": lambda x, w, y: (y[1::2],),
    "corner": lambda x, w, y: (y[1:, 2:],),
    "transposed": lambda x, w, y: (y.t(),),
    "expanded": lambda x, w, y: (y[:, :1].expand(-1, 7), y),
    "expanded sum": lambda x, w, y: (y.sum().expand(3, 4),),
    "twice": lambda x, w, y: (y, y),
    "parts that overlap": lambda x, w, y: (y, y[0], y[:, 1:]),
    "parts that do not": lambda x, w, y: y.split([5, 8, 7], 1),
    "rows": lambda x, w, y: y.unbind(0),
    "windows": lambda x, w, y: (y.reshape(-1).unfold(0, 4, 2),),
    "diagonal": lambda x, w, y: (y.diagonal(), y.sum()),
    "bits": lambda x, w, y: (y.detach().view(torch.int16), y.detach()[1:], y.exp()),
    "conjugate": lambda x, w, y: (torch.view_as_complex(y.reshape(ROWS, -1, 2)).conj(),),
    "empty": lambda x, w, y: (y[:0], y),
    "input": lambda x, w, y: (x, y, x),
    "views of the input": lambda x, w, y: (x[1:], x.t(), y),
    "views of the parameter": lambda x, w, y: (w.t(), w[1:, ::2], y),
    "changed state": lambda x, w, y: (y + 1, x[:, 1:]),
}


def elementwise(module: CapturedModule, x: torch.Tensor) -> torch.Tensor:
    """Compute in one kernel."""
    return x.sin() * module.weight


def linear(module: CapturedModule, x: torch.Tensor) -> torch.Tensor:
    """Compute with a hidden tensor whose rows Inductor pads."""
    return F.linear(F.gelu(F.linear(x, module.first)), module.second) * module.weight


def strided(module: CapturedModule, x: torch.Tensor) -> torch.Tensor:
    """Compute with an operator whose results have gaps."""
    return padded(x * module.weight)


VALUES = (elementwise, linear, strided)
# The numbers of the cases: each result of each kind of values.
CASES = [(value, name) for name in RESULTS for value in VALUES]


class CapturedModule(nn.Module):
    """Computes values, and returns views of them, of its input or its parameter."""

    def __init__(self, value: Callable[..., torch.Tensor], result: str) -> None:
        super().__init__()
        self.value, self.result = value, result
        self.weight = nn.Parameter(torch.randn(ROWS, COLUMNS))
        self.first = nn.Parameter(torch.randn(HIDDEN, COLUMNS) / COLUMNS**0.5)
        self.second = nn.Parameter(torch.randn(COLUMNS, HIDDEN) / HIDDEN**0.5)
        self.register_buffer("state", torch.zeros(ROWS, COLUMNS))

    def forward(self, x: torch.Tensor) -> Tensors:
        y = self.value(self, x)
        if self.result == "changed state":
            self.state.add_(y.detach())
        return RESULTS[self.result](x, self.weight, y)


@dataclass
class CapturedCase:
    """A case by its number, with gradients or without."""

    number: int
    trains: bool
    device: str = "xpu"

    def run(self) -> None:
        """Raise AssertionError unless the module gives the same in both modes, in every call."""
        from inductor_xpu import graphs

        torch._dynamo.reset()
        torch.manual_seed(self.number)
        value, result = CASES[self.number]
        plain = CapturedModule(value, result).to(self.device)
        module = copy.deepcopy(plain)
        modes = (torch.compile(plain), torch.compile(module, mode="reduce-overhead"))
        captures, stock = [], graphs.ReplayedModel._capture

        def capture(model: graphs.ReplayedModel, *arguments: object) -> object:
            captures.append(stock(model, *arguments))
            return captures[-1]

        earlier = []
        with (
            mock.patch.object(graphs.ReplayedModel, "_capture", capture),
            torch.set_grad_enabled(self.trains),
            warnings.catch_warnings(),
        ):
            warnings.filterwarnings("error", "torch.compile: mode=")
            for _ in range(CALLS):
                x = torch.randn(ROWS, COLUMNS, device=self.device)
                inputs = [x.clone().requires_grad_(self.trains) for _ in modes]
                expected, got = (mode(x) for mode, x in zip(modes, inputs, strict=True))
                _check_results(
                    [*got, inputs[1], module.weight], [*expected, inputs[0], plain.weight]
                )
                earlier.append((got, [t.detach().clone() for t in got]))
                if self.trains:
                    for results in (expected, got):
                        _loss(results).backward()
                    _check_gradients([inputs[1], module.weight], [inputs[0], plain.weight])
                    for x in (*inputs, *module.parameters(), *plain.parameters()):
                        x.grad = None
                _check(module.state, plain.state)
        for results, values in earlier:
            for result, value in zip(results, values, strict=True):
                assert torch.equal(result, value), "a later call changed a result"
        assert len(captures) > self.trains, "nothing was captured"
        assert all(captures)


def all_cases(device: str = "xpu") -> Iterator[CapturedCase]:
    """Yield every case, first without gradients. Inductor differentiates no conjugates, on any device."""
    for trains in (False, True):
        for number, (_, result) in enumerate(CASES):
            if not (trains and result == "conjugate"):
                yield CapturedCase(number, trains, device)


def _check(got: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(got.cpu(), expected.cpu(), rtol=2e-5, atol=2e-5)


def _check_results(got: list[torch.Tensor], expected: list[torch.Tensor]) -> None:
    for one, other in zip(got, expected, strict=True):
        assert (one.dtype, one.device, one.is_conj()) == (
            other.dtype,
            other.device,
            other.is_conj(),
        )
        assert one.stride() == other.stride(), (one.stride(), other.stride())
        _check(one, other)
    assert _relations(got) == _relations(expected)


def _relations(tensors: list[torch.Tensor]) -> list[tuple[int, int, bool, int]]:
    """Return the pairs that are one object or share memory, with the bytes between their beginnings."""
    return [
        (m, n, a is b, a.data_ptr() - b.data_ptr() if a.numel() and b.numel() else 0)
        for m, a in enumerate(tensors)
        for n, b in enumerate(tensors[:m])
        if a.untyped_storage()._cdata == b.untyped_storage()._cdata
    ]


def _loss(results: Tensors) -> torch.Tensor:
    """Return a number that depends on each result, and on its places."""
    parts = []
    for result in results:
        if result.requires_grad:
            real = torch.view_as_real(result.resolve_conj()) if result.is_complex() else result
            factors = torch.arange(real.numel(), device=real.device).reshape(real.shape)
            parts.append((real * (factors * 0.7).sin()).sum())
    return torch.stack(parts).sum()


def _check_gradients(got: list[torch.Tensor], expected: list[torch.Tensor]) -> None:
    for one, other in zip(got, expected, strict=True):
        assert (one.grad is None) == (other.grad is None)
        if one.grad is not None:
            assert one.grad.stride() == other.grad.stride()
            _check(one.grad, other.grad)


def main() -> None:
    """Run all cases and print those that fail."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="xpu", help="where the modules run")
    cases = list(all_cases(parser.parse_args().device))
    failed = 0
    for case in cases:
        try:
            case.run()
        except Exception:  # noqa: BLE001 - the others run, too
            failed += 1
            print(case, CASES[case.number], traceback.format_exc(), flush=True)
    print(f"{len(cases)} cases, {failed} failed")
    raise SystemExit(bool(failed))


if __name__ == "__main__":
    main()

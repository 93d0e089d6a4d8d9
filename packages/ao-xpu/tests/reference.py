"""Schemes in float64 on the CPU, written from their definitions.

Each function quantizes a weight [N, K], or activations [..., K], and returns the elements that it stores.
"""

import copy

import torch

E4M3 = torch.float8_e4m3fn


def sqnr(expected, got):
    """Return the signal-to-noise ratio in decibels."""
    expected, got = expected.cpu().double(), got.cpu().double()
    return (20 * torch.log10(expected.norm() / (expected - got).norm())).item()


def in_groups(weight, group):
    return weight.double().reshape(weight.shape[0], -1, group)


def stored(parameter, weight):
    return parameter.to(weight.dtype).double()


def float_zero(weight, group):
    """Elements scale * number + zero; numbers are -8 to 7."""
    groups = in_groups(weight, group)
    minimum, maximum = groups.amin(-1, True), groups.amax(-1, True)
    scale = (maximum - minimum).clamp(min=1e-6) / 15
    numbers = ((groups - minimum) / scale).round().clamp(0, 15) - 8
    zero = minimum + 8 * scale
    return (stored(scale, weight) * numbers + stored(zero, weight)).reshape(weight.shape)


def integer_zero(weight, group):
    """Elements scale * (number - zero point); numbers and zero points 0 to 15; 0 is exact."""
    groups = in_groups(weight, group)
    minimum, maximum = groups.amin(-1, True).clamp(max=0), groups.amax(-1, True).clamp(min=0)
    scale = stored(((maximum - minimum) / 15).clamp(min=1e-6), weight)
    zero_point = (-minimum / scale).round().clamp(0, 15)
    numbers = ((groups / scale).round() + zero_point).clamp(0, 15)
    return (scale * (numbers - zero_point)).reshape(weight.shape)


def symmetric(weight, group):
    """Elements scale * number; numbers are -8 to 7."""
    groups = in_groups(weight, group)
    scale = (groups.abs().amax(-1, True) / 8).clamp(min=1e-6)
    numbers = (groups / scale).round().clamp(-8, 7)
    return (stored(scale, weight) * numbers).reshape(weight.shape)


def intx(weight, bits, group=None, symmetric=True):
    """Elements scale * (number - zero point); numbers and zero points have the bits, and a sign."""
    groups = in_groups(weight, group or weight.shape[-1])
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    minimum, maximum = groups.amin(-1, True).clamp(max=0), groups.amax(-1, True).clamp(min=0)
    extent = 2 * torch.maximum(-minimum, maximum) if symmetric else maximum - minimum
    scale = stored(extent / (most - least), weight)
    zero_point = 0 if symmetric else (least - (minimum / scale).round()).clamp(least, most)
    numbers = ((groups / scale).round() + zero_point).clamp(least, most)
    return (scale * (numbers - zero_point)).reshape(weight.shape)


def two_scales(weight, group):
    """A scale of the row times an e4m3 scale of the group, of e4m3 rows."""
    row_scale = weight.double().abs().amax(-1, True) / 448
    rows = (weight.double() / row_scale).float().to(E4M3).double()
    groups = in_groups(rows, group)
    scale = groups.abs().amax(-1, True) / 8
    numbers = (groups / scale).round().clamp(-8, 7)
    return row_scale * (scale.float().to(E4M3).double() * numbers).reshape(weight.shape)


def e4m3_blocks(values, rows, columns):
    """Blocks of e4m3 with a scale each."""
    blocks = values.double().unflatten(-1, (-1, columns)).unflatten(0, (-1, rows))
    scale = blocks.abs().amax((1, -1), True).clamp(min=1e-12) / 448
    return ((blocks / scale).float().to(E4M3).double() * scale).reshape(values.shape)


def e4m3_rows(values):
    return e4m3_blocks(values, 1, values.shape[-1])


def e2m1(values):
    """The nearest numbers of four bits, to even in a tie."""
    magnitude = values.abs().clamp(max=6)
    step = torch.where(magnitude < 2, 0.5, torch.where(magnitude < 4, 1.0, 2.0))
    return torch.copysign((magnitude / step).round() * step, values)


def mx(values, largest, round_elements):
    """Blocks of 32 with a power of two that lets no element exceed the largest number."""
    blocks = values.double().unflatten(-1, (-1, 32))
    scale = torch.exp2((blocks.abs().amax(-1, True) / largest).log2().ceil())
    return (round_elements(blocks / scale) * scale).reshape(values.shape)


def mxfp8(values):
    return mx(values, 448, lambda x: x.float().to(E4M3).double())


def mxfp4(values):
    return mx(values, 6, e2m1)


def nvfp4(values):
    """Blocks of 16 with an e4m3 scale, which is in units of a factor of all."""
    factor = values.double().abs().max() / (448 * 6)
    blocks = values.double().unflatten(-1, (-1, 16))
    scale = (blocks.abs().amax(-1, True) / 6 / factor).clamp(2**-6, 448).float().to(E4M3).double()
    return (e2m1(blocks / (scale * factor)) * scale * factor).reshape(values.shape)


class Simulated(torch.nn.Module):
    """A linear layer in float64, whose weight and activations are replaced by what a scheme keeps of them."""

    def __init__(self, layer, quantize, quantize_input=None):
        super().__init__()
        self.weight, self.bias = quantize(layer.weight.detach()), layer.bias.detach().double()
        self.quantize_input = quantize_input or (lambda x: x)

    def forward(self, x):
        return self.quantize_input(x) @ self.weight.t() + self.bias


def simulate(model, quantize, quantize_input=None):
    """A copy of a sequence of layers on the CPU, its linear layers simulated."""
    layers = copy.deepcopy(model).cpu()
    return torch.nn.Sequential(
        *(
            Simulated(layer, quantize, quantize_input)
            if isinstance(layer, torch.nn.Linear)
            else layer
            for layer in layers
        )
    )

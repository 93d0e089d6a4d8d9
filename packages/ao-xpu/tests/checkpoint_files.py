"""Packers of int4 checkpoints, written from the formats' definitions, on the CPU.

Each packs numbers 0 to 15 [N, K]. Zero points are 0 to 15 [N, K / group], scales are floats of that shape.
"""

import torch

AWQ_COLUMNS = [0, 2, 4, 6, 1, 3, 5, 7]


def random_layer(rows, columns, group, dtype=torch.float16, seed=0):
    """Return numbers, zero points and scales, in which every number and zero point occurs."""
    generator = torch.Generator().manual_seed(seed)
    shape = rows, columns // group
    numbers = torch.randint(0, 16, (rows, columns), generator=generator)
    zero_points = torch.randint(0, 16, shape, generator=generator)
    scales = (torch.rand(shape, generator=generator) * 0.02 + 0.001).to(dtype)
    return numbers, zero_points, scales


def elements(numbers, zero_points, scales, group_of_column=None):
    """Return scale * (number - zero point) in float64."""
    if group_of_column is None:
        group_of_column = torch.arange(numbers.shape[1]) // (numbers.shape[1] // scales.shape[1])
    differences = numbers - zero_points[:, group_of_column]
    return differences.double() * scales.double()[:, group_of_column]


def words(numbers):
    """Return int32 words of eight numbers along the last dimension, the first in the lowest bits."""
    values = sum(numbers[..., i].long() << 4 * i for i in range(8))
    return torch.where(values >= 1 << 31, values - (1 << 32), values).to(torch.int32)


def gptq(numbers, zero_points, scales, version=1):
    rows, columns = numbers.shape
    stored = (zero_points - 1) % 16 if version == 1 else zero_points
    return {
        "qweight": words(numbers.t().reshape(columns // 8, 8, rows).transpose(1, 2)),
        "qzeros": words(stored.t().reshape(-1, rows // 8, 8)),
        "scales": scales.t().contiguous(),
        "g_idx": (torch.arange(columns) // (columns // scales.shape[1])).to(torch.int32),
    }


def awq(numbers, zero_points, scales):
    rows = numbers.shape[0]
    return {
        "qweight": words(numbers.t().reshape(-1, rows // 8, 8)[..., AWQ_COLUMNS]),
        "qzeros": words(zero_points.t().reshape(-1, rows // 8, 8)[..., AWQ_COLUMNS]),
        "scales": scales.t().contiguous(),
    }


def compressed_tensors(numbers, zero_points, scales):
    rows, columns = numbers.shape
    padded = torch.zeros(-(-rows // 8) * 8, scales.shape[1], dtype=torch.long)
    padded[:rows] = zero_points
    packed_zeros = words(padded.reshape(-1, 8, scales.shape[1]).transpose(1, 2))
    return {
        "weight_packed": words(numbers.reshape(rows, columns // 8, 8)),
        "weight_scale": scales,
        "weight_zero_point": packed_zeros,
        "weight_shape": torch.tensor([rows, columns]),
    }


def cuda_tiles(numbers, tiles=8):
    """Return the words of `_convert_weight_to_int4pack` on CUDA, a thread of its kernel at a time.

    torchao gives the kernel bytes with the even column in the high half.
    """
    rows, columns = numbers.shape
    data = (numbers[:, ::2] << 4 | numbers[:, 1::2]).tolist()
    shape = rows // 8, columns // (16 * tiles), 32, tiles // 2
    result = torch.zeros(shape, dtype=torch.long)
    for row_tile in range(shape[0]):
        for column_tile in range(shape[1]):
            for thread in range(32):
                row = data[row_tile * 8 + thread // 4]
                for inner in range(0, tiles, 2):
                    first = (column_tile * tiles + inner) * 8 + thread % 4
                    v = [row[first + step] for step in (0, 4, 8, 12)]
                    word = 0
                    for i in range(4):
                        word |= v[i] >> 4 << 4 * i | (v[i] & 15) << 16 + 4 * i
                    result[row_tile, column_tile, thread, inner // 2] = word
    return torch.where(result >= 1 << 31, result - (1 << 32), result).to(torch.int32)

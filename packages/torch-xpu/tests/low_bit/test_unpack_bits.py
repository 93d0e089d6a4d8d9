"""torch_xpu.unpack_bits: numbers of one to seven bits that lie dense."""

import pytest
import torch
from xpu_testing import values_checked

unpack = torch.ops.torch_xpu.unpack_bits


def pack(numbers, bits):
    """Return groups of eight numbers as ``bits`` bytes, bit by bit from the definition."""
    groups = numbers.reshape(*numbers.shape[:-1], -1, 8).tolist()
    rows = torch.tensor(groups).reshape(-1, 8)
    packed = torch.zeros(rows.shape[0], bits, dtype=torch.int64)
    byte, place = 0, 0
    for width in (4, 2, 1):
        if not bits & width:
            continue
        for number in range(8):
            value = rows[:, number] >> place & (1 << width) - 1
            at, shift = {
                4: (number % 4, number // 4 * 4),
                2: (number // 4, number % 4 * 2),
                1: (0, number),
            }[width]
            packed[:, byte + at] |= value << shift
        byte, place = byte + width, place + width
    return packed.to(torch.uint8).reshape(*numbers.shape[:-1], numbers.shape[-1] // 8 * bits)


@pytest.mark.parametrize("shape", [(5, 48), (1, 8), (3, 4, 16), (8,), (0, 16), (2, 0)])
@pytest.mark.parametrize("bits", range(1, 8))
def test_numbers_come_back(bits, shape):
    generator = torch.Generator().manual_seed(bits)
    numbers = torch.randint(0, 1 << bits, shape, generator=generator, dtype=torch.uint8)
    packed = pack(numbers, bits) if numbers.numel() else numbers[..., : shape[-1] // 8 * bits]
    got = unpack(packed.xpu(), bits)
    assert (got.dtype, got.shape) == (torch.uint8, numbers.shape)
    if values_checked():
        assert torch.equal(got.cpu(), numbers)


def test_packed_bytes_may_have_gaps():
    generator = torch.Generator().manual_seed(0)
    packed = torch.randint(0, 256, (4, 12), generator=generator, dtype=torch.uint8).xpu()
    assert torch.equal(unpack(packed[:, 3:9], 3), unpack(packed[:, 3:9].contiguous(), 3))
    assert torch.equal(unpack(packed.t()[:6].t(), 3), unpack(packed[:, :6].contiguous(), 3))


def test_wrong_arguments():
    packed = torch.zeros(2, 6, dtype=torch.uint8, device="xpu")
    with pytest.raises(ValueError, match="got 8 bits, expected 1 to 7"):
        unpack(packed, 8)
    with pytest.raises(ValueError, match="no rows of groups of 5 bytes"):
        unpack(packed, 5)
    with pytest.raises(TypeError, match="expected uint8"):
        unpack(packed.int(), 3)

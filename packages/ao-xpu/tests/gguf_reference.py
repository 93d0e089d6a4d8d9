"""Blocks of GGUF's formats, made of random bytes, and the elements that they are, computed one by one."""

import random
import struct

# The bytes of a block, its elements, and the places of its f16 numbers.
LAYOUTS = {
    "Q4_0": (18, 32, (0,)),
    "Q4_1": (20, 32, (0, 2)),
    "Q8_0": (34, 32, (0,)),
    "Q4_K": (144, 256, (0, 2)),
    "Q6_K": (210, 256, (208,)),
}


def random_rows(format, rows, blocks, seed=0):
    """Rows of blocks of random bytes, with f16 numbers from -1 to 1."""
    size, _, places = LAYOUTS[format]
    generator = random.Random(seed)
    data = []
    for _ in range(rows):
        row = bytearray(generator.randbytes(blocks * size))
        for begin in range(0, len(row), size):
            for place in places:
                struct.pack_into("<e", row, begin + place, generator.uniform(-1, 1))
        data.append(row)
    return data


def elements(format, row):
    """The elements of a row, as Python floats."""
    size = LAYOUTS[format][0]
    blocks = [bytes(row[begin : begin + size]) for begin in range(0, len(row), size)]
    return [element for block in blocks for element in globals()[f"_{format.lower()}"](block)]


def _half(block, place):
    return struct.unpack_from("<e", block, place)[0]


def _nibble(data, i, half):
    """Element i of bytes in which an element and the one `half` later share a byte."""
    byte = data[i // (2 * half) * half + i % half]
    return byte & 15 if i % (2 * half) < half else byte >> 4


def _q4_0(block):
    return [_half(block, 0) * (_nibble(block[2:], i, 16) - 8) for i in range(32)]


def _q4_1(block):
    return [_half(block, 0) * _nibble(block[4:], i, 16) + _half(block, 2) for i in range(32)]


def _q8_0(block):
    return [_half(block, 0) * number for number in struct.unpack("32b", block[2:])]


def _q4_k(block):
    s = block[4:16]

    def parameters(group):
        if group < 4:
            return s[group] & 63, s[group + 4] & 63
        low = s[group + 4]
        return low & 15 | s[group - 4] >> 6 << 4, low >> 4 | s[group] >> 6 << 4

    result = []
    for i in range(256):
        scale, minimum = parameters(i // 32)
        number = _nibble(block[16:], i, 32)
        result.append(_half(block, 0) * scale * number - _half(block, 2) * minimum)
    return result


def _q6_k(block):
    scales = struct.unpack("16b", block[192:208])
    result = []
    for i in range(256):
        part, place = divmod(i, 128)
        low = block[64 * part + place % 64] >> 4 * (place // 64) & 15
        high = block[128 + 32 * part + place % 32] >> 2 * (place // 32) & 3
        result.append(_half(block, 208) * scales[i // 16] * ((low | high << 4) - 32))
    return result

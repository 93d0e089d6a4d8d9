"""SPIR-V from elsewhere: valid modules run, and invalid ones are refused before a driver sees them."""

import struct

import numpy as np
import pytest
import sources

pytestmark = pytest.mark.usefixtures("device")


def test_from_spirv_runs_what_spirv_returned(xr):
    spirv = xr.compile(sources.SAXPY).spirv()
    assert spirv[:4] == bytes([3, 2, 0x23, 7])  # the magic number of SPIR-V, little-endian
    y = xr.from_numpy(np.ones(64, np.float32))
    xr.launch(xr.from_spirv(spirv, "saxpy"), 64, 64, [np.float32(2), y, y, np.int64(64)])
    y.numpy()  # waits, so that an error in the kernel would be raised
    with pytest.raises(xr.UsageError, match="SPIR-V"):
        xr.from_spirv(b"abc", "saxpy")


SPIRV_HEADER = struct.pack("<5I", 0x07230203, 0x00010200, 0, 100, 0)
# What follows the header, and a part of the error message.
INVALID_MODULES = {
    "nothing": (b"", "no kernels"),
    "zeros": (bytes(64), "begins an instruction of 0 words"),
    "an instruction without an end": (struct.pack("<I", 0xFFFF0011), "and 1 are left"),
    "an instruction without operands": (struct.pack("<I", 0x0001000F), "needs 3"),
    "a kernel without a function": (
        struct.pack("<4I", 0x0004000F, 6, 7, int.from_bytes(b"k\0\0\0", "little")),
        '"k" has no function',
    ),
}


@pytest.mark.parametrize("what", INVALID_MODULES)
def test_invalid_spirv_is_refused(child, what):
    """In a child process, since a driver that got such SPIR-V would hang or crash."""
    body, message = INVALID_MODULES[what]
    out = child(f"""
        import xpu_runtime as xr
        try:
            xr.from_spirv({SPIRV_HEADER + body!r}, "k")
        except xr.UsageError as error:
            print(error)
        """).check()
    assert message in out.out


# Word 2 names the generator and may have any value.
@pytest.mark.parametrize("word", [0, 1, 3, 4])
def test_spirv_with_a_wrong_header_is_refused(xr, word):
    spirv = bytearray(xr.compile(sources.SAXPY).spirv())
    struct.pack_into("<I", spirv, 4 * word, 0xFFFFFFFF)
    with pytest.raises(xr.UsageError, match="SPIR-V: got"):
        xr.from_spirv(bytes(spirv), "saxpy")


def _instruction(code, *words):
    return struct.pack(f"<{1 + len(words)}I", (1 + len(words)) << 16 | code, *words)


# Ids in the modules.
POINTER, BY_VALUE_PARAMETER, KERNEL, INT, LENGTH = 90, 91, 92, 1, 2
# Opcodes.
TYPE_INT, TYPE_ARRAY, TYPE_STRUCT, TYPE_POINTER, TYPE_FORWARD, CONSTANT = 21, 28, 30, 32, 39, 43


def module_of(*declarations, value):
    """Return a module that declares INT and ``declarations``; its kernel takes type ``value`` by value."""
    name = int.from_bytes(b"k\0\0\0", "little")
    return SPIRV_HEADER + b"".join([
        _instruction(15, 6, KERNEL, name),  # OpEntryPoint
        _instruction(71, BY_VALUE_PARAMETER, 38, 2),  # OpDecorate: ByVal
        _instruction(TYPE_INT, INT, 32, 0),
        *declarations,
        _instruction(TYPE_POINTER, POINTER, 7, value),
        _instruction(54, INT, KERNEL, 0, INT),  # OpFunction
        _instruction(55, POINTER, BY_VALUE_PARAMETER),  # OpFunctionParameter
    ])  # fmt: skip


def nested_structs(depth):
    """Return structs with ids from 10 on: the first has two ints, each other two of the one before."""
    return [_instruction(TYPE_STRUCT, 10 + i, *[9 + i if i else INT] * 2) for i in range(depth)]


# What a module declares, the type that its kernel takes, and a part of the error message.
REFUSED_TYPES = {
    "a struct that contains itself": ([_instruction(TYPE_STRUCT, 10, 10)], 10, "contains itself"),
    "structs that contain each other": (
        [_instruction(TYPE_STRUCT, 10, 11), _instruction(TYPE_STRUCT, 11, 10)], 10, "contains itself",
    ),
    "an array of itself": (
        [_instruction(CONSTANT, INT, LENGTH, 4), _instruction(TYPE_ARRAY, 10, 10, LENGTH)],
        10, "contains itself",
    ),
    "structs 40 deep, which are 2^42 bytes": (nested_structs(40), 49, "2^32 or more bytes"),
    "an array of 2^32 + 1 numbers": (
        [_instruction(CONSTANT, INT, LENGTH, 1, 1), _instruction(TYPE_ARRAY, 10, INT, LENGTH)],
        10, "2^32 or more bytes",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED_TYPES)
def test_recursive_and_huge_types_are_refused(child, what):
    """In a child process with a time limit, since a layout could recurse for ever."""
    declarations, value, message = REFUSED_TYPES[what]
    done = child(
        f"""
        import xpu_runtime as xr
        try:
            xr.from_spirv({module_of(*declarations, value=value)!r}, "k")
        except xr.UsageError as error:
            print(error)
        """,
        timeout=30,
    ).check()
    assert message in done.out


def test_layout_of_deeply_nested_structs_is_fast(child):
    """Each of 39 structs mentions the one before twice, so a layout that repeats work takes 2^39 steps."""
    structs = "\n".join(f"struct S{i} {{ S{i - 1} a; S{i - 1}* b; }};" for i in range(1, 40))
    source = (
        "#include <xpu/core.h>\nstruct S0 { float x; };\n"
        + structs
        + "\nXPU_KERNEL(1) k(xpu::global<float> y, S39 s) { y[0] = s.a.a.a.b != nullptr; }"
    )
    child(
        f"""
        import numpy as np
        import xpu_runtime as xr
        spirv = xr.compile({source!r}).spirv()
        kernel = xr.from_spirv(spirv, "k")
        xr.launch(kernel, 1, 1, [xr.zeros(1), bytes(4 + 4 + 39 * 8)])
        xr.synchronize()
        """,
        timeout=60,
    ).check()

"""Damages packages of AOTInductor, and loads and runs each in a process of its own.

    python fuzz/packages [--cases N] [--seed S] [--file FILE]

Bytes are flipped, the file ends early, or it goes on with other bytes. A damaged package must raise an error
or give right values; a process that crashes or gives others is a failure.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import traceback
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "ahead"))

import package_case

SECONDS = 60
# How a child says what happened.
RIGHT, RAISED, WRONG = 0, 10, 11


def damaged(package: bytes, draw: random.Random) -> tuple[bytes, str]:
    """Return a damaged package, and what was done."""
    data = bytearray(package)
    kind = draw.choice(("flip", "flip", "flips", "end", "more", "zeros"))
    at = draw.randrange(len(data))
    if kind == "flip":
        data[at] ^= 1 << draw.randrange(8)
        return bytes(data), f"a bit of byte {at} flipped"
    if kind == "flips":
        places = [draw.randrange(len(data)) for _ in range(20)]
        for place in places:
            data[place] ^= 1 << draw.randrange(8)
        return bytes(data), f"bits of the bytes {places} flipped"
    if kind == "zeros":
        count = min(draw.choice((1, 100, 5000)), len(data) - at)
        data[at : at + count] = bytes(count)
        return bytes(data), f"{count} bytes from {at} are zero"
    if kind == "more":
        return bytes(data) + draw.randbytes(500), "500 bytes more"
    return bytes(data[:at]), f"{at} of {len(data)} bytes"


@torch.no_grad()
def outcome(file: Path, expected: list[torch.Tensor]) -> int:
    """Load and run a package; return whether its values are right."""
    try:
        got = torch._inductor.aoti_load_package(str(file))(*package_case.inputs(16))
        host = [tensor.cpu() for tensor in got]
    except Exception as e:  # noqa: BLE001 any error is one of the outcomes
        print(f"    {type(e).__name__}: {str(e).strip().splitlines()[0][:160]}", flush=True)
        return RAISED
    is_right = all(map(torch.allclose, host, expected))
    return RIGHT if is_right else WRONG


def status_of(file: Path, expected: list[torch.Tensor]) -> int:
    """Return the status of a child that runs the package: its outcome, or minus a signal."""
    child = os.fork()
    if child == 0:
        status = WRONG
        try:
            signal.alarm(SECONDS)
            status = outcome(file, expected)
        except BaseException:  # noqa: BLE001 the child ends here in any case
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def expectation() -> list[torch.Tensor]:
    """Return what the model gives, computed by the CPU: this process never uses the device."""
    torch.set_num_threads(1)  # a child of a fork has no threads of its parent
    model = package_case.Model().eval()
    with torch.no_grad():
        return list(model(*package_case.inputs(16, "cpu")))


def main() -> int:
    """Run the cases; return 1 if one failed."""
    parser = argparse.ArgumentParser(
        prog="packages", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--file", type=Path, help="a package of the tests' model; made if not given"
    )
    parser.add_argument("--expect-zeros", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = {RIGHT: "right values", RAISED: "an error"}
    counts: dict[str, int] = {}
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        file = options.file or Path(folder) / "model.pt2"
        if options.file is None and (child := os.fork()) == 0:
            package_case.write(file)
            os._exit(0)
        elif options.file is None:
            assert os.waitpid(child, 0)[1] == 0, "the package could not be made"
        package = file.read_bytes()
        expected = expectation()
        if options.expect_zeros:  # which proves that values are compared
            expected = [torch.zeros_like(tensor) for tensor in expected]
        case = Path(folder) / "damaged.pt2"
        assert status_of(file, expected) == RIGHT, "the sound package is wrong"
        for number in range(options.cases):
            data, what = damaged(package, random.Random(f"{options.seed}/{number}"))
            case.write_bytes(data)
            status = status_of(case, expected)
            result = names.get(status, f"FAILED, status {status}")
            counts[result] = counts.get(result, 0) + 1
            failed += status not in names
            print(f"{number} {what}: {result}", flush=True)
    print(", ".join(f"{count} {result}" for result, count in counts.items()))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())

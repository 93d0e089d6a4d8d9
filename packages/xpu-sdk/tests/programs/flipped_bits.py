"""Flip one bit of an archive for each seed: of the file, of the tar in it, or of a header of that."""

import gzip
import random
import sys
from pathlib import Path

from xpu_runtime import UsageError, cache, cache_archive


def contents():
    return {e.path.name: e.path.read_bytes() for e in cache.list()}


def flip(data, begin, end, choose):
    spoiled = bytearray(data)
    spoiled[choose.randrange(begin, end)] ^= 1 << choose.randrange(8)
    return bytes(spoiled)


cache.clear()
for number in range(20):
    cache.write(str(number), "plan", random.Random(number).randbytes(700))
originals, file = contents(), Path("flipped.tar.gz")
file.unlink(missing_ok=True)
cache_archive.export(file)
whole = file.read_bytes()
tar = gzip.decompress(whole)
headers = [at for at in range(0, len(tar), 512) if tar[at + 257 : at + 262] == b"ustar"]
outcomes = {}
for seed in range(*map(int, sys.argv[1:])):
    choose = random.Random(seed)
    if seed % 3 == 0:
        file.write_bytes(flip(whole, 0, len(whole), choose))
    else:
        at = choose.choice(headers)
        begin, end = (at, at + 512) if seed % 3 == 1 else (0, len(tar))
        file.write_bytes(gzip.compress(flip(tar, begin, end, choose), 1))
    cache.clear()
    try:
        outcome = "damaged" if cache_archive.import_(file).damaged else "whole"
    except UsageError as error:
        assert "flipped.tar.gz" in str(error)
        outcome = "refused"
    outcomes[outcome] = outcomes.get(outcome, 0) + 1
    got = contents()
    assert got.items() <= originals.items(), seed
    assert outcome != "whole" or got == originals, seed
    # One header that is damaged is the loss of one file.
    assert outcome != "damaged" or len(got) >= len(originals) - 1, seed
print(outcomes)
assert outcomes.keys() == {"refused", "damaged", "whole"}

"""Print the folder of a file of an installed wheel: `wheel_file.py DISTRIBUTION PATH_END`."""

import importlib.metadata
import os
import sys


def folder_of(distribution: str, path_end: str) -> str:
    """Return the folder, with links resolved; exit with a message if there is no such file."""
    for path in importlib.metadata.files(distribution) or ():
        if f"/{path.as_posix()}".endswith(f"/{path_end}"):
            return os.path.realpath(path.locate().parent)
    sys.exit(f"the wheel {distribution} has no file {path_end}")


if __name__ == "__main__":
    print(folder_of(*sys.argv[1:]))

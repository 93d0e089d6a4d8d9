"""Writes the device library and the kernel sources into one C++ file, as text."""

import sys
from pathlib import Path

HEAD = """#include "compile/source/embedded.h"

#include "xpu/error.h"

namespace xpu {
namespace {
struct File {
  std::string_view name, text;
};
constexpr File files[] = {
"""
TAIL = """};
}  // namespace

std::string_view find_embedded(std::string_view name) {
  for (auto& file : files)
    if (file.name == name) return file.text;
  return {};
}

std::string kernel_source(std::string_view name) {
  auto file = join("xpu/kernels/", name);
  bool known = !find_embedded(file).empty();
  expect<InternalError>(known, "no kernel source named ", name, " was built into the library");
  return join("#include <", file, ">\\n");
}

}  // namespace xpu
"""


def name_of(path: Path) -> str:
    """Return the name under which kernel sources include the file."""
    return f"xpu/{path.name}" if path.parent.name == "xpu" else f"xpu/kernels/{path.name}"


def main(out: str, *paths: str) -> None:
    """Called by CMake with the output and the files to embed."""
    entries = [f'{{"{name_of(Path(p))}", R"~~~({Path(p).read_text()})~~~"}},\n' for p in paths]
    entries.append('{"", ""},\n')
    Path(out).write_text(HEAD + "".join(entries) + TAIL)


if __name__ == "__main__":
    main(*sys.argv[1:])

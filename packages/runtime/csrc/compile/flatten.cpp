#include "compile/flatten.h"

#include <set>

#include "compile/embedded.h"
#include "xpu/error.h"

namespace xpu {
namespace {

constexpr std::string_view directive = "#include <xpu/";

struct Flattener {
  std::string out;
  std::set<std::string, std::less<>> seen;

  void file(std::string_view text, const std::string& name) {
    out += join("#line 1 \"", name, "\"\n");
    std::size_t line_number = 0;
    while (!text.empty()) {
      auto end = text.find('\n');
      auto line = text.substr(0, end);
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
      ++line_number;
      if (line.rfind(directive, 0) == 0) {
        include(line, name, line_number);
        out += join("#line ", line_number + 1, " \"", name, "\"\n");
      } else if (line != "#pragma once") {
        out.append(line).push_back('\n');
      } else {
        out.push_back('\n');
      }
    }
  }

  void include(std::string_view line, const std::string& from, std::size_t line_number) {
    auto close = line.find('>');
    std::string name(line.substr(directive.size() - 4, close - directive.size() + 4));
    if (seen.contains(name)) return;
    auto text = find_embedded(name);
    expect<CompileError>(!text.empty(), from, ":", line_number, ": the device library has no file <", name, ">");
    seen.insert(name);
    file(text, name);
  }
};

}  // namespace

std::string flatten(std::string_view source) {
  Flattener flattener;
  flattener.file(source, "kernel");
  return std::move(flattener.out);
}

}  // namespace xpu

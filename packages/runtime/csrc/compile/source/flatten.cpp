#include "compile/source/flatten.h"

#include <regex>
#include <set>
#include <vector>

#include "compile/source/embedded.h"
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
    expect<CompileError>(!text.empty(), from, ":", line_number, ": the device library has no file <", name,
                         ">");
    seen.insert(name);
    file(text, name);
  }
};

// The compiler counts physical lines, so each is looked up in the `#line` directives before it.
std::vector<std::string> places_of(std::string_view flat) {
  std::vector<std::string> places{""};
  std::string file = "kernel";
  std::size_t line = 1;
  while (!flat.empty()) {
    auto text = flat.substr(0, flat.find('\n'));
    flat.remove_prefix(std::min(flat.size(), text.size() + 1));
    places.push_back(join(file, ":", line++));
    if (text.rfind("#line ", 0) != 0) continue;
    auto open = text.find('"');
    line = std::stoul(std::string(text.substr(6)));
    file = text.substr(open + 1, text.rfind('"') - open - 1);
  }
  return places;
}

}  // namespace

std::string name_places(const std::string& log, std::string_view flat) {
  static const std::regex place(R"(rtc_\d+\.cpp:(\d+))");
  auto places = places_of(flat);
  std::string out;
  auto rest = log.begin();
  for (std::sregex_iterator at(log.begin(), log.end(), place), end; at != end; ++at) {
    out.append(rest, log.begin() + at->position());
    auto line = std::stoul((*at)[1]);
    out += line < places.size() ? places[line] : at->str();
    rest = log.begin() + at->position() + at->length();
  }
  return out.append(rest, log.end());
}

std::string flatten(std::string_view source) {
  Flattener flattener;
  flattener.file(source, "kernel");
  return std::move(flattener.out);
}

}  // namespace xpu

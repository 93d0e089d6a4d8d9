#include "compile/source/called_functions.h"

#include <algorithm>
#include <array>
#include <regex>
#include <set>

namespace xpu {
namespace {

// Words before a parenthesis that are no function, and words that may stand before a call.
constexpr std::array<std::string_view, 19> keywords = {
    "__attribute__", "alignas",       "alignof", "asm",   "catch",    "const", "decltype",
    "defined",       "else",          "for",     "if",    "noexcept", "not",   "return",
    "sizeof",        "static_assert", "switch",  "throw", "while"};
constexpr std::array<std::string_view, 6> before_calls = {"and", "do", "else", "not", "or", "return"};

bool contains(const auto& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// The lines of the source without those of the device library and without directives.
std::string own_lines(std::string_view flat) {
  std::string own;
  bool is_own = true;
  while (!flat.empty()) {
    auto line = flat.substr(0, flat.find('\n'));
    flat.remove_prefix(std::min(flat.size(), line.size() + 1));
    if (line.starts_with("#line ")) is_own = line.ends_with("\"kernel\"");
    auto first = line.find_first_not_of(" \t");
    bool is_directive = first != line.npos && line[first] == '#';
    if (is_own && !is_directive) own.append(line).push_back('\n');
  }
  return own;
}

// Without comments, strings and the heads of kernels.
std::string code_of(const std::string& text) {
  static const std::regex ignored(R"(//[^\n]*|/\*[^]*?\*/|"(\\.|[^"\\\n])*"|'(\\.|[^'\\\n])*')"
                                  R"(|XPU_KERNEL\([^()]*\)\s*\w+)");
  return std::regex_replace(text, ignored, " ");
}

// The text before the name ends in a word: of a type, unless the word may stand before a call.
bool is_declaration(std::string_view before) {
  auto end = before.find_last_not_of(" \t\n");
  if (end == before.npos) return false;
  before = before.substr(0, end + 1);
  auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  auto begin = std::find_if_not(before.rbegin(), before.rend(), is_word).base() - before.begin();
  auto word = before.substr(static_cast<std::size_t>(begin));
  return !word.empty() && !contains(before_calls, word);
}

// The text begins behind the parenthesis that opens the parameters.
bool is_definition(std::string_view text) {
  std::size_t at = 0;
  for (int depth = 1; depth > 0 && at < text.size(); ++at)
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
  at = std::min(text.find_first_not_of(" \t\n", at), text.size());
  return text.substr(at).starts_with('{');
}

}  // namespace

std::vector<std::string> called_functions(std::string_view flat) {
  static const std::regex name_and_parenthesis(R"(((?:\.|->)\s*)?((?:\w+\s*::\s*)*[A-Za-z_]\w*)\s*\()");
  auto text = code_of(own_lines(flat));
  std::vector<std::string> called;
  std::set<std::string> defined;
  for (std::sregex_iterator at(text.begin(), text.end(), name_and_parenthesis), end; at != end; ++at) {
    auto name = std::regex_replace((*at)[2].str(), std::regex(R"(\s)"), "");
    if ((*at)[1].matched || contains(keywords, name) || name.starts_with("XPU_")) continue;
    std::string_view before(text.data(), static_cast<std::size_t>(at->position()));
    auto behind = std::string_view(text).substr(static_cast<std::size_t>(at->position() + at->length()));
    if (!is_declaration(before)) {
      if (!contains(called, name)) called.push_back(name);
    } else if (is_definition(behind)) {
      defined.insert(name);
    }
  }
  std::erase_if(called, [&](auto& name) { return defined.contains(name); });
  return called;
}

}  // namespace xpu

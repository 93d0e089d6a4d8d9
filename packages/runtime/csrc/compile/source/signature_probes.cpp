#include "compile/source/signature_probes.h"

#include <cctype>
#include <charconv>

namespace xpu {
namespace {

constexpr std::string_view declaration = "XPU_KERNEL(";
// As device/xpu/core.h names it; the compiler prints xpu_signature<name_kernel, code, code>.
constexpr std::string_view printed = "xpu_signature<", tag_suffix = "_kernel";

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// Scans text and skips comments, strings and preprocessor lines.
class Scanner {
 public:
  Scanner(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::size_t position() const { return at_; }
  bool at_end() const { return at_ >= text_.size(); }
  char peek() {
    skip_space();
    return at_end() ? '\0' : text_[at_];
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  std::string_view word() {
    skip_space();
    auto begin = at_;
    while (!at_end() && is_word(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  /// Moves behind the matching closing parenthesis; returns false if there is none.
  bool close_parenthesis() {
    for (int depth = 1; depth > 0;) {
      char c = peek();
      if (c == '\0') return false;
      if (c == '"' || c == '\'') {
        skip_literal(c);
        continue;
      }
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      ++at_;
    }
    return true;
  }

 private:
  bool starts(std::string_view with) const { return text_.substr(at_, with.size()) == with; }
  void skip_to(std::string_view end, std::size_t more) {
    auto found = text_.find(end, at_);
    at_ = found == text_.npos ? text_.size() : found + more;
  }
  void skip_literal(char quote) {
    for (++at_; !at_end() && text_[at_] != quote; ++at_)
      if (text_[at_] == '\\') ++at_;
    ++at_;
  }
  void skip_space() {
    while (!at_end()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])))
        ++at_;
      else if (starts("//"))
        skip_to("\n", 0);
      else if (starts("/*"))
        skip_to("*/", 2);
      else if (text_[at_] == '#')
        skip_to("\n", 0);
      else
        return;
    }
  }

  std::string_view text_;
  std::size_t at_;
};

bool is_in_directive(std::string_view source, std::size_t at) {
  auto line = source.substr(0, at);
  line = line.substr(line.rfind('\n') + 1);
  auto first = line.find_first_not_of(" \t");
  return first != line.npos && line[first] == '#';
}

}  // namespace

std::string add_signature_probes(std::string_view source) {
  std::string probed;
  std::size_t copied = 0;
  for (auto at = source.find(declaration); at != source.npos; at = source.find(declaration, at + 1)) {
    bool is_part = at > 0 && is_word(source[at - 1]);
    if (is_part || is_in_directive(source, at)) continue;
    Scanner scanner(source, at + declaration.size());
    if (!scanner.close_parenthesis()) break;
    auto name = scanner.word();
    if (name.empty() || !scanner.take('(') || !scanner.close_parenthesis() || !scanner.take('{')) continue;
    probed.append(source.substr(copied, scanner.position() - copied));
    probed.append(" XPU_TELL_SIGNATURE(").append(name).append(")");
    copied = scanner.position();
  }
  return probed.append(source.substr(copied));
}

Signatures read_probed_signatures(std::string_view log) {
  Signatures all;
  for (auto at = log.find(printed); at != log.npos; at = log.find(printed, at + 1)) {
    auto list = log.substr(at + printed.size());
    auto name = list.substr(0, list.find_first_of(",>"));
    name = name.substr(name.rfind(':') + 1);
    if (!name.ends_with(tag_suffix)) continue;
    auto& parameters = all[std::string(name.substr(0, name.size() - tag_suffix.size()))].parameters;
    if (!parameters.empty()) continue;  // reported twice
    list = list.substr(0, list.find('>'));
    for (auto comma = list.find(','); comma != list.npos; comma = list.find(',')) {
      list.remove_prefix(comma + 1);
      list.remove_prefix(std::min(list.find_first_not_of(' '), list.size()));
      std::uint32_t code = 0;  // twice the size, and one more for a pointer
      std::from_chars(list.data(), list.data() + list.size(), code);
      parameters.push_back({code / 2, (code & 1) != 0});
    }
  }
  return all;
}

}  // namespace xpu

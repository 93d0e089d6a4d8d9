#include "compile/program/spirv.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <span>

#include "xpu/error.h"

namespace xpu {
namespace {

// Numbers of the SPIR-V specification.
constexpr std::uint32_t magic = 0x07230203, largest_bound = 0x3fffff;
enum Instruction : std::uint32_t {
  op_entry_point = 15,
  op_type_void = 19,
  op_type_bool = 20,
  op_type_int = 21,
  op_type_float = 22,
  op_type_vector = 23,
  op_type_array = 28,
  op_type_struct = 30,
  op_type_pointer = 32,
  op_type_pipe = 38,
  op_type_forward_pointer = 39,
  op_constant = 43,
  op_function = 54,
  op_function_parameter = 55,
  op_variable = 59,
  op_decorate = 71,
};
enum : std::uint32_t { model_kernel = 6 };
enum : std::uint32_t { in_function = 7, in_cross_workgroup = 5, in_workgroup = 4, in_constant = 0 };
// Since this version entry points list the global variables that they use.
constexpr std::uint32_t version_1_4 = 0x10400;
enum : std::uint32_t { decoration_packed = 10, decoration_parameter = 38, by_value = 2 };

using Words = std::span<const std::uint32_t>;

// Larger sizes are not distinguished: no kernel takes that much by value.
constexpr std::uint64_t huge = std::uint64_t{1} << 32;

struct Layout {
  std::uint64_t size = 0, alignment = 1;
};

std::uint64_t times(std::uint64_t size, std::uint64_t count) {
  std::uint64_t all;
  return __builtin_mul_overflow(size, count, &all) ? huge : std::min(all, huge);
}

std::uint64_t round_up(std::uint64_t size, std::uint64_t to) {
  return (size + to - 1) / to * to;
}

class Reader {
 public:
  explicit Reader(Words words) : words_(words) {}

  Signatures read() {
    header();
    for (std::size_t at = 5; at < words_.size();) {
      std::size_t count = words_[at] >> 16;
      expect<UsageError>(count > 0 && count <= words_.size() - at, "SPIR-V: word ", at,
                         " begins an instruction of ", count, " words, and ", words_.size() - at,
                         " are left");
      instruction(words_[at] & 0xffff, words_.subspan(at + 1, count - 1));
      at += count;
    }
    expect<UsageError>(!entries_.empty(), "SPIR-V: the module has no kernels");
    Signatures all;
    for (auto& [function, entry] : entries_) {
      expect<UsageError>(parameters_.count(function), "SPIR-V: the kernel \"", entry.name,
                         "\" has no function");
      auto& signature = all[entry.name];
      for (auto [id, type] : parameters_[function]) signature.parameters.push_back(parameter(id, type));
      signature.local_bytes = local_bytes(entry.variables);
    }
    return all;
  }

 private:
  struct Type {
    std::uint32_t instruction;
    Words operands;
  };

  void header() const {
    expect<UsageError>(words_.size() >= 5 && words_[0] == magic,
                       "SPIR-V: got a file with another header, "
                       "expected the number 0x07230203 and a header of five words");
    expect<UsageError>(words_[1] >> 16 == 1 && (words_[1] & 0xff) == 0, "SPIR-V: got version word ",
                       words_[1], ", expected a version 1");
    expect<UsageError>(words_[3] > 0 && words_[3] <= largest_bound && words_[4] == 0,
                       "SPIR-V: got a bound of ", words_[3], " and schema ", words_[4],
                       ", expected a bound of 1 to ", largest_bound, " and schema 0");
  }

  void instruction(std::uint32_t code, Words words) {
    switch (code) {
      case op_entry_point:
        if (need(words, 3) && words[0] == model_kernel) {
          auto name = text(words, 2);
          auto after = std::min(words.size(), 2 + name.size() / 4 + 1);
          entries_[words[1]] = {std::move(name), words.subspan(after)};
        }
        break;
      case op_variable:
        if (need(words, 3) && words[2] == in_workgroup) local_variables_[words[1]] = words[0];
        break;
      case op_type_bool:
      case op_type_int:
      case op_type_float:
      case op_type_vector:
      case op_type_array:
      case op_type_struct:
      case op_type_pointer:
        if (need(words, 1)) declare(words[0], {code, words.subspan(1)});
        break;
      case op_type_forward_pointer:
        if (need(words, 1)) layouts_[words[0]] = {8, 8};
        break;
      case op_constant:
        // The low word comes first.
        if (need(words, 3))
          constants_[words[1]] = words[2] | (words.size() > 3 ? std::uint64_t{words[3]} << 32 : 0);
        break;
      case op_decorate:
        if (need(words, 2) && words[1] == decoration_packed) packed_.insert(words[0]);
        if (words[1] == decoration_parameter && need(words, 3) && words[2] == by_value)
          by_value_.insert(words[0]);
        break;
      case op_function:
        if (need(words, 4)) parameters_[function_ = words[1]];
        break;
      case op_function_parameter:
        if (need(words, 2)) parameters_[function_].push_back({words[1], words[0]});
        break;
      default:
        if (code >= op_type_void && code <= op_type_pipe && need(words, 1)) declare(words[0], {code, {}});
        break;
    }
  }

  // Computed once, from members that are already declared. Only pointers may refer to later types, so no type
  // contains itself.
  void declare(std::uint32_t id, Type type) {
    types_[id] = type;
    layouts_[id] = layout(id, type);
    expect<UsageError>(!missing_.count(id), "SPIR-V: the type ", id,
                       " is declared after a type that contains it, or contains itself");
  }

  static bool need(Words words, std::size_t count) {
    expect<UsageError>(words.size() >= count, "SPIR-V: an instruction has ", words.size(),
                       " operands, and needs ", count);
    return true;
  }

  static std::string text(Words words, std::size_t at) {
    auto* begin = reinterpret_cast<const char*>(words.data() + at);
    return {begin, strnlen(begin, (words.size() - at) * 4)};
  }

  Parameter parameter(std::uint32_t id, std::uint32_t type) const {
    auto found = types_.find(type);
    if (found == types_.end()) return {0, false};
    auto& [code, operands] = found->second;
    if (code != op_type_pointer) return {size_of_value(type), false};
    if (operands.size() < 2) return {0, false};
    if (operands[0] == in_function && by_value_.count(id)) return {size_of_value(operands[1]), false};
    bool device_memory = operands[0] == in_cross_workgroup || operands[0] == in_constant;
    return device_memory ? Parameter{8, true} : Parameter{0, false};
  }

  // Older modules do not tell which of their kernels uses a variable.
  std::optional<std::uint64_t> local_bytes(Words used) const {
    if (words_[1] < version_1_4 && !local_variables_.empty()) return {};
    std::uint64_t bytes = 0;
    for (auto id : used) {
      auto found = local_variables_.find(id);
      if (found == local_variables_.end()) continue;
      auto layout = pointed_to(found->second);
      bytes = std::min(round_up(bytes, layout.alignment) + layout.size, huge);
    }
    return bytes;
  }

  Layout pointed_to(std::uint32_t pointer_type) const {
    auto pointer = types_.find(pointer_type);
    if (pointer == types_.end() || pointer->second.operands.size() < 2) return {};
    auto found = layouts_.find(pointer->second.operands[1]);
    return found == layouts_.end() ? Layout{} : found->second;
  }

  std::uint32_t size_of_value(std::uint32_t type) const {
    auto found = layouts_.find(type);
    if (found == layouts_.end()) return 0;
    expect<UsageError>(found->second.size < huge, "SPIR-V: a kernel takes a value of the type ", type,
                       ", which has 2^32 or more bytes");
    return static_cast<std::uint32_t>(found->second.size);
  }

  Layout declared(std::uint32_t id) {
    auto found = layouts_.find(id);
    if (found != layouts_.end()) return found->second;
    missing_.insert(id);
    return {};
  }

  // The layout of C; size 0 for unknown types.
  Layout layout(std::uint32_t id, const Type& type) {
    auto& [code, operands] = type;
    auto operand = [&, &operands = operands](std::size_t i) { return i < operands.size() ? operands[i] : 0; };
    switch (code) {
      case op_type_bool:
        return {1, 1};
      case op_type_int:
      case op_type_float:
        return {operand(0) / 8, std::max(operand(0) / 8, 1u)};
      case op_type_pointer:
        return {8, 8};
      case op_type_vector: {
        auto size = times(declared(operand(0)).size, operand(1) == 3 ? 4 : operand(1));
        return {size, std::max<std::uint64_t>(size, 1)};
      }
      case op_type_array: {
        auto length = constants_.find(operand(1));
        auto element = declared(operand(0));
        return {length == constants_.end() ? 0 : times(element.size, length->second), element.alignment};
      }
      case op_type_struct:
        return members(operands, packed_.count(id) > 0);
      default:
        return {};
    }
  }

  Layout members(Words types, bool packed) {
    Layout whole;
    bool known = true;
    for (auto type : types) {
      auto member = declared(type);
      known &= member.size != 0;
      if (packed) member.alignment = 1;
      whole.size = std::min(round_up(whole.size, member.alignment) + member.size, huge);
      whole.alignment = std::max(whole.alignment, member.alignment);
    }
    if (!known) return {};
    whole.size = std::min(round_up(whole.size, whole.alignment), huge);
    return whole;
  }

  Words words_;
  struct Entry {
    std::string name;
    Words variables;
  };
  std::map<std::uint32_t, Entry> entries_;
  std::map<std::uint32_t, std::uint32_t> local_variables_;  // and the types of pointers to them
  std::map<std::uint32_t, Type> types_;
  std::map<std::uint32_t, Layout> layouts_;
  std::map<std::uint32_t, std::uint64_t> constants_;
  std::set<std::uint32_t> packed_, by_value_;
  std::set<std::uint32_t> missing_;  // types that were used as members before their declaration
  struct Given {
    std::uint32_t id, type;
  };
  std::map<std::uint32_t, std::vector<Given>> parameters_;
  std::uint32_t function_ = 0;
};

}  // namespace

Signatures read_signatures(const Bytes& spirv) {
  expect<UsageError>(spirv.size() % 4 == 0, "SPIR-V: got ", spirv.size(), " bytes, expected whole words");
  std::vector<std::uint32_t> words(spirv.size() / 4);
  if (!words.empty()) std::memcpy(words.data(), spirv.data(), spirv.size());
  return Reader(words).read();
}

}  // namespace xpu

// A list of PJRT_NamedValue.
#pragma once

#include <pjrt_c_api.h>

#include <deque>
#include <string>
#include <vector>

namespace xla_xpu {

/// Owns the names and strings; values() points to them, so its result is valid as long as this object.
class NamedValues {
 public:
  NamedValues() = default;
  NamedValues(const NamedValues&) = delete;
  NamedValues& operator=(const NamedValues&) = delete;

  void add(const std::string& name, std::int64_t number) {
    auto& value = append(name, PJRT_NamedValue_kInt64);
    value.int64_value = number;
  }
  void add(const std::string& name, float number) {
    auto& value = append(name, PJRT_NamedValue_kFloat);
    value.float_value = number;
  }
  void add(const std::string& name, const std::string& text) {
    auto& value = append(name, PJRT_NamedValue_kString);
    strings_.push_back(text);
    value.string_value = strings_.back().c_str();
    value.value_size = text.size();
  }
  const std::vector<PJRT_NamedValue>& values() const { return values_; }

 private:
  PJRT_NamedValue& append(const std::string& name, int type) {
    strings_.push_back(name);
    PJRT_NamedValue value{};
    value.struct_size = PJRT_NamedValue_STRUCT_SIZE;
    value.name = strings_.back().c_str();
    value.name_size = name.size();
    value.type = static_cast<std::uint32_t>(type);
    value.value_size = 1;
    values_.push_back(value);
    return values_.back();
  }

  std::vector<PJRT_NamedValue> values_;
  std::deque<std::string> strings_;
};

}  // namespace xla_xpu

#include "compile/explain.h"

#include "compile/stores/store.h"
#include "xpu/error.h"
#include "xpu/process.h"

namespace xpu {
namespace {

std::string_view name_of(Key::Kind kind) {
  return kind == Key::Kind::spirv ? "SPIR-V" : generic_backend() ? "SYCL's image" : "native code";
}

std::string found(const Entry& entry) {
  return entry.kind == Entry::Kind::kept_by_driver ? "the driver has it"
                                                   : join("has it, ", entry.bytes.size(), " bytes");
}

std::optional<Entry> ask(const Key& key, std::vector<StoreAnswer>& answers) {
  std::optional<Entry> first;
  for (auto* store : stores_of(key.kind)) {
    auto entry = store->find(key);
    answers.push_back({std::string(name_of(key.kind)), std::string(store->name()), entry.has_value(),
                       entry ? found(*entry) : store->reason(key)});
    if (!first) first = std::move(entry);
  }
  return first;
}

}  // namespace

std::vector<StoreAnswer> explain(BuildInput source) {
  std::vector<StoreAnswer> answers;
  if (generic_backend()) {
    ask(native_key(source), answers);
  } else if (auto spirv = ask(spirv_key(source), answers)) {
    ask(native_key(spirv_input(source.device, std::move(spirv->bytes))), answers);
  }
  return answers;
}

std::string missing(const Key& key) {
  auto text = join("no ", name_of(key.kind));
  for (auto* store : stores_of(key.kind)) text += join(", ", store->name(), " ", store->reason(key));
  return text;
}

}  // namespace xpu

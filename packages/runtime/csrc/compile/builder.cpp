#include "compile/builder.h"

#include <atomic>
#include <optional>

#include "compile/ahead/build_ahead.h"
#include "compile/claim.h"
#include "compile/compilers/compiler.h"
#include "compile/dump.h"
#include "compile/explain.h"
#include "compile/first_use.h"
#include "compile/keys.h"
#include "compile/program/backend.h"
#include "compile/program/resource_limits.h"
#include "compile/stores/store.h"
#include "xpu/error.h"
#include "xpu/log.h"
#include "xpu/process.h"

namespace xpu {
namespace {

// Set if a new image of the generic mode could not be loaded: then only this process builds, and keeps none.
std::atomic<bool> images_unusable{false};

void warn_images_unusable() {
  if (!images_unusable.exchange(true))
    log(LogLevel::warning,
        "this backend cannot load its own kernel images, so kernels are built in this process and are not "
        "cached");
}

class Builder {
 public:
  explicit Builder(BuildInput input) : input_(std::move(input)) {
    if (!input_.source.empty()) {
      source_ = spirv_key(input_);
      dump_source(source_->id, input_.source);
    }
    if (is_image() || !input_.spirv.empty()) native_ = native_key(input_);
  }

  ProgramPtr program() {
    if (auto stored = stored_program()) return stored;
    FirstUse first_use(input_.device);
    Claim claim(native_ ? native_->id : source_->id);
    if (claim.waited()) {
      if (auto stored = stored_program()) {
        first_use.mark_stored();
        return stored;
      }
    }
    for (auto* compiler : compilers()) {
      auto built = build(*compiler, first_use);
      if (!built) continue;
      auto program = load_built(*built);
      if (!program) {
        warn_images_unusable();
        continue;
      }
      keep(*built, first_use);
      return program;
    }
    fail<InternalError>("no compiler is to be had");
  }

  Bytes spirv() {
    if (auto entry = find_stored(*source_)) return std::move(entry->bytes);
    FirstUse first_use(input_.device);
    for (auto* compiler : compilers()) {
      auto built = build(*compiler, first_use);
      if (!built) continue;
      keep(*built, first_use);
      return std::move(built->spirv);
    }
    fail<InternalError>("no compiler is to be had");
  }

 private:
  // SYCL's image of the source is built, not SPIR-V.
  bool is_image() const { return generic_backend() && input_.spirv.empty(); }

  // Finds the SPIR-V of a source and then what the driver made of it. Null if the latter is nowhere.
  ProgramPtr stored_program() {
    if (!native_ && !find_spirv()) return nullptr;
    Store* answered = nullptr;
    auto entry = find_stored(*native_, &answered);
    auto program = entry ? load(*entry) : nullptr;
    if (program) log(LogLevel::debug, join("kernel ", name(), " is loaded: ", answered->name(), " has it"));
    if (ships_) build_ahead::note_wanted(input_.device, source_->ready, !program);
    return program;
  }

  // SPIR-V is then what is built.
  bool find_spirv() {
    Store* answered = nullptr;
    auto entry = find_stored(*source_, &answered);
    if (!entry) return false;
    dump_spirv(source_->id, entry->bytes);
    ships_ = answered == &ready_spirv_store();
    input_ = spirv_input(input_.device, std::move(entry->bytes));
    native_ = native_key(input_);
    return true;
  }

  // Throws before the driver sees SPIR-V that needs more than the device has. Returns null if the driver
  // rejects the binary.
  ProgramPtr load(const Entry& entry) const {
    auto signatures = checked_signatures(input_.spirv);
    bool is_binary = entry.kind == Entry::Kind::native;
    auto program =
        is_binary ? load_native(input_.device, entry.bytes) : load_spirv(input_.device, input_.spirv);
    if (!program) return nullptr;
    dump_native(input_.device, name(), entry.bytes);
    if (!is_image()) program->signatures = std::move(signatures);
    return program;
  }

  // If the driver gives no binary or rejects its own, it builds the SPIR-V again here. It has just done so
  // without a crash, and Level Zero drivers have a cache of their own. Returns null for an image that this
  // process cannot load.
  ProgramPtr load_built(Built& built) const {
    auto program = std::move(built.program);
    if (!program && !built.native.empty()) program = load_native(input_.device, built.native);
    if (is_image()) return program;
    auto& spirv = built.spirv.empty() ? input_.spirv : built.spirv;
    auto signatures = checked_signatures(spirv);
    if (!program) program = load_spirv(input_.device, spirv);
    program->signatures = std::move(signatures);
    return program;
  }

  Signatures checked_signatures(const Bytes& spirv) const {
    if (spirv.empty()) return {};
    auto signatures = read_signatures(spirv);
    require_resources(input_.device, signatures);
    return signatures;
  }

  std::optional<Built> build(Compiler& compiler, FirstUse& first_use) {
    if (images_unusable && &compiler != &in_process_compiler()) return {};
    auto built = compiler.build(input_);
    if (!built) return {};
    first_use.finish();
    log(LogLevel::debug, join("kernel ", name(), " is built by ", compiler.name(), ": ",
                              missing(native_ ? *native_ : *source_)));
    return built;
  }

  void keep(const Built& built, FirstUse& first_use) {
    auto keep_entry = [&](const Key& key, const Entry& entry) {
      if (store(key, entry)) first_use.mark_stored();
    };
    if (!native_) native_ = native_key(spirv_input(input_.device, built.spirv));
    dump_spirv(name(), built.spirv);
    dump_native(input_.device, name(), built.native);
    if (!built.spirv.empty()) keep_entry(*source_, {Entry::Kind::spirv, built.spirv});
    if (images_unusable) return;
    if (auto entry = native_entry(input_.device, built.native)) keep_entry(*native_, *entry);
  }

  // Of dumps.
  const std::string& name() const { return source_ ? source_->id : native_->id; }

  BuildInput input_;
  std::optional<Key> source_;  // of the SPIR-V, if the build began with a source
  std::optional<Key> native_;  // unknown while there is no SPIR-V
  bool ships_ = false;
};

}  // namespace

ProgramPtr build_program(BuildInput input) {
  return Builder(std::move(input)).program();
}

Bytes build_source_to_spirv(BuildInput source) {
  auto spirv = Builder(std::move(source)).spirv();
  expect<Unsupported>(!spirv.empty(),
                      "this backend does not use SPIR-V; build the kernel from source with build_kernel");
  return spirv;
}

}  // namespace xpu

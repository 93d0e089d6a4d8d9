// SYCL's compiler keeps its device libraries as LLVM bitcode in its own data, and reads all of them for each
// source. The one of math functions has 2 MB, and reading it takes more than half of the time from source to
// SPIR-V; our device library has its own functions. The compiler has no option to leave it out. So this puts
// the library in memory that can be written, and when no kernel calls it, a small library stands in its
// place.
#include "compile/source/math_library.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu {
namespace {

// An entry of the compiler's table of files.
struct LibraryFile {
  const char* path;
  std::size_t path_size;
  const char* content;
  std::size_t content_size;
};

// A loaded library: its bytes, and those that the loader relocated.
struct Loaded {
  const char *begin = nullptr, *end = nullptr;
  const char *relocated_begin = nullptr, *relocated_end = nullptr;

  bool holds(const char* at, std::size_t size) const {
    return at >= begin && at < end && size <= static_cast<std::size_t>(end - at);
  }
};

int find_compiler(dl_phdr_info* info, std::size_t, void* result) {
  if (!std::strstr(info->dlpi_name, "/libsycl-jit.so")) return 0;
  auto& loaded = *static_cast<Loaded*>(result);
  auto* base = reinterpret_cast<const char*>(info->dlpi_addr);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    auto& segment = info->dlpi_phdr[i];
    auto *first = base + segment.p_vaddr, *last = first + segment.p_memsz;
    if (segment.p_type == PT_LOAD) {
      if (!loaded.begin || first < loaded.begin) loaded.begin = first;
      if (last > loaded.end) loaded.end = last;
    } else if (segment.p_type == PT_GNU_RELRO) {
      loaded.relocated_begin = first;
      loaded.relocated_end = last;
    }
  }
  return 1;
}

bool is_bitcode(const LibraryFile& file) {
  return file.content_size > 4 && std::memcmp(file.content, "BC\xC0\xDE", 4) == 0;
}

// Returns the only entry whose path ends with `name`, or null.
LibraryFile* find_file(const Loaded& loaded, std::string_view name) {
  constexpr std::size_t longest = 200;
  LibraryFile* found = nullptr;
  for (auto* at = loaded.relocated_begin; at + sizeof(LibraryFile) <= loaded.relocated_end;
       at += sizeof(void*)) {
    LibraryFile file;
    std::memcpy(&file, at, sizeof file);
    if (file.path_size < name.size() || file.path_size > longest) continue;
    if (!loaded.holds(file.path, file.path_size) || !loaded.holds(file.content, file.content_size)) continue;
    if (!std::string_view(file.path, file.path_size).ends_with(name) || !is_bitcode(file)) continue;
    if (found) return nullptr;
    found = reinterpret_cast<LibraryFile*>(const_cast<char*>(at));
  }
  return found;
}

// Makes an entry of the table refer to other content of the same size.
bool set_content(LibraryFile& file, const char* content) {
  auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto first = reinterpret_cast<std::uintptr_t>(&file) / page * page;
  auto size = reinterpret_cast<std::uintptr_t>(&file + 1) - first;
  if (mprotect(reinterpret_cast<void*>(first), size, PROT_READ | PROT_WRITE) != 0) return false;
  file.content = content;
  mprotect(reinterpret_cast<void*>(first), size, PROT_READ);
  return true;
}

// LLVM's header of bitcode that is a part of a file.
struct Wrapper {
  std::uint32_t magic = 0x0B17C0DE, version = 0, offset = sizeof(Wrapper), size, processor = 0;
};

class MathLibrary {
 public:
  MathLibrary() {
    Loaded compiler;
    if (!dl_iterate_phdr(find_compiler, &compiler)) return;
    auto* library = find_file(compiler, "/libsycl-imf.bc");
    auto* small = find_file(compiler, "/libsycl-crt.bc");
    if (!library || !small || library->content_size < sizeof(Wrapper) + small->content_size) return;
    Wrapper wrapper{.size = static_cast<std::uint32_t>(small->content_size)};
    without_.resize(sizeof wrapper + small->content_size);
    std::memcpy(without_.data(), &wrapper, sizeof wrapper);
    std::memcpy(without_.data() + sizeof wrapper, small->content, small->content_size);
    with_.assign(library->content, library->content + without_.size());
    auto* content =
        new char[library->content_size];  // as long as the compiler, which the process never unloads
    std::memcpy(content, library->content, library->content_size);
    if (set_content(*library, content)) content_ = content;
  }

  void link(bool wanted) {
    auto& bytes = wanted ? with_ : without_;
    if (content_) std::memcpy(content_, bytes.data(), bytes.size());
  }

  bool found() const { return content_; }

 private:
  char* content_ = nullptr;  // what the compiler reads as its library
  // What content_ begins with: the library itself, or a small one whose size the header tells.
  std::vector<char> with_, without_;
};

}  // namespace

bool may_call_math_library(std::string_view flat) {
  // Headers of others may call it.
  return flat.find("imf") != flat.npos || flat.find("#include") != flat.npos;
}

void link_math_library(bool wanted) {
  static auto* library = [] {
    auto* made = new MathLibrary;
    if (!made->found())
      log(LogLevel::debug, "the compiler's library of math functions was not found, so every build reads it");
    return made;
  }();
  library->link(wanted);
}

}  // namespace xpu

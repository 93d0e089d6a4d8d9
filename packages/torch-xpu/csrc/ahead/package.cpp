#include "ahead/package.h"

#include <c10/util/Exception.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "torch_xpu/aoti/runtime.h"
#include "xpu/digest.h"
#include "xpu/ready_kernels.h"

namespace torch_xpu {
namespace {

namespace fs = std::filesystem;

constexpr const char* manifest_suffix = ".xpu_package.txt";
constexpr const char* known_form = "1";
constexpr const char* remedy = "; compile the model again with torch._inductor.aoti_compile_and_package()";

struct Manifest {
  std::string form, torch, abi;
  std::vector<std::string> cpu;                            // instructions that the library uses
  std::vector<std::pair<std::string, std::string>> files;  // names and digests
};

// Lines of a word and a value. That of a file is its name, which may have spaces, and its digest.
Manifest read_manifest(const fs::path& path) {
  std::ifstream file(path);
  TORCH_CHECK(file, path.parent_path().string(), " was not made for xpu by inductor-xpu: it has no ",
              path.filename().string(), remedy);
  Manifest manifest;
  for (std::string line; std::getline(file, line);) {
    auto space = line.find(' ');
    auto word = line.substr(0, space), value = space == line.npos ? "" : line.substr(space + 1);
    if (word == "form") {
      manifest.form = value;
    } else if (word == "torch") {
      manifest.torch = value;
    } else if (word == "abi") {
      manifest.abi = value;
    } else if (word == "cpu") {
      manifest.cpu.push_back(value);
    } else if (word == "file") {
      auto end = value.rfind(' ');
      TORCH_CHECK(end != value.npos, path.string(), " is damaged: got the line \"", line,
                  "\", expected \"file NAME DIGEST\"", remedy);
      manifest.files.emplace_back(value.substr(0, end), value.substr(end + 1));
    }
    // Lines with other words say what this version need not know.
  }
  return manifest;
}

// "2.13" of "2.13.0+cpu".
std::string minor_version(const std::string& version) {
  auto dot = version.find('.');
  return dot == version.npos ? version : version.substr(0, version.find_first_not_of("0123456789", dot + 1));
}

void check_versions(const Manifest& manifest, const fs::path& path) {
  TORCH_CHECK(manifest.form == known_form, path.string(), " has the form \"", manifest.form,
              "\", expected \"", known_form, "\": another version of inductor-xpu wrote it", remedy,
              ", or install that version");
  auto expected = std::to_string(TORCH_VERSION_MAJOR) + "." + std::to_string(TORCH_VERSION_MINOR);
  TORCH_CHECK(minor_version(manifest.torch) == expected, path.string(), " is of a package for torch ",
              manifest.torch, ", expected torch ", expected, remedy, ", or install that torch");
  TORCH_CHECK(manifest.abi == std::to_string(TORCH_XPU_AOTI_ABI), path.string(),
              " is of a package for the functions of ABI ", manifest.abi, ", expected ", TORCH_XPU_AOTI_ABI,
              remedy);
}

// A library with kernels for CPUs is for those of the machine that made it.
void check_cpu(const Manifest& manifest, const fs::path& path) {
  for (auto& name : manifest.cpu) {
    bool has = (name == "avx2" && __builtin_cpu_supports("avx2")) ||
               (name == "avx512" && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"));
    TORCH_CHECK(has, path.string(), " is of a package with kernels for CPUs with ", name,
                ", which this one has not", remedy, " on this machine");
  }
}

void check_files(const Manifest& manifest, const fs::path& path, const std::string& library) {
  auto is_library = [&](auto& file) { return file.first == library; };
  TORCH_CHECK(std::ranges::any_of(manifest.files, is_library), path.string(),
              " is damaged: it does not name ", library, remedy);
  for (auto& [name, digest] : manifest.files) {
    TORCH_CHECK(fs::path(name).filename() == name, path.string(), " is damaged: got the file name \"", name,
                "\", expected a name without a folder", remedy);
    auto file = path.parent_path() / name;
    auto found = xpu::digest_of_file(file.string());
    TORCH_CHECK(found, "the package has no file ", file.string(), ", expected one with the digest ", digest,
                remedy, ", or copy the package again");
    TORCH_CHECK(*found == digest, file.string(), " is damaged: got the digest ", *found, ", expected ",
                digest, remedy, ", or copy the package again");
  }
}

}  // namespace

void open_package(const std::string& model) {
  fs::path library(model), path = library.parent_path() / (library.stem().string() + manifest_suffix);
  auto manifest = read_manifest(path);
  check_versions(manifest, path);
  check_cpu(manifest, path);
  check_files(manifest, path, library.filename().string());
  for (auto& [name, _] : manifest.files)
    if (name.ends_with(".kernels")) xpu::add_kernels((path.parent_path() / name).string());
}

}  // namespace torch_xpu

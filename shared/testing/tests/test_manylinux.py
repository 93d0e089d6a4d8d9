"""Libraries for an older system: they want nothing newer, and run and throw on this one."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from ci import manylinux

# What libstdc++ and glibc got after manylinux_2_28: file systems, waits with a steady clock, and more.
LIBRARY = """
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>
struct __attribute__((visibility("default"))) OwnError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
extern "C" long size_of(const char* path) {
  struct stat about;
  return stat(path, &about) ? -1 : about.st_size;
}
extern "C" bool times_out() {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  return condition.wait_for(lock, std::chrono::milliseconds(20)) == std::cv_status::timeout;
}
extern "C" int thread_of_task() { return std::async(std::launch::async, [] { return gettid(); }).get(); }
void fail(int how, int length) {
  if (how == 0) throw OwnError("own");
  if (how == 1) std::filesystem::file_size("/does/not/exist");
  if (how == 2) delete[] new int[length];
  if (how == 3) {
    auto task = std::async(std::launch::async, []() -> int { throw std::out_of_range("in a thread"); });
    task.get();
  }
}
"""
PROGRAM = """
#include <filesystem>
#include <iostream>
#include <new>
#include <stdexcept>
struct __attribute__((visibility("default"))) OwnError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
void fail(int how, int length);
extern "C" long size_of(const char* path);
extern "C" bool times_out();
extern "C" int thread_of_task();
int main(int, char** arguments) {
  try { fail(0, 0); } catch (const OwnError& error) { std::cout << error.what() << "\\n"; }
  try { fail(1, 0); } catch (const std::filesystem::filesystem_error& error) {
    std::cout << error.path1().string() << "\\n";
  }
  try { fail(2, -1); } catch (const std::bad_array_new_length&) { std::cout << "length\\n"; }
  try { fail(3, 0); } catch (const std::out_of_range& error) { std::cout << error.what() << "\\n"; }
  std::cout << size_of(arguments[1]) << " " << times_out() << " " << (thread_of_task() > 0) << "\\n";
}
"""


def build(folder, name, code, *options):
    """Compile C++ and return the file."""
    source, target = folder / f"{name}.cpp", folder / name
    source.write_text(code)
    command = ["g++", "-std=c++20", "-O1", str(source), "-o", str(target), *options]
    subprocess.run(command, check=True)
    return target


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    return manylinux.link_options(tmp_path_factory.mktemp("linked")).split()


def test_a_library_wants_nothing_newer(tmp_path, options):
    library = build(tmp_path, "libolder.so", LIBRARY, "-shared", "-fPIC", *options)
    assert manylinux.missing_symbols(library) == []
    assert len(manylinux.newest_versions(library)) >= 2


def test_what_is_newer_is_found(tmp_path):
    library = build(tmp_path, "libnewer.so", LIBRARY, "-shared", "-fPIC")
    missing = " ".join(manylinux.missing_symbols(library))
    assert "GLIBCXX_3.4.2" in missing
    assert "stat@GLIBC_2.33" in missing


def test_a_newer_function_without_a_replacement_is_found(tmp_path, options):
    code = '#include <string.h>\nextern "C" const char* name() { return sigabbrev_np(9); }'
    library = build(tmp_path, "libabbreviation.so", code, "-shared", "-fPIC", *options)
    assert manylinux.missing_symbols(library) == ["sigabbrev_np"]


def test_its_exceptions_are_caught_by_others(tmp_path, options):
    library = build(tmp_path, "libolder.so", LIBRARY, "-shared", "-fPIC", *options)
    program = build(tmp_path, "program", PROGRAM, str(library), f"-Wl,-rpath,{tmp_path}")
    done = subprocess.run([program, str(library)], capture_output=True, text=True, check=True)
    size = library.stat().st_size
    expected = f"own\n/does/not/exist\nlength\nin a thread\n{size} 1 1\n"
    assert done.stdout == expected


def test_a_copy_of_the_systems_state_is_not_linked(tmp_path, options):
    """Strings without text share storage, which another copy would free: messages of exceptions are such."""
    code = """
    #include <stdexcept>
    #include <string>
    #include <filesystem>
    void fail(int how) {
      if (how == 0) throw std::runtime_error("");
      if (how == 1) throw std::out_of_range(std::string());
      std::filesystem::file_size("");
    }
    """
    program = """
    #include <exception>
    #include <iostream>
    void fail(int how);
    int main() {
      for (int how = 0; how < 3; ++how) {
        std::exception_ptr caught;
        try { fail(how); } catch (const std::exception&) { caught = std::current_exception(); }
        try { std::rethrow_exception(caught); } catch (const std::exception& error) { std::cout << how; }
      }
    }
    """
    for optimized in ((), ("-flto",)):
        flags = ("-shared", "-fPIC", *optimized, *options)
        library = build(tmp_path, "libempty.so", code, *flags)
        defined = [s.name for s in manylinux.symbols(library) if s.is_defined]
        assert not [name for name in defined if name.startswith("_ZNSt")]
        listing = subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout
        assert "_S_empty_rep_storageE" not in "".join(
            line for line in listing.splitlines() if " U " not in line
        )
        main = build(tmp_path, "main", program, str(library), f"-Wl,-rpath,{tmp_path}")
        done = subprocess.run([main], capture_output=True, text=True, check=True)
        assert done.stdout == "012"

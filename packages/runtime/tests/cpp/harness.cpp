// Runs every test, or those whose name contains the first argument.
#include "harness.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

namespace harness {
namespace {
struct Test {
  const char* name;
  Body body;
};
std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}
}  // namespace

Register::Register(const char* name, Body body) {
  tests().push_back({name, body});
}

void fail(const char* file, int line, const std::string& what) {
  throw Failure(std::string(file) + ":" + std::to_string(line) + ": " + what);
}

}  // namespace harness

int main(int argc, char** argv) {
  int failed = 0, ran = 0;
  for (auto& test : harness::tests()) {
    if (argc > 1 && !std::strstr(test.name, argv[1])) continue;
    ++ran;
    auto begin = std::chrono::steady_clock::now();
    const char* result = "ok  ";
    std::string why;
    try {
      test.body();
    } catch (const std::exception& e) {
      result = "FAIL";
      why = e.what();
      ++failed;
    }
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("%s %-44s %7.3f s %s\n", result, test.name, seconds.count(), why.c_str());
    std::fflush(stdout);
  }
  std::printf("%d tests, %d failed\n", ran, failed);
  return failed || !ran;
}

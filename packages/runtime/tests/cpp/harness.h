// As much of a test framework as the C++ tests need.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace harness {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Body = void (*)();
/// Adds a test at static initialization.
struct Register {
  Register(const char* name, Body body);
};

[[noreturn]] void fail(const char* file, int line, const std::string& what);

template <class A, class B>
void equal(const char* file, int line, const char* text, const A& a, const B& b) {
  if (a == b) return;
  std::ostringstream out;
  out << text << ": " << a << " and " << b;
  fail(file, line, out.str());
}

template <class E, class F>
std::string thrown(const char* file, int line, const char* text, F&& work) {
  try {
    work();
  } catch (const E& e) {
    return e.what();
  }
  fail(file, line, std::string(text) + " did not throw");
}

}  // namespace harness

#define TEST(name)                                             \
  static void name();                                          \
  static const harness::Register register_##name(#name, name); \
  static void name()
#define CHECK(condition)                                             \
  do                                                                 \
    if (!(condition)) harness::fail(__FILE__, __LINE__, #condition); \
  while (false)
#define CHECK_EQUAL(a, b) harness::equal(__FILE__, __LINE__, #a " == " #b, a, b)
/// The message of the exception.
#define CHECK_THROWS(E, ...) harness::thrown<E>(__FILE__, __LINE__, #__VA_ARGS__, [&] { __VA_ARGS__; })

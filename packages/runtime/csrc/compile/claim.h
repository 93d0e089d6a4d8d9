// One thread of the process builds a program at a time.
#pragma once

#include <memory>
#include <string>

namespace xpu {

/// The right to build the program with a key of the native cache, until it is destroyed. Thread-safe.
class Claim {
 public:
  /// Waits while another thread has it; a signal may end the wait (see OperationScope).
  explicit Claim(std::string native_key);
  /// Returns null if another thread has it.
  static std::unique_ptr<Claim> attempt(std::string native_key);
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  /// True if another thread had it before: the cache may have the program now.
  bool waited() const { return waited_; }

 private:
  struct Granted {};
  Claim(std::string native_key, Granted) : key_(std::move(native_key)) {}

  std::string key_;
  bool waited_ = false;
};

}  // namespace xpu

// One thread of the process builds a program at a time.
#pragma once

#include <memory>
#include <string>

namespace xpu {

/// The right to build what has Key::id, until it is destroyed. Thread-safe.
class Claim {
 public:
  /// Waits while another thread has it; a signal may end the wait (see OperationScope).
  explicit Claim(std::string key);
  /// Returns null if another thread has it.
  static std::unique_ptr<Claim> attempt(std::string key);
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  /// True if another thread had it before: the cache may have the program now.
  bool waited() const { return waited_; }

 private:
  struct Granted {};
  Claim(std::string key, Granted) : key_(std::move(key)) {}

  std::string key_;
  bool waited_ = false;
};

}  // namespace xpu

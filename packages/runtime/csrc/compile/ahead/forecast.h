// Predicts the kernels that a process wants next, from those that sample programs wanted.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "compile/keys.h"

namespace xpu {

/// For one device. Not thread-safe.
class Forecast {
 public:
  /// `programs` has the keys of each program in order of first use.
  explicit Forecast(std::vector<std::vector<ReadyKey>> programs);
  /// Records what the process wants.
  void add(const ReadyKey& key);
  /// Returns what the program that is most like the process wanted after `key`, without what the process has
  /// wanted; the soonest first.
  std::vector<ReadyKey> after(const ReadyKey& key) const;

 private:
  struct Place {
    std::size_t program, position;
  };
  std::vector<std::vector<ReadyKey>> programs_;
  std::map<ReadyKey, std::vector<Place>> places_;
  std::set<ReadyKey> wanted_;
  std::vector<std::size_t> shared_;  // by program: how many of its keys the process has wanted
};

}  // namespace xpu

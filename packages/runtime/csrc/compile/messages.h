// Numbers and texts through a socket, for helpers that build.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace xpu::elsewhere {

struct Order {
  int device;
  std::string flat;
  std::vector<std::string> options;
};

/// False when nobody is at the other end.
bool send(int socket, const Order& order);
bool send(int socket, bool done);
/// Nothing when the other end has closed; with `patience`, in milliseconds, also when it passes first.
std::optional<Order> receive_order(int socket, int patience);
std::optional<bool> receive_answer(int socket);

}  // namespace xpu::elsewhere

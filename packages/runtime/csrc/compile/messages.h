// What this process and its helpers that build tell each other through a socket.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "xpu/cache.h"

namespace xpu::elsewhere {

struct Order {
  int device;
  std::string source;                ///< flat; empty when it is SPIR-V that is to be built
  std::vector<std::string> options;  ///< of the compiler of sources
  Bytes spirv;
};

struct Answer {
  enum class Outcome : std::uint8_t { built, compile_error, out_of_memory, unsupported, failed };
  Outcome outcome;
  std::string message;  ///< why it is not built
  Bytes spirv, native;  ///< `native` is empty where a driver gives none
};

/// False when nobody is at the other end.
bool send(int socket, const Order& order);
bool send(int socket, const Answer& answer);
bool send_ready(int socket);
/// Nothing when the other end has closed; with `patience`, in milliseconds, also when it passes first.
std::optional<Order> receive_order(int socket, int patience);
std::optional<Answer> receive_answer(int socket);
bool receive_ready(int socket);

}  // namespace xpu::elsewhere

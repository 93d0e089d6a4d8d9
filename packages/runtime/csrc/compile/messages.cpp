#include "compile/messages.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace xpu::elsewhere {
namespace {

bool send_bytes(int socket, const void* data, std::size_t size) {
  for (auto* at = static_cast<const char*>(data); size > 0;) {
    // Not write(), which would end the process with a signal when the other end has gone.
    auto sent = ::send(socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_bytes(int socket, void* data, std::size_t size) {
  for (auto* at = static_cast<char*>(data); size > 0;) {
    auto received = ::recv(socket, at, size, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;
    at += received;
    size -= static_cast<std::size_t>(received);
  }
  return true;
}

template <class Text>
bool send_text(int socket, const Text& text) {
  std::uint64_t size = text.size();
  return send_bytes(socket, &size, sizeof size) && send_bytes(socket, text.data(), text.size());
}

template <class Text>
bool receive_text(int socket, Text& text) {
  std::uint64_t size = 0;
  if (!receive_bytes(socket, &size, sizeof size)) return false;
  text.resize(size);
  return receive_bytes(socket, text.data(), size);
}

constexpr char ready = 'r';

}  // namespace

bool send(int socket, const Order& order) {
  std::uint64_t numbers[] = {static_cast<std::uint64_t>(order.device), order.options.size()};
  if (!send_bytes(socket, numbers, sizeof numbers) || !send_text(socket, order.source) ||
      !send_text(socket, order.spirv))
    return false;
  for (auto& option : order.options)
    if (!send_text(socket, option)) return false;
  return true;
}

bool send(int socket, const Answer& answer) {
  return send_bytes(socket, &answer.outcome, sizeof answer.outcome) && send_text(socket, answer.message) &&
         send_text(socket, answer.spirv) && send_text(socket, answer.native);
}

bool send_ready(int socket) {
  return send_bytes(socket, &ready, 1);
}

std::optional<Order> receive_order(int socket, int patience) {
  pollfd waiting{socket, POLLIN, 0};
  if (poll(&waiting, 1, patience) <= 0) return {};
  std::uint64_t numbers[2];
  Order order;
  if (!receive_bytes(socket, numbers, sizeof numbers) || !receive_text(socket, order.source) ||
      !receive_text(socket, order.spirv))
    return {};
  order.device = static_cast<int>(numbers[0]);
  order.options.resize(numbers[1]);
  for (auto& option : order.options)
    if (!receive_text(socket, option)) return {};
  return order;
}

std::optional<Answer> receive_answer(int socket) {
  Answer answer;
  if (!receive_bytes(socket, &answer.outcome, sizeof answer.outcome) ||
      !receive_text(socket, answer.message) || !receive_text(socket, answer.spirv) ||
      !receive_text(socket, answer.native))
    return {};
  return answer;
}

bool receive_ready(int socket) {
  char got = 0;
  return receive_bytes(socket, &got, 1) && got == ready;
}

}  // namespace xpu::elsewhere

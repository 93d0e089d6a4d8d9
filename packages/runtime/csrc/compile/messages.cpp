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

bool send_text(int socket, const std::string& text) {
  std::uint64_t size = text.size();
  return send_bytes(socket, &size, sizeof size) && send_bytes(socket, text.data(), text.size());
}

bool receive_text(int socket, std::string& text) {
  std::uint64_t size = 0;
  if (!receive_bytes(socket, &size, sizeof size)) return false;
  text.resize(size);
  return receive_bytes(socket, text.data(), size);
}

}  // namespace

bool send(int socket, const Order& order) {
  std::uint64_t numbers[] = {static_cast<std::uint64_t>(order.device), order.options.size()};
  if (!send_bytes(socket, numbers, sizeof numbers) || !send_text(socket, order.flat)) return false;
  for (auto& option : order.options)
    if (!send_text(socket, option)) return false;
  return true;
}

bool send(int socket, bool done) {
  return send_bytes(socket, &done, sizeof done);
}

std::optional<Order> receive_order(int socket, int patience) {
  pollfd waiting{socket, POLLIN, 0};
  if (poll(&waiting, 1, patience) <= 0) return {};
  std::uint64_t numbers[2];
  Order order;
  if (!receive_bytes(socket, numbers, sizeof numbers) || !receive_text(socket, order.flat)) return {};
  order.device = static_cast<int>(numbers[0]);
  order.options.resize(numbers[1]);
  for (auto& option : order.options)
    if (!receive_text(socket, option)) return {};
  return order;
}

std::optional<bool> receive_answer(int socket) {
  bool done;
  if (!receive_bytes(socket, &done, sizeof done)) return {};
  return done;
}

}  // namespace xpu::elsewhere

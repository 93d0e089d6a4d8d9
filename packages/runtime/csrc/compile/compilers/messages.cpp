#include "compile/compilers/messages.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <filesystem>

namespace xpu::build_service {
namespace {

bool send_bytes(int socket, const void* data, std::size_t size) {
  for (auto* at = static_cast<const char*>(data); size > 0;) {
    // Not write(), which raises SIGPIPE if the other end is closed.
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

bool send(int socket, const BuildRequest& request) {
  auto& input = request.input;
  std::uint64_t numbers[] = {static_cast<std::uint64_t>(input.device), input.options.size(),
                             static_cast<std::uint64_t>(request.time_limit.count())};
  std::error_code removed;
  auto working_folder = std::filesystem::current_path(removed).string();
  if (!send_bytes(socket, numbers, sizeof numbers) || !send_text(socket, input.source) ||
      !send_text(socket, input.spirv) || !send_text(socket, working_folder))
    return false;
  for (auto& option : input.options)
    if (!send_text(socket, option)) return false;
  return true;
}

bool send(int socket, const BuildResponse& response) {
  return send_bytes(socket, &response.outcome, sizeof response.outcome) &&
         send_text(socket, response.message) && send_text(socket, response.spirv) &&
         send_text(socket, response.native);
}

bool send_ready(int socket) {
  return send_bytes(socket, &ready, 1);
}

std::optional<BuildRequest> receive_request(int socket, int timeout_ms) {
  pollfd readable{socket, POLLIN, 0};
  if (poll(&readable, 1, timeout_ms) <= 0) return {};
  std::uint64_t numbers[3];
  BuildRequest request;
  auto& input = request.input;
  if (!receive_bytes(socket, numbers, sizeof numbers) || !receive_text(socket, input.source) ||
      !receive_text(socket, input.spirv) || !receive_text(socket, request.working_folder))
    return {};
  input.device = static_cast<int>(numbers[0]);
  input.options.resize(numbers[1]);
  request.time_limit = std::chrono::milliseconds(numbers[2]);
  for (auto& option : input.options)
    if (!receive_text(socket, option)) return {};
  return request;
}

std::optional<BuildResponse> receive_response(int socket) {
  BuildResponse response;
  if (!receive_bytes(socket, &response.outcome, sizeof response.outcome) ||
      !receive_text(socket, response.message) || !receive_text(socket, response.spirv) ||
      !receive_text(socket, response.native))
    return {};
  return response;
}

bool receive_ready(int socket) {
  char got = 0;
  return receive_bytes(socket, &got, 1) && got == ready;
}

}  // namespace xpu::build_service

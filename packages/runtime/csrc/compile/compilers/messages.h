// Messages between this process and its build helpers, through a socket.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compile/build_input.h"
#include "xpu/cache.h"

namespace xpu::build_service {

struct BuildRequest {
  BuildInput input;
  std::string working_folder;            ///< of the program; send() sets it
  std::chrono::milliseconds time_limit;  ///< after which the helper exits
};

struct BuildResponse {
  enum class Outcome : std::uint8_t {
    built,
    compile_error,
    out_of_resources,
    out_of_memory,
    unsupported,
    failed
  };
  Outcome outcome;
  std::string message;  ///< why the build failed
  Bytes spirv, native;  ///< `native` is empty if the driver gives no binary
};

/// Return false if the other end is closed. Never raise SIGPIPE.
bool send(int socket, const BuildRequest& request);
bool send(int socket, const BuildResponse& response);
bool send_ready(int socket);
/// Block for a message. Return nullopt or false if the other end is closed; receive_request() also after
/// `timeout_ms` without a request.
std::optional<BuildRequest> receive_request(int socket, int timeout_ms);
std::optional<BuildResponse> receive_response(int socket);
bool receive_ready(int socket);

}  // namespace xpu::build_service

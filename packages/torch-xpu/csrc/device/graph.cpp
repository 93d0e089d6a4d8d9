#include "device/graph.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <fstream>
#include <optional>

#include "device/errors.h"
#include "xpu/graph.h"
#include "xpu/memory.h"
#include "xpu/stream.h"

namespace torch_xpu {
namespace {

// The thread's own.
xpu::Stream current_stream() {
  return xpu::current_stream(c10::impl::getDeviceGuardImpl(c10::DeviceType::XPU)->getDevice().index());
}

class Graph final : public at::GraphImplInterface {
 public:
  ~Graph() override { give_back(); }

  // Memory allocated on the stream during the capture comes from a pool of the graph's, whichever thread
  // allocates. The runtime has one capture mode, so the argument has no effect.
  void capture_begin(at::MempoolId_t pool, at::GraphCaptureMode) override {
    TORCH_CHECK(!capturing_, "this graph is being captured already");
    translate_errors([&] {
      give_back();
      stream_ = current_stream();
      pool_ = pool.second ? pool.second : xpu::memory::create_pool();
      xpu::memory::open_pool(*stream_, pool_);
      try {
        graph_.begin(*stream_);
      } catch (...) {
        xpu::memory::close_pool(*stream_, pool_);
        throw;
      }
    });
    capturing_ = true;
  }
  void capture_end() override {
    TORCH_CHECK(capturing_, "capture_end() without capture_begin()");
    capturing_ = false;
    translate_errors([&] {
      graph_.end();
      xpu::memory::close_pool(*stream_, pool_);
    });
  }
  // The graph is made ready when its capture ends.
  void instantiate() override {}
  void replay() override {
    translate_errors([&] { graph_.replay(current_stream()); });
  }
  void reset() override {
    translate_errors([&] {
      graph_.reset();
      give_back();
    });
  }
  at::MempoolId_t pool() const override {
    TORCH_CHECK(stream_, "the graph has no pool before its capture begins");
    return {0, pool_};
  }
  void enable_debug_mode() override {}
  void debug_dump(const std::string& path) override {
    std::ofstream file(path);
    TORCH_CHECK(file << graph_.size() << " pieces of work, replayed as " << graph_.mode() << '\n',
                "cannot write ", path);
  }

 private:
  void give_back() {
    if (stream_) xpu::memory::release_pool(stream_->device(), pool_);
    stream_.reset();
  }

  xpu::Graph graph_;
  std::optional<xpu::Stream> stream_;
  xpu::memory::PoolId pool_ = 0;
  bool capturing_ = false;
};

}  // namespace

std::unique_ptr<at::GraphImplInterface> make_graph() {
  return std::make_unique<Graph>();
}

}  // namespace torch_xpu

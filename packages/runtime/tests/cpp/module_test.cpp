// How long kernels live: as somebody holds them, as a graph does, or as the process.
#include "xpu/launch.h"

#include <string>
#include <thread>
#include <vector>

#include "harness.h"
#include "slow_kernel.h"
#include "xpu/copy.h"
#include "xpu/graph.h"
#include "xpu/memory.h"

using namespace xpu;

namespace {

// Each number makes a module of its own.
std::string adder(int number) {
  return "#include <xpu/core.h>\nXPU_KERNEL(1) add(xpu::global<int> x) { *x += " + std::to_string(number) +
         "; }\nXPU_KERNEL(1) twice(xpu::global<int> x) { *x *= 2; }\n";
}

NdRange one_item() {
  return NdRange::linear(1, 1);
}

struct Number {
  Stream stream = default_stream(0);
  int* at = static_cast<int*>(memory::allocate(sizeof(int), stream));

  Number() { fill_bytes(stream, at, 0, sizeof(int)); }
  ~Number() { memory::deallocate(at); }
  int value() {
    int value = 0;
    copy(stream, &value, at, sizeof value);
    stream.synchronize();
    return value;
  }
};

}  // namespace

TEST(a_module_goes_with_the_last_of_its_kernels) {
  auto add = build_shared_kernel(0, adder(1), "add"), twice = build_shared_kernel(0, adder(1), "twice");
  std::weak_ptr<KernelState> first = add;
  CHECK(build_shared_kernel(0, adder(1), "add") == add);
  add.reset();
  CHECK(!first.expired());  // it is in one module with the other
  twice.reset();
  CHECK(first.expired());
  CHECK(build_shared_kernel(0, adder(1), "add") != nullptr);
}

TEST(a_kept_kernel_stays) {
  auto shared = build_shared_kernel(0, adder(2), "add");
  auto second = build_kernel(0, adder(2), "add");
  std::weak_ptr<KernelState> seen = shared;
  CHECK(second.state() == shared.get());
  shared.reset();
  CHECK(!seen.expired());
}

TEST(what_is_queued_runs_after_its_kernel_was_given_back) {
  Number number;
  hold(number.stream, reinterpret_cast<unsigned*>(number.at), 5, 50);
  {
    auto add = build_shared_kernel(0, adder(3), "add");
    launch(number.stream, Kernel(add.get()), one_item(), args(number.at));
  }
  CHECK_EQUAL(number.value(), 8);
}

TEST(a_graph_holds_its_kernels) {
  Number number;
  Stream stream = stream_from_pool(0);
  Graph graph;
  std::weak_ptr<KernelState> seen;
  {
    auto add = build_shared_kernel(0, adder(4), "add");
    seen = add;
    number.stream.synchronize();
    graph.begin(stream);
    launch(stream, Kernel(add.get()), one_item(), args(number.at));
    graph.end();
  }
  CHECK(!seen.expired());
  graph.replay(stream);
  graph.replay(stream);
  stream.synchronize();
  CHECK_EQUAL(number.value(), 8);
  graph.reset();
  CHECK(seen.expired());
}

TEST(threads_build_and_give_back_one_module) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([] {
      for (int turn = 0; turn < 50; ++turn) {
        auto add = build_shared_kernel(0, adder(5), "add");
        CHECK(Kernel(add.get()).name() == "add");
      }
    });
  for (auto& thread : threads) thread.join();
}

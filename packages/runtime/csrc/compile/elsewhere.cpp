#include "compile/elsewhere.h"

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include "compile/folders.h"
#include "compile/helper_process.h"
#include "env.h"
#include "interrupt.h"
#include "kept.h"
#include "using_threads.h"
#include "xpu/cache.h"
#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu::elsewhere {
namespace {

using Helper = std::unique_ptr<HelperProcess>;
using Fate = HelperProcess::Fate;

constexpr std::size_t most_deaths = 2;

class Helpers {
 public:
  Helpers()
      : most_(env::number("XPU_BUILD_PROCESSES", std::clamp(std::thread::hardware_concurrency(), 1u, 8u))) {}

  void expect(std::size_t count) {
    std::lock_guard lock(mutex_);
    while (running_ < std::min(count, most_))
      if (auto helper = start()) idle_.push_back(std::move(helper));
  }

  /// Waits for one that is free; null when there may be none.
  Helper take() {
    using_threads::Wait wait;
    std::unique_lock lock(mutex_);
    while (most_ > 0) {
      if (!idle_.empty()) {
        auto helper = std::move(idle_.back());
        idle_.pop_back();
        return helper;
      }
      if (running_ >= most_) {
        if (free_.wait_for(lock, interrupt::check_interval) == std::cv_status::timeout) {
          lock.unlock();
          interrupt::check_operation();
          lock.lock();
        }
      } else if (auto helper = start()) {
        return helper;
      }
    }
    return nullptr;
  }

  void give(Helper helper, Fate fate) {
    std::lock_guard lock(mutex_);
    if (fate == Fate::answered) {
      idle_.push_back(std::move(helper));
    } else {
      --running_;
      if (fate == Fate::unusable && ++unusable_ == most_deaths) give_up();
    }
    free_.notify_one();
  }

 private:
  Helper start() {
    auto helper = HelperProcess::start();
    if (helper)
      ++running_;
    else
      give_up();
    return helper;
  }

  // What cannot be started is not tried for every kernel.
  void give_up() {
    if (most_ > 0)
      log(LogLevel::warning,
          "no helper process can be started, so kernels are built in this one, which a fault of the "
          "compiler's "
          "would end (XPU_BUILD_PROCESSES=0 says that this is wanted)");
    most_ = 0;
    free_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable free_;
  std::vector<Helper> idle_;
  std::size_t running_ = 0, unusable_ = 0, most_;
};

Helpers& helpers() {
  static auto& all = kept<Helpers>();
  return all;
}

[[noreturn]] void report_death(const Order& order, const std::string& how) {
  bool is_source = !order.source.empty();
  std::string_view text = order.source;
  if (!is_source) text = {reinterpret_cast<const char*>(order.spirv.data()), order.spirv.size()};
  auto path = keep_for_report(text, is_source ? ".sycl" : ".spirv");
  fail<CompileError>("the compiler died of this ", is_source ? "source" : "SPIR-V", ", ", most_deaths,
                     " times, in processes of its own: the last ended ", how, "\n",
                     path.empty() ? "There is no folder to keep it in" : "It is kept in " + path,
                     ", for a report to those who made the compiler; written another way it may compile.");
}

Answer checked(Answer answer) {
  switch (answer.outcome) {
    case Answer::Outcome::built:
      return answer;
    case Answer::Outcome::compile_error:
      throw CompileError(answer.message);
    case Answer::Outcome::out_of_memory:
      throw OutOfMemory(answer.message);
    case Answer::Outcome::unsupported:
      throw Unsupported(answer.message);
    case Answer::Outcome::failed:
      break;
  }
  throw DeviceError(answer.message);
}

bool nothing_is_kept() {
  if (cache_folder().empty()) return true;
  std::error_code failed;
  for (auto& item : std::filesystem::directory_iterator(cache_folder(), failed))
    if (item.path().extension() == ".bin") return false;
  return true;
}

}  // namespace

std::optional<Answer> build(const Order& order) {
  std::size_t deaths = 0;
  while (auto helper = helpers().take()) {
    HelperProcess::Reply reply;
    try {
      reply = helper->ask(order);
    } catch (...) {  // interrupted: what it is building is nobody's, so it ends when it has built it
      helpers().give(std::move(helper), Fate::idle);
      throw;
    }
    helpers().give(std::move(helper), reply.fate);
    if (reply.fate == Fate::answered) return checked(std::move(reply.answer));
    // What kills a helper may come from outside: then the next one builds it.
    if (reply.fate == Fate::died && ++deaths == most_deaths) report_death(order, reply.how);
  }
  return {};
}

void expect(std::size_t count) {
  helpers().expect(count);
}

void expect_first() {
  if (nothing_is_kept()) expect(1);
}

}  // namespace xpu::elsewhere

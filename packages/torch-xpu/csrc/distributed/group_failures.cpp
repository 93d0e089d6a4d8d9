// What a group says of a collective that failed or timed out: which it is, who is missing, what else is
// pending.
#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <sstream>
#include <thread>
#include <utility>

#include "distributed/flight_record.h"
#include "distributed/pending.h"
#include "distributed/pool_answer.h"

namespace torch_xpu::distributed {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

std::int64_t elapsed_ms(Clock::time_point since) {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - since).count();
}

std::string message_of(std::exception_ptr error) {
  try {
    std::rethrow_exception(error);
  } catch (const c10::Error& e) {
    return e.what_without_backtrace();
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "unknown error";
  }
}

void append_tensors(std::ostringstream& text, const char* name, const Tensors& tensors) {
  if (tensors.empty()) return;
  text << name << ' ';
  constexpr std::size_t max_shown = 4;
  for (std::size_t i = 0; i < std::min(tensors.size(), max_shown); ++i)
    text << (i ? ", " : "") << tensors[i].scalar_type() << ' ' << tensors[i].sizes();
  if (tensors.size() > max_shown) text << " and " << tensors.size() - max_shown << " more";
}

}  // namespace

std::exception_ptr backend_error(const std::string& text) {
  return std::make_exception_ptr(c10::DistBackendError({"", "", 0}, text));
}

std::string Group::describe(const Call& call, std::uint64_t number) const {
  std::ostringstream text;
  text << "rank " << rank << " of " << size;
  if (!label_.empty()) text << ", group \"" << label_ << "\"";
  text << ": " << backend_ << " " << call.name << " number " << number;
  if (call.peer >= 0) text << " with rank " << call.peer;
  if (!call.inputs.empty() || !call.outputs.empty()) text << " (";
  append_tensors(text, "input", call.inputs);
  if (!call.inputs.empty() && !call.outputs.empty()) text << "; ";
  append_tensors(text, "output", call.outputs);
  if (!call.inputs.empty() || !call.outputs.empty()) text << ")";
  return text.str();
}

// Every rank whose collective fails says so in the store; one that does not never came, or came much later.
std::string Group::missing_ranks(std::uint64_t number) {
  auto key = [number](int of) { return c10::str("xpu/failed/", number, "/", of); };
  auto ask = [store = store_, key, own = rank, size = size] {
    store->set(key(own), std::vector<std::uint8_t>{1});
    // The transport tells the others within this time that this rank has failed.
    std::this_thread::sleep_for(milliseconds(500));
    std::vector<int> missing;
    for (int other = 0; other < size; ++other)
      if (!store->check({key(other)})) missing.push_back(other);
    return missing;
  };
  // The store may be on a rank that has ended or hangs.
  if (auto missing = pool_answer(milliseconds(900), ask)) {
    if (missing->empty()) return "; all ranks came, at different times or with different sizes";
    return c10::str("; these ranks did not come in time: ", c10::Join(", ", *missing));
  }
  return "; the store that tells which ranks came does not answer: the rank that holds it ended or hangs";
}

std::string Group::others_pending(const Pending& pending) {
  constexpr std::size_t max_shown = 4;
  std::vector<const Pending*> others;
  std::lock_guard lock(mutex_);
  for (auto& other : pending_)
    if (other.get() != &pending) others.push_back(other.get());
  std::sort(others.begin(), others.end(), [](auto* a, auto* b) { return a->begin < b->begin; });
  std::ostringstream text;
  for (std::size_t i = 0; i < std::min(others.size(), max_shown); ++i)
    text << (i ? ", " : "; also pending: ") << others[i]->call.name << " number " << others[i]->number;
  if (others.size() > max_shown) text << " and " << others.size() - max_shown << " more";
  return text.str();
}

void Group::fail(Pending& pending, std::exception_ptr error) {
  bool is_late = Clock::now() - pending.begin >= pending.timeout;
  auto text = c10::str(pending.work->description(), is_late ? " timed out after " : " failed after ",
                       elapsed_ms(pending.begin), " ms");
  auto reason = message_of(error);
  std::string earlier;
  {
    std::lock_guard lock(mutex_);
    earlier = failure_;
    timed_out_ = timed_out_ || is_late;
  }
  if (!earlier.empty()) {
    text = earlier;
  } else {
    if (!pending.call.is_point_to_point()) {
      auto missing = missing_ranks(pending.number);
      if (is_late) text += missing;
    }
    text += others_pending(pending) + ". " + reason;
    if (auto file = write_flight_record(global_rank_); !file.empty())
      text += c10::str(". The collectives that this rank has started are in ", file);
    std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = text;
  }
  complete(pending, backend_error(text));
}

}  // namespace torch_xpu::distributed

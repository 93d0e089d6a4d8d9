#include "memory/strict/range.h"

#include <execinfo.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <new>

#include "memory/owners.h"
#include "memory/strict/fault.h"
#include "xpu/error.h"
#include "xpu/log.h"

// Set by the linker: the first and last address of this library.
extern "C" {
extern __attribute__((visibility("hidden"))) char __ehdr_start[];
extern __attribute__((visibility("hidden"))) char _end[];
}

namespace xpu::strict {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t max_allocations = std::size_t{1} << 24;
constexpr unsigned char canary = 0xC5;
// One mprotect over two live allocations and this many freed bytes between them costs less than two calls.
constexpr std::size_t max_merge_gap = 128 * 1024;

constexpr const char* more_mappings =
    ". Each live allocation needs two mappings: fewer at once, or raise vm.max_map_count";

std::atomic<Range*> the_range{nullptr};

constexpr std::size_t round_up(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

void* reserve(std::size_t bytes, int protection) {
  void* at = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

// Saves the caller's frames; the innermost ones, which are this library's, are left out.
std::uint8_t save_stack(void** into, std::size_t capacity) {
  void* frames[24];
  int count = backtrace(frames, std::size(frames)), first = 0;
  while (first < count && frames[first] >= __ehdr_start && frames[first] < _end) ++first;
  std::size_t saved = std::min(static_cast<std::size_t>(count - first), capacity);
  std::copy_n(frames + first, saved, into);
  return static_cast<std::uint8_t>(saved);
}

bool is_intact(std::uintptr_t from, std::uintptr_t to) {
  return std::all_of(reinterpret_cast<unsigned char*>(from), reinterpret_cast<unsigned char*>(to),
                     [](unsigned char c) { return c == canary; });
}

// For functions that must not throw. The program's memory stays valid; strict mode only finds fewer errors.
void report(const char* what) noexcept {
  log(LogLevel::error, join("strict memory: ", what, ": ", std::strerror(errno), more_mappings));
}

void fill(std::uintptr_t from, std::uintptr_t to) {
  std::memset(reinterpret_cast<void*>(from), canary, to - from);
}

}  // namespace

Range& Range::get() {
  static Range* one = [] {
    auto* range = new Range;
    the_range = range;
    install_fault_handler();
    return range;
  }();
  return *one;
}

Range* Range::existing() {
  return the_range.load(std::memory_order_acquire);
}

Range::Range() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
  for (span_ = std::size_t{1} << 45; span_ >= std::size_t{1} << 34; span_ /= 2)
    if (void* at = reserve(span_, PROT_NONE)) {
      base_ = top_ = reinterpret_cast<std::uintptr_t>(at);
      break;
    }
  expect<OutOfMemory>(base_, "strict memory cannot reserve addresses: ", std::strerror(errno),
                      ". Is there a ulimit -v?");
  all_ = static_cast<Allocation*>(reserve(max_allocations * sizeof(Allocation), PROT_READ | PROT_WRITE));
  expect<OutOfMemory>(all_, "strict memory cannot reserve its table: ", std::strerror(errno));
  empty_file_ = memfd_create("xpu-strict-memory", MFD_CLOEXEC);
  expect<OutOfMemory>(empty_file_ >= 0, "strict memory cannot create its empty file: ", std::strerror(errno));
}

bool Range::try_protect(std::uintptr_t begin, std::size_t bytes, int protection) noexcept {
  return bytes == 0 || mprotect(reinterpret_cast<void*>(begin), bytes, protection) == 0;
}

void Range::protect(std::uintptr_t begin, std::size_t bytes, int protection) {
  expect<OutOfMemory>(try_protect(begin, bytes, protection),
                      "strict memory: mprotect failed: ", std::strerror(errno), more_mappings);
}

// Goes on after a failure and then returns false, with errno of the last failure.
bool Range::try_protect_live(int protection) noexcept {
  bool all = true;
  for (std::size_t i = 0; i < live_.size();) {
    std::uintptr_t begin = all_[live_[i]].begin, end = all_[live_[i]].end;
    while (++i < live_.size() && all_[live_[i]].begin - end <= max_merge_gap) end = all_[live_[i]].end;
    all = try_protect(begin, end - begin, protection) && all;
  }
  return all;
}

void* Range::map_empty(std::uintptr_t begin, std::uintptr_t end) {
  return mmap(reinterpret_cast<void*>(begin), end - begin, PROT_NONE, MAP_SHARED | MAP_FIXED, empty_file_,
              static_cast<off_t>(begin - base_));
}

void* Range::allocate(std::size_t bytes, int device, std::int64_t stream, memory::Owner owner) {
  std::lock_guard lock(mutex_);
  std::size_t filled = round_up(bytes, alignment), pages = round_up(filled, page_);
  std::uint64_t serial = count_.load(std::memory_order_relaxed);
  expect<OutOfMemory>(serial < max_allocations && pages + page_ <= base_ + span_ - top_,
                      "strict memory never uses an address "
                      "again, and has none left after ",
                      serial, " allocations: run fewer in one process");
  Allocation& a = *new (&all_[serial]) Allocation;
  a.begin = top_;
  a.guard = top_ + pages;
  a.end = a.guard + page_;
  a.ptr = a.guard - filled;
  a.bytes = bytes;
  a.stream = stream;
  a.device = device;
  a.owner = memory::owner_text(owner);
  a.freed = false;
  a.frames = save_stack(a.stack, std::size(a.stack));

  expect<OutOfMemory>(map_empty(a.guard, a.end) != MAP_FAILED,
                      "strict memory: mmap failed: ", std::strerror(errno), more_mappings);
  protect(a.begin, pages, PROT_READ | PROT_WRITE);
  fill(a.begin, a.ptr);
  fill(a.ptr + bytes, a.guard);
  if (!is_open()) protect(a.begin, pages, PROT_NONE);
  top_ = a.end;
  count_.store(serial + 1, std::memory_order_release);
  live_.push_back(serial);
  return reinterpret_cast<void*>(a.ptr);
}

void Range::deallocate(void* ptr) noexcept {
  std::lock_guard lock(mutex_);
  std::uint64_t serial = find_serial(reinterpret_cast<std::uintptr_t>(ptr));
  Allocation& a = all_[serial];
  if (try_protect(a.begin, a.guard - a.begin, PROT_READ | PROT_WRITE)) {
    if (!is_intact(a.begin, a.ptr)) abort_on_overwrite(a, serial, true);
    if (!is_intact(a.ptr + a.bytes, a.guard)) abort_on_overwrite(a, serial, false);
  } else {
    report("freed memory could not be checked for writes around it");
  }
  a.freed = true;
  live_.erase(std::lower_bound(live_.begin(), live_.end(), serial));
  if (map_empty(a.begin, a.end) == MAP_FAILED) report("freed pages could not be unmapped");
}

void Range::open() {
  std::lock_guard lock(mutex_);
  if (access_count_.load(std::memory_order_relaxed) == 0) {
    install_fault_handler();
    if (!try_protect_live(PROT_READ | PROT_WRITE)) {
      std::string why = std::strerror(errno);
      if (!try_protect_live(PROT_NONE))
        report("memory could not be closed, so host code that touches it is not reported");
      fail<OutOfMemory>("strict memory cannot be opened for device work: ", why, more_mappings);
    }
  }
  ++access_count_;
}

void Range::close() noexcept {
  std::lock_guard lock(mutex_);
  if (--access_count_ == 0 && !try_protect_live(PROT_NONE))
    report("memory could not be closed, so host code that touches it is not reported");
}

// The serial of the last allocation that begins at or before `address`; there must be one.
std::uint64_t Range::find_serial(std::uintptr_t address) const {
  std::uint64_t low = 0, high = count_.load(std::memory_order_acquire);
  while (high - low > 1) {
    std::uint64_t middle = low + (high - low) / 2;
    (all_[middle].begin <= address ? low : high) = middle;
  }
  return low;
}

Access Range::access_at(std::uintptr_t address) const {
  std::uint64_t count = count_.load(std::memory_order_acquire);
  if (count == 0 || address >= all_[count - 1].end) return {nullptr, 0, 0};
  std::uint64_t serial = find_serial(address);
  return {&all_[serial], serial, static_cast<std::int64_t>(address - all_[serial].ptr)};
}

}  // namespace xpu::strict

#include "memory/strict/fault.h"

#include <execinfo.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "memory/strict/range.h"
#include "memory/strict/strict.h"
#include "memory/strict/work.h"

namespace xpu::strict {
namespace {

// Everything here may run in a signal handler: no allocation, no locks, no stdio.
struct Message {
  char text[1024];
  std::size_t size = 0;

  Message& operator<<(const char* words) {
    while (*words && size < sizeof text) text[size++] = *words++;
    return *this;
  }
  Message& number(std::uint64_t value, unsigned base = 10) {
    char digits[20];
    int count = 0;
    do digits[count++] = "0123456789abcdef"[value % base];
    while (value /= base);
    while (count > 0 && size < sizeof text) text[size++] = digits[--count];
    return *this;
  }
  Message& address(std::uintptr_t value) { return (*this << "0x").number(value, 16); }
  ~Message() {
    std::size_t done = 0;
    while (done < size) {
      auto wrote = write(STDERR_FILENO, text + done, size - done);
      if (wrote <= 0) return;
      done += static_cast<std::size_t>(wrote);
    }
  }
};

struct sigaction previous_segv, previous_bus;  // the handlers that were installed first
std::atomic<void (*)(int)> stack_printer{nullptr};

void describe(Message& message, const Allocation& a, std::uint64_t serial) {
  message << "allocation #";
  message.number(serial) << ": ";
  message.number(a.bytes) << " bytes at ";
  message.address(a.ptr) << ", device ";
  message.number(static_cast<std::uint64_t>(a.device)) << ", stream ";
  message.number(static_cast<std::uint64_t>(a.stream)) << ", for " << a.owner;
  message << (a.freed ? ", freed since" : "");
}

void print_stack(const char* title, void* const* frames, int count) {
  Message() << "  " << title << "\n";
  backtrace_symbols_fd(frames, count, STDERR_FILENO);
}

// While an AccessGuard is alive, only guard pages and freed memory are closed, so the fault is the device's
// if it is on a thread of the driver, or on a thread that waits inside an AccessGuard.
bool is_device_access(const Range& range) {
  if (!range.is_open()) return false;
  long thread = syscall(SYS_gettid);
  for (const DeviceWork& work : device_works)
    if (work.thread == thread) return true;
  return thread != getpid();
}

void append_kernel_names(Message& message) {
  const char* between = "\"";
  for (const DeviceWork& work : device_works) {
    if (work.thread == 0 || !work.name[0]) continue;
    message << between << work.name << "\"";
    between = ", \"";
  }
  if (*between == '"') message << "(unnamed work)";
}

bool is_write(const void* context) {
#ifdef __x86_64__
  return static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2;
#else
  return context == nullptr;
#endif
}

void report(const Range& range, std::uintptr_t address, const void* context) {
  Access access = range.access_at(address);
  {
    Message message;
    message << "\nxpu strict memory: ";
    bool device = is_device_access(range);
    if (device) {
      message << "kernel ";
      append_kernel_names(message);
    } else {
      message << "host code";
    }
    message << (is_write(context) ? " wrote " : " read ");
    const Allocation* a = access.allocation;
    if (!a) {
      message << "device addresses that were never allocated, at ";
      message.address(address) << "\n";
      return;
    }
    auto size = static_cast<std::int64_t>(a->bytes);
    if (access.offset < 0) {
      message.number(static_cast<std::uint64_t>(-access.offset)) << " bytes before the start of ";
    } else if (access.offset >= size) {
      message.number(static_cast<std::uint64_t>(access.offset - size)) << " bytes past the end of ";
    } else {
      message << (a->freed ? "freed memory, " : "device memory, ") << "byte ";
      message.number(static_cast<std::uint64_t>(access.offset)) << " of ";
    }
    describe(message, *a, access.serial);
    message << "\n";
    if (!device && !a->freed)
      message << "  Copy it to the host first: this would be an invalid access on a GPU.\n";
  }
  print_stack("allocated by:", access.allocation->stack, access.allocation->frames);
}

void print_stack_here(const char* title) {
  void* frames[32];
  print_stack(title, frames, backtrace(frames, std::size(frames)));
  if (auto print = stack_printer.load()) print(STDERR_FILENO);
}

// If a previous handler calls this one again, the same fault repeats for ever.
bool is_looping(const siginfo_t* info) {
  static std::atomic<void*> last{nullptr};
  static std::atomic<int> times{0};
  if (last.exchange(info->si_addr) != info->si_addr) times = 0;
  return ++times > 100;
}

void on_fault(int signal, siginfo_t* info, void* context) {
  auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const Range* range = Range::existing();
  const struct sigaction& previous = signal == SIGBUS ? previous_bus : previous_segv;
  if (range && range->contains(address)) {
    static std::atomic<long> reporter{0};
    long none = 0, thread = syscall(SYS_gettid);
    if (reporter.compare_exchange_strong(none, thread)) {
      report(*range, address, context);
      print_stack_here("touched by:");
    } else if (none != thread) {
      for (;;) pause();  // another thread faulted first and is ending the process
    }
  } else if (!is_looping(info)) {
    if (previous.sa_flags & SA_SIGINFO) return previous.sa_sigaction(signal, info, context);
    if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(signal);
  }
  // Back at the faulting instruction the default action ends the process with the signal.
  struct sigaction normal = {};
  normal.sa_handler = SIG_DFL;
  sigaction(signal, &normal, nullptr);
}

void install(int signal, struct sigaction& previous) {
  struct sigaction now;
  sigaction(signal, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault) return;
  previous = now;
  struct sigaction ours = {};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(signal, &ours, nullptr);
}

}  // namespace

void install_fault_handler() {
  // The first call of backtrace loads a library, which a handler must not do.
  static const int primed = [] {
    void* frame[1];
    return backtrace(frame, 1);
  }();
  if (primed < 0) return;
  install(SIGSEGV, previous_segv);
  install(SIGBUS, previous_bus);
}

void abort_on_overwrite(const Allocation& allocation, std::uint64_t serial, bool before) {
  {
    Message message;
    message << "\nxpu strict memory: something wrote "
            << (before ? "just before the start" : "just past the end")
            << " of memory, found when it was freed: ";
    describe(message, allocation, serial);
    message << "\n";
  }
  print_stack("allocated by:", allocation.stack, allocation.frames);
  print_stack_here("freed by:");
  // Drivers handle SIGABRT as well, to ask for bug reports.
  signal(SIGABRT, SIG_DFL);
  std::abort();
}

void set_stack_printer(void (*print)(int file)) {
  stack_printer = print;
}

}  // namespace xpu::strict

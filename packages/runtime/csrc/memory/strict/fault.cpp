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

struct sigaction before_segv, before_bus;
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

// While a window is open only guards and freed memory are closed, and it is the device that runs: on threads
// of its driver, or on one that waits in a window.
bool device_runs_here(const Range& range) {
  if (!range.is_open()) return false;
  long thread = syscall(SYS_gettid);
  for (const Work& work : works)
    if (work.thread == thread) return true;
  return thread != getpid();
}

void name_works(Message& message) {
  const char* between = "\"";
  for (const Work& work : works) {
    if (work.thread == 0 || !work.name[0]) continue;
    message << between << work.name << "\"";
    between = ", \"";
  }
  if (*between == '"') message << "(unnamed work)";
}

bool wrote(const void* context) {
#ifdef __x86_64__
  return static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2;
#else
  return context == nullptr;
#endif
}

void report(const Range& range, std::uintptr_t address, const void* context) {
  Touch touch = range.touch(address);
  {
    Message message;
    message << "\nxpu strict memory: ";
    bool device = device_runs_here(range);
    if (device) {
      message << "kernel ";
      name_works(message);
    } else {
      message << "host code";
    }
    message << (wrote(context) ? " wrote " : " read ");
    const Allocation* a = touch.allocation;
    if (!a) {
      message << "device addresses that were never allocated, at ";
      message.address(address) << "\n";
      return;
    }
    auto size = static_cast<std::int64_t>(a->bytes);
    if (touch.offset < 0) {
      message.number(static_cast<std::uint64_t>(-touch.offset)) << " bytes before the start of ";
    } else if (touch.offset >= size) {
      message.number(static_cast<std::uint64_t>(touch.offset - size)) << " bytes past the end of ";
    } else {
      message << (a->freed ? "freed memory, " : "device memory, ") << "byte ";
      message.number(static_cast<std::uint64_t>(touch.offset)) << " of ";
    }
    describe(message, *a, touch.serial);
    message << "\n";
    if (!device && !a->freed)
      message << "  Copy it to the host first: this would be an invalid access on a GPU.\n";
  }
  print_stack("allocated by:", touch.allocation->stack, touch.allocation->frames);
}

void print_stack_here(const char* title) {
  void* frames[32];
  print_stack(title, frames, backtrace(frames, std::size(frames)));
  if (auto print = stack_printer.load()) print(STDERR_FILENO);
}

// A handler that chains back here would make a loop of two: the same fault again and again.
bool looping(const siginfo_t* info) {
  static std::atomic<void*> last{nullptr};
  static std::atomic<int> times{0};
  if (last.exchange(info->si_addr) != info->si_addr) times = 0;
  return ++times > 100;
}

void on_fault(int signal, siginfo_t* info, void* context) {
  auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const Range* range = Range::existing();
  const struct sigaction& before = signal == SIGBUS ? before_bus : before_segv;
  if (range && range->contains(address)) {
    static std::atomic<long> reporter{0};
    long none = 0, thread = syscall(SYS_gettid);
    if (reporter.compare_exchange_strong(none, thread)) {
      report(*range, address, context);
      print_stack_here("touched by:");
    } else if (none != thread) {
      for (;;) pause();  // another thread faulted first and is ending the process
    }
  } else if (!looping(info)) {
    if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(signal, info, context);
    if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  }
  // Back at the faulting instruction the default action ends the process with the signal.
  struct sigaction normal = {};
  normal.sa_handler = SIG_DFL;
  sigaction(signal, &normal, nullptr);
}

void install(int signal, struct sigaction& before) {
  struct sigaction now;
  sigaction(signal, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault) return;
  before = now;
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
  install(SIGSEGV, before_segv);
  install(SIGBUS, before_bus);
}

void die_of_overwrite(const Allocation& allocation, std::uint64_t serial, bool before) {
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
  // Drivers take this signal too, to ask for bug reports.
  signal(SIGABRT, SIG_DFL);
  std::abort();
}

void set_stack_printer(void (*print)(int file)) {
  stack_printer = print;
}

}  // namespace xpu::strict

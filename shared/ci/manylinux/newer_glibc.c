// Functions that code compiled on a newer system calls and glibc 2.28 does not have, linked into each library. Where
// the system that runs them has its own, those with more to do than a system call use it.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Tells libstdc++ that it may leave out atomic operations; never.
char __libc_single_threaded = 0;

pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

// Of std::random_device.
unsigned arc4random(void) {
  unsigned number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return number;
}

// The first argument is the layout of `struct stat` for this architecture.
extern int __xstat(int, const char*, struct stat*);
extern int __lxstat(int, const char*, struct stat*);
extern int __fxstat(int, int, struct stat*);
extern int __fxstatat(int, int, const char*, struct stat*, int);
int stat(const char* path, struct stat* result) { return __xstat(1, path, result); }
int lstat(const char* path, struct stat* result) { return __lxstat(1, path, result); }
int fstat(int file, struct stat* result) { return __fxstat(1, file, result); }
int fstatat(int folder, const char* path, struct stat* result, int flags) {
  return __fxstatat(1, folder, path, result, flags);
}

// Without it, the deadline is one of the clock of the wall: a change of that clock moves it.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* deadline) {
  int (*own)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*) =
      dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
  if (own) return own(condition, mutex, clock, deadline);
  struct timespec now, wall;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &wall);
  wall.tv_sec += deadline->tv_sec - now.tv_sec;
  wall.tv_nsec += deadline->tv_nsec - now.tv_nsec;
  if (wall.tv_nsec >= 1000000000) wall.tv_sec++, wall.tv_nsec -= 1000000000;
  if (wall.tv_nsec < 0) wall.tv_sec--, wall.tv_nsec += 1000000000;
  return pthread_cond_timedwait(condition, mutex, &wall);
}

// Without it, those that are open now are closed.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t* actions, int first) {
  int (*own)(posix_spawn_file_actions_t*, int) =
      dlsym(RTLD_DEFAULT, "posix_spawn_file_actions_addclosefrom_np");
  if (own) return own(actions, first);
  DIR* folder = opendir("/proc/self/fd");
  if (!folder) return errno;
  int status = 0;
  for (struct dirent* entry; !status && (entry = readdir(folder));) {
    int file = atoi(entry->d_name);
    // Closing one that has been closed since is no error.
    if (file >= first && file != dirfd(folder)) status = posix_spawn_file_actions_addclose(actions, file);
  }
  closedir(folder);
  return status;
}

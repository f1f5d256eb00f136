/* Stands between a program and the file system, and lets the n-th call on a file whose name begins with FAULT_PATH fail.
 *
 *   FAULT_CALL   write | sync | truncate     which calls are counted
 *   FAULT_AT     n                           the first one that fails
 *   FAULT_FOR    m                           so many fail in a row (0: all from then on)
 *   FAULT_KIND   eio | enospc | short        short writes half of what it is given, then fails with ENOSPC
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long calls;

static int watched(int fd) {
  const char *prefix = getenv("FAULT_PATH");
  char link[64], path[4096];
  if (!prefix) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strncmp(path, prefix, strlen(prefix)) == 0;
}

/* Whether this call fails. */
static int faulty(const char *call, int fd) {
  const char *which = getenv("FAULT_CALL");
  if (!which || strcmp(which, call) != 0 || !watched(fd)) return 0;
  long at = atol(getenv("FAULT_AT")), run = atol(getenv("FAULT_FOR"));
  long n = atomic_fetch_add(&calls, 1) + 1;
  return n >= at && (run == 0 || n < at + run);
}

static int error(void) { return strcmp(getenv("FAULT_KIND"), "eio") == 0 ? EIO : ENOSPC; }

static int is_short(void) { return strcmp(getenv("FAULT_KIND"), "short") == 0; }

#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define PWRITE(name, offset_type) \
  ssize_t name(int fd, const void *bytes, size_t count, offset_type offset) { \
    REAL(name); \
    if (faulty("write", fd)) { \
      if (is_short() && count > 1) return real(fd, bytes, count / 2, offset); \
      errno = error(); \
      return -1; \
    } \
    return real(fd, bytes, count, offset); \
  }

PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define SYNC(name) \
  int name(int fd) { \
    REAL(name); \
    if (faulty("sync", fd)) { \
      errno = error(); \
      return -1; \
    } \
    return real(fd); \
  }

SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name, offset_type) \
  int name(int fd, offset_type length) { \
    REAL(name); \
    if (faulty("truncate", fd)) { \
      errno = error(); \
      return -1; \
    } \
    return real(fd, length); \
  }

TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

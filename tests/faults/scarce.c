// Memory and threads that give out when told to. Preloaded, and told by tests/faults/scarcity.py through ctypes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

// The C library's own names for what is replaced here: no search for them, which would itself ask for memory.
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

// Requests are counted from 1; those from `first` up to `last` are refused. Memory: requests of `least` bytes and more.
static atomic_long requests, first, last;
static atomic_size_t least = (size_t)-1;
static atomic_long threads, first_thread, last_thread;

static int refused(size_t size) {
  if (size < least) return 0;
  const long number = atomic_fetch_add(&requests, 1) + 1;
  return number >= first && number <= last;
}

void* malloc(size_t size) {
  if (!refused(size)) return __libc_malloc(size);
  errno = ENOMEM;
  return NULL;
}

void* calloc(size_t n, size_t size) {
  if (!refused(n * size)) return __libc_calloc(n, size);
  errno = ENOMEM;
  return NULL;
}

void* realloc(void* old, size_t size) {
  if (!refused(size)) return __libc_realloc(old, size);
  errno = ENOMEM;
  return NULL;
}

void* aligned_alloc(size_t alignment, size_t size) {
  if (!refused(size)) return __libc_memalign(alignment, size);
  errno = ENOMEM;
  return NULL;
}

int posix_memalign(void** found, size_t alignment, size_t size) {
  void* const memory = refused(size) ? NULL : __libc_memalign(alignment, size);
  if (!memory) return ENOMEM;
  *found = memory;
  return 0;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  int (*const real)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) = dlsym(RTLD_NEXT, "pthread_create");
  const long number = atomic_fetch_add(&threads, 1) + 1;
  return number >= first_thread && number <= last_thread ? EAGAIN : real(thread, attributes, start, argument);
}

void scarce_memory(size_t bytes, long from, long to) {
  least = (size_t)-1;
  requests = 0;
  first = from;
  last = to;
  least = bytes;
}

long scarce_requests(void) { return requests; }

void scarce_threads(long from, long to) {
  threads = 0;
  first_thread = from;
  last_thread = to;
}

long scarce_thread_requests(void) { return threads; }

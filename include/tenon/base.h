// Export macro, version, and the hooks a host may set: memory, messages, tasks.
#ifndef TENON_BASE_H
#define TENON_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(TENON_STATIC)
#define TN_API
#elif defined(_WIN32) && defined(TENON_BUILD)
#define TN_API __declspec(dllexport)
#elif defined(_WIN32)
#define TN_API __declspec(dllimport)
#else
#define TN_API __attribute__((visibility("default")))
#endif

#define TN_VERSION_MAJOR 0
#define TN_VERSION_MINOR 1
#define TN_VERSION_PATCH 0
#define TN_VERSION_STRING "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_version_info {
  int major, minor, patch;
} tn_version_info;

// Version of the library that is running, as opposed to the header's macros.
TN_API tn_version_info tn_version(void);

// One line that says how the library was built: version, compiler, lane widths, default width.
TN_API const char *tn_config(void);

// Memory for one world. `alloc` returns memory aligned to `alignment` (a power of two), or null
// when there is none; `release` gets the same size back. Leave both null for the C library's heap.
typedef struct tn_allocator {
  void *(*alloc)(size_t size, size_t alignment, void *context);
  void (*release)(void *memory, size_t size, void *context);
  void *context;
} tn_allocator;

typedef enum tn_log_level { TN_LOG_INFO, TN_LOG_WARNING, TN_LOG_ERROR } tn_log_level;

// Receives one line for every rejected call and every degraded step. Null prints to stderr.
typedef void tn_log_fn(tn_log_level level, const char *message, void *context);

// A task covers the items [first, last) of a larger range and may run on any thread.
typedef void tn_task_fn(int first, int last, void *task_context);

// A host with its own scheduler passes both. `enqueue` splits [0, count) into ranges of at least
// `grain` items, runs `task` on each, and returns a handle (null if it has all run already);
// `finish` waits for that handle.
typedef void *tn_enqueue_fn(tn_task_fn *task, int count, int grain, void *task_context,
                            void *host_context);
typedef void tn_finish_fn(void *handle, void *host_context);

#ifdef __cplusplus
}
#endif

#endif

/// @file
/// Export macro, version, and the hooks that a host may set: memory, messages, tasks.
#ifndef TENON_BASE_H
#define TENON_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Marks functions of the library. Define TENON_STATIC to link the static library on Windows.
#if defined(TENON_STATIC)
#define TN_API
#elif defined(_WIN32) && defined(TENON_BUILD)
#define TN_API __declspec(dllexport)
#elif defined(_WIN32)
#define TN_API __declspec(dllimport)
#else
#define TN_API __attribute__((visibility("default")))
#endif

/// Of these headers. Names and behaviour may change from one minor version to the next while it is
/// 0.
#define TN_VERSION_MAJOR 0
/// Grows with new names.
#define TN_VERSION_MINOR 1
/// Grows with fixes.
#define TN_VERSION_PATCH 0
/// All three numbers as text.
#define TN_VERSION_STRING "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/// A version: see tn_version().
typedef struct tn_version_info {
  int major; ///< as TN_VERSION_MAJOR
  int minor; ///< as TN_VERSION_MINOR
  int patch; ///< as TN_VERSION_PATCH
} tn_version_info;

/// Version of the library that is running, as opposed to the macros of the headers.
TN_API tn_version_info tn_version(void);

/// Describes the build in one line: version, compiler, lane widths, default width.
///
/// @return text of the library, valid for ever
TN_API const char *tn_config(void);

/// Memory of one world. Leave both functions null for the heap of the C library.
typedef struct tn_allocator {
  /// Returns memory aligned to `alignment` bytes (a power of two), or null when there is none.
  void *(*alloc)(size_t size, size_t alignment, void *context);
  /// Takes memory back, with the size it was allocated with.
  void (*release)(void *memory, size_t size, void *context);
  void *context; ///< passed to both; the host's
} tn_allocator;

/// How serious a message is.
typedef enum tn_log_level {
  TN_LOG_INFO,    ///< worth knowing
  TN_LOG_WARNING, ///< done, but not as asked for
  TN_LOG_ERROR    ///< a call was refused and changed nothing
} tn_log_level;

/// Receives one line for every rejected call and every degraded step.
///
/// A message that repeats one of the last few is counted instead, and comes again after 10, 100,
/// 1000 ... repeats with their number, unless tn_world_def::log_repeats is set. Queries may call it
/// from the threads they run on.
///
/// @param level    how serious it is
/// @param message  without a line break; valid during the call
/// @param context  tn_world_def::log_context
typedef void tn_log_fn(tn_log_level level, const char *message, void *context);

/// A task: covers the items [first, last) of a larger range and may run on any thread.
typedef void tn_task_fn(int first, int last, void *task_context);

/// Starts a task of a world on the host's scheduler.
///
/// Splits [0, count) into ranges of at least `grain` items and runs `task` on each of them, on any
/// threads.
///
/// @return a handle for tn_finish_fn, or null if all ranges have run already
typedef void *tn_enqueue_fn(tn_task_fn *task, int count, int grain, void *task_context,
                            void *host_context);

/// Waits until all ranges of a started task have run.
typedef void tn_finish_fn(void *handle, void *host_context);

#ifdef __cplusplus
}
#endif

#endif

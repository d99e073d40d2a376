// Replacements for the host functions of the C library, so that the module has no imports. Messages
// reach the page through the world's log.
#include <stdint.h>

#define HOST(name) __imported_wasi_snapshot_preview1_##name
enum { DONE = 0, NOT_SUPPORTED = 58 };

int32_t HOST(fd_close)(int32_t fd);
int32_t HOST(fd_fdstat_get)(int32_t fd, int32_t stat);
int32_t HOST(fd_seek)(int32_t fd, int64_t offset, int32_t whence, int32_t at);
int32_t HOST(fd_write)(int32_t fd, int32_t vectors, int32_t count, int32_t written);
_Noreturn void HOST(proc_exit)(int32_t code);

int32_t HOST(fd_close)(int32_t fd)
{
  (void)fd;
  return DONE;
}

int32_t HOST(fd_fdstat_get)(int32_t fd, int32_t stat)
{
  (void)fd, (void)stat;
  return NOT_SUPPORTED;
}

int32_t HOST(fd_seek)(int32_t fd, int64_t offset, int32_t whence, int32_t at)
{
  (void)fd, (void)offset, (void)whence, (void)at;
  return NOT_SUPPORTED;
}

int32_t HOST(fd_write)(int32_t fd, int32_t vectors, int32_t count, int32_t written)
{
  (void)fd, (void)vectors, (void)count, (void)written;
  return NOT_SUPPORTED;
}

void HOST(proc_exit)(int32_t code)
{
  (void)code;
  __builtin_trap();
}

// Files in memory for the module that reads models: the host gives them by name, and the C library
// opens them through these functions. Replaces wasi.c there.
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HOST(name) __imported_wasi_snapshot_preview1_##name
#define EXPORT(name) __attribute__((export_name(#name), used))
enum { DONE = 0, BAD_FILE = 8, NO_ENTRY = 44, NOT_SUPPORTED = 58 };
enum { ROOT = 3, FIRST = 4, MAX_OPEN = 16 };
enum { DIRECTORY = 3, REGULAR = 4 };

typedef struct disk_file disk_file;
struct disk_file {
  char *name;
  char *bytes;
  uint32_t size;
  disk_file *next;
};

static disk_file *files;

static struct {
  const disk_file *file; // null: the place is free
  uint32_t at;
} opened[MAX_OPEN];

// What is written to stderr, as far as it fits.
enum { STDERR = 2, MOST_TOLD = 1 << 14 };
static char told[MOST_TOLD];
static uint32_t told_size;

// ---------------------------------------------------------------------------------------------
// For the host

// What was written to stderr since the last call.
EXPORT(disk_told) const char *disk_told(void)
{
  told[told_size] = '\0';
  told_size = 0;
  return told;
}

EXPORT(disk_clear) void disk_clear(void)
{
  memset(opened, 0, sizeof opened);
  while (files) {
    disk_file *next = files->next;
    free(files->name);
    free(files->bytes);
    free(files);
    files = next;
  }
}

// Room for a file of that name and size, which the host fills; null without memory. A file of the
// same name is hidden.
EXPORT(disk_add) char *disk_add(const char *name, uint32_t size)
{
  disk_file *file = calloc(1, sizeof *file);
  char *bytes = malloc((size_t)size + 1), *copy = malloc(strlen(name) + 1);
  if (!file || !bytes || !copy) {
    free(file);
    free(bytes);
    free(copy);
    return NULL;
  }
  *file = (disk_file){strcpy(copy, name), bytes, size, files};
  files = file;
  return bytes;
}

// ---------------------------------------------------------------------------------------------
// Paths

// The next part of a path that is not "."; its length, 0 at the end.
static uint32_t next_part(const char **path, const char *end)
{
  for (;;) {
    while (*path < end && **path == '/') {
      *path += 1;
    }
    const char *slash = memchr(*path, '/', (size_t)(end - *path));
    uint32_t length = (uint32_t)((slash ? slash : end) - *path);
    if (length != 1 || **path != '.') {
      return length;
    }
    *path += 1;
  }
}

// Writes a path without "." and "..", which must fit.
static uint32_t plain_path(const char *path, uint32_t length, char *out)
{
  const char *end = path + length;
  uint32_t used = 0;
  for (;;) {
    uint32_t part = next_part(&path, end);
    if (part == 0) {
      return used;
    }
    if (part == 2 && path[0] == '.' && path[1] == '.') {
      while (used > 0 && out[--used] != '/') {
      }
    } else {
      if (used > 0) {
        out[used++] = '/';
      }
      memcpy(out + used, path, part);
      used += part;
    }
    path += part;
  }
}

static const disk_file *find_file(const char *path, uint32_t length)
{
  char *wanted = malloc((size_t)length + 1), *name = NULL;
  const disk_file *found = NULL;
  uint32_t size = wanted ? plain_path(path, length, wanted) : 0;
  for (const disk_file *f = files; wanted && f && !found; f = f->next) {
    uint32_t own = (uint32_t)strlen(f->name);
    char *grown = realloc(name, (size_t)own + 1);
    name = grown ? grown : name;
    bool same = grown && plain_path(f->name, own, name) == size && memcmp(name, wanted, size) == 0;
    found = same ? f : NULL;
  }
  free(wanted);
  free(name);
  return found;
}

// ---------------------------------------------------------------------------------------------
// For the C library

typedef struct vector {
  char *at;
  uint32_t size;
} vector;

int32_t HOST(fd_close)(int32_t fd);
int32_t HOST(fd_fdstat_get)(int32_t fd, int32_t stat);
int32_t HOST(fd_fdstat_set_flags)(int32_t fd, int32_t flags);
int32_t HOST(fd_prestat_get)(int32_t fd, int32_t prestat);
int32_t HOST(fd_prestat_dir_name)(int32_t fd, int32_t path, int32_t length);
int32_t HOST(fd_read)(int32_t fd, int32_t vectors, int32_t count, int32_t read);
int32_t HOST(fd_seek)(int32_t fd, int64_t offset, int32_t whence, int32_t at);
int32_t HOST(fd_write)(int32_t fd, int32_t vectors, int32_t count, int32_t written);
int32_t HOST(path_open)(int32_t fd, int32_t lookup, int32_t path, int32_t length, int32_t how,
                        int64_t rights, int64_t inherited, int32_t flags, int32_t result);
_Noreturn void HOST(proc_exit)(int32_t code);

static bool is_open(int32_t fd)
{
  return fd >= FIRST && fd < FIRST + MAX_OPEN && opened[fd - FIRST].file;
}

int32_t HOST(fd_close)(int32_t fd)
{
  if (is_open(fd)) {
    opened[fd - FIRST].file = NULL;
  }
  return DONE;
}

// Kind, flags and rights of a file.
int32_t HOST(fd_fdstat_get)(int32_t fd, int32_t stat)
{
  if (fd != ROOT && !is_open(fd)) {
    return NOT_SUPPORTED;
  }
  unsigned char *out = (unsigned char *)(uintptr_t)(uint32_t)stat;
  memset(out, 0, 24);
  out[0] = fd == ROOT ? DIRECTORY : REGULAR;
  memset(out + 8, 0xFF, 16);
  return DONE;
}

int32_t HOST(fd_fdstat_set_flags)(int32_t fd, int32_t flags)
{
  (void)fd, (void)flags;
  return DONE;
}

int32_t HOST(fd_prestat_get)(int32_t fd, int32_t prestat)
{
  if (fd != ROOT) {
    return BAD_FILE;
  }
  uint32_t *out = (uint32_t *)(uintptr_t)(uint32_t)prestat;
  out[0] = 0; // a directory
  out[1] = 1; // length of its name
  return DONE;
}

int32_t HOST(fd_prestat_dir_name)(int32_t fd, int32_t path, int32_t length)
{
  if (fd != ROOT || length < 1) {
    return BAD_FILE;
  }
  *(char *)(uintptr_t)(uint32_t)path = '/';
  return DONE;
}

int32_t HOST(path_open)(int32_t fd, int32_t lookup, int32_t path, int32_t length, int32_t how,
                        int64_t rights, int64_t inherited, int32_t flags, int32_t result)
{
  (void)fd, (void)lookup, (void)how, (void)rights, (void)inherited, (void)flags;
  const disk_file *file = find_file((const char *)(uintptr_t)(uint32_t)path, (uint32_t)length);
  if (!file) {
    return NO_ENTRY;
  }
  for (int i = 0; i < MAX_OPEN; ++i) {
    if (!opened[i].file) {
      opened[i].file = file;
      opened[i].at = 0;
      *(int32_t *)(uintptr_t)(uint32_t)result = FIRST + i;
      return DONE;
    }
  }
  return NOT_SUPPORTED;
}

int32_t HOST(fd_read)(int32_t fd, int32_t vectors, int32_t count, int32_t read)
{
  if (!is_open(fd)) {
    return BAD_FILE;
  }
  const disk_file *file = opened[fd - FIRST].file;
  uint32_t *at = &opened[fd - FIRST].at, before = *at;
  const vector *list = (const vector *)(uintptr_t)(uint32_t)vectors;
  for (int i = 0; i < count; ++i) {
    uint32_t left = file->size - *at, size = list[i].size < left ? list[i].size : left;
    memcpy(list[i].at, file->bytes + *at, size);
    *at += size;
  }
  *(uint32_t *)(uintptr_t)(uint32_t)read = *at - before;
  return DONE;
}

int32_t HOST(fd_seek)(int32_t fd, int64_t offset, int32_t whence, int32_t at)
{
  if (!is_open(fd)) {
    return NOT_SUPPORTED;
  }
  uint32_t size = opened[fd - FIRST].file->size;
  int64_t from = whence == 0 ? 0 : whence == 1 ? opened[fd - FIRST].at : size;
  int64_t to = from + offset;
  if (to < 0 || to > size) {
    return NOT_SUPPORTED;
  }
  opened[fd - FIRST].at = (uint32_t)to;
  *(uint64_t *)(uintptr_t)(uint32_t)at = (uint64_t)to;
  return DONE;
}

int32_t HOST(fd_write)(int32_t fd, int32_t vectors, int32_t count, int32_t written)
{
  if (fd != STDERR) {
    return NOT_SUPPORTED;
  }
  const vector *list = (const vector *)(uintptr_t)(uint32_t)vectors;
  uint32_t size = 0;
  for (int i = 0; i < count; ++i) {
    uint32_t left = MOST_TOLD - 1 - told_size, part = list[i].size < left ? list[i].size : left;
    memcpy(told + told_size, list[i].at, part);
    told_size += part;
    size += list[i].size;
  }
  *(uint32_t *)(uintptr_t)(uint32_t)written = size;
  return DONE;
}

void HOST(proc_exit)(int32_t code)
{
  (void)code;
  __builtin_trap();
}

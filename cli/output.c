#include "output.h"

#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void complain_about(const char *verb, const char *path, const char *why)
{
  complain("cannot %s '%s': %s", verb, path, why);
}

static bool is_directory(const char *path)
{
  struct stat about;
  return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

// Terminals, pipes and devices are written directly, never replaced.
static bool is_special(const char *path)
{
  struct stat about;
  return stat(path, &about) == 0 && !S_ISREG(about.st_mode);
}

static char *name_beside(const char *path)
{
  size_t size = strlen(path) + sizeof ".part";
  char *name = malloc(size);
  if (name) {
    snprintf(name, size, "%s.part", path);
  }
  return name;
}

static void remove_temporary(const output *out)
{
  if (out->temporary) {
    remove(out->temporary);
  }
}

bool output_open(output *out, const char *path)
{
  memset(out, 0, sizeof *out);
  if (!path) {
    return true;
  }
  if (is_directory(path)) {
    complain_about("write", path, strerror(EISDIR));
    return false;
  }
  out->path = path;
  const char *written = path;
  if (!is_special(path)) {
    written = out->temporary = name_beside(path);
    if (!written) {
      complain_about("write", path, strerror(ENOMEM));
      return false;
    }
  }
  out->file = fopen(written, "wb");
  if (!out->file) {
    complain_about("write", path, strerror(errno));
    output_abandon(out);
    return false;
  }
  return true;
}

bool output_finish(output *out)
{
  if (!out->file) {
    return true;
  }
  bool ok = !ferror(out->file) && fflush(out->file) == 0;
  ok = fclose(out->file) == 0 && ok;
  out->file = NULL;
  ok = ok && (!out->temporary || rename(out->temporary, out->path) == 0);
  if (!ok) {
    complain_about("write", out->path, strerror(errno));
    remove_temporary(out);
  }
  free(out->temporary);
  memset(out, 0, sizeof *out);
  return ok;
}

void output_abandon(output *out)
{
  if (out->file) {
    fclose(out->file);
    remove_temporary(out);
  }
  free(out->temporary);
  memset(out, 0, sizeof *out);
}

bool make_folder(const char *path)
{
  if (mkdir(path, 0777) == 0 || is_directory(path)) {
    return true;
  }
  complain_about("create the folder", path, strerror(errno));
  return false;
}

char *read_whole_file(const char *path, size_t *size)
{
  FILE *file = is_directory(path) ? NULL : fopen(path, "rb");
  if (!file) {
    complain_about("read", path, is_directory(path) ? strerror(EISDIR) : strerror(errno));
    return NULL;
  }
  char *bytes = NULL;
  *size = 0;
  if (fseek(file, 0, SEEK_END) == 0) {
    long end = ftell(file);
    rewind(file);
    bytes = end >= 0 ? malloc((size_t)end + 1) : NULL;
    *size = bytes ? fread(bytes, 1, (size_t)end, file) : 0;
  }
  if (!bytes || ferror(file)) {
    complain_about("read", path, strerror(errno));
    free(bytes);
    bytes = NULL;
  }
  fclose(file);
  return bytes;
}

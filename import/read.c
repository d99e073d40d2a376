#include "read.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool import_fail(reader *r, place at, const char *format, ...)
{
  if (!r->failed) {
    va_list arguments;
    va_start(arguments, format);
    int used = at.line > 0 ? snprintf(r->error, IMPORT_ERROR, "%.200s:%d: ", at.file, at.line)
                           : snprintf(r->error, IMPORT_ERROR, "%.200s: ", at.file);
    vsnprintf(r->error + used, (size_t)(IMPORT_ERROR - used), format, arguments);
    va_end(arguments);
    r->failed = true;
  }
  return false;
}

static char *read_stream(reader *r, FILE *in, place at, size_t *size)
{
  size_t capacity = 1 << 16;
  char *text = malloc(capacity + 1);
  *size = 0;
  while (text) {
    *size += fread(text + *size, 1, capacity - *size, in);
    if (*size < capacity) {
      break;
    }
    if (capacity >= IMPORT_MAX_FILE) {
      import_fail(r, at, "the file is larger than %d MiB", IMPORT_MAX_FILE >> 20);
      break;
    }
    capacity *= 2;
    char *grown = realloc(text, capacity + 1);
    if (!grown) {
      free(text);
    }
    text = grown;
  }
  char *kept = text && !ferror(in) ? memory_take(&r->model->memory, *size + 1, 1) : NULL;
  if (kept) {
    memcpy(kept, text, *size);
  } else {
    import_fail(r, at, text ? "cannot be read" : "not enough memory");
  }
  free(text);
  return kept;
}

char *import_file(reader *r, const char *path, place at, size_t *size)
{
  FILE *in = fopen(path, "rb");
  if (!in) {
    return NULL;
  }
  char *text = read_stream(r, in, at, size);
  fclose(in);
  return r->failed ? NULL : text;
}

const char *import_path(reader *r, const char *base, const char *path)
{
  const char *slash = strrchr(base, '/');
  if (path[0] == '/' || !slash) {
    return memory_text(&r->model->memory, path, strlen(path));
  }
  size_t folder = (size_t)(slash - base) + 1, length = strlen(path);
  char *joined = memory_take(&r->model->memory, folder + length + 1, 1);
  if (!joined) {
    return "";
  }
  memcpy(joined, base, folder);
  memcpy(joined + folder, path, length);
  return joined;
}

// ---------------------------------------------------------------------------------------------
// Numbers. The C library's functions depend on the locale.

static double power_of_ten(int exponent)
{
  static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  double power = 1.0;
  while (exponent > 22) {
    power *= 1e22;
    exponent -= 22;
  }
  return power * exact[exponent];
}

static double scaled(double mantissa, int exponent)
{
  if (exponent < -300) { // in two steps: the power itself would overflow
    return exponent < -640 ? 0.0 : mantissa / power_of_ten(300) / power_of_ten(-exponent - 300);
  }
  if (exponent > 400) {
    return mantissa == 0.0 ? 0.0 : (double)INFINITY;
  }
  return exponent < 0 ? mantissa / power_of_ten(-exponent) : mantissa * power_of_ten(exponent);
}

static const char *parse_exponent(const char *s, int *exponent)
{
  const char *start = s;
  if (*s != 'e' && *s != 'E') {
    return start;
  }
  s += 1;
  bool negative = *s == '-';
  s += *s == '-' || *s == '+';
  if (*s < '0' || *s > '9') {
    return start;
  }
  int value = 0;
  for (; *s >= '0' && *s <= '9'; ++s) {
    value = value < 10000 ? 10 * value + (*s - '0') : value;
  }
  *exponent += negative ? -value : value;
  return s;
}

static const char *parse_digits(const char *s, double *value)
{
  uint64_t mantissa = 0;
  int exponent = 0, digits = 0;
  bool point = false;
  for (;; ++s) {
    if (*s == '.' && !point) {
      point = true;
    } else if (*s >= '0' && *s <= '9') {
      digits += 1;
      if (mantissa < UINT64_MAX / 10 - 1) {
        mantissa = 10 * mantissa + (uint64_t)(*s - '0');
        exponent -= point;
      } else {
        exponent += !point;
      }
    } else {
      break;
    }
  }
  if (digits == 0) {
    return NULL;
  }
  s = parse_exponent(s, &exponent);
  *value = scaled((double)mantissa, exponent);
  return isfinite(*value) ? s : NULL;
}

bool parse_double(const char **text, double *value)
{
  const char *s = *text;
  bool negative = *s == '-';
  s += *s == '-' || *s == '+';
  double size = (double)INFINITY;
  const char *end = NULL;
  if (strncmp(s, "infinity", 8) == 0) {
    end = s + 8;
  } else if (strncmp(s, "inf", 3) == 0) {
    end = s + 3;
  } else {
    end = parse_digits(s, &size);
  }
  if (!end) {
    return false;
  }
  *value = negative ? -size : size;
  *text = end;
  return true;
}

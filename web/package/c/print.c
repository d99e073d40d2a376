// The conversions used by the library's messages: %s, %c, %d and %g. The formatting of the C
// library would increase the size of the module.
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

// Output of the library without a log callback is discarded.
FILE *const stderr = NULL;

typedef struct sink {
  char *text;
  size_t size, count; // count may exceed the size
} sink;

static void put_char(sink *to, char c)
{
  if (to->count + 1 < to->size) {
    to->text[to->count] = c;
  }
  to->count += 1;
}

static void put_string(sink *to, const char *s)
{
  while (*s) {
    put_char(to, *s++);
  }
}

static void put_whole(sink *to, long value)
{
  unsigned long rest = value < 0 ? 0ul - (unsigned long)value : (unsigned long)value;
  char digits[24], *first = digits + sizeof digits - 1;
  *first = '\0';
  do {
    *--first = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest);
  if (value < 0) {
    put_char(to, '-');
  }
  put_string(to, first);
}

// Six significant digits.
static void put_real(sink *to, double value)
{
  if (!isfinite(value)) {
    put_string(to, isnan(value) ? "nan" : "infinite");
    return;
  }
  double size = fabs(value);
  bool plain = size == 0.0 || (size >= 1e-3 && size < 999999.5);
  int power = 0;
  for (; !plain && size >= 10.0; size /= 10.0) {
    power += 1;
  }
  for (; !plain && size < 1.0; size *= 10.0) {
    power -= 1;
  }
  if (value < 0.0) {
    put_char(to, '-');
  }
  long place = 1;
  for (; size * (double)place < 99999.5 && place < 100000000; place *= 10) {
  }
  long digits = (long)(size * (double)place + 0.5);
  put_whole(to, digits / place);
  long rest = digits % place;
  put_string(to, rest ? "." : "");
  for (place /= 10; rest > 0; place /= 10) {
    put_char(to, (char)('0' + rest / place));
    rest %= place;
  }
  if (power != 0) {
    put_char(to, 'e');
    put_whole(to, power);
  }
}

int vsnprintf(char *restrict text, size_t size, const char *restrict format, va_list list)
{
  sink to = {text, size, 0};
  for (const char *f = format; *f; ++f) {
    if (*f != '%') {
      put_char(&to, *f);
      continue;
    }
    switch (*++f) {
    case 's':
      put_string(&to, va_arg(list, const char *));
      break;
    case 'd':
      put_whole(&to, va_arg(list, int));
      break;
    case 'c':
      put_char(&to, (char)va_arg(list, int));
      break;
    case 'g':
      put_real(&to, va_arg(list, double));
      break;
    default:
      __builtin_trap(); // not used by any message
    }
  }
  if (size > 0) {
    text[to.count < size ? to.count : size - 1] = '\0';
  }
  return (int)to.count;
}

int snprintf(char *restrict text, size_t size, const char *restrict format, ...)
{
  va_list list;
  va_start(list, format);
  int count = vsnprintf(text, size, format, list);
  va_end(list);
  return count;
}

int fprintf(FILE *restrict file, const char *restrict format, ...)
{
  (void)file, (void)format;
  return 0;
}

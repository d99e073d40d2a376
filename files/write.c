#include "write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 76 }; // column after which the next item starts a new line

// ---------------------------------------------------------------------------------------------
// Tokens

void write_raw(writer *w, const char *words)
{
  fputs(words, w->out);
  w->column += (int)strlen(words);
}

static void new_line(writer *w)
{
  fputc('\n', w->out);
  w->column = 0;
  for (int i = 0; i < w->depth; ++i) {
    write_raw(w, "  ");
  }
}

void write_open(writer *w, char bracket)
{
  char word[2] = {bracket, '\0'};
  write_raw(w, word);
  w->depth += 1;
  w->begun = false;
}

void write_close(writer *w, char bracket, bool was_flat)
{
  char word[2] = {bracket, '\0'};
  w->depth -= 1;
  if (w->begun && !w->flat) {
    new_line(w);
  }
  write_raw(w, word);
  w->begun = true;
  w->flat = was_flat;
}

void write_item(writer *w)
{
  if (w->begun) {
    write_raw(w, ",");
  }
  if (!w->flat || w->column > LINE) {
    new_line(w);
  } else if (w->begun) {
    write_raw(w, " ");
  }
  w->begun = true;
}

void write_text(writer *w, const char *text)
{
  write_raw(w, "\"");
  for (; *text; ++text) {
    unsigned char c = (unsigned char)*text;
    char word[8];
    snprintf(word, sizeof word, c == '"' || c == '\\' ? "\\%c" : c < 0x20 ? "\\u%04x" : "%c", c);
    write_raw(w, word);
  }
  write_raw(w, "\"");
}

void write_key(writer *w, const char *key)
{
  write_item(w);
  write_text(w, key);
  write_raw(w, ": ");
}

// The fewest digits that give the same number when read.
void write_float(writer *w, float value)
{
  char word[32] = "null";
  for (int digits = 6; isfinite(value) && digits <= 9; ++digits) {
    snprintf(word, sizeof word, "%.*g", digits, (double)value);
    if ((float)strtod(word, NULL) == value) {
      break;
    }
  }
  write_raw(w, word);
}

void write_double(writer *w, double value)
{
  char word[40] = "null";
  for (int digits = 6; isfinite(value) && digits <= 17; ++digits) {
    snprintf(word, sizeof word, "%.*g", digits, value);
    if (strtod(word, NULL) == value) {
      break;
    }
  }
  write_raw(w, word);
}

static void write_int(writer *w, int value)
{
  char word[16];
  snprintf(word, sizeof word, "%d", value);
  write_raw(w, word);
}

static void write_bits(writer *w, uint64_t value)
{
  char word[32];
  bool exact = value <= (1ull << 53);
  snprintf(word, sizeof word, exact ? "%llu" : "\"0x%llx\"", (unsigned long long)value);
  write_raw(w, word);
}

bool bits_differ(const void *a, const void *b, size_t size)
{
  return memcmp(a, b, size) != 0;
}

// ---------------------------------------------------------------------------------------------
// Rows and lists

static void write_floats(writer *w, const float *values, int count)
{
  write_raw(w, "[");
  for (int i = 0; i < count; ++i) {
    write_raw(w, i ? ", " : "");
    write_float(w, values[i]);
  }
  write_raw(w, "]");
}

static void write_ints(writer *w, const int *values, int count)
{
  write_raw(w, "[");
  for (int i = 0; i < count; ++i) {
    write_raw(w, i ? ", " : "");
    write_int(w, values[i]);
  }
  write_raw(w, "]");
}

static void write_position(writer *w, const tn_pos *p)
{
  double values[3] = {p->x, p->y, p->z};
  write_raw(w, "[");
  for (int i = 0; i < 3; ++i) {
    write_raw(w, i ? ", " : "");
    write_double(w, values[i]);
  }
  write_raw(w, "]");
}

// Number of ranges up to the last that differs from its default.
static void write_ranges(writer *w, const tn_range *ranges, const tn_range *usual)
{
  int count = 3;
  while (usual && count > 1 && !bits_differ(&ranges[count - 1], &usual[count - 1], sizeof *usual)) {
    count -= 1;
  }
  write_raw(w, "[");
  for (int i = 0; i < count; ++i) {
    write_raw(w, i ? ", " : "");
    if (ranges[i].lo == -INFINITY && ranges[i].hi == INFINITY) {
      write_raw(w, "null");
    } else {
      write_floats(w, &ranges[i].lo, 2);
    }
  }
  write_raw(w, "]");
}

static void write_row(writer *w, const field *f, const void *row)
{
  if (f->type == FIELD_FLOATS) {
    write_float(w, *(const float *)row);
  } else if (f->type == FIELD_VECTORS) {
    write_floats(w, row, 3);
  } else if (f->width == 1) {
    write_int(w, *(const int *)row);
  } else {
    write_ints(w, row, f->width);
  }
}

static void write_list(writer *w, const field *f, const number_list *list)
{
  bool was_flat = w->flat;
  write_open(w, '[');
  w->flat = true;
  for (int i = 0; i < list->count; ++i) {
    write_item(w);
    write_row(w, f, (const char *)list->items + (size_t)i * field_row_size(f));
  }
  write_close(w, ']', was_flat);
}

// ---------------------------------------------------------------------------------------------
// Objects

static void write_value(writer *w, const field *f, const void *value, const void *usual)
{
  switch (f->type) {
  case FIELD_FLOAT:
    write_float(w, *(const float *)value);
    break;
  case FIELD_DOUBLE:
    write_double(w, *(const double *)value);
    break;
  case FIELD_INT:
    write_int(w, *(const int *)value);
    break;
  case FIELD_BOOL:
    write_raw(w, *(const bool *)value ? "true" : "false");
    break;
  case FIELD_TEXT:
    write_text(w, *(const char *const *)value);
    break;
  case FIELD_WORD:
    write_text(w, f->words[*(const int *)value]);
    break;
  case FIELD_BITS:
    write_bits(w, *(const uint64_t *)value);
    break;
  case FIELD_VECTOR:
    write_floats(w, value, 3);
    break;
  case FIELD_POSITION:
    write_position(w, value);
    break;
  case FIELD_ROTATION:
    write_floats(w, value, 4);
    break;
  case FIELD_INERTIA:
    write_floats(w, value, 6);
    break;
  case FIELD_RANGES:
    write_ranges(w, value, usual);
    break;
  case FIELD_CELLS:
    write_ints(w, value, 3);
    break;
  case FIELD_PART:
    write_flat(w, f->part, value, usual);
    break;
  default:
    write_list(w, f, value);
    break;
  }
}

static size_t size_of(const field *f)
{
  static const size_t sizes[FIELD_TYPE_COUNT] = {[FIELD_FLOAT] = sizeof(float),
                                                 [FIELD_DOUBLE] = sizeof(double),
                                                 [FIELD_INT] = sizeof(int),
                                                 [FIELD_BOOL] = sizeof(bool),
                                                 [FIELD_TEXT] = sizeof(char *),
                                                 [FIELD_WORD] = sizeof(int),
                                                 [FIELD_BITS] = sizeof(uint64_t),
                                                 [FIELD_VECTOR] = sizeof(tn_vec3),
                                                 [FIELD_POSITION] = sizeof(tn_pos),
                                                 [FIELD_ROTATION] = sizeof(tn_quat),
                                                 [FIELD_INERTIA] = sizeof(tn_sym3),
                                                 [FIELD_RANGES] = 3 * sizeof(tn_range),
                                                 [FIELD_CELLS] = 3 * sizeof(int),
                                                 [FIELD_VECTORS] = sizeof(number_list),
                                                 [FIELD_FLOATS] = sizeof(number_list),
                                                 [FIELD_INDICES] = sizeof(number_list)};
  return sizes[f->type];
}

static bool differs(const field *f, const void *a, const void *b)
{
  const char *x = (const char *)a + f->offset, *y = (const char *)b + f->offset;
  switch (f->type) {
  case FIELD_TREE:
    return false;
  case FIELD_PART:
    return fields_differ(f->part, x, y);
  case FIELD_VECTORS:
  case FIELD_FLOATS:
  case FIELD_INDICES:
    return ((const number_list *)(const void *)x)->count !=
           ((const number_list *)(const void *)y)->count;
  default:
    return bits_differ(x, y, size_of(f));
  }
}

bool fields_differ(const object_type *type, const void *a, const void *b)
{
  for (const field *f = type->fields; f->name; ++f) {
    if (differs(f, a, b)) {
      return true;
    }
  }
  return false;
}

static bool is_written(const object_type *type, const field *f, const void *value,
                       const void *usual)
{
  const field *kind = field_find(type, "kind");
  int k = kind ? *(const int *)(const void *)((const char *)value + kind->offset) : 0;
  const void *text = (const char *)value + f->offset;
  if (f->type == FIELD_TREE || (f->kinds && !(f->kinds >> k & 1)) ||
      (f->type == FIELD_TEXT && !*(const char *const *)text)) {
    return false;
  }
  return !usual || (f->flags & FIELD_REQUIRED) || differs(f, value, usual);
}

void write_fields(writer *w, const object_type *type, const void *value, const void *usual)
{
  for (const field *f = type->fields; f->name; ++f) {
    if (is_written(type, f, value, usual)) {
      write_key(w, f->name);
      write_value(w, f, (const char *)value + f->offset,
                  usual ? (const char *)usual + f->offset : NULL);
    }
  }
}

void write_flat(writer *w, const object_type *type, const void *value, const void *usual)
{
  bool was_flat = w->flat;
  write_open(w, '{');
  w->flat = true;
  write_fields(w, type, value, usual);
  write_close(w, '}', was_flat);
}

bool has_usual(const field *f)
{
  switch (f->type) {
  case FIELD_TEXT:
  case FIELD_RANGES:
  case FIELD_CELLS:
  case FIELD_PART:
  case FIELD_VECTORS:
  case FIELD_FLOATS:
  case FIELD_INDICES:
  case FIELD_TREE:
    return false;
  default:
    return !(f->flags & FIELD_REQUIRED);
  }
}

void write_usual(writer *w, const object_type *type, const field *f)
{
  any_object usual;
  type->usual(&usual);
  write_value(w, f, (const char *)&usual + f->offset, NULL);
}

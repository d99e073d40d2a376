#include "sheet.h"

#include "options.h"
#include "output.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool take_word(char *to, const char *from, size_t length)
{
  if (length >= SHEET_WORD) {
    return false;
  }
  memcpy(to, from, length);
  to[length] = '\0';
  return true;
}

void sheet_start(sheet *s, const char *name, const char *head)
{
  memset(s, 0, sizeof *s);
  size_t length = strcspn(head, ",");
  s->failed = !take_word(s->name, name, strlen(name)) || !take_word(s->label, head, length);
  head += length;
  while (*head == ',' && s->column_count < SHEET_COLUMNS) {
    head += 1;
    length = strcspn(head, ",");
    s->failed = !take_word(s->columns[s->column_count++], head, length) || s->failed;
    head += length;
  }
  s->failed = s->failed || *head;
}

static sheet_row *new_row(sheet *s)
{
  if (s->row_count == s->capacity) {
    int wanted = 2 * s->capacity + 16;
    sheet_row *grown = realloc(s->rows, (size_t)wanted * sizeof *grown);
    if (!grown) {
      s->failed = true;
      return NULL;
    }
    s->rows = grown;
    s->capacity = wanted;
  }
  return &s->rows[s->row_count++];
}

void sheet_add(sheet *s, const char *label, const double *values)
{
  sheet_row *row = new_row(s);
  if (!row) {
    return;
  }
  s->failed = strpbrk(label, ",\n") || !take_word(row->label, label, strlen(label)) || s->failed;
  for (int i = 0; i < SHEET_COLUMNS; ++i) {
    row->values[i] = i < s->column_count ? values[i] : (double)NAN;
  }
}

void sheet_free(sheet *s)
{
  free(s->rows);
  memset(s, 0, sizeof *s);
}

int sheet_column(const sheet *s, const char *name)
{
  for (int i = 0; i < s->column_count; ++i) {
    if (strcmp(s->columns[i], name) == 0) {
      return i;
    }
  }
  return -1;
}

double sheet_value(const sheet *s, const char *label, const char *column)
{
  int k = sheet_column(s, column);
  for (int i = s->row_count - 1; i >= 0 && k >= 0; --i) {
    if (strcmp(s->rows[i].label, label) == 0) {
      return s->rows[i].values[k];
    }
  }
  return (double)NAN;
}

// ---------------------------------------------------------------------------------------------
// Files

static bool path_of(char *path, size_t size, const char *dir, const char *name)
{
  int length = snprintf(path, size, "%s/%s.csv", dir, name);
  return length > 0 && (size_t)length < size;
}

bool sheet_write(const sheet *s, const char *dir)
{
  char path[1024];
  output out;
  if (s->failed || !path_of(path, sizeof path, dir, s->name) || !output_open(&out, path)) {
    return false;
  }
  fprintf(out.file, "%s", s->label);
  for (int i = 0; i < s->column_count; ++i) {
    fprintf(out.file, ",%s", s->columns[i]);
  }
  for (int i = 0; i < s->row_count; ++i) {
    fprintf(out.file, "\n%s", s->rows[i].label);
    for (int k = 0; k < s->column_count; ++k) {
      double value = s->rows[i].values[k];
      fprintf(out.file, isfinite(value) ? ",%.9g" : ",", value);
    }
  }
  fputc('\n', out.file);
  return output_finish(&out);
}

// Reads one line of the file; false if it is malformed.
static bool read_row(sheet *s, const char *line)
{
  char label[SHEET_WORD];
  double values[SHEET_COLUMNS] = {0.0};
  size_t length = strcspn(line, ",");
  bool ok = take_word(label, line, length);
  line += length;
  for (int i = 0; i < s->column_count && ok; ++i) {
    ok = *line++ == ',';
    char *end = NULL;
    values[i] = ok && *line && *line != ',' ? strtod(line, &end) : (double)NAN;
    line = end ? end : line;
  }
  ok = ok && *line == '\0';
  if (ok) {
    sheet_add(s, label, values);
  }
  return ok;
}

static bool read_lines(sheet *s, const char *name, char *at)
{
  char *line = strtok(at, "\n");
  if (!line) {
    return false;
  }
  sheet_start(s, name, line);
  bool ok = !s->failed;
  while (ok && (line = strtok(NULL, "\n"))) {
    ok = read_row(s, line) && !s->failed;
  }
  return ok;
}

bool sheet_read(sheet *s, const char *dir, const char *name)
{
  memset(s, 0, sizeof *s);
  char path[1024];
  size_t size;
  char *bytes = path_of(path, sizeof path, dir, name) ? read_whole_file(path, &size) : NULL;
  if (!bytes) {
    return false;
  }
  bytes[size] = '\0';
  bool ok = read_lines(s, name, bytes);
  free(bytes);
  if (!ok) {
    complain("'%s' is not a sheet of the study", path);
    sheet_free(s);
  }
  return ok;
}

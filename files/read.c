#include "read.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Paths and messages

static void write_error(reader *r, int line, const json_path *p, const char *why)
{
  char where[400];
  path_print(p, where, sizeof where);
  snprintf(r->error, r->error_size, "%s:%d: %s%s%s", r->file, line, where, where[0] ? ": " : "",
           why);
  for (char *c = r->error; *c; ++c) {
    *c = (unsigned char)*c < 0x20 || *c == 0x7f
             ? '?'
             : *c; // no control characters: the message is one line
  }
  r->failed = true;
}

bool reader_fail(reader *r, const char *format, ...)
{
  if (!r->failed) {
    char why[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    write_error(r, line_of_path(r->text, &r->path), &r->path, why);
  }
  return false;
}

bool reader_fail_at(reader *r, size_t offset, const char *why)
{
  if (!r->failed) {
    json_path p;
    char keys[400];
    path_of_offset(r->text, offset, &p, keys, sizeof keys);
    write_error(r, line_of_offset(r->text, offset), &p, why);
  }
  return false;
}

cJSON *reader_parse(reader *r, size_t size)
{
  text_problem problem = text_check(r->text, size);
  if (problem.why) {
    reader_fail_at(r, problem.offset, problem.why);
    return NULL;
  }
  const char *end = r->text;
  cJSON *tree = cJSON_ParseWithOpts(r->text, &end, true);
  if (tree) {
    return tree;
  }
  size_t offset = (size_t)(end - r->text);
  offset += strspn(end, " \t\r\n");
  char why[120];
  if (offset >= size) {
    while (offset > 0 && strchr(" \t\r\n", r->text[offset - 1])) {
      offset -= 1; // back to the last line that is not empty
    }
    snprintf(why, sizeof why, "invalid JSON: unexpected end of file");
  } else {
    int length = (int)strcspn(r->text + offset, "\r\n");
    snprintf(why, sizeof why, "invalid JSON at '%.*s'", length < 20 ? length : 20,
             r->text + offset);
  }
  reader_fail_at(r, offset, why);
  return NULL;
}

void reader_enter(reader *r, const char *key)
{
  r->path.steps[r->path.depth++] = (path_step){key, 0};
}

void reader_enter_item(reader *r, int index)
{
  r->path.steps[r->path.depth++] = (path_step){NULL, index};
}

void reader_leave(reader *r)
{
  r->path.depth -= 1;
}

// ---------------------------------------------------------------------------------------------
// Numbers

static bool fail_bounds(reader *r, const field *f)
{
  if (f->lo == f->hi) {
    return reader_fail(r, "must be %g", f->lo);
  }
  if (f->hi >= 1e30) {
    return reader_fail(r, f->flags & FIELD_ABOVE ? "must be above %g" : "must be at least %g",
                       f->lo);
  }
  return f->flags & FIELD_ABOVE ? reader_fail(r, "must be above %g, up to %g", f->lo, f->hi)
                                : reader_fail(r, "must be from %g to %g", f->lo, f->hi);
}

static bool is_bounded(const field *f)
{
  return f->lo < f->hi || f->lo > 0.0;
}

// Rejects numbers that the type cannot represent.
static bool fits(reader *r, const cJSON *json, const field *f)
{
  double value = json->valuedouble;
  bool whole = f->type == FIELD_INT || f->type == FIELD_CELLS || f->type == FIELD_INDICES;
  bool wide = f->type == FIELD_DOUBLE || f->type == FIELD_POSITION;
  if (!isfinite(value) || (!wide && !isfinite((float)value))) {
    return reader_fail(r, "number too large");
  }
  if (whole && (value != floor(value) || fabs(value) > 2147483647.0)) {
    return reader_fail(r, "must be an integer");
  }
  return true;
}

bool read_number(reader *r, const cJSON *json, const field *f, double *value)
{
  if (cJSON_IsNull(json) && (f->flags & FIELD_OPEN)) {
    *value = f->flags & FIELD_BELOW ? -(double)INFINITY : (double)INFINITY;
    return true;
  }
  if (!cJSON_IsNumber(json)) {
    return reader_fail(r, "must be a number%s", f->flags & FIELD_OPEN ? ", or null for none" : "");
  }
  if (!fits(r, json, f)) {
    return false;
  }
  *value = json->valuedouble;
  bool above = f->flags & FIELD_ABOVE ? *value > f->lo : *value >= f->lo;
  return !is_bounded(f) || (above && *value <= f->hi) || fail_bounds(r, f);
}

// Reads an array of `count` numbers.
static bool read_numbers(reader *r, const cJSON *json, const field *f, double *values, int count)
{
  if (!cJSON_IsArray(json) || cJSON_GetArraySize(json) != count) {
    return reader_fail(r, "must be a list of %d numbers", count);
  }
  int i = 0;
  const cJSON *item;
  cJSON_ArrayForEach(item, json)
  {
    reader_enter_item(r, i);
    if (!read_number(r, item, f, &values[i])) {
      return false;
    }
    reader_leave(r);
    i += 1;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Values of a field

static bool read_vector(reader *r, const cJSON *json, const field *f, tn_vec3 *out)
{
  double v[3] = {0};
  if (!read_numbers(r, json, f, v, 3)) {
    return false;
  }
  *out = tn_v3((float)v[0], (float)v[1], (float)v[2]);
  return true;
}

static bool read_turn(reader *r, const cJSON *json, tn_quat *out)
{
  file_rotation turn = {{0.0f, 0.0f, 0.0f}, 0.0f};
  if (!read_object(r, json, &type_rotation, &turn, NULL)) {
    return false;
  }
  float length = tn_length(turn.axis);
  if (!(length > 0.0f && isfinite(length))) {
    return reader_fail(r, "the axis has zero length");
  }
  *out = tn_quat_axis_angle(tn_scale(1.0f / length, turn.axis), turn.degrees * (TN_PI / 180.0f));
  return true;
}

static bool read_rotation(reader *r, const cJSON *json, const field *f, tn_quat *out)
{
  double q[4] = {0};
  if (cJSON_IsObject(json)) {
    return read_turn(r, json, out);
  }
  if (!cJSON_IsArray(json)) {
    return reader_fail(r, "must be a quaternion [x, y, z, w], or an object with axis and degrees");
  }
  if (!read_numbers(r, json, f, q, 4)) {
    return false;
  }
  double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  if (!(square > 0.9 && square < 1.1)) {
    return reader_fail(r, "must be a unit quaternion");
  }
  *out = (tn_quat){(float)q[0], (float)q[1], (float)q[2], (float)q[3]};
  return true;
}

static bool read_inertia(reader *r, const cJSON *json, const field *f, tn_sym3 *out)
{
  double v[6] = {0};
  if (!read_numbers(r, json, f, v, 6)) {
    return false;
  }
  *out = (tn_sym3){(float)v[0], (float)v[1], (float)v[2], (float)v[3], (float)v[4], (float)v[5]};
  return true;
}

static bool read_range(reader *r, const cJSON *json, const field *f, tn_range *out)
{
  const cJSON *lo = cJSON_GetArrayItem(json, 0), *hi = cJSON_GetArrayItem(json, 1);
  *out = (tn_range){-INFINITY, INFINITY};
  if (cJSON_IsNull(json)) {
    return true;
  }
  if (!cJSON_IsArray(json) || cJSON_GetArraySize(json) != 2 ||
      !(cJSON_IsNull(lo) || cJSON_IsNumber(lo)) || !(cJSON_IsNull(hi) || cJSON_IsNumber(hi))) {
    return reader_fail(r,
                       "must be two numbers, with null for an open end, or null for a free axis");
  }
  if ((cJSON_IsNumber(lo) && !fits(r, lo, f)) || (cJSON_IsNumber(hi) && !fits(r, hi, f))) {
    return false;
  }
  out->lo = cJSON_IsNull(lo) ? -INFINITY : (float)lo->valuedouble;
  out->hi = cJSON_IsNull(hi) ? INFINITY : (float)hi->valuedouble;
  return out->lo <= out->hi || reader_fail(r, "the range is reversed");
}

static bool read_ranges(reader *r, const cJSON *json, const field *f, tn_range *out)
{
  int count = cJSON_GetArraySize(json);
  if (!cJSON_IsArray(json) || count > 3) {
    return reader_fail(r, "must be a list of up to 3 ranges");
  }
  for (int i = 0; i < count; ++i) {
    reader_enter_item(r, i);
    if (!read_range(r, cJSON_GetArrayItem(json, i), f, &out[i])) {
      return false;
    }
    reader_leave(r);
  }
  return true;
}

// A single number is used for all three.
static bool read_cells(reader *r, const cJSON *json, const field *f, int *out)
{
  double v[3] = {0};
  if (cJSON_IsArray(json) ? !read_numbers(r, json, f, v, 3) : !read_number(r, json, f, &v[0])) {
    return false;
  }
  for (int i = 0; i < 3; ++i) {
    out[i] = (int)v[cJSON_IsArray(json) ? i : 0];
  }
  return true;
}

static bool read_bits(reader *r, const cJSON *json, uint64_t *out)
{
  const double exact = 9007199254740992.0; // 2^53
  if (cJSON_IsNumber(json) && json->valuedouble >= 0.0 && json->valuedouble <= exact &&
      json->valuedouble == floor(json->valuedouble)) {
    *out = (uint64_t)json->valuedouble;
    return true;
  }
  const char *word = cJSON_IsString(json) ? json->valuestring : "";
  size_t digits = strlen(word) < 3 ? 0 : strspn(word + 2, "0123456789abcdefABCDEF");
  if (strncmp(word, "0x", 2) != 0 || digits < 1 || digits > 16 || word[2 + digits]) {
    return reader_fail(r, "must be an integer from 0 to 2^53, or 64 bits as \"0x...\"");
  }
  *out = strtoull(word + 2, NULL, 16);
  return true;
}

static void list_words(const char *const *words, char *out, size_t size)
{
  size_t used = 0;
  out[0] = '\0';
  for (int i = 0; words[i] && used < size; ++i) {
    int n = snprintf(out + used, size - used, "%s%s", i ? ", " : "", words[i]);
    used += n > 0 ? (size_t)n : 0;
  }
}

static bool read_word(reader *r, const cJSON *json, const field *f, int *out)
{
  for (int i = 0; cJSON_IsString(json) && f->words[i]; ++i) {
    if (strcmp(f->words[i], json->valuestring) == 0) {
      *out = i;
      return true;
    }
  }
  char known[300];
  list_words(f->words, known, sizeof known);
  return cJSON_IsString(json)
             ? reader_fail(r, "must be one of %s, not '%.60s'", known, json->valuestring)
             : reader_fail(r, "must be one of %s", known);
}

// ---------------------------------------------------------------------------------------------
// Lists

static bool read_indices(reader *r, const cJSON *json, const field *f, int *out)
{
  double v[8] = {0};
  if (f->width == 1 ? !read_number(r, json, f, &v[0]) : !read_numbers(r, json, f, v, f->width)) {
    return false;
  }
  for (int i = 0; i < f->width; ++i) {
    if (v[i] < 0.0) {
      return reader_fail(r, "must not be negative");
    }
    out[i] = (int)v[i];
  }
  return true;
}

static bool read_row(reader *r, const cJSON *json, const field *f, void *out)
{
  double number = 0.0;
  switch (f->type) {
  case FIELD_VECTORS:
    return read_vector(r, json, f, out);
  case FIELD_FLOATS:
    if (!read_number(r, json, f, &number)) {
      return false;
    }
    *(float *)out = (float)number;
    return true;
  default:
    return read_indices(r, json, f, out);
  }
}

static bool read_list(reader *r, const cJSON *json, const field *f, number_list *out)
{
  if (!cJSON_IsArray(json)) {
    return reader_fail(r, "must be a list");
  }
  size_t size = field_row_size(f);
  out->items = malloc(((size_t)cJSON_GetArraySize(json) + 1) * size);
  if (!out->items) {
    return reader_fail(r, "not enough memory for the list");
  }
  const cJSON *item;
  cJSON_ArrayForEach(item, json)
  {
    reader_enter_item(r, out->count);
    if (!read_row(r, item, f, (char *)out->items + (size_t)out->count * size)) {
      return false;
    }
    reader_leave(r);
    out->count += 1;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Objects

static bool read_plain(reader *r, const cJSON *json, const field *f, void *out)
{
  double number = 0.0;
  switch (f->type) {
  case FIELD_FLOAT:
  case FIELD_DOUBLE:
  case FIELD_INT:
    if (!read_number(r, json, f, &number)) {
      return false;
    }
    if (f->type == FIELD_FLOAT) {
      *(float *)out = (float)number;
    } else if (f->type == FIELD_DOUBLE) {
      *(double *)out = number;
    } else {
      *(int *)out = (int)number;
    }
    return true;
  case FIELD_BOOL:
    *(bool *)out = cJSON_IsTrue(json);
    return cJSON_IsBool(json) || reader_fail(r, "must be true or false");
  default: // FIELD_TEXT
    if (!cJSON_IsString(json) || !json->valuestring[0] || strlen(json->valuestring) > 200) {
      return reader_fail(r, "must be a string of up to 200 bytes");
    }
    *(const char **)out = json->valuestring;
    return true;
  }
}

static bool read_position(reader *r, const cJSON *json, const field *f, tn_pos *out)
{
  double v[3] = {0};
  if (!read_numbers(r, json, f, v, 3)) {
    return false;
  }
  *out = tn_p3(v[0], v[1], v[2]);
  return true;
}

static bool read_field(reader *r, const cJSON *json, const field *f, void *out)
{
  switch (f->type) {
  case FIELD_WORD:
    return read_word(r, json, f, out);
  case FIELD_BITS:
    return read_bits(r, json, out);
  case FIELD_VECTOR:
    return read_vector(r, json, f, out);
  case FIELD_POSITION:
    return read_position(r, json, f, out);
  case FIELD_ROTATION:
    return read_rotation(r, json, f, out);
  case FIELD_INERTIA:
    return read_inertia(r, json, f, out);
  case FIELD_RANGES:
    return read_ranges(r, json, f, out);
  case FIELD_CELLS:
    return read_cells(r, json, f, out);
  case FIELD_PART:
    return read_object(r, json, f->part, out, NULL);
  case FIELD_VECTORS:
  case FIELD_FLOATS:
  case FIELD_INDICES:
    return read_list(r, json, f, out);
  case FIELD_TREE:
    *(const cJSON **)out = json;
    return true;
  default:
    return read_plain(r, json, f, out);
  }
}

static bool fail_unknown(reader *r, const object_type *type)
{
  char known[500] = "";
  size_t used = 0;
  for (const field *f = type->fields; f->name && used < sizeof known; ++f) {
    int n = snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", f->name);
    used += n > 0 ? (size_t)n : 0;
  }
  return reader_fail(r, "unknown key; known keys are %s", known);
}

// Checks the keys that the object's kind requires and those it does not have.
static bool check_kind(reader *r, const object_type *type, const void *out, uint64_t seen)
{
  const field *kind = field_find(type, "kind");
  int value = kind ? *(const int *)((const char *)out + kind->offset) : 0;
  for (const field *f = type->fields; f->name; ++f) {
    bool here = seen >> (f - type->fields) & 1;
    bool fitting = f->kinds == 0 || (f->kinds >> value & 1);
    bool missing = !here && fitting && (f->flags & FIELD_REQUIRED);
    if (missing || (here && !fitting)) {
      reader_enter(r, f->name);
      return missing
                 ? reader_fail(r, "missing")
                 : reader_fail(r, "a %s has no such key", kind ? kind->words[value] : type->name);
    }
  }
  return true;
}

static bool read_members(reader *r, const cJSON *json, const object_type *type, void *out,
                         uint64_t *seen)
{
  const cJSON *item;
  cJSON_ArrayForEach(item, json)
  {
    const field *f = field_find(type, item->string);
    reader_enter(r, item->string);
    if (!f) {
      return fail_unknown(r, type);
    }
    uint64_t bit = 1ull << (f - type->fields);
    if (*seen & bit) {
      r->path.steps[r->path.depth - 1].index = 1;
      return reader_fail(r, "duplicate key");
    }
    *seen |= bit;
    if (!read_field(r, item, f, (char *)out + f->offset)) {
      return false;
    }
    reader_leave(r);
  }
  return true;
}

bool read_object(reader *r, const cJSON *json, const object_type *type, void *out, uint64_t *seen)
{
  uint64_t own = 0;
  seen = seen ? seen : &own;
  *seen = 0;
  if (!cJSON_IsObject(json)) {
    return reader_fail(r, "must be an object in braces");
  }
  return read_members(r, json, type, out, seen) && check_kind(r, type, out, *seen);
}

bool was_seen(const object_type *type, uint64_t seen, const char *name)
{
  return seen >> (field_find(type, name) - type->fields) & 1;
}

void free_lists(const object_type *type, void *out)
{
  for (const field *f = type->fields; f->name; ++f) {
    if (f->type == FIELD_VECTORS || f->type == FIELD_FLOATS || f->type == FIELD_INDICES) {
      number_list *list = (number_list *)(void *)((char *)out + f->offset);
      free(list->items);
      *list = (number_list){NULL, 0};
    }
  }
}

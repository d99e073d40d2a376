#include "json.h"

#include "read.h"

#include <string.h>

enum { MAX_DEPTH = 100 };

typedef struct json_reader {
  memory *memory;
  const char *at, *end;
  const char *why;
  int line, depth;
} json_reader;

static void skip(json_reader *r)
{
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) {
    r->line += *r->at == '\n';
    r->at += 1;
  }
}

static json *fail(json_reader *r, const char *why)
{
  r->why = r->why ? r->why : why;
  return NULL;
}

static bool take(json_reader *r, char c)
{
  skip(r);
  if (r->at < r->end && *r->at == c) {
    r->at += 1;
    return true;
  }
  return false;
}

// Escapes of control characters and \u become what they stand for below 128, and ? above.
static char escaped(json_reader *r)
{
  char c = *r->at++;
  switch (c) {
  case 'n':
    return '\n';
  case 't':
    return '\t';
  case 'r':
    return '\r';
  case 'b':
    return '\b';
  case 'f':
    return '\f';
  case 'u': {
    int value = 0;
    for (int i = 0; i < 4 && r->at < r->end; ++i, ++r->at) {
      char d = *r->at;
      int digit = d >= '0' && d <= '9'   ? d - '0'
                  : d >= 'a' && d <= 'f' ? d - 'a' + 10
                  : d >= 'A' && d <= 'F' ? d - 'A' + 10
                                         : -1;
      if (digit < 0) {
        fail(r, "invalid escape in a string");
        return '?';
      }
      value = 16 * value + digit;
    }
    return value > 0 && value < 128 ? (char)value : '?';
  }
  default:
    return c;
  }
}

static const char *read_string(json_reader *r)
{
  if (!take(r, '"')) {
    fail(r, "expected a string");
    return "";
  }
  const char *end = r->at;
  while (end < r->end && *end != '"') {
    end += *end == '\\' && end + 1 < r->end ? 2 : 1;
  }
  char *out = end < r->end ? memory_take(r->memory, (size_t)(end - r->at) + 1, 1) : NULL;
  if (!out) {
    fail(r, "string without end");
    return "";
  }
  char *to = out;
  while (r->at < end) {
    char c = *r->at++;
    *to++ = c == '\\' ? escaped(r) : c;
  }
  r->at = end + 1;
  return out;
}

static json *read_value(json_reader *r);

static void read_members(json_reader *r, json *parent, bool object)
{
  json **end = &parent->first;
  char close = object ? '}' : ']';
  if (take(r, close)) {
    return;
  }
  do {
    const char *key = object ? read_string(r) : NULL;
    if (object && !take(r, ':')) {
      fail(r, "expected ':'");
    }
    json *value = r->why ? NULL : read_value(r);
    if (!value) {
      return;
    }
    value->key = key;
    *end = value;
    end = &value->next;
    parent->count += 1;
  } while (take(r, ','));
  if (!take(r, close)) {
    fail(r, "expected ',' or the end of a list");
  }
}

static bool take_word(json_reader *r, const char *word)
{
  size_t length = strlen(word);
  if ((size_t)(r->end - r->at) >= length && memcmp(r->at, word, length) == 0) {
    r->at += length;
    return true;
  }
  return false;
}

static json *read_value(json_reader *r)
{
  skip(r);
  json *value = memory_take(r->memory, 1, sizeof *value);
  if (!value) {
    return fail(r, "not enough memory");
  }
  value->line = r->line;
  if (++r->depth > MAX_DEPTH) {
    return fail(r, "values are nested too deeply");
  }
  char c = r->at < r->end ? *r->at : '\0';
  if (c == '{' || c == '[') {
    r->at += 1;
    value->type = c == '{' ? JSON_OBJECT : JSON_ARRAY;
    read_members(r, value, c == '{');
  } else if (c == '"') {
    value->type = JSON_STRING;
    value->string = read_string(r);
  } else if (take_word(r, "true")) {
    value->type = JSON_TRUE;
  } else if (take_word(r, "false")) {
    value->type = JSON_FALSE;
  } else if (take_word(r, "null")) {
    value->type = JSON_NULL;
  } else if ((c == '-' || (c >= '0' && c <= '9')) && parse_double(&r->at, &value->number) &&
             isfinite(value->number)) {
    value->type = JSON_NUMBER;
  } else {
    return fail(r, c ? "unexpected character" : "unexpected end");
  }
  r->depth -= 1;
  return r->why ? NULL : value;
}

json *json_parse(memory *m, const char *text, size_t size, const char **why, int *line)
{
  json_reader r = {.memory = m, .at = text, .end = text + size, .line = 1};
  json *root = read_value(&r);
  skip(&r);
  if (root && r.at != r.end) {
    root = fail(&r, "something follows the end");
  }
  *why = r.why;
  *line = r.line;
  return root;
}

const json *json_get(const json *object, const char *key)
{
  for (const json *m = object && object->type == JSON_OBJECT ? object->first : NULL; m;
       m = m->next) {
    if (strcmp(m->key, key) == 0) {
      return m;
    }
  }
  return NULL;
}

const json *json_at(const json *array, int index)
{
  const json *item = array && array->type == JSON_ARRAY && index >= 0 ? array->first : NULL;
  while (item && index-- > 0) {
    item = item->next;
  }
  return item;
}

double json_number(const json *value, double fallback)
{
  return value && value->type == JSON_NUMBER ? value->number : fallback;
}

const char *json_string(const json *value)
{
  return value && value->type == JSON_STRING ? value->string : "";
}

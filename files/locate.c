#include "locate.h"

#include <stdio.h>
#include <string.h>

enum { MAX_VALUES = 5000000, MAX_NUMBER_LENGTH = 60 };

// ---------------------------------------------------------------------------------------------
// Tokens of JSON. The text ends with a zero byte, which ends every loop.

static const char *skip_space(const char *at)
{
  return at + strspn(at, " \t\r\n");
}

// Skips a string, from its opening quote to after the closing one.
static const char *skip_string(const char *at)
{
  for (++at; *at && *at != '"'; ++at) {
    at += *at == '\\' && at[1];
  }
  return *at ? at + 1 : at;
}

static const char *skip_scalar(const char *at)
{
  size_t length = strcspn(at, ",:]}{[\" \t\r\n");
  return at + (length > 0 ? length : *at != '\0');
}

static const char *skip_value(const char *at)
{
  int depth = 0;
  do {
    at = skip_space(at);
    depth += *at == '{' || *at == '[';
    depth -= *at == '}' || *at == ']';
    at = *at == '"' ? skip_string(at) : skip_scalar(at);
  } while (*at && depth > 0);
  return at;
}

int line_of_offset(const char *text, size_t offset)
{
  int line = 1;
  for (size_t i = 0; i < offset && text[i]; ++i) {
    line += text[i] == '\n';
  }
  return line;
}

// ---------------------------------------------------------------------------------------------
// From a path to its line

static bool is_key(const char *at, const char *key)
{
  size_t length = strlen(key);
  return strncmp(at + 1, key, length) == 0 && at[1 + length] == '"';
}

// Finds a member of an object or array: returns its key, or its value in an array; `value` gets the
// value.
static const char *enter(const char *at, const path_step *step, const char **value)
{
  bool named = *at == '{';
  if (named != (step->key != NULL) || (!named && *at != '[')) {
    return NULL;
  }
  int passed = 0;
  for (at = skip_space(at + 1); *at && *at != '}' && *at != ']';) {
    const char *start = at;
    bool hit = true;
    if (named) {
      hit = *at == '"' && is_key(at, step->key);
      at = skip_space(skip_value(at));
      at = *at == ':' ? skip_space(at + 1) : at;
    }
    if (hit && passed++ == step->index) {
      *value = at;
      return start;
    }
    at = skip_space(skip_value(at));
    at = *at == ',' ? skip_space(at + 1) : at;
  }
  return NULL;
}

int line_of_path(const char *text, const json_path *p)
{
  const char *value = skip_space(text), *found = value;
  for (int i = 0; i < p->depth; ++i) {
    const char *next = enter(value, &p->steps[i], &value);
    if (!next) {
      break;
    }
    found = next;
  }
  return line_of_offset(text, (size_t)(found - text));
}

// ---------------------------------------------------------------------------------------------
// From a place to its path

static const char *copy_key(const char *at, const char *end, char **keys, size_t *room)
{
  size_t length = (size_t)(end - at);
  if (length + 1 > *room) {
    return "?";
  }
  char *key = *keys;
  memcpy(key, at, length);
  key[length] = '\0';
  *keys += length + 1;
  *room -= length + 1;
  return key;
}

static void open_level(json_path *p, bool named)
{
  if (p->depth < MAX_PATH_DEPTH) {
    p->steps[p->depth++] = (path_step){named ? "" : NULL, 0};
  }
}

// A string before a colon is a key.
static void take_string(json_path *p, const char *at, const char *end, char **keys, size_t *room)
{
  path_step *top = p->depth > 0 ? &p->steps[p->depth - 1] : NULL;
  if (top && top->key && *skip_space(end) == ':') {
    top->key = copy_key(at + 1, end - 1, keys, room);
  }
}

void path_of_offset(const char *text, size_t offset, json_path *p, char *keys, size_t size)
{
  p->depth = 0;
  for (const char *at = skip_space(text); *at && (size_t)(at - text) < offset;) {
    const char *end = *at == '"' ? skip_string(at) : skip_scalar(at);
    path_step *top = p->depth > 0 ? &p->steps[p->depth - 1] : NULL;
    if (*at == '{' || *at == '[') {
      open_level(p, *at == '{');
    } else if (*at == '}' || *at == ']') {
      p->depth -= p->depth > 0;
    } else if (*at == ',' && top) {
      top->index += top->key == NULL;
      top->key = top->key ? "" : NULL;
    } else if (*at == '"' && (size_t)(end - text) <= offset) {
      take_string(p, at, end, &keys, &size);
    }
    at = skip_space(end);
  }
  while (p->depth > 0 && p->steps[p->depth - 1].key && p->steps[p->depth - 1].key[0] == '\0') {
    p->depth -= 1; // in an object, before a key
  }
}

static size_t add_char(char *out, size_t size, size_t used, char c)
{
  if (used + 1 < size) {
    out[used++] = (unsigned char)c < 0x20 || c == 0x7f ? '?' : c;
  }
  return used;
}

void path_print(const json_path *p, char *out, size_t size)
{
  size_t used = 0;
  for (int i = 0; i < p->depth; ++i) {
    char number[16];
    const char *word = p->steps[i].key;
    if (!word) {
      snprintf(number, sizeof number, "[%d]", p->steps[i].index);
      word = number;
    } else if (i > 0) {
      used = add_char(out, size, used, '.');
    }
    for (int k = 0; k < 64 && word[k]; ++k) {
      used = add_char(out, size, used, word[k]);
    }
  }
  out[used] = '\0';
}

// ---------------------------------------------------------------------------------------------
// Limits

static const char *problem_of_word(const char *at, const char *end)
{
  size_t length = (size_t)(end - at);
  static const char *const words[] = {"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf"};
  for (int i = 0; i < 6; ++i) {
    if (strlen(words[i]) == length && strncmp(at, words[i], length) == 0) {
      return "JSON has no NaN or infinity";
    }
  }
  if (*at == '/' || *at == '#') {
    return "JSON has no comments";
  }
  if (*at == '\'') {
    return "strings need double quotes";
  }
  return length > MAX_NUMBER_LENGTH ? "word or number too long" : NULL;
}

text_problem text_check(const char *text, size_t size)
{
  int depth = 0, values = 0;
  char last = '\0';
  const char *at = skip_space(text);
  while ((size_t)(at - text) < size) {
    const char *end = *at == '"' ? skip_string(at) : skip_scalar(at);
    const char *why = NULL;
    bool punctuation = *at && strchr(",:]}{[\"", *at);
    depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
    values += !punctuation || *at == '"' || *at == '{' || *at == '[';
    if (!*at) {
      why = "contains a zero byte";
    } else if (depth > MAX_PATH_DEPTH) {
      why = "nested too deeply";
    } else if (values > MAX_VALUES) {
      why = "too many values";
    } else if (last == ',' && (*at == '}' || *at == ']')) {
      why = "trailing comma";
    } else if (!punctuation) {
      why = problem_of_word(at, end);
    }
    if (why) {
      return (text_problem){(size_t)(at - text), why};
    }
    last = *at;
    at = skip_space(end);
  }
  return (text_problem){0, NULL};
}

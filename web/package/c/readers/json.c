// The part of cJSON that the reader of scene files uses, for the module: cJSON itself is a library
// of the host. Parses JSON by recursive descent; text_check() has bounded the depth before.
#include <cjson/cJSON.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser {
  const char *at;
  const char *wrong; // first character that does not fit; null so far
} parser;

static cJSON *fail(parser *p, cJSON *partial)
{
  if (!p->wrong) {
    p->wrong = p->at;
  }
  cJSON_Delete(partial);
  return NULL;
}

static void skip_space(parser *p)
{
  p->at += strspn(p->at, " \t\r\n");
}

static cJSON *make(int type)
{
  cJSON *node = calloc(1, sizeof *node);
  if (!node) {
    __builtin_trap(); // the page reports that the engine has stopped
  }
  node->type = type;
  return node;
}

// ---------------------------------------------------------------------------------------------
// Strings

static bool read_hex(parser *p, unsigned *value)
{
  *value = 0;
  for (int i = 0; i < 4; ++i, ++p->at) {
    const char *digits = "0123456789abcdef", *found;
    char c = *p->at >= 'A' && *p->at <= 'F' ? (char)(*p->at + 32) : *p->at;
    found = c ? strchr(digits, c) : NULL;
    if (!found) {
      return false;
    }
    *value = 16 * *value + (unsigned)(found - digits);
  }
  return true;
}

static char *put_utf8(char *to, unsigned code)
{
  if (code < 0x80) {
    *to++ = (char)code;
  } else if (code < 0x800) {
    *to++ = (char)(0xC0 | code >> 6);
    *to++ = (char)(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *to++ = (char)(0xE0 | code >> 12);
    *to++ = (char)(0x80 | (code >> 6 & 0x3F));
    *to++ = (char)(0x80 | (code & 0x3F));
  } else {
    *to++ = (char)(0xF0 | code >> 18);
    *to++ = (char)(0x80 | (code >> 12 & 0x3F));
    *to++ = (char)(0x80 | (code >> 6 & 0x3F));
    *to++ = (char)(0x80 | (code & 0x3F));
  }
  return to;
}

// The character after a backslash; surrogates come in pairs.
static char *read_escape(parser *p, char *to)
{
  static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  const char *found = *p->at ? strchr(letters, *p->at) : NULL;
  if (found) {
    p->at += 1;
    *to = values[found - letters];
    return to + 1;
  }
  unsigned code, low;
  if (*p->at != 'u' || (p->at += 1, !read_hex(p, &code)) || code == 0) {
    return NULL;
  }
  if (code >= 0xD800 && code < 0xE000) {
    if (code >= 0xDC00 || p->at[0] != '\\' || p->at[1] != 'u') {
      return NULL;
    }
    p->at += 2;
    if (!read_hex(p, &low) || low < 0xDC00 || low >= 0xE000) {
      return NULL;
    }
    code = 0x10000 + ((code & 0x3FF) << 10 | (low & 0x3FF));
  }
  return put_utf8(to, code);
}

static char *read_string(parser *p)
{
  const char *end = p->at + 1;
  while (*end && *end != '"') {
    end += end[0] == '\\' && end[1] ? 2 : 1;
  }
  char *text = malloc((size_t)(end - p->at) + 1), *to = text;
  if (!text) {
    __builtin_trap();
  }
  for (p->at += 1; to && *p->at && *p->at != '"';) {
    if (*p->at == '\\') {
      p->at += 1;
      to = read_escape(p, to);
    } else {
      *to++ = *p->at++;
    }
  }
  if (!to || *p->at != '"') {
    free(text);
    return NULL;
  }
  p->at += 1;
  *to = '\0';
  return text;
}

// ---------------------------------------------------------------------------------------------
// Values

static cJSON *read_value(parser *p);

static void append(cJSON *parent, cJSON *child)
{
  if (parent->child) {
    cJSON *last = parent->child->prev;
    last->next = child;
    child->prev = last;
  } else {
    parent->child = child;
  }
  parent->child->prev = child; // that of the first is the last
}

// An array or an object.
static cJSON *read_list(parser *p, int type, char close)
{
  cJSON *list = make(type);
  p->at += 1;
  skip_space(p);
  if (*p->at == close) {
    p->at += 1;
    return list;
  }
  for (;;) {
    char *key = NULL;
    skip_space(p);
    if (type == cJSON_Object) {
      key = *p->at == '"' ? read_string(p) : NULL;
      skip_space(p);
      if (!key || *p->at != ':') {
        free(key);
        return fail(p, list);
      }
      p->at += 1;
    }
    cJSON *item = read_value(p);
    if (!item) {
      free(key);
      return fail(p, list);
    }
    item->string = key;
    append(list, item);
    skip_space(p);
    if (*p->at == close) {
      p->at += 1;
      return list;
    }
    if (*p->at != ',') {
      return fail(p, list);
    }
    p->at += 1;
  }
}

static cJSON *read_number(parser *p)
{
  char *end;
  double value = strtod(p->at, &end);
  if (end == p->at) {
    return fail(p, NULL);
  }
  cJSON *node = make(cJSON_Number);
  node->valuedouble = value;
  node->valueint = value > 2147483647.0    ? 2147483647
                   : value < -2147483648.0 ? -2147483647 - 1
                                           : (int)value;
  p->at = end;
  return node;
}

static cJSON *read_value(parser *p)
{
  static const struct {
    const char *word;
    int type;
  } words[] = {{"null", cJSON_NULL}, {"true", cJSON_True}, {"false", cJSON_False}};
  skip_space(p);
  if (*p->at == '{') {
    return read_list(p, cJSON_Object, '}');
  }
  if (*p->at == '[') {
    return read_list(p, cJSON_Array, ']');
  }
  if (*p->at == '"') {
    char *text = read_string(p);
    if (!text) {
      return fail(p, NULL);
    }
    cJSON *node = make(cJSON_String);
    node->valuestring = text;
    return node;
  }
  for (int i = 0; i < 3; ++i) {
    size_t length = strlen(words[i].word);
    if (strncmp(p->at, words[i].word, length) == 0) {
      p->at += length;
      return make(words[i].type);
    }
  }
  return *p->at == '-' || (*p->at >= '0' && *p->at <= '9') ? read_number(p) : fail(p, NULL);
}

cJSON *cJSON_ParseWithOpts(const char *value, const char **end, cJSON_bool whole)
{
  parser p = {value, NULL};
  cJSON *tree = read_value(&p);
  skip_space(&p);
  if (tree && whole && *p.at) {
    tree = fail(&p, tree);
  }
  *end = tree ? p.at : p.wrong;
  return tree;
}

void cJSON_Delete(cJSON *node)
{
  while (node) {
    cJSON *next = node->next;
    cJSON_Delete(node->child);
    free(node->valuestring);
    free(node->string);
    free(node);
    node = next;
  }
}

// ---------------------------------------------------------------------------------------------
// Reading the tree

int cJSON_GetArraySize(const cJSON *array)
{
  int count = 0;
  for (const cJSON *item = array ? array->child : NULL; item; item = item->next) {
    count += 1;
  }
  return count;
}

cJSON *cJSON_GetArrayItem(const cJSON *array, int index)
{
  cJSON *item = array && index >= 0 ? array->child : NULL;
  for (; item && index > 0; --index) {
    item = item->next;
  }
  return item;
}

cJSON *cJSON_GetObjectItemCaseSensitive(const cJSON *object, const char *key)
{
  cJSON *item = object ? object->child : NULL;
  while (item && !(item->string && strcmp(item->string, key) == 0)) {
    item = item->next;
  }
  return item;
}

static cJSON_bool has_type(const cJSON *node, int types)
{
  return node && (node->type & types);
}

cJSON_bool cJSON_IsArray(const cJSON *node)
{
  return has_type(node, cJSON_Array);
}

cJSON_bool cJSON_IsObject(const cJSON *node)
{
  return has_type(node, cJSON_Object);
}

cJSON_bool cJSON_IsString(const cJSON *node)
{
  return has_type(node, cJSON_String);
}

cJSON_bool cJSON_IsNumber(const cJSON *node)
{
  return has_type(node, cJSON_Number);
}

cJSON_bool cJSON_IsNull(const cJSON *node)
{
  return has_type(node, cJSON_NULL);
}

cJSON_bool cJSON_IsTrue(const cJSON *node)
{
  return has_type(node, cJSON_True);
}

cJSON_bool cJSON_IsBool(const cJSON *node)
{
  return has_type(node, cJSON_True | cJSON_False);
}

#include "xml.h"

#include <expat.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

typedef struct parse_state {
  reader *r;
  XML_Parser parser;
  const char *path;
  xml_node *root, *open;
  int depth, nodes;
  int skipped;                   // lines before the first element
  char content[XML_MAX_CONTENT]; // of the open element so far
  size_t content_size;
} parse_state;

static place here(const parse_state *s)
{
  place at = {s->path, s->skipped + (int)XML_GetCurrentLineNumber(s->parser)};
  return at;
}

static void stop(parse_state *s, const char *why)
{
  import_fail(s->r, here(s), "%s", why);
  XML_StopParser(s->parser, XML_FALSE);
}

static void read_attributes(parse_state *s, xml_node *node, const XML_Char **pairs)
{
  memory *m = &s->r->model->memory;
  xml_attribute **end = &node->attributes;
  for (int i = 0; pairs[i]; i += 2) {
    xml_attribute *a = memory_take(m, 1, sizeof *a);
    if (!a) {
      return;
    }
    a->name = memory_text(m, pairs[i], strlen(pairs[i]));
    a->value = memory_text(m, pairs[i + 1], strlen(pairs[i + 1]));
    *end = a;
    end = &a->next;
  }
}

static void XMLCALL open_element(void *context, const XML_Char *name, const XML_Char **pairs)
{
  parse_state *s = context;
  memory *m = &s->r->model->memory;
  if (++s->depth > XML_MAX_DEPTH) {
    stop(s, "elements are nested too deeply");
    return;
  }
  if (++s->nodes > XML_MAX_NODES) {
    stop(s, "too many elements");
    return;
  }
  xml_node *node = memory_take(m, 1, sizeof *node);
  if (!node) {
    stop(s, "not enough memory");
    return;
  }
  node->name = memory_text(m, name, strlen(name));
  node->content = "";
  s->content_size = 0;
  node->at = here(s);
  node->parent = s->open;
  read_attributes(s, node, pairs);
  if (!s->open) {
    s->root = node;
  } else if (s->open->last) {
    s->open->last->next = node;
    s->open->last = node;
  } else {
    s->open->first = s->open->last = node;
  }
  s->open = node;
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Keeps the start of a text; longer ones are no values.
static void XMLCALL add_content(void *context, const XML_Char *text, int length)
{
  parse_state *s = context;
  for (int i = 0; i < length && s->content_size < XML_MAX_CONTENT; ++i) {
    if (s->content_size > 0 || !is_blank(text[i])) {
      s->content[s->content_size++] = text[i];
    }
  }
}

static void XMLCALL close_element(void *context, const XML_Char *name)
{
  parse_state *s = context;
  (void)name;
  if (s->open && !s->open->first && s->content_size > 0 && s->content_size < XML_MAX_CONTENT) {
    size_t end = s->content_size;
    while (end > 0 && is_blank(s->content[end - 1])) {
      end -= 1;
    }
    s->open->content = memory_text(&s->r->model->memory, s->content, end);
  }
  s->content_size = 0;
  s->depth -= 1;
  s->open = s->open ? s->open->parent : NULL;
}

// Entities are the way of small files to become huge ones, and no robot needs them.
static void XMLCALL refuse_entity(void *context, const XML_Char *name, int is_parameter,
                                  const XML_Char *value, int length, const XML_Char *base,
                                  const XML_Char *system, const XML_Char *pub,
                                  const XML_Char *notation)
{
  (void)name, (void)is_parameter, (void)value, (void)length;
  (void)base, (void)system, (void)pub, (void)notation;
  stop(context, "entity declarations are not allowed");
}

xml_node *xml_parse(reader *r, const char *path, const char *text, size_t size)
{
  parse_state s = {.r = r, .path = path, .parser = XML_ParserCreate(NULL)};
  place start = {path, 1};
  // Files are in use that have empty lines before their declaration.
  while (size > 0 && is_blank(*text)) {
    s.skipped += *text == '\n';
    text += 1;
    size -= 1;
  }
  if (!s.parser) {
    import_fail(r, start, "not enough memory");
    return NULL;
  }
  XML_SetUserData(s.parser, &s);
  XML_SetElementHandler(s.parser, open_element, close_element);
  XML_SetCharacterDataHandler(s.parser, add_content);
  XML_SetEntityDeclHandler(s.parser, refuse_entity);
  enum XML_Status status = XML_STATUS_ERROR;
  if (size <= (size_t)INT_MAX) {
    status = XML_Parse(s.parser, text, (int)size, 1);
  }
  if (status != XML_STATUS_OK) {
    import_fail(r, here(&s), "not well-formed: %s", XML_ErrorString(XML_GetErrorCode(s.parser)));
  }
  XML_ParserFree(s.parser);
  if (r->model->memory.failed) {
    import_fail(r, start, "not enough memory");
  }
  return r->failed ? NULL : s.root;
}

// ---------------------------------------------------------------------------------------------
// Attributes

static xml_attribute *find_attribute(const xml_node *node, const char *name)
{
  for (xml_attribute *a = node->attributes; a; a = a->next) {
    if (strcmp(a->name, name) == 0) {
      return a;
    }
  }
  return NULL;
}

const char *xml_get(const xml_node *node, const char *name)
{
  xml_attribute *a = find_attribute(node, name);
  if (!a) {
    return NULL;
  }
  a->used = true;
  return a->value;
}

bool xml_has(const xml_node *node, const char *name)
{
  return find_attribute(node, name);
}

void xml_set(const xml_node *node, const char *name, const char *value)
{
  xml_attribute *a = find_attribute(node, name);
  if (a) {
    a->value = value;
  }
}

bool xml_is(const xml_node *node, const char *name)
{
  return strcmp(node->name, name) == 0;
}

const xml_node *xml_child(const xml_node *node, const char *name)
{
  for (const xml_node *child = node->first; child; child = child->next) {
    if (xml_is(child, name)) {
      return child;
    }
  }
  return NULL;
}

const char *xml_text(const xml_node *node, const char *name)
{
  const char *value = xml_get(node, name);
  return value ? value : "";
}

static const char *skip_spaces(const char *s)
{
  while (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\r') {
    ++s;
  }
  return s;
}

static bool bad_value(reader *r, const xml_node *node, const char *name, const char *value,
                      const char *wanted)
{
  return import_fail(r, node->at, "%s of <%.40s> must be %s, not '%.60s'", name, node->name, wanted,
                     value);
}

// The next number of a list; spaces must follow it. A comma is none: locales would write 1,5.
static bool next_number(const char **s, double *value)
{
  if (!parse_double(s, value)) {
    return false;
  }
  const char *after = skip_spaces(*s);
  bool separated = after != *s || *after == '\0';
  *s = after;
  return separated;
}

int xml_numbers(reader *r, const xml_node *node, const char *name, int least, int most,
                double *values)
{
  const char *text = xml_get(node, name), *s = text ? skip_spaces(text) : "";
  int count = 0;
  if (!text) {
    return 0;
  }
  while (*s) {
    double value;
    if (!next_number(&s, &value)) {
      bad_value(r, node, name, text, "numbers");
      return 0;
    }
    if (count == most) {
      import_fail(r, node->at, "%s of <%.40s> has more than %d numbers", name, node->name, most);
      return 0;
    }
    values[count++] = value;
  }
  if (count < least) {
    import_fail(r, node->at, "%s of <%.40s> needs %d numbers, not %d", name, node->name, least,
                count);
    return 0;
  }
  return count;
}

bool xml_number(reader *r, const xml_node *node, const char *name, double *value)
{
  return xml_numbers(r, node, name, 1, 1, value) == 1;
}

bool xml_integer(reader *r, const xml_node *node, const char *name, int *value)
{
  double number;
  if (!xml_number(r, node, name, &number)) {
    return false;
  }
  if (number != floor(number) || fabs(number) > 2147483647.0) {
    return bad_value(r, node, name, xml_text(node, name), "a whole number");
  }
  *value = (int)number;
  return true;
}

bool xml_vector(reader *r, const xml_node *node, const char *name, dvec *value)
{
  double v[3];
  if (xml_numbers(r, node, name, 3, 3, v) != 3) {
    return false;
  }
  *value = dvec_of(v[0], v[1], v[2]);
  return true;
}

bool xml_word(reader *r, const xml_node *node, const char *name, const char *const *words,
              int *value)
{
  const char *text = xml_get(node, name);
  if (!text) {
    return false;
  }
  char wanted[200] = "one of";
  for (int i = 0; words[i]; ++i) {
    if (strcmp(words[i], text) == 0) {
      *value = i;
      return true;
    }
    size_t used = strlen(wanted);
    snprintf(wanted + used, sizeof wanted - used, "%s %s", i ? "," : "", words[i]);
  }
  return bad_value(r, node, name, text, wanted);
}

bool xml_bool(reader *r, const xml_node *node, const char *name, bool *value)
{
  static const char *const words[] = {"false", "true", NULL};
  int index;
  if (!xml_word(r, node, name, words, &index)) {
    return false;
  }
  *value = index == 1;
  return true;
}

double *xml_list(reader *r, const xml_node *node, const char *name, int *count)
{
  const char *text = xml_get(node, name);
  *count = 0;
  if (!text) {
    return NULL;
  }
  double *values = memory_take(&r->model->memory, strlen(text) / 2 + 1, sizeof *values);
  for (const char *s = skip_spaces(text); values && *s; ++*count) {
    if (!next_number(&s, &values[*count])) {
      bad_value(r, node, name, text, "numbers");
      *count = 0;
      return NULL;
    }
  }
  return values;
}

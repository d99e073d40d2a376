// The part of expat that the reader of models uses, for the module: expat itself is a library of
// the host. One call parses a whole text in UTF-8 and reports its elements and text. A document
// type may name files, but declares nothing: import refuses entities, and no robot has the rest.
#include <expat.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct XML_ParserStruct {
  void *context;
  XML_StartElementHandler start;
  XML_EndElementHandler end;
  XML_EntityDeclHandler entity;
  XML_CharacterDataHandler characters;
  const char *at, *last; // the next character; the end of the text
  XML_Size line;         // of `seen`
  const char *seen;      // up to which lines are counted
  enum XML_Error error;
  char **open; // names of open elements
  int depth, room;
  char **pairs; // names and values of the attributes of a tag, then a null
  int pair_room;
  bool has_doctype, has_root;
  bool alone;        // the document says that it stands alone
  bool has_external; // declarations in a file that is not read: entities may be among them
};

// ---------------------------------------------------------------------------------------------
// Characters

static bool fail(XML_Parser p, enum XML_Error error)
{
  if (p->error == XML_ERROR_NONE) {
    p->error = error;
  }
  return false;
}

static bool starts(XML_Parser p, const char *word)
{
  size_t length = strlen(word);
  return (size_t)(p->last - p->at) >= length && memcmp(p->at, word, length) == 0;
}

static bool is_space(char c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool skip_space(XML_Parser p)
{
  const char *from = p->at;
  while (p->at < p->last && is_space(*p->at)) {
    p->at += 1;
  }
  return p->at > from;
}

// Bytes of the character at the reader, a valid one of XML; 0 for none.
static int character(XML_Parser p)
{
  const unsigned char *s = (const unsigned char *)p->at;
  size_t left = (size_t)(p->last - p->at);
  unsigned c = left > 0 ? s[0] : 0;
  if (c < 0x80) {
    return c >= 0x20 || c == '\t' || c == '\n' || c == '\r';
  }
  int bytes = c >= 0xF0 && c < 0xF5 ? 4 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xC2 && c < 0xE0 ? 2 : 0;
  if (bytes == 0 || left < (size_t)bytes) {
    return 0;
  }
  unsigned code = c & (0xFFu >> (bytes + 1));
  for (int i = 1; i < bytes; ++i) {
    if ((s[i] & 0xC0) != 0x80) {
      return 0;
    }
    code = code << 6 | (s[i] & 0x3Fu);
  }
  bool shortest = code >= (bytes == 4 ? 0x10000u : bytes == 3 ? 0x800u : 0x80u);
  bool allowed =
      code < 0x110000 && (code < 0xD800 || code > 0xDFFF) && code != 0xFFFE && code != 0xFFFF;
  return shortest && allowed ? bytes : 0;
}

static bool is_name_start(unsigned char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' || c >= 0x80;
}

static bool is_name(unsigned char c)
{
  return is_name_start(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

// Moves past a name; its length, 0 for none.
static size_t skip_name(XML_Parser p)
{
  const char *from = p->at;
  if (p->at == p->last || !is_name_start((unsigned char)*p->at)) {
    return 0;
  }
  while (p->at < p->last && is_name((unsigned char)*p->at)) {
    int bytes = character(p);
    if (bytes == 0) {
      return 0;
    }
    p->at += bytes;
  }
  return (size_t)(p->at - from);
}

static char *copy_text(const char *from, size_t length)
{
  char *text = malloc(length + 1);
  if (text) {
    memcpy(text, from, length);
    text[length] = '\0';
  }
  return text;
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

// The number of &#10; or &#xA;, a character of XML; 0 for none.
static unsigned read_code(XML_Parser p)
{
  unsigned base = 10, code = 0;
  int digits = 0;
  p->at += 2;
  if (p->at < p->last && *p->at == 'x') {
    base = 16;
    p->at += 1;
  }
  for (; p->at < p->last && *p->at != ';'; ++p->at, ++digits) {
    static const char letters[] = "0123456789abcdef";
    char c = *p->at >= 'A' && *p->at <= 'F' ? (char)(*p->at + 32) : *p->at;
    const char *found = c ? memchr(letters, c, base) : NULL;
    if (!found) {
      fail(p, XML_ERROR_INVALID_TOKEN);
      return 0;
    }
    code = code < 0x110000 ? base * code + (unsigned)(found - letters) : code;
  }
  bool closed = p->at < p->last && digits > 0;
  bool allowed = code < 0x110000 && (code < 0xD800 || code > 0xDFFF) && code != 0xFFFE &&
                 code != 0xFFFF && (code >= 0x20 || code == 9 || code == 10 || code == 13);
  if (!closed || !allowed) {
    fail(p, closed ? XML_ERROR_BAD_CHAR_REF : XML_ERROR_INVALID_TOKEN);
    return 0;
  }
  p->at += 1;
  return code;
}

// A reference, which is never longer than what it stands for. Null for one that is none.
static char *read_reference(XML_Parser p, char *to)
{
  static const struct {
    const char *name;
    char value;
  } known[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&apos;", '\''}, {"&quot;", '"'}};
  if (starts(p, "&#")) {
    unsigned code = read_code(p);
    return code ? put_utf8(to, code) : NULL;
  }
  for (int i = 0; i < 5; ++i) {
    if (starts(p, known[i].name)) {
      p->at += strlen(known[i].name);
      *to = known[i].value;
      return to + 1;
    }
  }
  p->at += 1;
  bool named = skip_name(p) > 0 && p->at < p->last && *p->at == ';';
  if (named && p->has_external && !p->alone) {
    p->at += 1;
    return to;
  }
  fail(p, named ? XML_ERROR_UNDEFINED_ENTITY : XML_ERROR_INVALID_TOKEN);
  return NULL;
}

// ---------------------------------------------------------------------------------------------
// Tags

// The value of an attribute in its quotes; spaces of any kind become blanks.
static char *read_value(XML_Parser p)
{
  char quote = p->at < p->last ? *p->at : '\0';
  if (quote != '"' && quote != '\'') {
    fail(p, XML_ERROR_INVALID_TOKEN);
    return NULL;
  }
  const char *end = memchr(p->at + 1, quote, (size_t)(p->last - p->at - 1));
  char *text = end ? malloc((size_t)(end - p->at)) : NULL, *to = text;
  if (!text) {
    fail(p, end ? XML_ERROR_NO_MEMORY : XML_ERROR_UNCLOSED_TOKEN);
    return NULL;
  }
  p->at += 1;
  while (to && p->at < end) {
    int bytes = character(p);
    if (bytes == 0 || *p->at == '<') {
      fail(p, XML_ERROR_INVALID_TOKEN);
      to = NULL;
    } else if (*p->at == '&') {
      to = read_reference(p, to);
    } else if (is_space(*p->at)) {
      p->at += *p->at == '\r' && p->at[1] == '\n' ? 2 : 1; // the end of a line is one character
      *to++ = ' ';
    } else {
      memcpy(to, p->at, (size_t)bytes);
      to += bytes;
      p->at += bytes;
    }
  }
  if (!to || p->at != end) {
    fail(p, XML_ERROR_INVALID_TOKEN);
    free(text);
    return NULL;
  }
  *to = '\0';
  p->at = end + 1;
  return text;
}

static bool grow_pairs(XML_Parser p, int count)
{
  if (count + 3 <= p->pair_room) {
    return true;
  }
  int room = 2 * count + 16;
  char **grown = realloc(p->pairs, (size_t)room * sizeof *grown);
  if (!grown) {
    return fail(p, XML_ERROR_NO_MEMORY);
  }
  p->pairs = grown;
  p->pair_room = room;
  return true;
}

static void free_pairs(XML_Parser p)
{
  for (int i = 0; p->pairs && p->pairs[i]; ++i) {
    free(p->pairs[i]);
    p->pairs[i] = NULL;
  }
}

static bool read_attribute(XML_Parser p, int count)
{
  char **pairs = p->pairs;
  const char *name = p->at;
  size_t length = skip_name(p);
  pairs[count] = length > 0 ? copy_text(name, length) : NULL;
  pairs[count + 1] = NULL;
  if (!pairs[count]) {
    return fail(p, length > 0 ? XML_ERROR_NO_MEMORY : XML_ERROR_INVALID_TOKEN);
  }
  for (int i = 0; i < count; i += 2) {
    if (strcmp(pairs[i], pairs[count]) == 0) {
      fail(p, XML_ERROR_DUPLICATE_ATTRIBUTE);
    }
  }
  skip_space(p);
  if (p->at == p->last || *p->at != '=') {
    return fail(p, XML_ERROR_INVALID_TOKEN);
  }
  p->at += 1;
  skip_space(p);
  pairs[count + 1] = read_value(p);
  pairs[count + 2] = NULL;
  return pairs[count + 1] && p->error == XML_ERROR_NONE;
}

// The end of a tag after its attributes: 1 for >, 2 for />, 0 for neither.
static int end_of_tag(XML_Parser p)
{
  int length = starts(p, "/>") ? 2 : starts(p, ">") ? 1 : 0;
  p->at += length;
  return length;
}

static bool push(XML_Parser p, char *name)
{
  if (p->depth == p->room) {
    int room = 2 * p->room + 16;
    char **grown = realloc(p->open, (size_t)room * sizeof *grown);
    if (!grown) {
      free(name);
      return fail(p, XML_ERROR_NO_MEMORY);
    }
    p->open = grown;
    p->room = room;
  }
  p->open[p->depth++] = name;
  return true;
}

static void pop(XML_Parser p)
{
  p->end(p->context, p->open[p->depth - 1]);
  free(p->open[--p->depth]);
}

// Reads the attributes of a tag; the kind of its end, 0 after an error.
static int read_attributes(XML_Parser p)
{
  for (int count = 0; grow_pairs(p, count); count += 2) {
    p->pairs[count] = NULL;
    bool spaced = skip_space(p);
    int end = end_of_tag(p);
    if (end > 0) {
      return end;
    }
    if (!spaced || p->at == p->last) {
      fail(p, p->at == p->last ? XML_ERROR_UNCLOSED_TOKEN : XML_ERROR_INVALID_TOKEN);
      return 0;
    }
    if (!read_attribute(p, count)) {
      return 0;
    }
  }
  return 0;
}

static bool read_start_tag(XML_Parser p)
{
  const char *tag = p->at;
  if (p->depth == 0 && p->has_root) {
    return fail(p, XML_ERROR_JUNK_AFTER_DOC_ELEMENT);
  }
  p->at += 1;
  size_t length = skip_name(p);
  if (length == 0) {
    return fail(p, XML_ERROR_INVALID_TOKEN);
  }
  char *name = copy_text(tag + 1, length);
  int end = name ? read_attributes(p) : fail(p, XML_ERROR_NO_MEMORY);
  const char *after = p->at;
  if (end > 0) {
    p->at = tag; // the line that the handler asks for
    p->start(p->context, name, (const char **)p->pairs);
    p->at = after;
    p->has_root = true;
  }
  free_pairs(p);
  if (end == 0) {
    free(name);
    return false;
  }
  if (push(p, name) && end == 2) {
    pop(p);
  }
  return p->error == XML_ERROR_NONE;
}

static bool read_end_tag(XML_Parser p)
{
  p->at += 2;
  const char *name = p->at;
  size_t length = skip_name(p);
  skip_space(p);
  if (length == 0 || p->depth == 0 || p->at == p->last || *p->at != '>') {
    return fail(p, XML_ERROR_INVALID_TOKEN);
  }
  const char *open = p->open[p->depth - 1];
  if (strlen(open) != length || memcmp(open, name, length) != 0) {
    p->at = name;
    return fail(p, XML_ERROR_TAG_MISMATCH);
  }
  p->at += 1;
  pop(p);
  return true;
}

// ---------------------------------------------------------------------------------------------
// Everything else

// Moves past valid characters up to and over `end`.
static bool skip_to(XML_Parser p, const char *end, enum XML_Error unclosed)
{
  while (p->at < p->last && !starts(p, end)) {
    int bytes = character(p);
    if (bytes == 0) {
      return fail(p, XML_ERROR_INVALID_TOKEN);
    }
    p->at += bytes;
  }
  if (p->at == p->last) {
    return fail(p, unclosed);
  }
  p->at += strlen(end);
  return true;
}

static bool read_comment(XML_Parser p)
{
  p->at += 4;
  if (!skip_to(p, "--", XML_ERROR_UNCLOSED_TOKEN)) {
    return false;
  }
  if (p->at == p->last || *p->at != '>') {
    return fail(p, XML_ERROR_INVALID_TOKEN);
  }
  p->at += 1;
  return true;
}

static bool is_xml(const char *name, size_t length)
{
  return length == 3 && (name[0] | 32) == 'x' && (name[1] | 32) == 'm' && (name[2] | 32) == 'l';
}

static bool read_instruction(XML_Parser p)
{
  p->at += 2;
  const char *name = p->at;
  size_t length = skip_name(p);
  if (length == 0 || is_xml(name, length)) {
    return fail(p, length ? XML_ERROR_MISPLACED_XML_PI : XML_ERROR_INVALID_TOKEN);
  }
  if (!starts(p, "?>") && !skip_space(p)) {
    return fail(p, XML_ERROR_INVALID_TOKEN);
  }
  return skip_to(p, "?>", XML_ERROR_UNCLOSED_TOKEN);
}

// A quoted word of the declaration after `name`; an empty one in `text` if there is none.
static bool read_declared(XML_Parser p, const char *name, char *text, size_t room)
{
  bool spaced = skip_space(p);
  text[0] = '\0';
  if (!starts(p, name)) {
    return true;
  }
  p->at += strlen(name);
  skip_space(p);
  if (!spaced || p->at == p->last || *p->at != '=') {
    return fail(p, XML_ERROR_XML_DECL);
  }
  p->at += 1;
  skip_space(p);
  char quote = p->at < p->last ? *p->at : '\0';
  const char *end = quote == '"' || quote == '\''
                        ? memchr(p->at + 1, quote, (size_t)(p->last - p->at - 1))
                        : NULL;
  size_t length = end ? (size_t)(end - p->at - 1) : room;
  if (length == 0 || length >= room) {
    return fail(p, XML_ERROR_XML_DECL);
  }
  memcpy(text, p->at + 1, length);
  text[length] = '\0';
  p->at = end + 1;
  return true;
}

static bool is_word(const char *text, const char *lower)
{
  while (*text && (*text >= 'A' && *text <= 'Z' ? *text + 32 : *text) == *lower) {
    text += 1;
    lower += 1;
  }
  return !*text && !*lower;
}

#define VERSION_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-"

// <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
static bool read_declaration(XML_Parser p)
{
  char version[16], encoding[40], alone[8];
  p->at += 5;
  if (!read_declared(p, "version", version, sizeof version) ||
      !read_declared(p, "encoding", encoding, sizeof encoding) ||
      !read_declared(p, "standalone", alone, sizeof alone)) {
    return false;
  }
  skip_space(p);
  bool known = *version && strspn(version, VERSION_LETTERS) == strlen(version);
  known = known && (!*alone || strcmp(alone, "yes") == 0 || strcmp(alone, "no") == 0);
  if (!known || !starts(p, "?>")) {
    return fail(p, XML_ERROR_XML_DECL);
  }
  p->at += 2;
  p->alone = strcmp(alone, "yes") == 0;
  bool readable = !*encoding || is_word(encoding, "utf-8") || is_word(encoding, "us-ascii");
  return readable || fail(p, XML_ERROR_UNKNOWN_ENCODING);
}

static bool skip_word(XML_Parser p, const char *word)
{
  bool found = starts(p, word);
  p->at += found ? strlen(word) : 0;
  return found;
}

// A quoted literal after space; public identifiers consist of few characters.
static bool skip_literal(XML_Parser p, bool is_public)
{
  char quote[2] = {'\0', '\0'};
  quote[0] = skip_space(p) && p->at < p->last ? *p->at : '\0';
  if (quote[0] != '"' && quote[0] != '\'') {
    return fail(p, XML_ERROR_SYNTAX);
  }
  const char *from = ++p->at;
  if (!skip_to(p, quote, XML_ERROR_UNCLOSED_TOKEN)) {
    return false;
  }
  for (const char *c = from; is_public && c < p->at - 1; ++c) {
    bool is_letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
    if (!is_letter && !(*c && strchr(" \r\n0123456789-'()+,./:=?;!*#@$_%", *c))) {
      return fail(p, XML_ERROR_INVALID_TOKEN);
    }
  }
  return true;
}

// <!DOCTYPE name SYSTEM "..."> without declarations of its own.
static bool read_doctype(XML_Parser p)
{
  p->at += 9;
  if (p->has_doctype || !skip_space(p) || skip_name(p) == 0) {
    return fail(p, XML_ERROR_SYNTAX);
  }
  p->has_doctype = true;
  if (skip_space(p) && p->at < p->last && *p->at != '>' && *p->at != '[') {
    bool is_public = skip_word(p, "PUBLIC");
    if (!is_public && !skip_word(p, "SYSTEM")) {
      return fail(p, XML_ERROR_SYNTAX);
    }
    p->has_external = true;
    if ((is_public && !skip_literal(p, true)) || !skip_literal(p, false)) {
      return false;
    }
    skip_space(p);
  }
  if (p->at < p->last && *p->at == '[') {
    p->entity(p->context, "", 0, NULL, 0, NULL, NULL, NULL, NULL);
  }
  return skip_word(p, ">") || fail(p, XML_ERROR_SYNTAX);
}

// Reports text; the end of a line is one character.
static void report_text(XML_Parser p, const char *text, const char *end)
{
  for (const char *s = text; s < end && p->characters && p->depth > 0; ++s) {
    bool is_return = *s == '\r';
    p->characters(p->context, is_return ? "\n" : s, 1);
    s += is_return && s + 1 < end && s[1] == '\n';
  }
}

static bool read_text(XML_Parser p)
{
  char reference[8];
  const char *from = p->at;
  while (p->at < p->last && *p->at != '<') {
    int bytes = character(p);
    if (bytes == 0 || starts(p, "]]>")) {
      return fail(p, XML_ERROR_INVALID_TOKEN);
    }
    if (p->depth == 0 && !is_space(*p->at)) {
      return fail(p, p->has_root ? XML_ERROR_JUNK_AFTER_DOC_ELEMENT : XML_ERROR_SYNTAX);
    }
    if (*p->at == '&') {
      report_text(p, from, p->at);
      const char *end = read_reference(p, reference);
      if (!end) {
        return false;
      }
      if (p->characters && p->depth > 0) {
        p->characters(p->context, reference, (int)(end - reference));
      }
      from = p->at;
    } else {
      p->at += bytes;
    }
  }
  report_text(p, from, p->at);
  return true;
}

static bool read_cdata(XML_Parser p)
{
  p->at += 9;
  const char *from = p->at;
  bool closed = skip_to(p, "]]>", XML_ERROR_UNCLOSED_CDATA_SECTION);
  if (closed) {
    report_text(p, from, p->at - 3);
  }
  return closed;
}

static bool read_markup(XML_Parser p)
{
  if (starts(p, "</")) {
    return read_end_tag(p);
  }
  if (starts(p, "<!--")) {
    return read_comment(p);
  }
  if (starts(p, "<?")) {
    return read_instruction(p);
  }
  if (starts(p, "<![CDATA[") && p->depth > 0) {
    return read_cdata(p);
  }
  if (starts(p, "<!DOCTYPE") && !p->has_root) {
    return read_doctype(p);
  }
  return starts(p, "<!") ? fail(p, XML_ERROR_INVALID_TOKEN) : read_start_tag(p);
}

// ---------------------------------------------------------------------------------------------
// The functions of expat

XML_Parser XML_ParserCreate(const XML_Char *encoding)
{
  (void)encoding;
  return calloc(1, sizeof(struct XML_ParserStruct));
}

void XML_ParserFree(XML_Parser p)
{
  while (p && p->depth > 0) {
    free(p->open[--p->depth]);
  }
  if (p) {
    free(p->open);
    free(p->pairs);
  }
  free(p);
}

void XML_SetUserData(XML_Parser p, void *context)
{
  p->context = context;
}

void XML_SetElementHandler(XML_Parser p, XML_StartElementHandler start, XML_EndElementHandler end)
{
  p->start = start;
  p->end = end;
}

void XML_SetEntityDeclHandler(XML_Parser p, XML_EntityDeclHandler handler)
{
  p->entity = handler;
}

void XML_SetCharacterDataHandler(XML_Parser p, XML_CharacterDataHandler handler)
{
  p->characters = handler;
}

enum XML_Status XML_StopParser(XML_Parser p, XML_Bool resumable)
{
  (void)resumable;
  fail(p, XML_ERROR_ABORTED);
  return XML_STATUS_OK;
}

enum XML_Status XML_Parse(XML_Parser p, const char *text, int size, int is_final)
{
  (void)is_final;
  p->at = p->seen = text;
  p->last = text + size;
  p->line = 1;
  if (starts(p, "\xEF\xBB\xBF")) {
    p->at += 3;
  }
  bool has_declaration = starts(p, "<?xml") && p->last - p->at > 5 && is_space(p->at[5]);
  bool good = !has_declaration || read_declaration(p);
  while (good && p->error == XML_ERROR_NONE && p->at < p->last) {
    good = *p->at == '<' ? read_markup(p) : read_text(p);
  }
  if (p->error == XML_ERROR_NONE && (p->depth > 0 || !p->has_root)) {
    fail(p, XML_ERROR_NO_ELEMENTS);
  }
  return p->error == XML_ERROR_NONE ? XML_STATUS_OK : XML_STATUS_ERROR;
}

XML_Size XML_GetCurrentLineNumber(XML_Parser p)
{
  for (; p->seen < p->at; ++p->seen) {
    bool is_pair = *p->seen == '\r' && p->seen + 1 < p->last && p->seen[1] == '\n';
    p->line += *p->seen == '\n' || (*p->seen == '\r' && !is_pair);
  }
  return p->line;
}

enum XML_Error XML_GetErrorCode(XML_Parser p)
{
  return p->error;
}

const XML_LChar *XML_ErrorString(enum XML_Error code)
{
  switch (code) {
  case XML_ERROR_NO_MEMORY:
    return "out of memory";
  case XML_ERROR_NO_ELEMENTS:
    return "no element found";
  case XML_ERROR_UNCLOSED_TOKEN:
    return "unclosed token";
  case XML_ERROR_TAG_MISMATCH:
    return "mismatched tag";
  case XML_ERROR_DUPLICATE_ATTRIBUTE:
    return "duplicate attribute";
  case XML_ERROR_JUNK_AFTER_DOC_ELEMENT:
    return "junk after document element";
  case XML_ERROR_UNDEFINED_ENTITY:
    return "undefined entity";
  case XML_ERROR_BAD_CHAR_REF:
    return "reference to invalid character number";
  case XML_ERROR_MISPLACED_XML_PI:
    return "XML or text declaration not at start of entity";
  case XML_ERROR_XML_DECL:
    return "XML declaration not well-formed";
  case XML_ERROR_UNKNOWN_ENCODING:
    return "the encoding is not UTF-8";
  case XML_ERROR_UNCLOSED_CDATA_SECTION:
    return "unclosed CDATA section";
  case XML_ERROR_SYNTAX:
    return "syntax error";
  default:
    return "not well-formed (invalid token)";
  }
}

// What a parser of XML reports, as text: for a comparison of two parsers, each compiled with this.
#include <expat.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct xml_events {
  char text[1 << 16];
  bool in_text; // the last event was text, which comes in pieces
  size_t used;
  XML_Parser parser;
} xml_events;

static void put(xml_events *out, const char *kind, const char *word)
{
  size_t room = sizeof out->text - out->used;
  int more =
      snprintf(out->text + out->used, room, "%s%s%s\n", out->in_text ? "|\n" : "", kind, word);
  out->used += (size_t)more < room ? (size_t)more : room - 1;
  out->in_text = false;
}

static void XMLCALL put_text(void *context, const XML_Char *text, int length)
{
  xml_events *out = context;
  size_t room = sizeof out->text - out->used;
  int more = snprintf(out->text + out->used, room, "%s%.*s", out->in_text ? "" : "|", length, text);
  out->used += (size_t)more < room ? (size_t)more : room - 1;
  out->in_text = true;
}

static void XMLCALL put_start(void *context, const XML_Char *name, const XML_Char **pairs)
{
  xml_events *out = context;
  char line[24];
  snprintf(line, sizeof line, "%d ", (int)XML_GetCurrentLineNumber(out->parser));
  put(out, line, name);
  for (int i = 0; pairs[i]; i += 2) {
    put(out, " ", pairs[i]);
    put(out, "=", pairs[i + 1]);
  }
}

static void XMLCALL put_end(void *context, const XML_Char *name)
{
  put(context, "/", name);
}

static void XMLCALL refuse(void *context, const XML_Char *name, int is_parameter,
                           const XML_Char *value, int length, const XML_Char *base,
                           const XML_Char *system, const XML_Char *pub, const XML_Char *notation)
{
  xml_events *out = context;
  (void)name, (void)is_parameter, (void)value, (void)length;
  (void)base, (void)system, (void)pub, (void)notation;
  XML_StopParser(out->parser, XML_FALSE);
}

// Whether the text is well-formed.
static bool record_events(xml_events *out, const char *text, size_t size)
{
  out->used = 0;
  out->in_text = false;
  out->text[0] = '\0';
  out->parser = XML_ParserCreate(NULL);
  XML_SetUserData(out->parser, out);
  XML_SetElementHandler(out->parser, put_start, put_end);
  XML_SetCharacterDataHandler(out->parser, put_text);
  XML_SetEntityDeclHandler(out->parser, refuse);
  bool good = XML_Parse(out->parser, text, (int)size, 1) == XML_STATUS_OK;
  XML_ParserFree(out->parser);
  return good;
}

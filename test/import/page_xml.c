// The parser of the page under names of its own, beside expat.
// clang-format off
#define XML_ParserCreate page_ParserCreate
#define XML_ParserFree page_ParserFree
#define XML_SetUserData page_SetUserData
#define XML_SetElementHandler page_SetElementHandler
#define XML_SetCharacterDataHandler page_SetCharacterDataHandler
#define XML_SetEntityDeclHandler page_SetEntityDeclHandler
#define XML_StopParser page_StopParser
#define XML_Parse page_Parse
#define XML_GetCurrentLineNumber page_GetCurrentLineNumber
#define XML_GetErrorCode page_GetErrorCode
#define XML_ErrorString page_ErrorString
// clang-format on
#include "../../web/package/c/readers/xml.c"

#include "xml_events.h"

bool page_events(char *text, size_t room, const char *xml, size_t size);

bool page_events(char *text, size_t room, const char *xml, size_t size)
{
  static xml_events events;
  bool good = record_events(&events, xml, size);
  snprintf(text, room, "%s", events.text);
  return good;
}

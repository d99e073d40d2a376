// The parser of XML of the page reports the same elements as expat, and refuses the same texts, on
// documents that are damaged at random.
#include "support.h"
#include "xml_events.h"

#include <stdlib.h>

bool page_events(char *text, size_t room, const char *xml, size_t size);

static const char *const documents[] = {
    "<?xml version=\"1.0\" encoding='utf-8'?>\n<!-- a robot -->\n<mujoco model=\"a &amp; b\">\n"
    "  <body name='x&#65;&#x42;' pos=\"0 1\t2\n3\"><geom size='1'/></body>\n</mujoco>\n",
    "<!DOCTYPE robot SYSTEM \"robot.dtd\">\r\n<robot name=\"\xc3\xa4\xe2\x82\xac\">\r\n<?tool a b?>"
    "<link name = \"a\" /><![CDATA[ <&> ]] ]]>text &lt;&gt;&quot;&apos;</robot>",
    "\xef\xbb\xbf<a><b><c/></b>\n\n<b.c-d:e_f x='\"' y=\"'\"></b.c-d:e_f></a><!-- end -->\n",
};

// Bytes that matter to a parser.
static const char bytes[] = "<>/&;#x=\"'!-?[]: \n\r\ta0\xc3\xa4\x01";
static const char *const words[] = {"<a>",   "</a>",   "<!--",    "-->",        "<![CDATA[",
                                    "]]>",   "<?xml ", "&#0;",    "&#x10FFFF;", "&none;",
                                    "a='1'", "<b/>",   "&#xD800;"};

static size_t damage(uint32_t *random, char *text, size_t size, size_t room)
{
  int changes = 1 + (int)((double)test_random(random) * 3.0);
  for (int k = 0; k < changes && size > 0; ++k) {
    size_t at = (size_t)((double)test_random(random) * (double)size);
    double kind = (double)test_random(random);
    if (kind < 0.3) {
      text[at] = bytes[(size_t)((double)test_random(random) * (double)(sizeof bytes - 1))];
    } else if (kind < 0.5) {
      memmove(text + at, text + at + 1, size - at - 1);
      size -= 1;
    } else if (kind < 0.6) {
      size = at;
    } else {
      const char *word = words[(size_t)((double)test_random(random) * 13.0)];
      size_t length = strlen(word);
      if (size + length < room) {
        memmove(text + at + length, text + at, size - at);
        memcpy(text + at, word, length);
        size += length;
      }
    }
  }
  return size;
}

static void compare(const char *text, size_t size, int *accepted)
{
  static xml_events events;
  static char page[sizeof events.text];
  bool expected = record_events(&events, text, size);
  bool found = page_events(page, sizeof page, text, size);
  *accepted += expected;
  if (expected != found || (expected && strcmp(events.text, page) != 0)) {
    fail_msg("expat %s, the page %s:\n%.*s\n---\n%s---\n%s", expected ? "accepts" : "refuses",
             found ? "accepts" : "refuses", (int)size, text, events.text, page);
  }
}

static void same_as_expat(void **state)
{
  (void)state;
  uint32_t random = 5;
  int accepted = 0, cases = test_cases(30000, 3000000);
  for (int i = 0; i < 3; ++i) {
    compare(documents[i], strlen(documents[i]), &accepted);
  }
  assert_int_equal(accepted, 3);
  for (int i = 0; i < cases; ++i) {
    char text[1024];
    size_t size = strlen(documents[i % 3]);
    memcpy(text, documents[i % 3], size);
    size = damage(&random, text, size, sizeof text);
    compare(text, size, &accepted);
  }
  assert_in_range(accepted, cases / 20, cases);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_expat)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// Options of `tenon run`, `compare` and `export`: words, one a line. The first word is a scene, or
// a file that does not exist.
#include "fuzz.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 24 };

static int split(char *text, char **words)
{
  int count = 0;
  while (*text && count < MOST_WORDS) {
    words[count++] = text;
    text += strcspn(text, "\n");
    if (*text) {
      *text++ = '\0';
    }
  }
  return count;
}

// Files of this machine are no inputs.
static bool names_file(const char *word)
{
  return strchr(word, '/') || strchr(word, '.');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const run_command commands[] = {COMMAND_RUN, COMMAND_COMPARE, COMMAND_EXPORT};
  char *words[MOST_WORDS], *text = calloc(size + 1, 1);
  if (text && size > 0) {
    memcpy(text, data + 1, size - 1);
    int count = split(text, words);
    run_options options;
    if (count == 0 || !names_file(words[0])) {
      bool ok = options_parse(commands[data[0] % 3], count, words, &options);
      if (ok && (!options.scene || !(options.seconds > 0.0) || options.world.substeps < 1)) {
        fuzz_fail("options without a scene, a time or substeps");
      }
      options_free(&options);
    }
  }
  free(text);
  return 0;
}

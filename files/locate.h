// Places in the text of a scene file: cJSON keeps no lines, so they are found again when something
// is wrong.
#ifndef TENON_FILES_LOCATE_H
#define TENON_FILES_LOCATE_H

#include <stdbool.h>
#include <stddef.h>

#define MAX_PATH_DEPTH 32

// A way from the root to a value.
typedef struct path_step {
  const char *key; // null: of an array
  int index;       // of an array; of an object, how many of the same key come before
} path_step;

typedef struct json_path {
  path_step steps[MAX_PATH_DEPTH];
  int depth;
} json_path;

// As "bodies[3].shapes[0].radius", cut to fit; what cannot be printed becomes a question mark.
void path_print(const json_path *p, char *out, size_t size);

int line_of_offset(const char *text, size_t offset);
// The line of a value, or of the closest one around it where there is none.
int line_of_path(const char *text, const json_path *p);
// The path of what is being said at a place; the keys are copied into `keys`.
void path_of_offset(const char *text, size_t offset, json_path *p, char *keys, size_t size);

// What no scene file has: too deep, too many values, numbers without end, words that are no JSON.
typedef struct text_problem {
  size_t offset;
  const char *why; // null: none
} text_problem;

text_problem text_check(const char *text, size_t size);

#endif

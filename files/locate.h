// Positions in the text of a scene file: cJSON keeps no line numbers, so they are searched for when
// an error is reported.
#ifndef TENON_FILES_LOCATE_H
#define TENON_FILES_LOCATE_H

#include <stdbool.h>
#include <stddef.h>

#define MAX_PATH_DEPTH 32

// A path from the root to a value.
typedef struct path_step {
  const char *key; // null for an item of an array
  int index;       // in an array; in an object, the number of earlier members with the same key
} path_step;

typedef struct json_path {
  path_step steps[MAX_PATH_DEPTH];
  int depth;
} json_path;

// Writes the form "bodies[3].shapes[0].radius", cut to fit; unprintable characters become "?".
void path_print(const json_path *p, char *out, size_t size);

int line_of_offset(const char *text, size_t offset);
// The line of a value, or of the closest enclosing value if it does not exist.
int line_of_path(const char *text, const json_path *p);
// The path of the value at a position; the keys are copied into `keys`.
void path_of_offset(const char *text, size_t offset, json_path *p, char *keys, size_t size);

// Searches for what no scene file may have: deep nesting, too many values, overlong numbers, words
// that are not JSON.
typedef struct text_problem {
  size_t offset;
  const char *why; // null: nothing found
} text_problem;

text_problem text_check(const char *text, size_t size);

#endif

// Files that appear whole or not at all.
#ifndef TENON_CLI_OUTPUT_H
#define TENON_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

// Written beside its place and moved there at the end, unless that is a pipe or a device. Zeroed is
// none.
typedef struct output {
  FILE *file;
  const char *path;
  char *temporary; // null: written directly
} output;

// These say on stderr what went wrong. A null path is no file.
bool output_open(output *out, const char *path);
bool output_finish(output *out);
void output_abandon(output *out);

// The whole file, to be freed; null with a message if it cannot be read.
char *read_whole_file(const char *path, size_t *size);

#endif

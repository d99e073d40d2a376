// Output files that are replaced atomically.
#ifndef TENON_CLI_OUTPUT_H
#define TENON_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

// Written to a temporary file and renamed at the end, unless the path is a pipe or a device. A
// zeroed output is no file.
typedef struct output {
  FILE *file;
  const char *path;
  char *temporary; // null: written directly
} output;

// These report errors on stderr. A null path is no file.
bool output_open(output *out, const char *path);
bool output_finish(output *out);
void output_abandon(output *out);

// Creates a folder, unless it is there; false with a message if it cannot be.
bool make_folder(const char *path);

// Returns the whole file, to be freed; null with a message if it cannot be read.
char *read_whole_file(const char *path, size_t *size);

#endif

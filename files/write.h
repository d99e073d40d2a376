// Writes objects with their tables. Numbers are exact: reading them gives the same bits.
#ifndef TENON_FILES_WRITE_H
#define TENON_FILES_WRITE_H

#include "fields.h"

#include <stdio.h>

typedef struct writer {
  FILE *out;
  int depth;
  bool flat;  // on one line
  bool begun; // the object or list is not empty
  int column;
} writer;

void write_open(writer *w, char bracket);
void write_close(writer *w, char bracket, bool was_flat);
// Call before the value of a member, and before an item of a list.
void write_key(writer *w, const char *key);
void write_item(writer *w);

void write_raw(writer *w, const char *words);
void write_text(writer *w, const char *text);
void write_float(writer *w, float value); // null if it is infinite
void write_double(writer *w, double value);

// Writes the members that differ from `usual`, and the required ones; null writes all. The caller
// writes trees.
void write_fields(writer *w, const object_type *type, const void *value, const void *usual);
// Writes the whole object on one line, with braces.
void write_flat(writer *w, const object_type *type, const void *value, const void *usual);
// Writes the default of a field, if has_usual().
bool has_usual(const field *f);
void write_usual(writer *w, const object_type *type, const field *f);
// Compares bits: -0 differs from 0.
bool bits_differ(const void *a, const void *b, size_t size);
bool fields_differ(const object_type *type, const void *a, const void *b);

#endif

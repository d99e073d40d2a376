// Writes objects by their tables. Numbers come back as they are, to the last bit.
#ifndef TENON_FILES_WRITE_H
#define TENON_FILES_WRITE_H

#include "fields.h"

#include <stdio.h>

typedef struct writer {
  FILE *out;
  int depth;
  bool flat;  // on one line
  bool begun; // the object or list has something already
  int column;
} writer;

void write_open(writer *w, char bracket);
void write_close(writer *w, char bracket, bool was_flat);
// Before a member's value, and before an item of a list.
void write_key(writer *w, const char *key);
void write_item(writer *w);

void write_raw(writer *w, const char *words);
void write_text(writer *w, const char *text);
void write_float(writer *w, float value); // null if it is infinite
void write_double(writer *w, double value);

// Those members that are not as in `usual`, and those that the kind must have; null writes all.
// Trees are the caller's business.
void write_fields(writer *w, const object_type *type, const void *value, const void *usual);
// All of it on one line, braces included.
void write_flat(writer *w, const object_type *type, const void *value, const void *usual);
// A field's usual value, where it has one that can be written.
bool has_usual(const field *f);
void write_usual(writer *w, const object_type *type, const field *f);
// Where -0 is not 0.
bool bits_differ(const void *a, const void *b, size_t size);
bool fields_differ(const object_type *type, const void *a, const void *b);

#endif

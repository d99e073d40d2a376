// Reads objects by their tables.
#ifndef TENON_FILES_READ_H
#define TENON_FILES_READ_H

#include "fields.h"
#include "locate.h"

// Where the reader is, and what it has to say: one line, the first.
typedef struct reader {
  const char *file, *text;
  json_path path;
  char *error;
  size_t error_size;
  bool failed;
} reader;

// "file:line: path: ..."; returns false.
bool reader_fail(reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The same at a place of the text.
bool reader_fail_at(reader *r, size_t offset, const char *why);

void reader_enter(reader *r, const char *key); // a member of an object
void reader_enter_item(reader *r, int index);  // an item of an array
void reader_leave(reader *r);

// Fills in what is said and leaves the rest of `out` as it is. `seen` gets a bit for every field of
// the table that is there; it may be null. Lists are the caller's to free, also after a failure.
bool read_object(reader *r, const cJSON *json, const object_type *type, void *out, uint64_t *seen);
bool was_seen(const object_type *type, uint64_t seen, const char *name);
void free_lists(const object_type *type, void *out);

// A number in the field's bounds.
bool read_number(reader *r, const cJSON *json, const field *f, double *value);

#endif

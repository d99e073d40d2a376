// Reads objects with their tables.
#ifndef TENON_FILES_READ_H
#define TENON_FILES_READ_H

#include "fields.h"
#include "locate.h"

// Current path of the reader, and the first error, one line.
typedef struct reader {
  const char *file, *text;
  json_path path;
  char *error;
  size_t error_size;
  bool failed;
} reader;

// Sets the error to "file:line: path: ..."; returns false.
bool reader_fail(reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The same for a position in the text.
bool reader_fail_at(reader *r, size_t offset, const char *why);

// Parses the text of `size` bytes. Returns null with the error set if it is not valid JSON.
cJSON *reader_parse(reader *r, size_t size);

void reader_enter(reader *r, const char *key); // a member of an object
void reader_enter_item(reader *r, int index);  // an item of an array
void reader_leave(reader *r);

// Sets the given fields and leaves the rest of `out` unchanged. `seen` gets a bit for every field
// of the table that is given; it may be null. The caller frees the lists, also after a failure.
bool read_object(reader *r, const cJSON *json, const object_type *type, void *out, uint64_t *seen);
bool was_seen(const object_type *type, uint64_t seen, const char *name);
void free_lists(const object_type *type, void *out);

// Reads a number within the field's bounds.
bool read_number(reader *r, const cJSON *json, const field *f, double *value);

#endif

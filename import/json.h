// JSON texts as trees, for glTF and for scenes of the tutorial.
#ifndef TENON_IMPORT_JSON_H
#define TENON_IMPORT_JSON_H

#include "memory.h"

typedef enum json_type {
  JSON_NULL,
  JSON_FALSE,
  JSON_TRUE,
  JSON_NUMBER,
  JSON_STRING,
  JSON_ARRAY,
  JSON_OBJECT
} json_type;

typedef struct json json;
struct json {
  json_type type;
  const char *key; // of a member of an object
  const char *string;
  double number;
  json *first, *next;
  int count; // of items or members
  int line;
};

// Null, with a reason and its line, for a malformed text.
json *json_parse(memory *m, const char *text, size_t size, const char **why, int *line);

// These return null, the fallback or "" also for a null value.
const json *json_get(const json *object, const char *key);
const json *json_at(const json *array, int index);
double json_number(const json *value, double fallback);
const char *json_string(const json *value);

#endif

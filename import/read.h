// What the readers share: the first error, which is one line with its place, and options.
#ifndef TENON_IMPORT_READ_H
#define TENON_IMPORT_READ_H

#include "model.h"

enum {
  IMPORT_ERROR = 512,             // bytes of a message
  IMPORT_MAX_FILE = 256 << 20,    // bytes of one file
  IMPORT_MAX_ITEMS = 50000,       // bodies, geoms and so on of a model
  IMPORT_MAX_VERTICES = 20000000, // of a mesh
};

typedef struct reader {
  tn_model *model;
  const tn_import_def *def;
  bool failed;
  char *error; // IMPORT_ERROR bytes
} reader;

// Keeps the first error: "file:line: reason". Returns false.
bool import_fail(reader *r, place at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Reads a file whole, with a zero after its end, into the model's memory. Null, without an error,
// if it cannot be opened; a file that is too large is an error.
char *import_file(reader *r, const char *path, place at, size_t *size);
// A path relative to the folder of `base`; an absolute path stays.
const char *import_path(reader *r, const char *base, const char *path);

// Parses one finite number, or `inf`, and moves on; false, with nothing moved, if there is none.
bool parse_double(const char **text, double *value);

bool read_mjcf(reader *r, const char *path, const char *text, size_t size);
bool read_urdf(reader *r, const char *path, const char *text, size_t size);
bool read_tutorial(reader *r, const char *path, const char *text, size_t size);

// Resolves names, computes masses, and numbers the joints: after a reader.
bool model_complete(reader *r);

#endif

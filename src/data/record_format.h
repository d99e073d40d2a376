// Layout of recordings (tn_world_record_calls()): a header, then records, each with the hash of its
// name, its size, and the arguments of a call field by field. Numbers are little-endian, ids are
// index, generation and whether they belong to the world, pointers of the host are left out.
// Records of unknown names and of another size are detected, so that a recording outlives changes
// of other functions.
#ifndef TENON_DATA_RECORD_FORMAT_H
#define TENON_DATA_RECORD_FORMAT_H

#include <tenon/tenon.h>

#include <stddef.h>

#define RECORD_MAGIC "TNREC\0\0\2" // 8 bytes
enum { RECORD_MAGIC_SIZE = 8, RECORD_HEADER_SIZE = 8 + 15 * 4, RECORD_HEAD = 8 };
enum { RECORD_MOST_ARGUMENTS = 6, RECORD_MOST_ITEMS = 1 << 24 };

typedef enum record_kind {
  RECORD_F32,
  RECORD_F64,
  RECORD_I32,
  RECORD_U32,
  RECORD_U64,
  RECORD_SIZE,
  RECORD_BOOL,
  RECORD_ID,
  RECORD_STRUCT, // of the type `of`
  RECORD_TEXT,   // const char *, null or at most 255 bytes
  RECORD_HOST,   // a pointer of the host: null
  RECORD_ARRAY,  // a pointer to items of the kind `item`
} record_kind;

typedef struct record_field {
  size_t offset;
  int count; // of an array in place
  record_kind kind;
  int of;              // index of the type of a structure
  size_t count_offset; // of an array: the int with the number of items ...
  int each;            // ... of so many each; 0: clusters, whose sizes are added up
  record_kind item;
} record_field;

typedef struct record_type {
  const char *name;
  size_t size;
  const record_field *fields;
  size_t field_count;
} record_type;

typedef enum record_form {
  ARG_VALUE,
  ARG_POINTER, // to one, or null
  ARG_LIST,    // `each` times the argument `count` of them, or null; each 0: times the next one
  ARG_TEXT,
  ARG_ROWS, // numbers of tn_bodies_write_poses() and its kin
  ARG_OUT,  // written by the call, room for the argument `count`, or for one
} record_form;

typedef struct record_argument {
  record_form form;
  record_kind kind;
  int of;
  int count, each;
} record_argument;

typedef struct record_call_type {
  const char *name;
  bool changes; // the world; others are never recorded, but a replay makes them
  int count;    // of arguments
  record_argument arguments[RECORD_MOST_ARGUMENTS];
} record_call_type;

extern const record_type record_types[];
extern const record_call_type record_calls[];

uint32_t record_name_hash(const char *name);
// Bytes of a value of a kind in memory.
size_t record_item_size(record_kind kind, int of);

// Records that are no calls.
#define RECORD_RESULT "result" // of a step: status (4), hash of the world (8)
#define RECORD_STATE "state"   // a snapshot, from which the world goes on

// ---------------------------------------------------------------------------------------------
// Writing. Memory comes from the C library; `failed` says that there was none.

typedef struct record_writer {
  uint8_t *bytes;
  size_t size, capacity;
  uint32_t world; // number of the world, in its ids
  bool failed;
} record_writer;

void record_put(record_writer *w, const void *bytes, size_t size);
void record_put_value(record_writer *w, record_kind kind, int of, const void *value);
void record_put_header(record_writer *w, const tn_world_def *def);
// Appends a record; `arguments` are pointers to values, and the pointers among the arguments.
void record_put_call(record_writer *w, int call, const void *const *arguments);
void record_put_record(record_writer *w, const char *name, const void *bytes, size_t size);

// ---------------------------------------------------------------------------------------------
// Reading

typedef struct record_reader {
  const uint8_t *at, *end;
  uint32_t world;
  bool failed;
  struct record_block *blocks; // memory of decoded arguments
  size_t taken;
} record_reader;

bool record_get_header(const void *bytes, size_t size, tn_world_def *def);
// Decodes arguments into memory of the reader; false if they do not match the record.
bool record_get_call(record_reader *r, int call, void **arguments);
void record_release(record_reader *r);

#endif

// Writing and reading of recordings; see record_format.h.
#include "data/record_format.h"
#include "data/record_tables.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 255, MOST_TAKEN = 1 << 28 };

uint32_t record_name_hash(const char *name)
{
  uint32_t hash = 0x811c9dc5u; // FNV-1a
  for (; *name; ++name) {
    hash = (hash ^ (uint8_t)*name) * 0x01000193u;
  }
  return hash;
}

size_t record_item_size(record_kind kind, int of)
{
  switch (kind) {
  case RECORD_F64:
  case RECORD_U64:
    return 8;
  case RECORD_SIZE:
    return sizeof(size_t);
  case RECORD_BOOL:
    return sizeof(bool);
  case RECORD_ID:
    return sizeof(tn_body_id);
  case RECORD_STRUCT:
    return record_types[of].size;
  case RECORD_TEXT:
  case RECORD_HOST:
  case RECORD_ARRAY:
    return sizeof(void *);
  default:
    return 4;
  }
}

// Number of items of an array of a definition.
static int64_t array_length(const record_field *f, const char *structure)
{
  int32_t count;
  memcpy(&count, structure + f->count_offset, sizeof count);
  if (f->each > 0) {
    return (int64_t)count * f->each;
  }
  const tn_soft_def *def = (const tn_soft_def *)(const void *)structure;
  int64_t sum = 0;
  for (int i = 0; i < count && def->cluster_sizes; ++i) {
    sum += def->cluster_sizes[i] > 0 ? def->cluster_sizes[i] : 0;
  }
  return sum;
}

// Rows of tn_bodies_write_poses() are seven numbers, those of the others six.
static size_t row_size(int call, void *const *a)
{
  int type;
  memcpy(&type, a[2], sizeof type);
  size_t numbers = call == CALL_tn_bodies_write_poses ? TN_POSE_NUMBERS : TN_VELOCITY_NUMBERS;
  return numbers * (type == TN_DOUBLE ? sizeof(double) : sizeof(float));
}

static int64_t list_length(const record_call_type *c, const record_argument *arg, void *const *a)
{
  int32_t count, times = arg->each;
  memcpy(&count, a[arg->count], sizeof count);
  if (times == 0) {
    memcpy(&times, a[arg->count + 1], sizeof times);
  }
  (void)c;
  return count > 0 && times > 0 ? (int64_t)count * times : 0;
}

// ---------------------------------------------------------------------------------------------
// Writing

void record_put(record_writer *w, const void *bytes, size_t size)
{
  if (w->failed || size == 0) {
    return;
  }
  if (w->capacity - w->size < size) {
    size_t capacity = 2 * (w->size + size) + 256;
    uint8_t *grown = realloc(w->bytes, capacity);
    if (!grown) {
      w->failed = true;
      return;
    }
    w->bytes = grown;
    w->capacity = capacity;
  }
  memcpy(w->bytes + w->size, bytes, size);
  w->size += size;
}

static void put_u32(record_writer *w, uint32_t value)
{
  record_put(w, &value, sizeof value);
}

static void put_text(record_writer *w, const char *text)
{
  size_t length = 0;
  while (text && length < MOST_TEXT - 1 && text[length]) {
    ++length;
  }
  uint8_t count = (uint8_t)(text ? length + 1 : 0); // 0: null
  record_put(w, &count, 1);
  record_put(w, text, length);
}

// Null, or how many there are and the items.
static void put_items(record_writer *w, record_kind kind, int of, const void *items, int64_t count)
{
  bool present = items && count <= RECORD_MOST_ITEMS;
  put_u32(w, present ? (uint32_t)(count > 0 ? count : 0) + 1 : 0);
  size_t size = record_item_size(kind, of);
  for (int64_t i = 0; present && i < count; ++i) {
    record_put_value(w, kind, of, (const char *)items + (size_t)i * size);
  }
}

static void put_struct(record_writer *w, const record_type *type, const char *value)
{
  for (size_t i = 0; i < type->field_count; ++i) {
    const record_field *f = &type->fields[i];
    if (f->kind == RECORD_ARRAY) {
      const void *items;
      memcpy(&items, value + f->offset, sizeof items);
      put_items(w, f->item, f->of, items, items ? array_length(f, value) : 0);
      continue;
    }
    size_t size = record_item_size(f->kind, f->of);
    for (int k = 0; k < f->count; ++k) {
      record_put_value(w, f->kind, f->of, value + f->offset + (size_t)k * size);
    }
  }
}

void record_put_value(record_writer *w, record_kind kind, int of, const void *value)
{
  switch (kind) {
  case RECORD_STRUCT:
    put_struct(w, &record_types[of], value);
    break;
  case RECORD_ID: {
    const tn_body_id *id = value;
    uint8_t owner = (uint8_t)(id->world == 0 ? 0 : id->world == w->world ? 1 : 2);
    put_u32(w, id->index);
    put_u32(w, id->generation);
    record_put(w, &owner, 1);
    break;
  }
  case RECORD_TEXT: {
    const char *text;
    memcpy(&text, value, sizeof text);
    put_text(w, text);
    break;
  }
  case RECORD_SIZE: {
    size_t size;
    memcpy(&size, value, sizeof size);
    uint64_t wide = size;
    record_put(w, &wide, sizeof wide);
    break;
  }
  case RECORD_BOOL: {
    uint8_t flag = *(const bool *)value;
    record_put(w, &flag, 1);
    break;
  }
  case RECORD_HOST:
  case RECORD_ARRAY:
    break;
  default:
    record_put(w, value, record_item_size(kind, of));
    break;
  }
}

void record_put_header(record_writer *w, const tn_world_def *def)
{
  const tn_limits *l = &def->limits;
  const int32_t words[12] = {
      (int32_t)def->method, def->sleeping, def->substeps,    def->iterations,
      def->threads,         def->lanes,    TN_VERSION_MAJOR, TN_VERSION_MINOR,
      TN_VERSION_PATCH,     l->pairs,      l->shape_pairs,   l->particles};
  record_put(w, RECORD_MAGIC, RECORD_MAGIC_SIZE);
  record_put(w, &def->gravity, sizeof def->gravity);
  record_put(w, words, sizeof words);
}

void record_put_record(record_writer *w, const char *name, const void *bytes, size_t size)
{
  put_u32(w, record_name_hash(name));
  put_u32(w, (uint32_t)size);
  record_put(w, bytes, size);
}

// Rows without gaps, whatever the stride.
static void put_rows(record_writer *w, int call, void *const *a)
{
  size_t row = row_size(call, a), stride = *(const size_t *)a[4];
  int count = *(const int *)a[1];
  bool present = a[3] && count > 0 && count <= RECORD_MOST_ITEMS && (stride == 0 || stride >= row);
  put_u32(w, present ? (uint32_t)count : 0);
  for (int i = 0; present && i < count; ++i) {
    record_put(w, (const char *)a[3] + (size_t)i * (stride ? stride : row), row);
  }
}

void record_put_call(record_writer *w, int call, const void *const *arguments)
{
  const record_call_type *c = &record_calls[call];
  void *a[RECORD_MOST_ARGUMENTS] = {0};
  for (int i = 0; i < c->count; ++i) {
    a[i] = (void *)(uintptr_t)arguments[i];
  }
  put_u32(w, record_name_hash(c->name));
  size_t at = w->size;
  put_u32(w, 0);
  for (int i = 0; i < c->count; ++i) {
    const record_argument *arg = &c->arguments[i];
    switch (arg->form) {
    case ARG_VALUE:
      record_put_value(w, arg->kind, arg->of, a[i]);
      break;
    case ARG_POINTER:
      put_items(w, arg->kind, arg->of, a[i], 1);
      break;
    case ARG_LIST:
      put_items(w, arg->kind, arg->of, a[i], list_length(c, arg, a));
      break;
    case ARG_TEXT:
      put_text(w, a[i]);
      break;
    case ARG_ROWS:
      put_rows(w, call, a);
      break;
    case ARG_OUT:
      break;
    }
  }
  uint32_t size = (uint32_t)(w->size - at - sizeof size);
  if (!w->failed) {
    memcpy(w->bytes + at, &size, sizeof size);
  }
}

// ---------------------------------------------------------------------------------------------
// Reading

typedef struct record_block {
  struct record_block *next;
  max_align_t memory[];
} record_block;

static void get(record_reader *r, void *bytes, size_t size)
{
  if (r->failed || (size_t)(r->end - r->at) < size) {
    r->failed = true;
    memset(bytes, 0, size);
    return;
  }
  memcpy(bytes, r->at, size);
  r->at += size;
}

static uint32_t get_u32(record_reader *r)
{
  uint32_t value;
  get(r, &value, sizeof value);
  return value;
}

// Zeroed memory, until record_release().
static void *take(record_reader *r, size_t count, size_t size)
{
  size_t bytes = count * size;
  record_block *b = count <= MOST_TAKEN / size && r->taken + bytes <= MOST_TAKEN
                        ? calloc(1, sizeof *b + bytes + 1)
                        : NULL;
  if (!b) {
    r->failed = true;
    return NULL;
  }
  r->taken += bytes;
  b->next = r->blocks;
  r->blocks = b;
  return b->memory;
}

void record_release(record_reader *r)
{
  while (r->blocks) {
    record_block *next = r->blocks->next;
    free(r->blocks);
    r->blocks = next;
  }
  r->taken = 0;
}

static const char *get_text(record_reader *r)
{
  uint8_t count;
  get(r, &count, 1);
  if (count == 0) {
    return NULL;
  }
  char *text = take(r, count, 1);
  if (text) {
    get(r, text, count - 1u);
  }
  return text;
}

static void get_value(record_reader *r, record_kind kind, int of, void *value);

// Returns the number of items, with 0 for null; an item takes at least a byte in the record.
static uint32_t get_items(record_reader *r, record_kind kind, int of, void **items)
{
  uint32_t count = get_u32(r);
  *items = NULL;
  if (r->failed || count == 0 || count - 1 > (size_t)(r->end - r->at)) {
    r->failed = r->failed || count > 0;
    return 0;
  }
  size_t size = record_item_size(kind, of);
  *items = take(r, count - 1, size);
  for (uint32_t i = 0; i + 1 < count && !r->failed; ++i) {
    get_value(r, kind, of, (char *)*items + i * size);
  }
  return count - 1;
}

static void get_struct(record_reader *r, const record_type *type, char *value)
{
  // Counts may follow the arrays, so lengths are compared once all fields are there.
  uint32_t length[64];
  for (size_t i = 0; i < type->field_count && !r->failed; ++i) {
    const record_field *f = &type->fields[i];
    if (f->kind == RECORD_ARRAY) {
      void *items;
      length[i] = get_items(r, f->item, f->of, &items);
      memcpy(value + f->offset, &items, sizeof items);
      continue;
    }
    size_t size = record_item_size(f->kind, f->of);
    for (int k = 0; k < f->count; ++k) {
      get_value(r, f->kind, f->of, value + f->offset + (size_t)k * size);
    }
  }
  for (size_t i = 0; i < type->field_count && !r->failed; ++i) {
    const record_field *f = &type->fields[i];
    void *items = NULL;
    if (f->kind == RECORD_ARRAY) {
      memcpy(&items, value + f->offset, sizeof items);
    }
    r->failed = items && array_length(f, value) > (int64_t)length[i];
  }
}

static void get_value(record_reader *r, record_kind kind, int of, void *value)
{
  switch (kind) {
  case RECORD_STRUCT:
    get_struct(r, &record_types[of], value);
    break;
  case RECORD_ID: {
    tn_body_id *id = value;
    uint8_t owner;
    id->index = get_u32(r);
    id->generation = get_u32(r);
    get(r, &owner, 1);
    id->world = owner == 0 ? 0 : owner == 1 ? r->world : UINT32_MAX;
    break;
  }
  case RECORD_TEXT: {
    const char *text = get_text(r);
    memcpy(value, &text, sizeof text);
    break;
  }
  case RECORD_SIZE: {
    uint64_t wide;
    get(r, &wide, sizeof wide);
    *(size_t *)value = (size_t)wide;
    break;
  }
  case RECORD_BOOL: {
    uint8_t flag;
    get(r, &flag, 1);
    *(bool *)value = flag != 0;
    break;
  }
  case RECORD_HOST:
  case RECORD_ARRAY:
    break;
  default:
    get(r, value, record_item_size(kind, of));
    break;
  }
}

bool record_get_header(const void *bytes, size_t size, tn_world_def *def)
{
  record_reader r = {.at = bytes, .end = (const uint8_t *)bytes + size};
  char magic[RECORD_MAGIC_SIZE];
  int32_t words[12];
  get(&r, magic, sizeof magic);
  get(&r, &def->gravity, sizeof def->gravity);
  get(&r, words, sizeof words);
  def->method = (tn_method)words[0];
  def->sleeping = words[1] != 0;
  def->substeps = words[2];
  def->iterations = words[3];
  def->threads = words[4];
  def->lanes = words[5];
  def->limits.pairs = words[9];
  def->limits.shape_pairs = words[10];
  def->limits.particles = words[11];
  return !r.failed && memcmp(magic, RECORD_MAGIC, sizeof magic) == 0;
}

// The room that a call may write: at most that of the argument `count`.
static void *get_room(record_reader *r, const record_argument *arg, void *const *a)
{
  int room = 1;
  if (arg->count >= 0) {
    memcpy(&room, a[arg->count], sizeof room);
  }
  return take(r, room > 0 ? (size_t)room : 0, 3 * record_item_size(arg->kind, arg->of));
}

static void *get_argument(record_reader *r, const record_argument *arg, uint32_t *length)
{
  void *value = NULL;
  switch (arg->form) {
  case ARG_VALUE:
    value = take(r, 1, record_item_size(arg->kind, arg->of));
    if (value) {
      get_value(r, arg->kind, arg->of, value);
    }
    break;
  case ARG_POINTER:
  case ARG_LIST:
    *length = get_items(r, arg->kind, arg->of, &value);
    r->failed = r->failed || (arg->form == ARG_POINTER && value && *length != 1);
    break;
  case ARG_TEXT:
    value = (void *)(uintptr_t)get_text(r);
    break;
  case ARG_ROWS:
    *length = get_u32(r);
    value = (void *)(uintptr_t)r->at; // resolved once the type is known, as rows come last but one
    break;
  case ARG_OUT:
    break;
  }
  return value;
}

// Copies the rows, and skips them.
static void get_rows(record_reader *r, int call, void **a, uint32_t rows)
{
  size_t row = row_size(call, a), bytes = row * rows;
  a[3] = rows > 0 && bytes / row == rows && bytes <= (size_t)(r->end - r->at) ? take(r, bytes, 1)
                                                                              : NULL;
  if (a[3]) {
    get(r, a[3], bytes);
  } else {
    r->failed = r->failed || rows > 0;
  }
}

bool record_get_call(record_reader *r, int call, void **a)
{
  const record_call_type *c = &record_calls[call];
  uint32_t length[RECORD_MOST_ARGUMENTS] = {0};
  for (int i = 0; i < c->count && !r->failed; ++i) {
    a[i] = get_argument(r, &c->arguments[i], &length[i]);
    if (c->arguments[i].form == ARG_ROWS && !r->failed) {
      get_rows(r, call, a, length[i]);
    }
  }
  for (int i = 0; i < c->count && !r->failed; ++i) {
    const record_argument *arg = &c->arguments[i];
    if (arg->form == ARG_OUT) {
      a[i] = get_room(r, arg, a);
    } else if (arg->form == ARG_LIST) {
      r->failed = a[i] && list_length(c, arg, a) > (int64_t)length[i];
    } else if (arg->form == ARG_ROWS) {
      int32_t count;
      size_t none = 0;
      memcpy(&count, a[1], sizeof count);
      memcpy(a[4], &none, sizeof none);
      r->failed = a[i] && count > (int32_t)length[i];
    }
  }
  return !r->failed && r->at == r->end;
}

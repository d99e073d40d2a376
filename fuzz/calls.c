// Mutations of recordings: single arguments change by their type, calls are removed, repeated,
// moved, and new ones with ordinary arguments are put in.
#include "calls.h"

#include "data/record_format.h"
#include "data/recorded_calls.h"
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RECORDS = 600, MOST_PLACES = 800, MOST_ITEMS = 24 };

typedef struct place {
  size_t at;
  record_kind kind;
} place;

typedef struct walk {
  const uint8_t *bytes;
  size_t at, end;
  place places[MOST_PLACES];
  int count;
} walk;

// ---------------------------------------------------------------------------------------------
// Places of the scalars in a record

static size_t encoded_size(record_kind kind)
{
  return kind == RECORD_ID                                                 ? 9
         : kind == RECORD_BOOL                                             ? 1
         : kind == RECORD_F64 || kind == RECORD_U64 || kind == RECORD_SIZE ? 8
                                                                           : 4;
}

static void walk_value(walk *w, record_kind kind, int of);

static void walk_items(walk *w, record_kind kind, int of)
{
  uint32_t count = 0;
  if (w->at + 4 <= w->end) {
    memcpy(&count, w->bytes + w->at, 4);
  }
  w->at += 4;
  for (uint32_t i = 1; i < count && w->at < w->end; ++i) {
    walk_value(w, kind, of);
  }
}

static void walk_value(walk *w, record_kind kind, int of)
{
  if (kind == RECORD_STRUCT) {
    const record_type *type = &record_types[of];
    for (size_t i = 0; i < type->field_count; ++i) {
      const record_field *f = &type->fields[i];
      for (int k = 0; k < f->count && w->at < w->end; ++k) {
        if (f->kind == RECORD_ARRAY) {
          walk_items(w, f->item, f->of);
        } else {
          walk_value(w, f->kind, f->of);
        }
      }
    }
  } else if (kind == RECORD_TEXT) {
    w->at += w->at < w->end ? (w->bytes[w->at] ? w->bytes[w->at] : 1u) : 0;
  } else if (kind != RECORD_HOST) {
    if (w->at + encoded_size(kind) <= w->end && w->count < MOST_PLACES) {
      w->places[w->count++] = (place){w->at, kind};
    }
    w->at += encoded_size(kind);
  }
}

static int find_call(uint32_t hash)
{
  for (int i = 0; i < RECORD_CALL_COUNT; ++i) {
    if (record_name_hash(record_calls[i].name) == hash) {
      return i;
    }
  }
  return -1;
}

static void walk_call(walk *w, int call)
{
  const record_call_type *c = &record_calls[call];
  for (int i = 0; i < c->count && w->at < w->end; ++i) {
    const record_argument *arg = &c->arguments[i];
    if (arg->form == ARG_VALUE) {
      walk_value(w, arg->kind, arg->of);
    } else if (arg->form == ARG_POINTER || arg->form == ARG_LIST) {
      walk_items(w, arg->kind, arg->of);
    } else if (arg->form == ARG_TEXT) {
      walk_value(w, RECORD_TEXT, 0);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Random values

static float some_float(fuzz_random *r)
{
  if (fuzz_index(r, 6) == 0) {
    const float odd[] = {INFINITY, -INFINITY, NAN, 0.0f, 1e12f, -1e12f, 1e30f, 1e-30f, 3e38f, 1e9f};
    return odd[fuzz_index(r, 10)];
  }
  return (float)fuzz_number(r);
}

static tn_body_id some_id(fuzz_random *r)
{
  return (tn_body_id){(uint32_t)fuzz_index(r, fuzz_index(r, 3) ? 6 : 40),
                      (uint32_t)(fuzz_index(r, 4) ? 0 : fuzz_index(r, 4)),
                      fuzz_index(r, 40) ? 0u : 7u};
}

static void change_scalar(uint8_t *at, record_kind kind, fuzz_random *r)
{
  float f;
  double d;
  int32_t whole;
  switch (kind) {
  case RECORD_F32:
    memcpy(&f, at, 4);
    f = fuzz_index(r, 3) ? some_float(r) : f * (float)(fuzz_index(r, 9) - 4);
    memcpy(at, &f, 4);
    break;
  case RECORD_F64:
    d = (double)some_float(r);
    memcpy(at, &d, 8);
    break;
  case RECORD_BOOL:
    *at ^= 1;
    break;
  case RECORD_ID: {
    tn_body_id id = some_id(r);
    memcpy(at, &id.index, 4);
    memcpy(at + 4, &id.generation, 4);
    at[8] = (uint8_t)(fuzz_index(r, 20) ? id.index > 0 : fuzz_index(r, 3));
    break;
  }
  case RECORD_U64:
  case RECORD_SIZE:
    memset(at, 0, 8);
    at[fuzz_index(r, 8)] = (uint8_t)fuzz_next(r);
    break;
  default:
    whole = fuzz_index(r, 5) ? fuzz_index(r, 12) - 1 : (int32_t)fuzz_next(r);
    memcpy(at, &whole, 4);
    break;
  }
}

// ---------------------------------------------------------------------------------------------
// New calls with ordinary arguments

static float ordinary(fuzz_random *r)
{
  return (float)(fuzz_index(r, 4001) - 2000) * 1e-3f;
}

static tn_quat some_rotation(fuzz_random *r)
{
  tn_vec3 axis = {ordinary(r), ordinary(r), ordinary(r) + 3.0f};
  return tn_quat_axis_angle(tn_normalize(axis), ordinary(r));
}

static tn_body_id own_id(fuzz_random *r)
{
  uint32_t index = 1 + (uint32_t)fuzz_index(r, 6);
  return (tn_body_id){index, (uint32_t)(fuzz_index(r, 5) == 0), 1};
}

static void fill(void *out, record_kind kind, int of, fuzz_random *r);

static void fill_mesh(tn_soft_def *def, fuzz_random *r)
{
  const int cells[3] = {2, 1, 1};
  switch (fuzz_index(r, 5)) {
  case 0:
    tn_soft_mesh_cloth(def, 3, 3, 1.0f, 1.0f);
    break;
  case 1:
    tn_soft_mesh_rope(def, 4, 1.0f);
    break;
  case 2:
    tn_soft_mesh_box(def, cells, tn_v3(0.4f, 0.2f, 0.2f), fuzz_index(r, 2));
    break;
  case 3:
    tn_soft_mesh_sphere(def, 0, 0.4f);
    def->pressure = 1.2f;
    break;
  default:
    tn_soft_mesh_ball(def, 2, 0.3f, true);
    break;
  }
}

// Definitions begin with their usual values.
static bool fill_def(void *out, int of, fuzz_random *r)
{
  tn_body_id a = own_id(r), b = own_id(r);
  switch (of) {
  case TYPE_tn_body_def: {
    tn_body_def *def = out;
    *def = tn_default_body_def();
    def->type = fuzz_index(r, 4) ? TN_BODY_DYNAMIC : (tn_body_type)fuzz_index(r, 3);
    def->position = tn_p3((double)ordinary(r), (double)ordinary(r) + 1.5, (double)ordinary(r));
    def->rotation = some_rotation(r);
    return true;
  }
  case TYPE_tn_shape_def: {
    tn_shape_def *def = out;
    *def = tn_default_shape_def((tn_shape_kind)fuzz_index(r, TN_SHAPE_KIND_COUNT));
    memcpy(&def->geometry, &a, sizeof a);
    def->position.y = ordinary(r);
    return true;
  }
  case TYPE_tn_joint_def: {
    tn_joint_def *def = out;
    *def = tn_default_joint_def((tn_joint_kind)fuzz_index(r, TN_JOINT_KIND_COUNT));
    def->body_a = fuzz_index(r, 3) ? a : (tn_body_id){0, 0, 0};
    def->body_b = b;
    def->frame_b.p.x = (double)ordinary(r);
    return true;
  }
  case TYPE_tn_coupling_def: {
    tn_coupling_def *def = out;
    tn_joint_id joint = {a.index, a.generation, 1};
    *def = tn_default_coupling_def();
    if (fuzz_index(r, 2)) {
      tn_coupling_def_axis(def, joint, fuzz_index(r, 6), 1.0f);
    } else {
      tn_coupling_def_point(def, a, tn_p3(0.0, 0.0, 0.0), 1.0f);
      tn_coupling_def_point(def, (tn_body_id){0, 0, 0}, tn_p3(0.0, 2.0, 0.0), 1.0f);
    }
    return true;
  }
  case TYPE_tn_soft_def: {
    tn_soft_def *def = out;
    *def = tn_default_soft_def();
    def->position = tn_p3((double)ordinary(r), (double)ordinary(r) + 1.0, 0.0);
    fill_mesh(def, r);
    return true;
  }
  case TYPE_tn_attachment_def: {
    tn_attachment_def *def = out;
    *def = tn_default_attachment_def();
    memcpy(&def->soft, &a, sizeof a);
    def->soft.index = 1 + (uint32_t)fuzz_index(r, 2);
    def->body = fuzz_index(r, 2) ? b : (tn_body_id){0, 0, 0};
    def->particle = fuzz_index(r, 9);
    return true;
  }
  case TYPE_tn_reach_def: {
    tn_reach_def *def = out;
    *def = tn_default_reach_def();
    def->body = b;
    def->iterations = 5;
    return true;
  }
  case TYPE_tn_material:
    *(tn_material *)out = tn_default_material();
    return true;
  case TYPE_tn_query_filter:
    *(tn_query_filter *)out = tn_default_query_filter();
    return true;
  case TYPE_tn_quat:
    *(tn_quat *)out = some_rotation(r);
    return true;
  case TYPE_tn_mass:
    *(tn_mass *)out =
        tn_mass_scaled_to(tn_mass_box(tn_v3(0.3f, 0.4f, 0.5f), 1.0f), 0.01f + fabsf(ordinary(r)));
    return true;
  default:
    return false;
  }
}

static void fill(void *out, record_kind kind, int of, fuzz_random *r)
{
  float f = ordinary(r);
  double d = (double)ordinary(r);
  int whole = fuzz_index(r, 5);
  tn_body_id id = own_id(r);
  switch (kind) {
  case RECORD_F32:
    memcpy(out, &f, sizeof f);
    break;
  case RECORD_F64:
    memcpy(out, &d, sizeof d);
    break;
  case RECORD_ID:
    memcpy(out, &id, sizeof id);
    break;
  case RECORD_BOOL:
    *(bool *)out = whole % 2;
    break;
  case RECORD_I32:
  case RECORD_U32:
    memcpy(out, &whole, sizeof whole);
    break;
  case RECORD_STRUCT:
    if (!fill_def(out, of, r)) {
      const record_type *type = &record_types[of];
      for (size_t i = 0; i < type->field_count; ++i) {
        const record_field *field = &type->fields[i];
        size_t size = record_item_size(field->kind, field->of);
        for (int k = 0; k < field->count && field->kind < RECORD_TEXT; ++k) {
          fill((char *)out + field->offset + (size_t)k * size, field->kind, field->of, r);
        }
      }
    }
    break;
  default:
    break; // zero
  }
}

// Writes a call with ordinary arguments; ids belong to the world 1.
static void put_call(record_writer *w, int call, fuzz_random *r)
{
  static max_align_t room[RECORD_MOST_ARGUMENTS][MOST_ITEMS * 64]; // also of the largest structure
  const record_call_type *c = &record_calls[call];
  const void *a[RECORD_MOST_ARGUMENTS] = {0};
  memset(room, 0, sizeof room);
  int items = 1 + fuzz_index(r, 8);
  for (int i = 0; i < c->count; ++i) {
    const record_argument *arg = &c->arguments[i];
    size_t size = record_item_size(arg->kind, arg->of);
    a[i] = arg->form == ARG_TEXT ? (fuzz_index(r, 2) ? "name" : NULL) : (const void *)room[i];
    for (int k = 0; k < (arg->form == ARG_LIST ? MOST_ITEMS : 1) && arg->form < ARG_TEXT; ++k) {
      fill((char *)room[i] + (size_t)k * size, arg->kind, arg->of, r);
    }
  }
  for (int i = 0; i < c->count; ++i) { // counts of lists
    const record_argument *arg = &c->arguments[i];
    if (arg->form == ARG_LIST || arg->form == ARG_OUT) {
      memcpy(room[arg->count >= 0 ? arg->count : i], &items, arg->count >= 0 ? sizeof items : 0);
    }
  }
  if (call == CALL_tn_world_step) {
    float dt = 1.0f / (float)(20 + 20 * fuzz_index(r, 10));
    memcpy(room[0], &dt, sizeof dt);
  }
  record_put_call(w, call, a);
  for (int i = 0; i < c->count; ++i) {
    if (c->arguments[i].form == ARG_POINTER && c->arguments[i].of == TYPE_tn_soft_def &&
        c->arguments[i].kind == RECORD_STRUCT) {
      tn_soft_mesh_free((tn_soft_def *)(void *)room[i]);
    }
  }
}

static int some_call(fuzz_random *r)
{
  static const int usual[] = {
      CALL_tn_world_step,   CALL_tn_world_step,        CALL_tn_world_step,
      CALL_tn_body_create,  CALL_tn_body_create,       CALL_tn_shape_create,
      CALL_tn_shape_create, CALL_tn_shape_create,      CALL_tn_joint_create,
      CALL_tn_soft_create,  CALL_tn_attachment_create, CALL_tn_coupling_create};
  return fuzz_index(r, 2) ? usual[fuzz_index(r, (int)(sizeof usual / sizeof *usual))]
                          : fuzz_index(r, RECORD_CALL_COUNT);
}

// ---------------------------------------------------------------------------------------------
// Mutations of the list of records

typedef struct list {
  size_t at[MOST_RECORDS + 1]; // where records begin, and the end of the last
  int count;
} list;

static list records_of(const uint8_t *data, size_t size)
{
  list l = {.count = 0};
  size_t at = 0;
  while (l.count < MOST_RECORDS && size - at >= RECORD_HEAD) {
    uint32_t length;
    memcpy(&length, data + at + 4, 4);
    if (length > size - at - RECORD_HEAD) {
      break;
    }
    l.at[l.count++] = at;
    at += RECORD_HEAD + length;
  }
  l.at[l.count] = at;
  return l;
}

static size_t insert(uint8_t *data, size_t size, size_t capacity, size_t at, const uint8_t *bytes,
                     size_t length)
{
  if (size + length > capacity) {
    return size;
  }
  memmove(data + at + length, data + at, size - at);
  memcpy(data + at, bytes, length);
  return size + length;
}

static void change_argument(uint8_t *data, const list *l, fuzz_random *r)
{
  static walk w;
  int which = fuzz_index(r, l->count);
  uint32_t name;
  memcpy(&name, data + l->at[which], 4);
  int call = find_call(name);
  w = (walk){.bytes = data, .at = l->at[which] + RECORD_HEAD, .end = l->at[which + 1]};
  if (call >= 0) {
    walk_call(&w, call);
  }
  for (int i = fuzz_index(r, 3); i >= 0 && w.count > 0; --i) {
    place p = w.places[fuzz_index(r, w.count)];
    change_scalar(data + p.at, p.kind, r);
  }
}

static size_t new_call(uint8_t *data, size_t size, size_t capacity, const list *l, fuzz_random *r)
{
  record_writer w = {.world = 1};
  for (int i = fuzz_index(r, 4); i >= 0; --i) {
    put_call(&w, some_call(r), r);
  }
  size = insert(data, size, capacity, l->at[fuzz_index(r, l->count + 1)], w.bytes, w.size);
  free(w.bytes);
  return size;
}

static size_t repeat(uint8_t *data, size_t size, size_t capacity, const list *l, fuzz_random *r)
{
  int from = fuzz_index(r, l->count), to = from + 1 + fuzz_index(r, 6);
  to = to > l->count ? l->count : to;
  size_t length = l->at[to] - l->at[from];
  uint8_t *copy = malloc(length);
  if (copy) {
    memcpy(copy, data + l->at[from], length);
    size = insert(data, size, capacity, l->at[fuzz_index(r, l->count + 1)], copy, length);
  }
  free(copy);
  return size;
}

static size_t take_out(uint8_t *data, size_t size, const list *l, fuzz_random *r)
{
  int which = fuzz_index(r, l->count);
  memmove(data + l->at[which], data + l->at[which + 1], size - l->at[which + 1]);
  return size - (l->at[which + 1] - l->at[which]);
}

size_t calls_mutate(uint8_t *data, size_t size, size_t capacity, uint32_t seed)
{
  fuzz_random r = {seed};
  for (int i = fuzz_index(&r, 3); i >= 0; --i) {
    list l = records_of(data, size);
    size = l.at[l.count]; // what is no record goes
    switch (l.count == 0 ? 9 : fuzz_index(&r, 11)) {
    case 0:
    case 1:
    case 2:
    case 3:
      change_argument(data, &l, &r);
      break;
    case 4:
    case 5:
      size = repeat(data, size, capacity, &l, &r);
      break;
    case 6:
    case 7:
      size = take_out(data, size, &l, &r);
      break;
    default:
      size = new_call(data, size, capacity, &l, &r);
      break;
    }
  }
  return size;
}

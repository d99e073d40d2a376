// Writes the JSON Schema of scene files from the tables of the reader.
#include "scene_file.h"
#include "write.h"

#include <string.h>

static void say(writer *w, const char *key, const char *text)
{
  write_key(w, key);
  write_text(w, text);
}

static void say_type(writer *w, const char *type)
{
  say(w, "type", type);
}

static void refer(writer *w, const object_type *type)
{
  char where[64];
  snprintf(where, sizeof where, "#/$defs/%s", type->name);
  say(w, "$ref", where);
}

static void open_flat(writer *w)
{
  write_open(w, '{');
  w->flat = true;
}

static void say_bounds(writer *w, const field *f)
{
  bool bounded = f->lo < f->hi || f->lo > 0.0;
  if (bounded) {
    write_key(w, f->flags & FIELD_ABOVE ? "exclusiveMinimum" : "minimum");
    write_double(w, f->lo);
  }
  if (bounded && f->hi < 1e30) {
    write_key(w, "maximum");
    write_double(w, f->hi);
  }
}

// A schema for numbers of a type.
static void allow_number(writer *w, const field *f, const char *type)
{
  bool was_flat = w->flat;
  open_flat(w);
  say_type(w, type);
  say_bounds(w, f);
  write_close(w, '}', was_flat);
}

static void say_length(writer *w, int lo, int hi)
{
  char words[16];
  snprintf(words, sizeof words, "%d", lo);
  write_key(w, "minItems");
  write_raw(w, words);
  snprintf(words, sizeof words, "%d", hi);
  write_key(w, "maxItems");
  write_raw(w, words);
}

static void say_row(writer *w, const field *f, const char *type, int width)
{
  say_type(w, "array");
  say_length(w, width, width);
  write_key(w, "items");
  allow_number(w, f, type);
}

static void say_rows(writer *w, const field *f, const char *type, int width)
{
  bool was_flat = w->flat;
  say_type(w, "array");
  write_key(w, "items");
  if (width == 1) {
    allow_number(w, f, type);
    return;
  }
  open_flat(w);
  say_row(w, f, type, width);
  write_close(w, '}', was_flat);
}

static void begin_choice(writer *w)
{
  write_key(w, "anyOf");
  write_open(w, '[');
}

// An alternative that only gives a type.
static void choose_type(writer *w, const char *type)
{
  bool was_flat = w->flat;
  write_item(w);
  open_flat(w);
  say_type(w, type);
  write_close(w, '}', was_flat);
}

static void choose_part(writer *w, const object_type *type)
{
  bool was_flat = w->flat;
  write_item(w);
  open_flat(w);
  refer(w, type);
  write_close(w, '}', was_flat);
}

static void say_number(writer *w, const field *f, const char *type)
{
  if (f->flags & FIELD_OPEN) {
    begin_choice(w);
    write_item(w);
    allow_number(w, f, type);
    choose_type(w, "null");
    write_close(w, ']', w->flat);
  } else {
    say_type(w, type);
    say_bounds(w, f);
  }
}

static void say_words(writer *w, const field *f)
{
  write_key(w, "enum");
  write_open(w, '[');
  for (int i = 0; f->words[i]; ++i) {
    write_item(w);
    write_text(w, f->words[i]);
  }
  write_close(w, ']', true);
}

static void say_rotation(writer *w, const field *f)
{
  begin_choice(w);
  write_item(w);
  open_flat(w);
  say_row(w, f, "number", 4);
  write_close(w, '}', true);
  choose_part(w, &type_rotation);
  write_close(w, ']', true);
}

static void say_ranges(writer *w)
{
  say_type(w, "array");
  write_raw(w, ", \"maxItems\": 3, \"items\": {\"type\": [\"array\", \"null\"], \"minItems\": 2, "
               "\"maxItems\": 2, \"items\": {\"type\": [\"number\", \"null\"]}}");
}

static void say_reference(writer *w, bool world)
{
  begin_choice(w);
  choose_type(w, "string");
  choose_type(w, "integer");
  if (world) {
    choose_type(w, "null");
  }
  write_close(w, ']', true);
}

static void say_items(writer *w, const field *f, const char *key)
{
  write_key(w, key);
  open_flat(w);
  refer(w, f->part);
  write_close(w, '}', true);
}

static void say_tree(writer *w, const field *f)
{
  switch (f->tree) {
  case TREE_MASS:
  case TREE_MATERIAL:
    begin_choice(w);
    if (f->tree == TREE_MASS) {
      write_item(w);
      allow_number(w, f, "number");
    } else {
      choose_type(w, "string");
    }
    choose_part(w, f->part);
    write_close(w, ']', true);
    break;
  case TREE_BODY:
  case TREE_SOFT:
    say_reference(w, f->tree == TREE_BODY);
    break;
  case TREE_BODIES:
    say_type(w, "array");
    say_length(w, 2, 2);
    write_key(w, "items");
    open_flat(w);
    say_reference(w, true);
    write_close(w, '}', true);
    break;
  case TREE_LIST:
    say_type(w, "array");
    say_items(w, f, "items");
    break;
  case TREE_NAMED:
    say_type(w, "object");
    say_items(w, f, "additionalProperties");
    break;
  case TREE_NUMBERS:
    say_type(w, "object");
    write_key(w, "additionalProperties");
    allow_number(w, f, "number");
    break;
  default:
    refer(w, f->part);
    break;
  }
}

static void say_cells(writer *w, const field *f)
{
  begin_choice(w);
  write_item(w);
  allow_number(w, f, "integer");
  write_item(w);
  open_flat(w);
  say_row(w, f, "integer", 3);
  write_close(w, '}', true);
  write_close(w, ']', true);
}

static void say_value(writer *w, const field *f)
{
  switch (f->type) {
  case FIELD_FLOAT:
  case FIELD_DOUBLE:
    say_number(w, f, "number");
    break;
  case FIELD_INT:
    say_number(w, f, "integer");
    break;
  case FIELD_BOOL:
    say_type(w, "boolean");
    break;
  case FIELD_TEXT:
    say_type(w, "string");
    break;
  case FIELD_WORD:
    say_words(w, f);
    break;
  case FIELD_BITS:
    write_key(w, "anyOf");
    write_raw(w, "[{\"type\": \"integer\", \"minimum\": 0}, {\"type\": \"string\", \"pattern\": "
                 "\"^0x[0-9a-fA-F]{1,16}$\"}]");
    break;
  case FIELD_VECTOR:
  case FIELD_POSITION:
    say_row(w, f, "number", 3);
    break;
  case FIELD_ROTATION:
    say_rotation(w, f);
    break;
  case FIELD_INERTIA:
    say_row(w, f, "number", 6);
    break;
  case FIELD_RANGES:
    say_ranges(w);
    break;
  case FIELD_CELLS:
    say_cells(w, f);
    break;
  case FIELD_PART:
    refer(w, f->part);
    break;
  case FIELD_VECTORS:
    say_rows(w, f, "number", 3);
    break;
  case FIELD_FLOATS:
    say_rows(w, f, "number", 1);
    break;
  case FIELD_INDICES:
    say_rows(w, f, "integer", f->width);
    break;
  default:
    say_tree(w, f);
    break;
  }
}

// Keys required by some kinds only are checked by the reader.
static void say_required(writer *w, const object_type *type)
{
  write_key(w, "required");
  write_open(w, '[');
  w->flat = true;
  for (const field *f = type->fields; f->name; ++f) {
    if ((f->flags & FIELD_REQUIRED) && f->kinds == 0) {
      write_item(w);
      write_text(w, f->name);
    }
  }
  write_close(w, ']', false);
}

static void say_object(writer *w, const object_type *type)
{
  say(w, "description", type->meaning);
  say_type(w, "object");
  say_required(w, type);
  write_key(w, "additionalProperties");
  write_raw(w, "false");
  write_key(w, "properties");
  write_open(w, '{');
  for (const field *f = type->fields; f->name; ++f) {
    write_key(w, f->name);
    open_flat(w);
    if (f->meaning) {
      say(w, "description", f->meaning);
    }
    say_value(w, f);
    if (has_usual(f)) {
      write_key(w, "default");
      write_usual(w, type, f);
    }
    write_close(w, '}', false);
  }
  write_close(w, '}', false);
}

void scene_file_write_schema(FILE *out)
{
  writer w = {.out = out};
  write_open(&w, '{');
  say(&w, "$schema", "https://json-schema.org/draft/2020-12/schema");
  say(&w, "title", "Tenon scene");
  say_object(&w, &type_scene);
  write_key(&w, "$defs");
  write_open(&w, '{');
  for (const object_type *const *type = object_types(); *type; ++type) {
    write_key(&w, (*type)->name);
    write_open(&w, '{');
    say_object(&w, *type);
    write_close(&w, '}', false);
  }
  write_close(&w, '}', false);
  write_close(&w, '}', false);
  write_raw(&w, "\n");
}

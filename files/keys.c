// What a scene file may say, as tables for a document.
#include "scene_file.h"
#include "write.h"

#include <string.h>

static const char *type_of(const field *f)
{
  static const char *const types[FIELD_TYPE_COUNT] = {
      [FIELD_FLOAT] = "number",
      [FIELD_DOUBLE] = "number",
      [FIELD_INT] = "whole number",
      [FIELD_BOOL] = "true or false",
      [FIELD_TEXT] = "text",
      [FIELD_BITS] = "64 bits: a whole number, or \"0x...\"",
      [FIELD_VECTOR] = "3 numbers",
      [FIELD_POSITION] = "3 numbers",
      [FIELD_ROTATION] = "[rotation](#rotation), or 4 numbers",
      [FIELD_INERTIA] = "6 numbers",
      [FIELD_RANGES] = "up to 3 ranges",
      [FIELD_CELLS] = "3 whole numbers, or 1",
      [FIELD_VECTORS] = "list of 3 numbers each",
      [FIELD_FLOATS] = "list of numbers"};
  static const char *const trees[] = {
      [TREE_BODY] = "body's name or number, or null",
      [TREE_BODIES] = "2 bodies' names or numbers, or null",
      [TREE_SOFT] = "soft body's name or number",
      [TREE_NUMBERS] = "numbers by name",
  };
  return f->type == FIELD_TREE ? trees[f->tree] : types[f->type];
}

static void print_type(const field *f, FILE *out)
{
  static const char *const before[] = {
      [TREE_MASS] = "number, or ", [TREE_MATERIAL] = "name, or ",
      [TREE_LIST] = "list of ",    [TREE_NAMED] = "by name: ",
      [TREE_OBJECT] = "",
  };
  if (f->type == FIELD_WORD) {
    for (int i = 0; f->words[i]; ++i) {
      fprintf(out, "%s`%s`", i ? ", " : "", f->words[i]);
    }
  } else if (f->type == FIELD_INDICES) {
    fprintf(out, f->width > 1 ? "list of %d vertices each" : "list of vertices", f->width);
  } else if (f->part) {
    fprintf(out, "%s[%s](#%s)", f->type == FIELD_TREE ? before[f->tree] : "", f->part->name,
            f->part->name);
  } else {
    fputs(type_of(f), out);
  }
}

static void print_bounds(const field *f, FILE *out)
{
  if (f->lo < f->hi || f->lo > 0.0) {
    fprintf(out, f->flags & FIELD_ABOVE ? "above %g" : f->lo == f->hi ? "%g" : "from %g", f->lo);
    if (f->hi < 1e30 && f->hi > f->lo) {
      fprintf(out, f->flags & FIELD_ABOVE ? ", up to %g" : " to %g", f->hi);
    }
  }
  if (f->flags & FIELD_OPEN) {
    fputs(", or null", out);
  }
}

// Which kinds have it, and whether they must.
static void print_need(const object_type *type, const field *f, FILE *out)
{
  const field *kind = field_find(type, "kind");
  const char *separator = "";
  for (int i = 0; f->kinds && kind->words[i]; ++i) {
    if (f->kinds >> i & 1) {
      fprintf(out, "%s%s", separator, kind->words[i]);
      separator = ", ";
    }
  }
  if (f->flags & FIELD_REQUIRED) {
    fputs(f->kinds ? ": needed. " : "Needed. ", out);
  } else if (f->kinds) {
    fputs(". ", out);
  }
}

static void print_object(const object_type *type, FILE *out)
{
  writer w = {.out = out};
  fprintf(out, "\n## %s\n\n%s\n\n| Name | What it takes | Bounds | Usual | Meaning |\n", type->name,
          type->meaning);
  fputs("| --- | --- | --- | --- | --- |\n", out);
  for (const field *f = type->fields; f->name; ++f) {
    fprintf(out, "| `%s` | ", f->name);
    print_type(f, out);
    fputs(" | ", out);
    print_bounds(f, out);
    fputs(" | ", out);
    if (has_usual(f)) {
      write_usual(&w, type, f);
    }
    fputs(" | ", out);
    print_need(type, f, out);
    fprintf(out, "%s |\n", f->meaning ? f->meaning : "");
  }
}

void scene_file_write_keys(FILE *out)
{
  fputs("# What a scene file may say\n\nMade by `tenon schema --markdown`. "
        "[scene_files.md](scene_files.md) tells how to write one.\n",
        out);
  print_object(&type_scene, out);
  for (const object_type *const *type = object_types(); *type; ++type) {
    print_object(*type, out);
  }
}

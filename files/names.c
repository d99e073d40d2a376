#include "names.h"

#include <stdlib.h>
#include <string.h>

bool names_add(name_table *t, const char *name, int index)
{
  if (t->count == t->capacity) {
    int wanted = 2 * t->capacity + 16;
    name_entry *grown = realloc(t->entries, (size_t)wanted * sizeof *grown);
    if (!grown) {
      return false;
    }
    t->entries = grown;
    t->capacity = wanted;
  }
  t->entries[t->count++] = (name_entry){name, index};
  return true;
}

static int by_name(const void *a, const void *b)
{
  const name_entry *x = a, *y = b;
  int order = strcmp(x->name, y->name);
  return order ? order : (x->index > y->index) - (x->index < y->index);
}

int names_sort(name_table *t, int *other)
{
  int found = -1;
  if (t->count > 0) {
    qsort(t->entries, (size_t)t->count, sizeof *t->entries, by_name);
  }
  for (int i = 1; i < t->count; ++i) {
    const name_entry *e = &t->entries[i];
    if (strcmp(e[-1].name, e->name) == 0 && (found < 0 || e->index < found)) {
      found = e->index;
      *other = e[-1].index;
    }
  }
  return found;
}

int names_find(const name_table *t, const char *name)
{
  int lo = 0, hi = t->count - 1;
  while (lo <= hi) {
    int middle = lo + (hi - lo) / 2;
    int order = strcmp(name, t->entries[middle].name);
    if (order == 0) {
      return t->entries[middle].index;
    }
    lo = order > 0 ? middle + 1 : lo;
    hi = order < 0 ? middle - 1 : hi;
  }
  return -1;
}

void names_free(name_table *t)
{
  free(t->entries);
  *t = (name_table){NULL, 0, 0};
}

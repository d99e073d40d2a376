// Table from names to indices.
#ifndef TENON_FILES_NAMES_H
#define TENON_FILES_NAMES_H

#include <stdbool.h>

typedef struct name_entry {
  const char *name; // not copied
  int index;
} name_entry;

// A zeroed table is empty.
typedef struct name_table {
  name_entry *entries;
  int count, capacity;
} name_table;

bool names_add(name_table *t, const char *name, int index); // false if out of memory
// Call after all names were added. Returns the first index whose name is a duplicate, and in
// `other` the earlier index; -1 if all names are unique.
int names_sort(name_table *t, int *other);
int names_find(const name_table *t, const char *name); // index; -1 for none
void names_free(name_table *t);

#endif

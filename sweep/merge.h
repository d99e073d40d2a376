// The table of a sweep: table.csv and table.sqlite, in the order of the runs. Their bytes depend on
// spec and version alone; hosts and times of the runs are in hosts.csv.
#ifndef TENON_SWEEP_MERGE_H
#define TENON_SWEEP_MERGE_H

#include "journal.h"

// All of them report errors on stderr and replace their files as a whole.
bool merge_csv(const sweep_spec *s, const result_table *t, const char *path);
bool merge_sqlite(const sweep_spec *s, const result_table *t, const char *path);
// Concatenates the times of all shards, ordered by run.
bool merge_hosts(const char *folder, const char *path);

#endif

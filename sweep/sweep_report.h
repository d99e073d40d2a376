// The report of a sweep: one HTML file with the table and a page that draws it.
#ifndef TENON_SWEEP_REPORT_H
#define TENON_SWEEP_REPORT_H

#include "journal.h"

bool sweep_report_write(const sweep_spec *s, const result_table *t, const char *path);

#endif

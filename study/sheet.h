// Sheets: what an experiment measured, as rows of a name and some numbers. Each is a CSV file, and
// the report is made from these files alone.
#ifndef TENON_STUDY_SHEET_H
#define TENON_STUDY_SHEET_H

#include <stdbool.h>

#define SHEET_COLUMNS 16
#define SHEET_WORD 128

typedef struct sheet_row {
  char label[SHEET_WORD];
  double values[SHEET_COLUMNS]; // NaN: was not measured, or is no number
} sheet_row;

typedef struct sheet {
  char name[SHEET_WORD];  // the file's, without .csv
  char label[SHEET_WORD]; // what the rows' names are
  char columns[SHEET_COLUMNS][SHEET_WORD];
  int column_count;
  sheet_row *rows;
  int row_count, capacity;
  bool failed; // no memory, or a name that is too long or has a comma
} sheet;

// The head is that of the file: "method,time_s,energy_rel".
void sheet_start(sheet *s, const char *name, const char *head);
void sheet_add(sheet *s, const char *label, const double *values);
void sheet_free(sheet *s);

int sheet_column(const sheet *s, const char *name); // -1: there is none
// The value in the last row of that name, NaN if there is none.
double sheet_value(const sheet *s, const char *label, const char *column);

// In the folder `dir`. They say on stderr what went wrong.
bool sheet_write(const sheet *s, const char *dir);
bool sheet_read(sheet *s, const char *dir, const char *name);

#endif

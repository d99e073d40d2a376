// Sheets: the measurements of an experiment, as rows of a name and numbers. Each is a CSV file; the
// report is written from these files alone.
#ifndef TENON_STUDY_SHEET_H
#define TENON_STUDY_SHEET_H

#include <stdbool.h>

#define SHEET_COLUMNS 16
#define SHEET_WORD 128

typedef struct sheet_row {
  char label[SHEET_WORD];
  double values[SHEET_COLUMNS]; // NaN: not measured, or not a number
} sheet_row;

typedef struct sheet {
  char name[SHEET_WORD];  // of the file, without .csv
  char label[SHEET_WORD]; // heading of the rows' names
  char columns[SHEET_COLUMNS][SHEET_WORD];
  int column_count;
  sheet_row *rows;
  int row_count, capacity;
  bool failed; // out of memory, or a name that is too long or has a comma
} sheet;

// `head` is the first line of the file: "method,time_s,energy_rel".
void sheet_start(sheet *s, const char *name, const char *head);
void sheet_add(sheet *s, const char *label, const double *values);
void sheet_free(sheet *s);

int sheet_column(const sheet *s, const char *name); // -1: there is none
// The value in the last row of that name, NaN if there is none.
double sheet_value(const sheet *s, const char *label, const char *column);

// In the folder `dir`. They report errors on stderr.
bool sheet_write(const sheet *s, const char *dir);
bool sheet_read(sheet *s, const char *dir, const char *name);

#endif

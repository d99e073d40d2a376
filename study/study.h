// The study: published experiments, run again here. Each one measures into sheets and then tells
// about them; what it tells is read from the sheets alone, so that a study can be resumed.
#ifndef TENON_STUDY_H
#define TENON_STUDY_H

#include "progress.h"
#include "sheet.h"

#include <stddef.h>

#define STUDY_MAX_SHEETS 96

typedef struct study_options {
  const char *out; // folder
  bool quick;
} study_options;

typedef struct page page; // page.h
typedef struct experiment experiment;

typedef struct study {
  study_options options;
  char data[1024]; // the folder of the sheets
  sheet sheets[STUDY_MAX_SHEETS];
  int sheet_count;
  progress bar;
  const experiment *running;
  int part;       // of it
  double started; // ms, of the one that runs
  double done;    // cost of those that have run
  bool failed;    // no memory, or a name too long
} study;

struct experiment {
  const char *name, *title;
  double cost[2]; // seconds it takes, about: full and quick; for the bar
  int parts;      // that are measured, and resumed, one by one
  void (*measure)(study *s);
  void (*tell)(const study *s, page *p);
  bool is_derived; // from other sheets; measured again every time
};

// mueller.c, dahl.c, deul.c, seabra.c, seabra_table.c
extern const experiment mueller_forces, mueller_energy, mueller_elongation, mueller_times;
extern const experiment dahl_falloff, dahl_overhead;
extern const experiment deul_times;
extern const experiment seabra_figures, seabra_scaling, seabra_friction, seabra_table;

// While measuring.
sheet *study_new_sheet(study *s, const char *name, const char *head);
// Null if there is none.
const sheet *study_sheet(const study *s, const char *name);

// Every now and then, for the bar.
void study_tick(study *s);

// The first number in a full study, the second in a quick one.
double study_pick(const study *s, double full, double quick);

// Runs what is not yet there and writes the report. False if something went wrong.
bool study_run(const study_options *options);

#endif

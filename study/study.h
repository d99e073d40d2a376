// The study: published experiments, reproduced. Each one fills sheets and then writes its part of
// the report from the sheets alone, so that a study can be resumed.
#ifndef TENON_STUDY_H
#define TENON_STUDY_H

#include "progress.h"
#include "sheet.h"

#include <stddef.h>

#define STUDY_MAX_SHEETS 96

typedef struct study_options {
  const char *out; // folder
  bool quick;
  int shard, shards; // measure only one of several parts, without a report; shards 1: everything
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
  int part;       // current part of the experiment
  int parts_seen; // of all experiments, to divide them among shards
  double started; // ms, start of the current experiment
  double done;    // cost of the completed experiments
  bool failed;    // out of memory, or a name too long
} study;

struct experiment {
  const char *name, *title;
  double cost[2]; // approximate duration in s: full and quick; for the progress bar
  int parts;      // measured and resumed one by one
  void (*measure)(study *s);
  void (*tell)(const study *s, page *p);
  bool is_derived; // from other sheets; computed every time
};

// mueller.c, dahl.c, deul.c, seabra.c, seabra_table.c
extern const experiment mueller_forces, mueller_energy, mueller_elongation, mueller_times;
extern const experiment dahl_falloff, dahl_overhead;
extern const experiment deul_times;
extern const experiment seabra_figures, seabra_scaling, seabra_friction, seabra_table;

// During measurement.
sheet *study_new_sheet(study *s, const char *name, const char *head);
// Returns null if there is none.
const sheet *study_sheet(const study *s, const char *name);

// Call regularly to update the progress bar.
void study_tick(study *s);

// The first number in a full study, the second in a quick one.
double study_pick(const study *s, double full, double quick);

// Runs the experiments that are not complete and writes the report. Returns false on failure.
bool study_run(const study_options *options);
// Number of parts that can be measured by different processes, and their duration, s.
int study_part_count(void);
double study_duration(bool quick);

#endif

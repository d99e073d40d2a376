// What the benchmarks share.
#ifndef TENON_BENCH_H
#define TENON_BENCH_H

#include "scenes.h"

#include <stdio.h>

// ---------------------------------------------------------------------------------------------
// Which benchmarks to run, and where the figures go besides stdout

typedef struct bench_setting {
  const char *name;
  int substeps;
} bench_setting;

#define BENCH_SETTINGS 3
extern const bench_setting bench_settings[BENCH_SETTINGS]; // fast, default, accurate

#define BENCH_WORDS 64

typedef struct bench {
  const char *picks;   // "name" or "name:size", by spaces; empty picks all
  const char *setting; // the only one of Tenon's to run; null: all
  FILE *json;          // or null
  bool has_mismatch;   // equal work gave different hashes
  bool asking;         // only what is known of the picks, nothing is run
  bool known[BENCH_WORDS];
  int rows; // reported so far
} bench;

// By its name, by name and size, or by its group.
bool bench_is_picked(bench *b, const char *group, const char *name, int size);

// ---------------------------------------------------------------------------------------------
// Figures

#define BENCH_METRICS 40
#define BENCH_SHOWN 6

typedef struct bench_row {
  const char *engine, *scene, *setting;
  int size, substeps, threads, lanes;
  double ms_median, ms_p99; // a frame of 1/60 s
  uint64_t hash;            // 0: none
  const char *refused;      // why this engine has no figures; else null
  scene_metric metrics[BENCH_METRICS];
  int metric_count;
  const char *shown[BENCH_SHOWN]; // the metrics that belong into the text, up to a null
} bench_row;

void bench_note(bench_row *row, const char *name, double value);
void bench_report(bench *b, const bench_row *row);

// The widest lanes of this machine.
int bench_widest_lanes(void);

// Milliseconds that the calling thread has computed, and that went by: tn_clock_fn.
double bench_cpu_ms(void);
double bench_wall_ms(void);

// ---------------------------------------------------------------------------------------------
// Races: engines and settings on one scene, in turns

typedef enum bench_unit { UNIT_BODY, UNIT_POINT, UNIT_JOINT, UNIT_ROW } bench_unit;

typedef enum bench_field {
  FIELD_ALL,   // the three settings, threads, lanes, other engines
  FIELD_FEW,   // the three settings, threads, other engines at their defaults
  FIELD_ALONE, // the three settings, threads and lanes: nobody else has this
  FIELD_ONE,   // one thread, at the substeps of the scene or of `substeps`
} bench_field;

#define BENCH_EXTRAS 3

typedef struct bench_case {
  const char *name, *scene; // the scene's name, if it is another one
  const char *parameter;    // that is the size; null: none
  int size;
  bench_field field;
  bench_unit unit;    // what the time is divided by
  int lead;           // frames that one engine makes for all, before they start
  int settling;       // frames before that, besides those that warm up caches
  int frames;         // that are timed
  double seconds;     // after which the quality is measured
  double published;   // ms a frame, of `source`
  const char *source; // null: none
  int substeps;       // of FIELD_ONE; 0 takes the scene's
  bool sleeping;
  bool at_rest; // other engines make the lead for themselves, or they would not sleep
  const char *shown[BENCH_SHOWN - 2];
  struct {
    const char *name;
    double value;
  } extras[BENCH_EXTRAS]; // further parameters
} bench_case;

// Looks among the scenes of the benchmarks as well.
const scene *bench_find_scene(const char *name);
// False if the scene could not be made.
bool bench_race(bench *b, const char *group, const bench_case *c);

// The groups; false if something could not be run.
bool bench_cases(bench *b);
bool bench_rays(bench *b);
bool bench_scaling(bench *b);
bool bench_twins(bench *b);
bool bench_curves(bench *b);
bool bench_memory(bench *b);
bool bench_stream(bench *b);
bool bench_joints(bench *b);

#endif

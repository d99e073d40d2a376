// Shared declarations of the benchmarks.
#ifndef TENON_BENCH_H
#define TENON_BENCH_H

#include "scenes.h"

#include <stdio.h>

// ---------------------------------------------------------------------------------------------
// Selection of benchmarks, and output

typedef struct bench_setting {
  const char *name;
  int substeps;
} bench_setting;

#define BENCH_SETTINGS 3
extern const bench_setting bench_settings[BENCH_SETTINGS]; // fast, default, accurate

#define BENCH_WORDS 64

typedef struct bench {
  const char *picks;   // "name" or "name:size", separated by spaces; empty selects all
  const char *setting; // the only setting of Tenon to run; null: all
  FILE *json;          // or null
  bool has_mismatch;   // equal runs gave different hashes
  bool asking;         // check the selection only, run nothing
  bool known[BENCH_WORDS];
  int rows; // reported so far
} bench;

// True if the user selected the benchmark by name, by name and size, or by group.
bool bench_is_picked(bench *b, const char *group, const char *name, int size);

// ---------------------------------------------------------------------------------------------
// Results

#define BENCH_METRICS 40
#define BENCH_SHOWN 6

typedef struct bench_row {
  const char *engine, *scene, *setting;
  int size, substeps, threads, lanes;
  double ms_median, ms_p99; // per frame of 1/60 s
  uint64_t hash;            // 0: none
  const char *refused;      // why this engine was not run; else null
  scene_metric metrics[BENCH_METRICS];
  int metric_count;
  const char *shown[BENCH_SHOWN]; // metrics shown in the text, null-terminated
} bench_row;

void bench_note(bench_row *row, const char *name, double value);
void bench_report(bench *b, const bench_row *row);

// The widest SIMD width of this machine.
int bench_widest_lanes(void);

// CPU time of the calling thread and wall time, ms; of type tn_clock_fn.
double bench_cpu_ms(void);
double bench_wall_ms(void);
// Cores that the program may use.
int bench_cores(void);

// ---------------------------------------------------------------------------------------------
// Races: engines and settings on one scene, in alternation

typedef enum bench_unit { UNIT_BODY, UNIT_POINT, UNIT_JOINT, UNIT_ROW } bench_unit;

typedef enum bench_field {
  FIELD_ALL,     // the three settings, threads, lanes, other engines
  FIELD_FEW,     // the three settings, threads, other engines at their defaults
  FIELD_ALONE,   // the three settings, threads and lanes; not supported by other engines
  FIELD_ONE,     // one thread, at the substeps of the scene or of `substeps`
  FIELD_THREADS, // `fast` on 1, 2, 4, ... threads up to all cores
} bench_field;

#define BENCH_EXTRAS 3

typedef struct bench_case {
  const char *name, *scene; // name of the scene if it differs from `name`
  const char *parameter;    // parameter that is the size; null: none
  int size;
  bench_field field;
  bench_unit unit;    // what the time is divided by
  int lead;           // initial frames simulated by Tenon for all engines
  int settling;       // untimed frames of each engine, besides those that warm up caches
  int frames;         // number of timed frames
  double seconds;     // time at which quality is measured
  double published;   // ms per frame, from `source`
  const char *source; // null: none
  int substeps;       // for FIELD_ONE; 0: those of the scene
  bool sleeping;
  bool at_rest; // other engines simulate the lead themselves, otherwise they would not sleep
  const char *shown[BENCH_SHOWN - 2];
  struct {
    const char *name;
    double value;
  } extras[BENCH_EXTRAS]; // further parameters
} bench_case;

// Finds a scene, including those of the benchmarks.
const scene *bench_find_scene(const char *name);
const scene *bench_find_figure(const char *name); // those of figures.c only; null if there is none
// Returns false if the scene could not be created.
bool bench_race(bench *b, const char *group, const bench_case *c);

// The groups; they return false if something could not be run.
bool bench_cases(bench *b);
bool bench_rays(bench *b);
bool bench_scaling(bench *b);
bool bench_detection(bench *b);
bool bench_figures(bench *b);
bool bench_threads(bench *b);
bool bench_twins(bench *b);
bool bench_curves(bench *b);
bool bench_memory(bench *b);
bool bench_stream(bench *b);
bool bench_joints(bench *b);

#endif

// One run of a scene with one solver, and its results.
#ifndef TENON_STUDY_TRIAL_H
#define TENON_STUDY_TRIAL_H

#include "scenes.h"
#include "study.h"

// A solver: a method of Tenon, or another engine.
typedef struct solver {
  char name[SHEET_WORD];
  tn_method method;
  const char *peer; // null: Tenon
  bool iterates;    // one step per frame with as many iterations as the others have substeps
} solver;

enum { OWN_SOLVERS = 3 };

// Tenon's three methods, then the engines found at build time: each with as many substeps as Tenon,
// and with as many iterations of one step, which is the usual way to run them.
int solver_count(void);
const solver *solver_at(int index);
const solver *solver_named(const char *name); // null if there is none
// Version and settings of its engine.
const char *solver_describe(int index);

typedef struct trial {
  const char *scene;
  const char *settings; // "count=500 end_mass_ratio=100"; null: the defaults
  const solver *solver;
  int substeps, iterations; // iterations 0: 1, or an engine's default
  double seconds;
  double dt;           // s; 0: 1/60
  int lead;            // frames before the timed ones
  int readings;        // largest number of points of the curve; 0: none
  const char *tracked; // a metric to read every frame, or null
} trial;

// The state at one time; NaN where the scene has no such quantity.
typedef struct reading {
  double time, energy_rel, joint_error_m, penetration_m, drift_m, drop_m, rms_speed;
  double kinetic, tracked;
  double motion; // m/s, rms displacement of the bodies in the last frame over its time
} reading;

typedef struct finding {
  bool ok;             // it was created and stayed finite
  bool refused;        // the engine does not support the scene
  char why[96];        // reason for `ok` false
  double ms, solve_ms; // per frame: the median, and the mean of Tenon's solver alone
  double contacts;     // mean number of contact points
  double gain;         // largest gain of energy since the start, over the scene's scale
  double tracked;      // mean
  double motion;       // in the last frame
  scene_metric metrics[SCENE_MAX_METRICS];
  int metric_count;
  reading *curve;
  int reading_count;
  double *times; // ms, of every frame in order
  int frames;
  tn_pos *places; // positions of the bodies in the previous frame
  scene_run *run; // final state
} finding;

// Free the result with finding_free, also if it is not ok.
finding trial_run(study *s, const trial *t);
void finding_free(finding *f);

// Returns NaN if there is none of that name, or if the run failed.
double finding_metric(const finding *f, const char *name);

#endif

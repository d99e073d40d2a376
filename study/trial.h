// One scene solved in one way, and what was seen.
#ifndef TENON_STUDY_TRIAL_H
#define TENON_STUDY_TRIAL_H

#include "scenes.h"
#include "study.h"

// How a scene is solved: by a method of Tenon, or by another engine.
typedef struct solver {
  char name[SHEET_WORD];
  tn_method method;
  const char *peer; // null: Tenon
  bool iterates;    // one step a frame and as many iterations as the others have substeps
} solver;

enum { OWN_SOLVERS = 3 };

// Tenon's three methods, then the engines that were found when this was built: each in as many
// substeps as Tenon, and in as many iterations of one step, which is how such engines are used.
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
  int lead;            // frames before those that are timed
  int readings;        // for the curve, at most; 0: none
  const char *tracked; // a metric to read every frame, or null
} trial;

// The state at one moment; NaN where the scene has no such thing.
typedef struct reading {
  double time, energy_rel, joint_error_m, penetration_m, drift_m, drop_m, rms_speed;
  double kinetic, tracked;
  double motion; // m/s: how far the bodies went in the last frame, rms
} reading;

typedef struct finding {
  bool ok;             // it could be made and stayed finite
  bool refused;        // the engine does not take the scene
  char why[96];        // not
  double ms, solve_ms; // a frame: the median, and the mean of Tenon's solver alone
  double contacts;     // points on the mean
  double gain;         // the most that the energy was above its start, over the scene's scale
  double tracked;      // on the mean
  double motion;       // in the last frame
  scene_metric metrics[SCENE_MAX_METRICS];
  int metric_count;
  reading *curve;
  int reading_count;
  double *times; // ms, of every frame in its order
  int frames;
  tn_pos *places; // of the bodies, a frame ago
  scene_run *run; // as it was at the end
} finding;

// To be freed with finding_free, also when it is not ok.
finding trial_run(study *s, const trial *t);
void finding_free(finding *f);

// NaN if there is none of that name, or the run failed.
double finding_metric(const finding *f, const char *name);

#endif

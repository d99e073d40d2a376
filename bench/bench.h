// What the benchmarks share.
#ifndef TENON_BENCH_H
#define TENON_BENCH_H

#include "scenes.h"

#include <stdio.h>

// Which benchmarks to run, and where the figures go besides stdout.
typedef struct bench {
  const char *picks; // "name" or "name:size", by spaces; empty picks all
  FILE *json;        // or null
  bool has_mismatch; // equal work gave different hashes
  int lines;         // reported so far
} bench;

// One figure. Whatever is zero was not measured.
typedef struct bench_line {
  const char *name;
  int size, threads, lanes;
  double ms;      // a frame, the median
  double ns;      // a joint, contact or body a substep; a ray
  uint64_t hash;  // of the final state
  double compare; // another figure, for what `compared` says
  const char *compared;
  tn_profile parts; // of the frame, ms
} bench_line;

bool bench_is_picked(const bench *b, const char *name, int size);
void bench_report(bench *b, const bench_line *line);

// The widest lanes of this machine.
int bench_widest_lanes(void);

// A scene stepped for some frames: the lowest median of several runs.
typedef struct bench_job {
  const scene *scene;
  scene_settings settings;
  int substeps, threads, lanes;
  int lead; // frames before those that are timed
  int frames, runs;
  bool sleeping;
} bench_job;

typedef struct bench_result {
  double ms;
  uint64_t hash;
  int joints, contacts, awake;
  double joint_error; // m, the largest at the end
  double penetration; // m, the deepest at the end
  tn_profile parts;   // of a frame on the mean, ms
} bench_result;

bench_job bench_job_of(const scene *which, int substeps);
void bench_set(bench_job *job, const char *name, double value);
// False if the scene could not be made or stepped.
bool bench_run(const bench_job *job, bench_result *result);

// The groups.
bool bench_chains(bench *b);
bool bench_kernels(bench *b);
bool bench_pendula(bench *b);
bool bench_bodies(bench *b);
bool bench_mechanisms(bench *b);
bool bench_contacts(bench *b);
bool bench_softs(bench *b);

// kernel_bench.c: a joint's maths alone, with everything in the nearest cache: ns a joint a
// substep.
typedef enum kernel_joint { KERNEL_BALL, KERNEL_HINGE } kernel_joint;
int kernel_lanes(void);
double kernel_ns(kernel_joint joint);

// pass_bench.c: the passes over joints of a world's solver, on one thread: ns a joint a substep.
// The world is left as it was.
double pass_ns(tn_world *world, int substeps);

#endif

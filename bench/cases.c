// The scenes of the benchmarks.
#include "bench.h"

#define DRIFT                                                                                      \
  {                                                                                                \
    "max_drift_m", "max_penetration_m", "fallen"                                                   \
  }
#define DEPTH                                                                                      \
  {                                                                                                \
    "mean_penetration_m", "max_penetration_m", "rms_speed_end", "escaped"                          \
  }
#define ERROR                                                                                      \
  {                                                                                                \
    "max_joint_error_m", "energy_rel_final"                                                        \
  }

static const bench_case cases[] = {
    // Contacts.
    {"pyramid", NULL, "base", 20, .unit = UNIT_POINT, .frames = 120, .seconds = 10.0,
     .shown = DRIFT},
    {"pyramid", NULL, "base", 36, .unit = UNIT_POINT, .frames = 120, .seconds = 20.0,
     .shown = DRIFT},
    {"pyramid", NULL, "base", 60, .unit = UNIT_POINT, .frames = 60, .seconds = 3.0, .shown = DRIFT},
    {"pyramid", NULL, "base", 100, .unit = UNIT_POINT, .frames = 60, .seconds = 3.0,
     .shown = DRIFT},
    {"capsules", NULL, "count", 500, .unit = UNIT_POINT, .lead = 120, .frames = 120, .seconds = 5.0,
     .shown = DEPTH, .extras = {{"width", 6.0}}},
    {"capsules", NULL, "count", 2000, .unit = UNIT_POINT, .lead = 180, .frames = 120,
     .seconds = 6.0, .shown = DEPTH, .extras = {{"width", 10.0}}},
    {"capsules", NULL, "count", 8000, .unit = UNIT_POINT, .lead = 240, .frames = 60, .seconds = 5.0,
     .shown = DEPTH, .extras = {{"width", 16.0}}},
    {"capsules", NULL, "count", 32000, FIELD_FEW, UNIT_POINT, .lead = 120, .frames = 30,
     .shown = DEPTH, .extras = {{"width", 60.0}}},
    {"mixed", "pile", "count", 2000, .unit = UNIT_POINT, .lead = 240, .frames = 120, .seconds = 6.0,
     .shown = DEPTH},

    // Mechanisms.
    {"chain", NULL, "count", 100, .unit = UNIT_JOINT, .frames = 120, .seconds = 5.0, .shown = ERROR,
     .extras = {{"end_mass_ratio", 100.0}}},
    {"chain", NULL, "count", 500, .unit = UNIT_JOINT, .frames = 120, .seconds = 5.0, .shown = ERROR,
     .extras = {{"end_mass_ratio", 100.0}}},
    {"chain", NULL, "count", 5000, .unit = UNIT_JOINT, .frames = 30, .shown = ERROR,
     .extras = {{"end_mass_ratio", 100.0}}},
    {"mobile", NULL, "count", 127, .unit = UNIT_JOINT, .frames = 120, .seconds = 5.0,
     .shown = ERROR},
    {"mobile", NULL, "count", 1023, .unit = UNIT_JOINT, .frames = 60, .seconds = 2.0,
     .shown = ERROR},
    {"mobile", NULL, "count", 4095, .unit = UNIT_JOINT, .frames = 30, .shown = ERROR},
    {"ragdolls", "ragdoll", "count", 100, .unit = UNIT_JOINT, .lead = 90, .frames = 100,
     .seconds = 4.0, .shown = {"max_joint_error_m", "max_penetration_m", "escaped"}},

    // Soft bodies.
    {"cloth", NULL, "particles", 1681, .field = FIELD_ALONE, .unit = UNIT_ROW, .frames = 120,
     .seconds = 5.0, .published = 7.13, .source = "Deul et al. 2014", .shown = {"stretch_rms"}},
    {"cloth", NULL, "particles", 25000, .field = FIELD_ALONE, .unit = UNIT_ROW, .frames = 60,
     .seconds = 2.0, .shown = {"stretch_rms"}},
    {"tyres", NULL, "count", 4, .field = FIELD_ALONE, .unit = UNIT_ROW, .frames = 100,
     .seconds = 3.0, .shown = {"rms_speed_end"}},
    {"bends", NULL, "particles", 1681, .field = FIELD_ALONE, .unit = UNIT_ROW, .frames = 60},
    {"folds", NULL, "particles", 1681, .field = FIELD_ALONE, .unit = UNIT_ROW, .frames = 60},
    {"tets", NULL, "cells", 8, .field = FIELD_ALONE, .unit = UNIT_ROW, .frames = 60,
     .published = 3.117, .source = "Dahl and Bargteil 2019"},
    {"tets", NULL, "cells", 17, .field = FIELD_ALONE, .unit = UNIT_ROW, .frames = 20},
    {"hexes", NULL, "cells", 8, .field = FIELD_ALONE, .unit = UNIT_ROW, .frames = 60},
    {"balloon", NULL, "level", 3, .field = FIELD_ALONE, .unit = UNIT_ROW, .frames = 60},

    // Sleeping and free bodies.
    {"sleeping", "resting", "count", 10000, FIELD_FEW, UNIT_BODY, .lead = 150, .frames = 60,
     .sleeping = true, .at_rest = true, .shown = {"awake"}},
    {"bodies", "free_bodies", "count", 10000, .unit = UNIT_BODY, .frames = 60},

    // Table 1 of Mueller et al. 2020, each at the substeps given there.
    {"springs3", NULL, NULL, 3, FIELD_ONE, .frames = 300, .published = 0.34, .source = "Table 1"},
    {"springs7", NULL, NULL, 7, FIELD_ONE, .frames = 300, .published = 0.44, .source = "Table 1"},
    {"pendulum_double", NULL, NULL, 2, FIELD_ONE, .frames = 600, .published = 0.07,
     .source = "Table 1", .substeps = 40},
    {"pendulum_triple", NULL, NULL, 3, FIELD_ONE, .frames = 600, .published = 0.09,
     .source = "Table 1", .substeps = 40},
    {"pendulum_loop", NULL, NULL, 5, FIELD_ONE, .frames = 600, .published = 0.2,
     .source = "Table 1", .substeps = 40},
    {"bunny_chain", NULL, NULL, 100, FIELD_ONE, .frames = 120, .published = 2.3,
     .source = "Table 1", .substeps = 20},
    {"sculpture", NULL, NULL, 1, FIELD_ONE, .frames = 120, .published = 15.0, .source = "Table 1",
     .substeps = 10},
    {"coin", NULL, NULL, 1, FIELD_ONE, .frames = 300, .published = 0.3, .source = "Table 1",
     .substeps = 20},
    {"robot_arm", NULL, NULL, 1, FIELD_ONE, .frames = 300, .published = 0.4, .source = "Table 1",
     .substeps = 20},
    {"rope", NULL, NULL, 100, FIELD_ONE, .frames = 120, .published = 3.5, .source = "Table 1",
     .substeps = 20},
    // Deul et al. 2014, with one step per frame.
    {"deul_mobile", "mobile", "count", 127, FIELD_ONE, .unit = UNIT_JOINT, .frames = 120,
     .published = 0.17, .source = "Deul et al. 2014", .substeps = 1},
    {"deul_pile", "pile", "count", 2000, FIELD_ONE, .unit = UNIT_POINT, .lead = 240, .frames = 100,
     .published = 17.0, .source = "Deul et al. 2014", .substeps = 1},
};

bool bench_cases(bench *b)
{
  bool ok = true;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    ok = bench_race(b, cases[i].source && cases[i].field == FIELD_ONE ? "published" : "race",
                    &cases[i]) &&
         ok;
  }
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Scaling. The lines of a scene differ only in size and start from the same stage: new contacts get
// more passes.

static const bench_case growing[] = {
    {"heaps", NULL, "bodies", 1000, FIELD_ONE, .settling = 20, .frames = 60,
     .substeps = TN_QUALITY_FAST},
    {"heaps", NULL, "bodies", 10000, FIELD_ONE, .settling = 20, .frames = 60,
     .substeps = TN_QUALITY_FAST},
    {"heaps", NULL, "bodies", 100000, FIELD_ONE, .settling = 20, .frames = 20,
     .substeps = TN_QUALITY_FAST},
    {"dolls", NULL, "count", 1, FIELD_ONE, UNIT_JOINT, .frames = 200, .substeps = 20},
    {"dolls", NULL, "count", 10, FIELD_ONE, UNIT_JOINT, .frames = 100, .substeps = 20},
    {"dolls", NULL, "count", 100, FIELD_ONE, UNIT_JOINT, .frames = 30, .substeps = 20},
    {"dolls", NULL, "count", 1000, FIELD_ONE, UNIT_JOINT, .frames = 10, .substeps = 20},
    {"pendula", NULL, "count", 1, FIELD_ONE, UNIT_JOINT, .frames = 200, .substeps = 20},
    {"pendula", NULL, "count", 10, FIELD_ONE, UNIT_JOINT, .frames = 200, .substeps = 20},
    {"pendula", NULL, "count", 100, FIELD_ONE, UNIT_JOINT, .frames = 100, .substeps = 20},
    {"pendula", NULL, "count", 1000, FIELD_ONE, UNIT_JOINT, .frames = 30, .substeps = 20},
    {"cell", NULL, "count", 1000, FIELD_ONE, .settling = 20, .frames = 12,
     .substeps = TN_QUALITY_FAST},
    {"cell", NULL, "count", 10000, FIELD_ONE, .settling = 20, .frames = 12,
     .substeps = TN_QUALITY_FAST},
    {"tray", NULL, "count", 50, FIELD_ONE, UNIT_POINT, .settling = 20, .frames = 60,
     .substeps = TN_QUALITY_FAST},
    {"tray", NULL, "count", 500, FIELD_ONE, UNIT_POINT, .settling = 20, .frames = 60,
     .substeps = TN_QUALITY_FAST},
    {"tray", NULL, "count", 5000, FIELD_ONE, UNIT_POINT, .settling = 20, .frames = 30,
     .substeps = TN_QUALITY_FAST},
    {"star", NULL, "count", 50, FIELD_ONE, UNIT_JOINT, .frames = 100, .substeps = 20},
    {"star", NULL, "count", 500, FIELD_ONE, UNIT_JOINT, .frames = 30, .substeps = 20},
    {"star", NULL, "count", 5000, FIELD_ONE, UNIT_JOINT, .frames = 10, .substeps = 20},
    {"net", NULL, "side", 10, FIELD_ONE, UNIT_JOINT, .frames = 60, .substeps = 20},
    {"net", NULL, "side", 20, FIELD_ONE, UNIT_JOINT, .frames = 20, .substeps = 20},
};

bool bench_scaling(bench *b)
{
  bool ok = true;
  for (size_t i = 0; i < sizeof growing / sizeof growing[0]; ++i) {
    ok = bench_race(b, "scaling", &growing[i]) && ok;
  }
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Hulls, meshes and many static bodies, where collision detection takes most of the time

static const bench_case detection[] = {
    {"terrain", NULL, "count", 200, FIELD_ONE, .settling = 60, .frames = 120,
     .substeps = TN_QUALITY_FAST, .shown = {"contacts", "ms_manifolds", "rms_speed_end"}},
    {"terrain_fine", "terrain", "count", 200, FIELD_ONE, .settling = 60, .frames = 120,
     .substeps = TN_QUALITY_FAST, .shown = {"contacts", "ms_manifolds", "rms_speed_end"},
     .extras = {{"cell", 0.25}}},
    {"hulls", NULL, "count", 1000, FIELD_ONE, .settling = 120, .frames = 30,
     .substeps = TN_QUALITY_FAST, .shown = {"contacts", "ms_manifolds", "rms_speed_end"}},
    {"drum", NULL, "count", 1000, FIELD_ONE, .settling = 120, .frames = 30,
     .substeps = TN_QUALITY_FAST, .shown = {"contacts", "ms_manifolds", "ms_pairs"}},
    {"city", NULL, "houses", 1000, FIELD_ONE, .settling = 20, .frames = 60,
     .substeps = TN_QUALITY_FAST, .shown = {"ms_pairs", "bytes_a_body"}},
    {"city", NULL, "houses", 100000, FIELD_ONE, .settling = 20, .frames = 60,
     .substeps = TN_QUALITY_FAST, .shown = {"ms_pairs", "bytes_a_body"}},
};

bool bench_detection(bench *b)
{
  bool ok = true;
  for (size_t i = 0; i < sizeof detection / sizeof detection[0]; ++i) {
    ok = bench_race(b, "detection", &detection[i]) && ok;
  }
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Jointed figures in flight and in a pile, chains with drives, bodies that come and go, soft crowds

static const bench_case acting[] = {
    {"rain_in_flight", "rain", "count", 100, FIELD_ONE, UNIT_JOINT, .frames = 100,
     .substeps = TN_QUALITY_FAST, .shown = {"ms_solve", "max_joint_error_m"},
     .extras = {{"height", 1000.0}}},
    {"rain", NULL, "count", 100, FIELD_ONE, UNIT_JOINT, .frames = 200, .substeps = TN_QUALITY_FAST,
     .shown = {"ms_solve", "max_joint_error_m"}},
    {"rain", NULL, "count", 1000, FIELD_ONE, UNIT_JOINT, .lead = 60, .frames = 20,
     .substeps = TN_QUALITY_FAST, .shown = {"ms_solve", "max_joint_error_m"}},
    {"chains", NULL, "count", 50, FIELD_ONE, UNIT_JOINT, .frames = 100, .substeps = TN_QUALITY_FAST,
     .shown = {"ms_solve", "max_joint_error_m"}},
    {"spawn", NULL, "count", 1000, FIELD_ONE, UNIT_POINT, .settling = 60, .frames = 200,
     .substeps = TN_QUALITY_FAST, .shown = {"ms_pairs", "ms_prepare"}},
    {"crowd", NULL, "count", 27, FIELD_ONE, UNIT_ROW, .settling = 60, .frames = 60,
     .substeps = TN_QUALITY_FAST, .shown = {"ms_manifolds", "ms_solve"}},
};

bool bench_figures(bench *b)
{
  bool ok = true;
  for (size_t i = 0; i < sizeof acting / sizeof acting[0]; ++i) {
    ok = bench_race(b, "figures", &acting[i]) && ok;
  }
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Threads: 1, 2, 4, ... up to all cores, the median of each over that of one

static const bench_case threaded[] = {
    {"threads_capsules", "capsules", "count", 8000, FIELD_THREADS, UNIT_POINT, .lead = 240,
     .frames = 60, .extras = {{"width", 16.0}}},
    {"threads_capsules", "capsules", "count", 32000, FIELD_THREADS, UNIT_POINT, .lead = 120,
     .frames = 30, .extras = {{"width", 60.0}}},
    {"threads_pyramid", "pyramid", "base", 100, FIELD_THREADS, UNIT_POINT, .frames = 60},
    {"threads_mixed", "pile", "count", 2000, FIELD_THREADS, UNIT_POINT, .lead = 240, .frames = 60},
    {"threads_heaps", "heaps", "bodies", 10000, FIELD_THREADS, .settling = 20, .frames = 60},
    {"threads_stack", "stack", "count", 10, FIELD_THREADS, .frames = 200},
    {"threads_pyramid", "pyramid", "base", 15, FIELD_THREADS, UNIT_POINT, .frames = 200},
    {"threads_hulls", "hulls", "count", 5000, FIELD_THREADS, .lead = 90, .frames = 30},
    {"threads_drum", "drum", "count", 1000, FIELD_THREADS, .lead = 90, .frames = 60},
    {"threads_terrain", "terrain", "count", 200, FIELD_THREADS, .lead = 60, .frames = 60},
    {"threads_city", "city", "houses", 100000, FIELD_THREADS, .settling = 20, .frames = 100},
    {"threads_spawn", "spawn", "count", 1000, FIELD_THREADS, UNIT_POINT, .settling = 60,
     .frames = 100},
    {"threads_chains", "chains", "count", 50, FIELD_THREADS, UNIT_JOINT, .frames = 100},
    {"threads_crowd", "crowd", "count", 27, FIELD_THREADS, UNIT_ROW, .settling = 60, .frames = 60},
    {"threads_flight", "rain", "count", 100, FIELD_THREADS, UNIT_JOINT, .frames = 60,
     .extras = {{"height", 1000.0}}},
    {"threads_flight", "rain", "count", 1000, FIELD_THREADS, UNIT_JOINT, .frames = 60,
     .extras = {{"height", 1000.0}}},
    {"threads_ragdolls", "rain", "count", 100, FIELD_THREADS, UNIT_JOINT, .lead = 60, .frames = 60},
    {"threads_ragdolls", "rain", "count", 1000, FIELD_THREADS, UNIT_JOINT, .lead = 60,
     .frames = 60},
    {"threads_cloth", "cloth", "particles", 10000, FIELD_THREADS, UNIT_ROW, .frames = 60},
    {"threads_tyres", "tyres", "count", 16, FIELD_THREADS, UNIT_ROW, .frames = 60},
};

bool bench_threads(bench *b)
{
  bool ok = true;
  for (size_t i = 0; i < sizeof threaded / sizeof threaded[0]; ++i) {
    ok = bench_race(b, "threads", &threaded[i]) && ok;
  }
  return ok;
}

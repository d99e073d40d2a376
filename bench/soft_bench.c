// Soft bodies: what a constraint costs a substep by type and lane width, and whole frames.
#include "bench.h"

#include "timing.h"

#define SUBSTEPS 20
#define RUNS 5

typedef struct soft_job {
  const char *name;
  int size, substeps;
  bool (*mesh)(tn_soft_def *def, int size);
  double published; // ms, of `source`
  const char *source;
} soft_job;

static bool cloth(tn_soft_def *def, int size)
{
  def->mass = 1.0f;
  return tn_soft_mesh_cloth(def, size, size, 2.0f, 2.0f);
}

static bool bending(tn_soft_def *def, int size)
{
  def->bending_stiffness = 1e-3f;
  bool ok = cloth(def, size);
  def->edge_count = 0;
  return ok;
}

static bool folds(tn_soft_def *def, int size)
{
  def->curved_rest = true;
  return bending(def, size);
}

static bool solid(tn_soft_def *def, int size, bool tetrahedra)
{
  int cells[3] = {size, size, size};
  def->mass = 100.0f;
  def->youngs_modulus = 1e6f;
  return tn_soft_mesh_box(def, cells, tn_v3(0.5f, 0.5f, 0.5f), tetrahedra);
}

static bool tets(tn_soft_def *def, int size)
{
  return solid(def, size, true);
}

static bool hexes(tn_soft_def *def, int size)
{
  return solid(def, size, false);
}

static bool rope(tn_soft_def *def, int size)
{
  return tn_soft_mesh_rope(def, size, 10.0f);
}

static bool tyre(tn_soft_def *def, int size)
{
  int cells[3] = {size, 5, 5};
  def->mass = 2.4f;
  def->youngs_modulus = 1e6f;
  return tn_soft_mesh_tube(def, cells, 0.2f, 0.3f, 0.1f);
}

static bool balloon(tn_soft_def *def, int size)
{
  def->pressure = 1.05f;
  def->edge_compliance = 1e-4f;
  return tn_soft_mesh_sphere(def, size, 0.5f);
}

static tn_world *make_world(const soft_job *job, int lanes)
{
  tn_world_def world_def = tn_default_world_def();
  world_def.substeps = job->substeps;
  world_def.sleeping = false;
  world_def.lanes = lanes;
  tn_world *world = tn_world_create(&world_def);
  tn_soft_def def = tn_default_soft_def();
  if (world && job->mesh(&def, job->size)) {
    tn_soft_id soft = tn_soft_create(world, &def);
    tn_soft_pin(world, soft, 0, true);
    tn_soft_mesh_free(&def);
  }
  return world;
}

static bool run_job(bench *b, const soft_job *job, int lanes)
{
  if (!bench_is_picked(b, job->name, job->size)) {
    return true;
  }
  tn_world *world = make_world(job, lanes);
  if (!world) {
    return false;
  }
  tn_counters counters = tn_world_counters(world);
  double best = 1e30;
  for (int i = 0; i < RUNS; ++i) {
    double start = timing_now_ms();
    for (int k = 0; k < 5; ++k) {
      tn_world_step(world, 1.0f / 60.0f);
    }
    double ms = (timing_now_ms() - start) / 5.0;
    best = ms < best ? ms : best;
  }
  bench_line line = {.name = job->name,
                     .size = job->size,
                     .threads = 1,
                     .lanes = lanes,
                     .ms = best,
                     .ns = best * 1e6 / (job->substeps * (double)counters.soft_rows),
                     .hash = tn_world_hash(world),
                     .compare = job->published,
                     .compared = job->source};
  bench_report(b, &line);
  tn_world_destroy(world);
  return true;
}

bool bench_softs(bench *b)
{
  static const soft_job jobs[] = {
      {"cloth", 41, SUBSTEPS, cloth, 7.13, "deul_ms"}, {"cloth", 158, SUBSTEPS, cloth, 0.0, NULL},
      {"bends", 41, SUBSTEPS, bending, 0.0, NULL},     {"folds", 41, SUBSTEPS, folds, 0.0, NULL},
      {"tets", 8, SUBSTEPS, tets, 3.117, "dahl_ms"},   {"tets", 17, SUBSTEPS, tets, 0.0, NULL},
      {"hexes", 8, SUBSTEPS, hexes, 0.0, NULL},        {"tyre", 44, SUBSTEPS, tyre, 0.0, NULL},
      {"rope", 1000, SUBSTEPS, rope, 0.0, NULL},       {"balloon", 3, 40, balloon, 0.0, NULL},
  };
  bool ok = true;
  int widest = bench_widest_lanes();
  for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; ++i) {
    for (int lanes = 1; lanes <= widest; lanes *= lanes == 1 ? 4 : 2) {
      ok = run_job(b, &jobs[i], lanes) && ok;
    }
  }
  return ok;
}

// Engines and settings on one scene. They alternate every few frames, so that disturbances of the
// machine affect all of them, and the ratios of their medians stay valid.
#include "bench.h"

#include "peer.h"
#include "timing.h"

#include <stdlib.h>
#include <string.h>

static const float FRAME = 1.0f / 60.0f;
enum { TURN = 10, WARM_UP = 4, HASH_AT = 4, CONTENDERS = 12 };
static const double TURN_MS = 100.0;     // approximate limit of a turn
static const double LIMIT_MS = 800.0;    // limit of all timed frames of an engine
static const double QUALITY_MS = 6500.0; // limit of the frames before quality is measured

const bench_setting bench_settings[BENCH_SETTINGS] = {
    {"fast", TN_QUALITY_FAST}, {"default", TN_QUALITY_DEFAULT}, {"accurate", TN_QUALITY_ACCURATE}};

// One engine at one setting.
typedef struct contender {
  const char *engine, *setting;
  int substeps, threads, lanes;
  char refused[128];
  scene_run *run;       // for a peer, the world its state is written to
  peer *other;          // null: Tenon
  double *times, *wall; // ms of each frame: CPU time and wall time
  int frames, warm;     // timed frames, and frames before
  double spent;         // ms
  double units;         // divisor of the time, after the last of these frames
  tn_profile parts;     // sums
  uint64_t hash;
  bool judged; // its quality is measured
  bool stays;  // runs until the common time of the quality measurement
} contender;

typedef struct race {
  const bench_case *c;
  const scene *scene;
  scene_settings settings;
  contender list[CONTENDERS];
  int count;
  void *start; // common state after the lead; null: none
  size_t start_size;
} race;

// ---------------------------------------------------------------------------------------------
// Competitors

static contender *enter(race *r, const char *engine, const char *setting, int substeps)
{
  contender *c = &r->list[r->count++];
  *c = (contender){.engine = engine, .setting = setting, .substeps = substeps, .threads = 1};
  c->judged = c->stays = true;
  return c;
}

static void enter_variant(race *r, const bench_setting *setting, int threads, int lanes)
{
  contender *c = enter(r, "tenon", setting->name, setting->substeps);
  c->threads = threads;
  c->lanes = lanes;
  c->judged = c->stays = false;
}

static void enter_settings(race *r, const char *only)
{
  int widest = bench_widest_lanes();
  for (int i = 0; i < BENCH_SETTINGS; ++i) {
    const bench_setting *s = &bench_settings[i];
    if (only && strcmp(only, s->name) != 0) {
      continue;
    }
    enter(r, "tenon", s->name, s->substeps)->lanes = widest;
    if (only || s->substeps != TN_QUALITY_DEFAULT) {
      enter_variant(r, s, 2, widest);
    }
    if (r->c->field != FIELD_FEW && (only || s->substeps == TN_QUALITY_ACCURATE)) {
      static const int narrower[] = {1, 4, 8};
      for (int k = 0; k < 3 && narrower[k] < widest; ++k) {
        enter_variant(r, s, 1, narrower[k]);
      }
    }
  }
}

static void enter_threads(race *r)
{
  int cores = bench_cores();
  for (int threads = 1; threads <= cores;
       threads = threads < cores && 2 * threads > cores ? cores : 2 * threads) {
    enter_variant(r, &bench_settings[0], threads, bench_widest_lanes());
  }
}

static void enter_all(race *r, const char *only)
{
  if (r->c->field == FIELD_THREADS) {
    enter_threads(r);
    return;
  }
  if (r->c->field == FIELD_ONE) {
    int substeps = r->c->substeps > 0 ? r->c->substeps : r->scene->substeps;
    enter(r, "tenon", "own", substeps)->lanes = bench_widest_lanes();
    return;
  }
  enter_settings(r, only);
  for (int i = 0; r->c->field != FIELD_ALONE && i < peer_count(); ++i) {
    enter(r, peer_name(i), "default", 1)->lanes = 1;
    if (r->c->field == FIELD_ALL) {
      contender *slow = enter(r, peer_name(i), "20", 20);
      slow->lanes = 1;
      slow->stays = false;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Worlds

static tn_world_def world_def(const race *r, int substeps, int threads, int lanes)
{
  tn_world_def def = tn_default_world_def();
  def.substeps = substeps;
  def.threads = threads;
  def.lanes = lanes;
  def.sleeping = r->c->sleeping;
  def.clock = threads > 1 ? bench_wall_ms : bench_cpu_ms;
  return def;
}

// Simulates the lead.
static bool make_lead(race *r)
{
  if (r->c->lead == 0) {
    return true;
  }
  tn_world_def def = world_def(r, TN_QUALITY_FAST, bench_cores(), 0);
  scene_run *run = scene_create(r->scene, &r->settings, &def);
  for (int i = 0; run && i < r->c->lead; ++i) {
    scene_advance(run, FRAME);
  }
  if (run) {
    r->start_size = scene_save(run, NULL, 0);
    r->start = malloc(r->start_size);
    r->start_size = r->start ? scene_save(run, r->start, r->start_size) : 0;
  }
  scene_destroy(run);
  return r->start != NULL;
}

static bool prepare(race *r, contender *c)
{
  tn_world_def def = world_def(r, c->substeps, c->threads, c->lanes);
  c->times = malloc((size_t)r->c->frames * sizeof *c->times);
  c->wall = malloc((size_t)r->c->frames * sizeof *c->wall);
  c->run = r->start ? scene_load_as(r->scene, r->start, r->start_size, &def)
                    : scene_create(r->scene, &r->settings, &def);
  if (!c->times || !c->wall || !c->run) {
    return false;
  }
  tn_world_set_substeps(c->run->world, c->substeps);
  tn_world_set_iterations(c->run->world, 1);
  if (strcmp(c->engine, "tenon") != 0) {
    peer_settings settings = {.substeps = c->substeps, .sleeping = r->c->sleeping};
    c->other = peer_create(c->engine, c->run->world, settings, c->refused, sizeof c->refused);
  }
  c->warm = (r->c->at_rest && c->other ? r->c->lead : WARM_UP) + r->c->settling;
  return true;
}

static void dismiss(contender *c)
{
  peer_destroy(c->other);
  scene_destroy(c->run);
  free(c->times);
  free(c->wall);
}

// ---------------------------------------------------------------------------------------------
// Running

static void add_parts(tn_profile *sum, tn_profile parts)
{
  sum->pairs += parts.pairs;
  sum->manifolds += parts.manifolds;
  sum->prepare += parts.prepare;
  sum->solve += parts.solve;
  sum->finish += parts.finish;
}

// Simulates a frame with any engine and measures its time.
static double advance(contender *c)
{
  tn_clock_fn *now = c->threads > 1 ? bench_wall_ms : bench_cpu_ms;
  double start = now();
  if (c->other) {
    peer_step(c->other, FRAME);
    c->run->time += (double)FRAME;
  } else {
    scene_advance(c->run, FRAME);
  }
  return now() - start;
}

static void observe(contender *c)
{
  if (c->judged && (!c->other || peer_show(c->other, c->run->world))) {
    scene_observe(c->run, 0.0f);
  }
}

static bool is_done(const race *r, const contender *c)
{
  return c->refused[0] || c->frames >= r->c->frames ||
         (c->spent > (c->stays ? LIMIT_MS : 0.5 * LIMIT_MS) &&
          c->frames >= (c->other ? 1 : HASH_AT));
}

static double count_units(const race *r, const contender *c)
{
  tn_counters counters = tn_world_counters(c->run->world);
  switch (r->c->unit) {
  case UNIT_POINT:
    return (double)(c->other ? peer_contact_points(c->other) : counters.points);
  case UNIT_JOINT:
    return (double)counters.joints;
  case UNIT_ROW:
    return (double)counters.soft_rows;
  default:
    return (double)c->run->body_count;
  }
}

static void take_turn(const race *r, contender *c)
{
  double spent = 0.0;
  for (; c->warm > 0; --c->warm) {
    spent += advance(c);
    // All Tenon runs have the same number of frames, to compare their hashes.
    c->warm = c->other && !r->c->at_rest && spent > TURN_MS ? 1 : c->warm;
  }
  spent = 0.0;
  for (int i = 0; i < TURN && spent < TURN_MS && !is_done(r, c); ++i) {
    double start = bench_wall_ms();
    double ms = advance(c);
    spent += ms;
    c->wall[c->frames] = bench_wall_ms() - start;
    c->times[c->frames++] = ms;
    if (!c->other) {
      add_parts(&c->parts, tn_world_profile(c->run->world));
      c->hash = c->frames == HASH_AT ? tn_world_hash(c->run->world) : c->hash;
    }
  }
  c->spent += spent;
  c->units = count_units(r, c);
}

// As far as the time limit allows: the report states the time that slow engines reach.
static void go_on(const race *r, contender *c)
{
  for (double spent = 0.0; c->run->time < r->c->seconds && spent < QUALITY_MS;) {
    for (int i = 0; i < TURN; ++i) {
      spent += advance(c);
    }
    observe(c);
  }
}

static void run_all(race *r)
{
  bool goes_on = true;
  while (goes_on) {
    goes_on = false;
    for (int i = 0; i < r->count; ++i) {
      if (!is_done(r, &r->list[i])) {
        take_turn(r, &r->list[i]);
        goes_on = true;
      }
    }
  }
  for (int i = 0; i < r->count; ++i) {
    contender *c = &r->list[i];
    if (!c->refused[0] && c->stays) {
      go_on(r, c);
    }
    if (!c->refused[0] && c->judged) {
      observe(c);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Results

static const char *const unit_names[] = {"bodies_timed", "points_timed", "joints_timed",
                                         "rows_timed"};

static void note_quality(bench_row *row, const contender *c)
{
  scene_metric list[SCENE_MAX_METRICS];
  int count = scene_metrics(c->run, list, SCENE_MAX_METRICS);
  for (int i = 0; i < count && i < SCENE_MAX_METRICS; ++i) {
    if (!c->other || strcmp(list[i].name, "awake") != 0) { // Tenon only
      bench_note(row, list[i].name, list[i].value);
    }
  }
  bench_note(row, "seconds", c->run->time);
}

static void note_work(bench_row *row, const race *r, const contender *c)
{
  tn_counters counters = tn_world_counters(c->run->world);
  double share = 1.0 / (double)c->frames;
  bench_note(row, "ms_pairs", share * c->parts.pairs);
  bench_note(row, "ms_manifolds", share * c->parts.manifolds);
  bench_note(row, "ms_prepare", share * c->parts.prepare);
  bench_note(row, "ms_solve", share * c->parts.solve);
  bench_note(row, "ms_finish", share * c->parts.finish);
  int things = counters.bodies + counters.particles;
  bench_note(row, "bytes_a_body", (double)counters.bytes / (double)(things > 0 ? things : 1));
  if (r->c->source) {
    bench_note(row, "published_ms", r->c->published);
    bench_note(row, "ratio_published", row->ms_median / r->c->published);
  }
}

// Of FIELD_THREADS: wall time on one thread over that on the row's.
static void note_speedup(bench_row *row, const race *r, const contender *c)
{
  const contender *one = &r->list[0];
  if (r->c->field == FIELD_THREADS && one->frames > 0) {
    bench_note(row, "speedup",
               timing_quantile(one->wall, one->frames, 0.5) /
                   timing_quantile(c->wall, c->frames, 0.5));
  }
}

// Time of an engine's default; 0 if it was not run.
static double default_ms(const race *r, const char *engine)
{
  for (int i = 0; i < r->count; ++i) {
    const contender *c = &r->list[i];
    if (strcmp(c->engine, engine) == 0 && strcmp(c->setting, "default") == 0 && c->frames > 0) {
      return timing_quantile(c->times, c->frames, 0.5);
    }
  }
  return 0.0;
}

static void note_ratios(bench_row *row, const race *r)
{
  double bullet = default_ms(r, "bullet"), ode = default_ms(r, "ode");
  if (bullet > 0.0) {
    bench_note(row, "ratio_bullet", row->ms_median / bullet);
  }
  if (ode > 0.0) {
    bench_note(row, "ratio_ode", row->ms_median / ode);
  }
}

static void describe(bench *b, const race *r, contender *c)
{
  bench_row row = {.engine = c->engine,
                   .scene = r->c->name,
                   .setting = c->setting,
                   .size = r->c->size,
                   .substeps = c->substeps,
                   .threads = c->threads,
                   .lanes = c->lanes};
  if (c->refused[0]) {
    row.refused = c->refused;
    bench_report(b, &row);
    return;
  }
  row.ms_median = timing_quantile(c->times, c->frames, 0.5);
  row.ms_p99 = timing_quantile(c->times, c->frames, 0.99);
  row.hash = c->hash;
  note_ratios(&row, r);
  if (c->units > 0.0) {
    bench_note(&row, "ns", row.ms_median * 1e6 / (c->units * (double)c->substeps));
    bench_note(&row, unit_names[r->c->unit], c->units);
  }
  bench_note(&row, "ms_wall", timing_quantile(c->wall, c->frames, 0.5));
  bench_note(&row, "frames_timed", (double)c->frames);
  note_speedup(&row, r, c);
  if (!c->other) {
    note_work(&row, r, c);
  }
  if (c->judged) {
    note_quality(&row, c);
  }
  int shown = 0;
  if (r->c->field == FIELD_THREADS) {
    row.shown[shown++] = "speedup";
  }
  for (int i = 0; i < BENCH_SHOWN - 2 && r->c->shown[i]; ++i) {
    row.shown[shown++] = r->c->shown[i];
  }
  row.shown[shown++] = r->c->source ? "published_ms" : "seconds";
  bench_report(b, &row);
}

// Threads and lanes must not change the result.
static void compare_hashes(bench *b, const race *r)
{
  for (int i = 0; i < r->count; ++i) {
    for (int k = 0; k < i; ++k) {
      const contender *c = &r->list[i], *d = &r->list[k];
      if (c->hash && d->hash && c->substeps == d->substeps && c->hash != d->hash) {
        printf("MISMATCH: the hash must not depend on lanes and threads\n");
        b->has_mismatch = true;
      }
    }
  }
}

static void set_up(race *r, const bench_case *c)
{
  *r = (race){.c = c};
  r->scene = bench_find_scene(c->scene ? c->scene : c->name);
  r->settings = scene_defaults(r->scene);
  if (c->parameter) {
    scene_set(r->scene, &r->settings, c->parameter, (double)c->size);
  }
  for (int i = 0; i < BENCH_EXTRAS && c->extras[i].name; ++i) {
    scene_set(r->scene, &r->settings, c->extras[i].name, c->extras[i].value);
  }
}

bool bench_race(bench *b, const char *group, const bench_case *c)
{
  if (!bench_is_picked(b, group, c->name, c->size)) {
    return true;
  }
  race r;
  set_up(&r, c);
  enter_all(&r, b->setting);
  bool ok = make_lead(&r);
  for (int i = 0; ok && i < r.count; ++i) {
    ok = prepare(&r, &r.list[i]);
  }
  if (ok) {
    run_all(&r);
    for (int i = 0; i < r.count; ++i) {
      timing_sort(r.list[i].times, r.list[i].frames);
      timing_sort(r.list[i].wall, r.list[i].frames);
    }
    for (int i = 0; i < r.count; ++i) {
      describe(b, &r, &r.list[i]);
    }
    compare_hashes(b, &r);
  } else {
    fprintf(stderr, "tenon_bench: %s %d could not be created\n", c->name, c->size);
  }
  for (int i = 0; i < r.count; ++i) {
    dismiss(&r.list[i]);
  }
  free(r.start);
  return ok;
}

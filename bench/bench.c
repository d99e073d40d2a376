// Benchmarks. The words of the command line, or else of the environment variable BENCH, pick some:
// "chain:1000 pendulum". BENCH_JSON names a file that gets one JSON object a line.
#include "bench.h"

#include "timing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Picking

static const char *const groups[] = {"chain",   "kernel",   "pendulum", "bodies",   "mechanism",
                                     "pyramid", "capsules", "mixed",    "sleeping", "rays",
                                     "cloth",   "bends",    "folds",    "tets",     "hexes",
                                     "tyre",    "rope",     "balloon"};
static const int group_count = (int)(sizeof groups / sizeof groups[0]);

// The next word of `*text`, and its length; null at the end.
static const char *next_word(const char **text, size_t *length)
{
  const char *word = *text + strspn(*text, " ,");
  *length = strcspn(word, " ,");
  *text = word + *length;
  return *length > 0 ? word : NULL;
}

static bool is_named(const char *word, size_t length, const char *name)
{
  return strlen(name) == length && memcmp(word, name, length) == 0;
}

bool bench_is_picked(const bench *b, const char *name, int size)
{
  const char *text = b->picks;
  size_t length;
  bool is_empty = true;
  for (const char *word; (word = next_word(&text, &length)); is_empty = false) {
    const char *colon = memchr(word, ':', length);
    size_t name_length = colon ? (size_t)(colon - word) : length;
    if (is_named(word, name_length, name) && (!colon || strtol(colon + 1, NULL, 10) == size)) {
      return true;
    }
  }
  return is_empty;
}

static bool are_picks_known(const char *picks)
{
  size_t length;
  for (const char *word; (word = next_word(&picks, &length));) {
    const char *colon = memchr(word, ':', length);
    size_t name_length = colon ? (size_t)(colon - word) : length;
    bool known = false;
    for (int i = 0; i < group_count; ++i) {
      known = known || is_named(word, name_length, groups[i]);
    }
    if (!known) {
      fprintf(stderr,
              "tenon_bench: there is no benchmark '%.*s'; there are chain, kernel, pendulum, "
              "bodies, mechanism, pyramid, capsules, mixed, sleeping, rays, cloth, bends, folds, "
              "tets, hexes, tyre, rope and balloon\n",
              (int)name_length, word);
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Reporting

static void print_head(void)
{
  printf("%-14s %8s %7s %5s %10s %9s  %-16s\n", "benchmark", "size", "threads", "lanes", "ms", "ns",
         "hash");
}

static void print_text(const bench_line *line)
{
  char ms[32] = "-";
  char hash[32] = "-";
  if (line->ms > 0.0) {
    snprintf(ms, sizeof ms, "%.4f", line->ms);
  }
  if (line->hash) {
    snprintf(hash, sizeof hash, "%016" PRIx64, line->hash);
  }
  printf("%-14s %8d %7d %5d %10s %9.2f  %-16s", line->name, line->size, line->threads, line->lanes,
         ms, line->ns, hash);
  if (line->compared) {
    printf("  %s %.3g", line->compared, line->compare);
  }
  const tn_profile *p = &line->parts;
  if (p->solve > 0.0) {
    printf("  pairs %.3f manifolds %.3f prepare %.3f solve %.3f finish %.3f", p->pairs,
           p->manifolds, p->prepare, p->solve, p->finish);
  }
  printf("\n");
  fflush(stdout);
}

static void print_json(FILE *json, const bench_line *line)
{
  fprintf(json, "{\"name\": \"%s\", \"size\": %d, \"threads\": %d, \"lanes\": %d", line->name,
          line->size, line->threads, line->lanes);
  if (line->ms > 0.0) {
    fprintf(json, ", \"ms_median\": %.6g", line->ms);
  }
  fprintf(json, ", \"ns\": %.6g", line->ns);
  if (line->hash) {
    fprintf(json, ", \"hash\": \"%016" PRIx64 "\"", line->hash);
  }
  if (line->compared) {
    fprintf(json, ", \"%s\": %.6g", line->compared, line->compare);
  }
  const tn_profile *p = &line->parts;
  if (p->solve > 0.0) {
    fprintf(json,
            ", \"ms_pairs\": %.4g, \"ms_manifolds\": %.4g, \"ms_prepare\": %.4g, "
            "\"ms_solve\": %.4g, \"ms_finish\": %.4g",
            p->pairs, p->manifolds, p->prepare, p->solve, p->finish);
  }
  fprintf(json, "}\n");
}

void bench_report(bench *b, const bench_line *line)
{
  b->lines += 1;
  print_text(line);
  if (b->json) {
    print_json(b->json, line);
  }
}

// ---------------------------------------------------------------------------------------------
// Jobs

int bench_widest_lanes(void)
{
  tn_world_def def = tn_default_world_def();
  tn_world *world = tn_world_create(&def);
  int lanes = tn_world_lanes(world);
  tn_world_destroy(world);
  return lanes;
}

bench_job bench_job_of(const scene *which, int substeps)
{
  bench_job job = {.scene = which, .substeps = substeps, .threads = 1, .frames = 60, .runs = 3};
  job.settings = scene_defaults(which);
  return job;
}

void bench_set(bench_job *job, const char *name, double value)
{
  scene_set(job->scene, &job->settings, name, value);
}

static void add_parts(tn_profile *sum, tn_profile parts, double share)
{
  sum->pairs += share * parts.pairs;
  sum->manifolds += share * parts.manifolds;
  sum->prepare += share * parts.prepare;
  sum->solve += share * parts.solve;
  sum->finish += share * parts.finish;
}

static bool run_once(const bench_job *job, double *times, bench_result *result)
{
  tn_world_def def = tn_default_world_def();
  def.substeps = job->substeps;
  def.threads = job->threads;
  def.lanes = job->lanes;
  def.sleeping = job->sleeping;
  def.clock = timing_now_ms;
  scene_run *run = scene_create(job->scene, &job->settings, &def);
  if (!run) {
    return false;
  }
  tn_profile parts = {0};
  for (int i = 0; i < job->lead; ++i) {
    scene_advance(run, 1.0f / 60.0f);
  }
  for (int i = 0; i < job->frames; ++i) {
    double start = timing_now_ms();
    scene_advance(run, 1.0f / 60.0f);
    times[i] = timing_now_ms() - start;
    add_parts(&parts, tn_world_profile(run->world), 1.0 / (double)job->frames);
  }
  result->parts = parts;
  bool ok = run->status == TN_STEP_OK;
  timing_sort(times, job->frames);
  double ms = timing_quantile(times, job->frames, 0.5);
  result->ms = result->ms > 0.0 && result->ms < ms ? result->ms : ms;
  result->hash = tn_world_hash(run->world);
  result->joints = run->joint_count;
  result->contacts = tn_world_counters(run->world).contacts;
  result->awake = tn_world_counters(run->world).awake;
  scene_observe(run, 0.0f);
  result->joint_error = scene_metric_value(run, "max_joint_error_m");
  result->penetration = scene_metric_value(run, "max_penetration_m");
  scene_destroy(run);
  return ok;
}

bool bench_run(const bench_job *job, bench_result *result)
{
  memset(result, 0, sizeof *result);
  double *times = malloc((size_t)job->frames * sizeof *times);
  bool ok = times != NULL;
  for (int i = 0; ok && i < job->runs; ++i) {
    ok = run_once(job, times, result);
  }
  free(times);
  if (!ok) {
    fprintf(stderr, "tenon_bench: %s could not be run\n", job->scene->name);
  }
  return ok;
}

// ---------------------------------------------------------------------------------------------

// The words of the command line as one text, or else the environment's; null without memory.
static char *gather_picks(int argc, char **argv)
{
  char *environment = getenv("BENCH");
  char **words = argc > 1 ? argv + 1 : &environment;
  int count = argc > 1 ? argc - 1 : environment != NULL;
  size_t size = 1;
  for (int i = 0; i < count; ++i) {
    size += strlen(words[i]) + 1;
  }
  char *picks = calloc(size, 1);
  for (int i = 0, used = 0; picks && i < count; ++i) {
    used += snprintf(picks + used, size - (size_t)used, "%s ", words[i]);
  }
  return picks;
}

static bool run_picked(bench *b)
{
  printf("%s\n", tn_config());
  print_head();
  bool ok = bench_kernels(b) && bench_pendula(b) && bench_bodies(b) && bench_chains(b) &&
            bench_mechanisms(b) && bench_contacts(b) && bench_softs(b);
  if (b->has_mismatch) {
    printf("MISMATCH\n");
  }
  if (b->lines == 0) {
    fprintf(stderr, "tenon_bench: no benchmark has that size\n");
  }
  return ok && !b->has_mismatch;
}

int main(int argc, char **argv)
{
  char *picks = gather_picks(argc, argv);
  if (!picks) {
    return 1;
  }
  if (!are_picks_known(picks)) {
    free(picks);
    return 2;
  }
  bench b = {.picks = picks};
  const char *path = getenv("BENCH_JSON");
  if (path && path[0]) {
    b.json = fopen(path, "w");
    if (!b.json) {
      fprintf(stderr, "tenon_bench: cannot write %s\n", path);
      free(picks);
      return 2;
    }
  }
  bool ok = run_picked(&b);
  if (b.json && fclose(b.json) != 0) {
    fprintf(stderr, "tenon_bench: could not write %s\n", path);
    ok = false;
  }
  free(picks);
  return b.lines == 0 ? 2 : ok ? 0 : 1;
}

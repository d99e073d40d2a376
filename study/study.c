#include "study.h"

#include "options.h"
#include "output.h"
#include "page.h"
#include "timing.h"
#include "trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// In the order of the report.
static const experiment *const experiments[] = {
    &mueller_forces, &mueller_energy, &mueller_elongation, &mueller_times,
    &dahl_falloff,   &dahl_overhead,  &deul_times,         &seabra_table,
    &seabra_figures, &seabra_scaling, &seabra_friction};
enum { EXPERIMENTS = (int)(sizeof experiments / sizeof experiments[0]) };

// ---------------------------------------------------------------------------------------------
// Sheets

sheet *study_new_sheet(study *s, const char *name, const char *head)
{
  static sheet spare; // receives rows if there are too many sheets
  sheet *made = s->sheet_count < STUDY_MAX_SHEETS ? &s->sheets[s->sheet_count++] : &spare;
  s->failed = s->failed || made == &spare;
  sheet_start(made, name, head);
  return made;
}

const sheet *study_sheet(const study *s, const char *name)
{
  for (int i = 0; i < s->sheet_count; ++i) {
    if (strcmp(s->sheets[i].name, name) == 0) {
      return &s->sheets[i];
    }
  }
  return NULL;
}

double study_pick(const study *s, double full, double quick)
{
  return s->options.quick ? quick : full;
}

static void drop_sheets(study *s, int from)
{
  while (s->sheet_count > from) {
    sheet_free(&s->sheets[--s->sheet_count]);
  }
}

// ---------------------------------------------------------------------------------------------
// Resuming. A stamp file identifies what produced the sheets of an experiment, and lists them.

// A hash that changes with the motion of the solver.
static uint64_t fingerprint(void)
{
  static const char *const scenes[] = {"stack", "pendulum_triple", "cradle", "springs7"};
  uint64_t sum = 0;
  for (int i = 0; i < 12; ++i) {
    tn_world_def def = tn_default_world_def();
    def.method = solver_at(i % 3)->method;
    scene_run *run = scene_create(scene_find(scenes[i / 3]), NULL, &def);
    for (int k = 0; k < 30 && run; ++k) {
      scene_advance(run, 1.0f / 60.0f);
    }
    sum = sum * 31 + (run ? tn_world_hash(run->world) : 0);
    scene_destroy(run);
  }
  return sum;
}

// Increase with every change of the measurements.
enum { SHEETS_VERSION = 3 };

static void add_maker(text *out, const study *s)
{
  text_add(out, "%s; sheets %d; %s; motion %016" PRIx64, tn_config(), (int)SHEETS_VERSION,
           s->options.quick ? "quick" : "full", fingerprint());
  for (int i = 3; i < solver_count(); ++i) {
    text_add(out, "; %s: %.150s", solver_at(i)->name, solver_describe(i));
  }
  text_add(out, "\n");
}

static void stamp_path(const study *s, const experiment *e, char *path, size_t size)
{
  snprintf(path, size, "%s/%s_%d.done", s->data, e->name, s->part + 1);
}

static bool write_stamp(const study *s, const experiment *e, int first, const char *maker)
{
  char path[1200];
  stamp_path(s, e, path, sizeof path);
  output out;
  if (!output_open(&out, path)) {
    return false;
  }
  fputs(maker, out.file);
  for (int i = first; i < s->sheet_count; ++i) {
    fprintf(out.file, "%s\n", s->sheets[i].name);
  }
  return output_finish(&out);
}

static bool read_named(study *s, char *names)
{
  bool ok = true;
  char *rest;
  for (char *name = strtok_r(names, "\n", &rest); name && ok; name = strtok_r(NULL, "\n", &rest)) {
    ok = s->sheet_count < STUDY_MAX_SHEETS && sheet_read(&s->sheets[s->sheet_count], s->data, name);
    s->sheet_count += ok;
  }
  return ok;
}

static bool has_file(const char *path)
{
  struct stat about;
  return stat(path, &about) == 0;
}

// True if the experiment's sheets exist with the same stamp.
static bool resume(study *s, const experiment *e, const char *maker)
{
  char path[1200];
  stamp_path(s, e, path, sizeof path);
  size_t size;
  char *bytes = has_file(path) ? read_whole_file(path, &size) : NULL;
  if (!bytes) {
    return false;
  }
  bytes[size] = '\0';
  int first = s->sheet_count;
  size_t head = strlen(maker);
  bool ok = strncmp(bytes, maker, head) == 0 && read_named(s, bytes + head);
  if (!ok) {
    drop_sheets(s, first);
  }
  free(bytes);
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Running

double study_duration(bool quick)
{
  double sum = 0.0;
  for (int i = 0; i < EXPERIMENTS; ++i) {
    sum += experiments[i]->cost[quick];
  }
  return sum;
}

int study_part_count(void)
{
  int count = 0;
  for (int i = 0; i < EXPERIMENTS; ++i) {
    count += experiments[i]->is_derived ? 0 : experiments[i]->parts;
  }
  return count;
}

static double part_cost(const study *s)
{
  return s->running->cost[s->options.quick] / (double)s->running->parts;
}

void study_tick(study *s)
{
  double spent = (timing_now_ms() - s->started) * 1e-3;
  double now = s->done + fmin(spent, 0.95 * part_cost(s));
  progress_show_part(&s->bar, now / study_duration(s->options.quick), s->running->title);
}

// Writes the sheets and reads them back, so that the report shows exactly the contents of the
// files.
static bool keep(study *s, const experiment *e, int first, const char *maker)
{
  for (int i = first; i < s->sheet_count; ++i) {
    char name[SHEET_WORD];
    memcpy(name, s->sheets[i].name, sizeof name);
    if (!sheet_write(&s->sheets[i], s->data)) {
      return false;
    }
    sheet_free(&s->sheets[i]);
    if (!sheet_read(&s->sheets[i], s->data, name)) {
      return false;
    }
  }
  return write_stamp(s, e, first, maker);
}

static void tell_done(const study *s, bool resumed)
{
  const experiment *e = s->running;
  progress_end(&s->bar);
  printf("%s: %s", e->name, e->title);
  if (e->parts > 1) {
    printf(", %d of %d", s->part + 1, e->parts);
  }
  if (resumed) {
    printf(": already complete\n");
  } else {
    printf(": %.1f s\n", (timing_now_ms() - s->started) * 1e-3);
  }
  fflush(stdout);
}

static bool run_part(study *s, const char *maker)
{
  const experiment *e = s->running;
  s->started = timing_now_ms();
  bool resumed = !e->is_derived && resume(s, e, maker);
  if (!resumed) {
    int first = s->sheet_count;
    study_tick(s);
    e->measure(s);
    if (interrupt_came()) {
      complain("stopped; the same command resumes from here");
      return false;
    }
    if (s->failed || !keep(s, e, first, maker)) {
      complain("%s could not be measured", e->name);
      return false;
    }
  }
  s->done += part_cost(s);
  tell_done(s, resumed);
  return true;
}

static bool run_one(study *s, const experiment *e, const char *maker)
{
  s->running = e;
  bool ok = true;
  for (s->part = 0; s->part < e->parts && ok; ++s->part) {
    bool own = s->parts_seen++ % s->options.shards == s->options.shard - 1;
    ok = !own || run_part(s, maker);
  }
  return ok;
}

static bool run_all(study *s)
{
  text maker = {0};
  add_maker(&maker, s);
  text_add_bytes(&maker, "", 1);
  bool ok = !maker.failed;
  progress_start(&s->bar, 1000);
  int rounds = s->options.shards > 1 ? 1 : 2; // derived experiments need all others
  for (int i = 0; i < rounds * EXPERIMENTS && ok; ++i) {
    const experiment *e = experiments[i % EXPERIMENTS];
    ok = e->is_derived != (i >= EXPERIMENTS) || run_one(s, e, maker.bytes);
  }
  progress_end(&s->bar);
  text_free(&maker);
  return ok;
}

// ---------------------------------------------------------------------------------------------

static bool report(const study *s)
{
  char path[1100];
  snprintf(path, sizeof path, "%s/report.html", s->options.out);
  page *p = calloc(1, sizeof *p);
  if (!p) {
    complain("not enough memory for the report");
    return false;
  }
  for (int i = 0; i < EXPERIMENTS; ++i) {
    experiments[i]->tell(s, p);
  }
  bool ok = page_write(p, s, path);
  if (ok) {
    int holding = 0;
    for (int i = 0; i < p->claim_count; ++i) {
      holding += claim_holds(&p->claims[i]);
    }
    printf("%d of %d lines hold; report: %s\n", holding, p->claim_count, path);
  }
  text_free(&p->body);
  text_free(&p->contents);
  free(p);
  return ok;
}

bool study_run(const study_options *options)
{
  study *s = calloc(1, sizeof *s);
  if (!s) {
    complain("not enough memory for the study");
    return false;
  }
  s->options = *options;
  int length = snprintf(s->data, sizeof s->data, "%s/data", options->out);
  bool ok = length > 0 && (size_t)length < sizeof s->data;
  if (!ok) {
    complain("the name of the folder is too long");
  }
  ok = ok && make_folder(options->out) && make_folder(s->data) && run_all(s) &&
       (options->shards > 1 || report(s));
  drop_sheets(s, 0);
  free(s);
  return ok;
}

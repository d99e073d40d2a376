#include "sweep.h"

#include "merge.h"
#include "options.h"
#include "progress.h"
#include "sweep_report.h"
#include "work.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// "sweeps/arch.json" has its results in "sweeps/arch_sweep".
static bool choose_folder(const sweep_options *options, char *folder, size_t size)
{
  const char *name = options->out ? options->out : options->spec;
  size_t length = strlen(name);
  if (!options->out && length > 5 && strcmp(name + length - 5, ".json") == 0) {
    length -= 5;
  }
  int used = snprintf(folder, size, "%.*s%s", (int)length, name, options->out ? "" : "_sweep");
  if (used < 0 || (size_t)used >= size) {
    complain("the name of the folder is too long");
    return false;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// The table

static bool merge(const sweep_spec *s, const result_table *t, const char *folder)
{
  if (t->done_count < t->count) {
    complain("%" PRId64 " of %" PRId64 " runs are missing; 'tenon sweep' runs them",
             t->count - t->done_count, t->count);
    return false;
  }
  char path[1200];
  snprintf(path, sizeof path, "%s/table.csv", folder);
  bool ok = merge_csv(s, t, path);
  snprintf(path, sizeof path, "%s/table.sqlite", folder);
  ok = ok && merge_sqlite(s, t, path);
  snprintf(path, sizeof path, "%s/hosts.csv", folder);
  ok = ok && merge_hosts(folder, path);
  snprintf(path, sizeof path, "%s/report.html", folder);
  ok = ok && sweep_report_write(s, t, path);
  if (ok) {
    printf("%" PRId64 " runs, %" PRId64
           " of them failed; %s/table.csv, table.sqlite, report.html\n",
           t->count, t->failed_count, folder);
  }
  return ok;
}

static bool merge_folder(const sweep_spec *s, const char *folder)
{
  result_table t;
  bool ok = results_read(&t, s, folder) && merge(s, &t, folder);
  results_free(&t);
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Running

// The runs of a shard that no process has finished; to be freed.
static int64_t *missing_runs(const result_table *t, sweep_shard shard, int64_t *count)
{
  int64_t *list = malloc(((size_t)(t->count / shard.count) + 2) * sizeof *list);
  *count = 0;
  for (int64_t i = shard.index - 1; i < t->count && list; i += shard.count) {
    if (!t->done[i]) {
      list[(*count)++] = i;
    }
  }
  return list;
}

static bool run_missing(const sweep_spec *s, const char *folder, const sweep_options *options)
{
  result_table t;
  journal j;
  if (!journal_open(&j, s, folder, options->shard)) {
    return false;
  }
  int64_t count = 0, *list = NULL;
  bool ok = results_read(&t, s, folder);
  if (ok) {
    list = missing_runs(&t, options->shard, &count);
    ok = list && work_all(&j, list, count, options->threads);
  }
  free(list);
  results_free(&t);
  return journal_close(&j) && ok;
}

// The process that finishes last merges.
static bool run_shard(const sweep_spec *s, const char *folder, const sweep_options *options)
{
  if (!run_missing(s, folder, options)) {
    return false;
  }
  result_table t;
  bool ok = results_read(&t, s, folder);
  if (ok && t.done_count == t.count) {
    ok = merge(s, &t, folder);
  } else if (ok) {
    printf("shard %d of %d is complete; %" PRId64 " of %" PRId64 " runs are done\n",
           options->shard.index, options->shard.count, t.done_count, t.count);
  }
  results_free(&t);
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Plan, status, cluster

void text_add_program(text *t)
{
  char path[1100];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  text_add_shell(t, length > 0 ? path : "tenon");
}

// Paths of a job must not depend on where it starts.
static void add_absolute(text *t, const char *path)
{
  char *whole = realpath(path, NULL);
  text_add_shell(t, whole ? whole : path);
  free(whole);
}

static bool describe_work(const sweep_spec *s, const char *folder, const sweep_options *options,
                          text *command, char *name, slurm_work *w)
{
  const char *slash = strrchr(options->spec, '/');
  snprintf(name, 64, "tenon-%.40s", slash ? slash + 1 : options->spec);
  name[strcspn(name, " \t.")] = '\0';
  text_add_program(command);
  text_add(command, " sweep ");
  add_absolute(command, options->spec);
  text_add(command, " --out ");
  add_absolute(command, folder);
  text_add_bytes(command, "", 1);
  result_table t;
  int64_t count = 0, *list = NULL;
  bool ok = results_read(&t, s, folder);
  list = ok ? missing_runs(&t, (sweep_shard){1, 1}, &count) : NULL;
  ok = ok && list && !command->failed;
  double seconds = ok ? work_estimate(s, list, count) * (double)count : 0.0;
  *w = (slurm_work){name, command->bytes, NULL, seconds, count > 0 ? count : 1};
  free(list);
  results_free(&t);
  return ok;
}

static bool plan_or_submit(const sweep_spec *s, const char *folder, const sweep_options *options)
{
  text command = {0}, script = {0};
  char name[64];
  slurm_work w;
  bool ok = describe_work(s, folder, options, &command, name, &w);
  char *whole = realpath(folder, NULL);
  w.folder = whole ? whole : folder;
  if (ok && options->action == SWEEP_SLURM) {
    ok = slurm_submit(&w, &options->slurm);
  } else if (ok) {
    printf("%" PRId64 " runs, %" PRId64 " of them missing; about %.3g s each, %.3g core hours in "
           "all, %.3g min on %d threads of this machine\n\n",
           s->runs, w.units, w.seconds / (double)w.units, w.seconds / 3600.0,
           w.seconds / 60.0 / (double)options->threads, options->threads);
    slurm_array_script(&w, &options->slurm, &script);
    ok = !script.failed;
    fwrite(script.bytes, 1, script.size, stdout);
  }
  free(whole);
  text_free(&command);
  text_free(&script);
  return ok;
}

static bool show_status(const sweep_spec *s, const char *folder)
{
  result_table t;
  bool ok = results_read(&t, s, folder);
  if (ok) {
    printf("%" PRId64 " of %" PRId64 " runs are done, %" PRId64 " of them failed\n", t.done_count,
           t.count, t.failed_count);
    slurm_print_queue(folder);
  }
  results_free(&t);
  return ok;
}

bool sweep(const sweep_options *options, bool *bad_spec)
{
  sweep_spec *s = calloc(1, sizeof *s);
  char folder[1000];
  *bad_spec = s && (!spec_load(s, options->spec) || !choose_folder(options, folder, sizeof folder));
  bool ok = s && !*bad_spec && journal_folder(s, folder);
  switch (ok ? options->action : SWEEP_RUN) {
  case SWEEP_RUN:
    ok = ok && run_shard(s, folder, options);
    break;
  case SWEEP_MERGE:
    ok = merge_folder(s, folder);
    break;
  case SWEEP_STATUS:
    ok = show_status(s, folder);
    break;
  default:
    ok = plan_or_submit(s, folder, options);
    break;
  }
  if (s) {
    spec_free(s);
  }
  free(s);
  return ok;
}

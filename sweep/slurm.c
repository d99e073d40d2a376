#include "slurm.h"

#include "options.h"
#include "output.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
  TASK_SECONDS = 600, // aimed at: long enough to be worth starting, short enough to be repeated
  MAX_TASKS = 1000,   // Slurm's default MaxArraySize is 1001
  RESTARTS = 3,       // of a task that failed
};

void text_add_shell(text *t, const char *word)
{
  text_add_bytes(t, "'", 1);
  for (; *word; ++word) {
    if (*word == '\'') {
      text_add(t, "'\\''");
    } else {
      text_add_bytes(t, word, 1);
    }
  }
  text_add_bytes(t, "'", 1);
}

static void add_words(text *t, const char *words)
{
  text_add_bytes(t, words, strlen(words));
}

int slurm_tasks(const slurm_work *w, const slurm_options *o)
{
  double wanted = ceil(w->seconds / (double)(TASK_SECONDS * o->cpus));
  double least = 4.0 * (double)o->nodes; // so that a slow node does not keep the others waiting
  double most = fmin((double)MAX_TASKS, (double)w->units);
  return (int)fmin(fmax(wanted, least), most);
}

// ---------------------------------------------------------------------------------------------
// Scripts

static void add_directives(const slurm_work *w, const slurm_options *o, const char *log, text *t)
{
  add_words(t, "#!/bin/bash\n#SBATCH --job-name=");
  add_words(t, w->name);
  text_add(t, "\n#SBATCH --ntasks=1 --cpus-per-task=%d\n#SBATCH --requeue\n", o->cpus);
  add_words(t, "#SBATCH --open-mode=append --output=");
  add_words(t, w->folder);
  text_add(t, "/slurm/%s\n", log);
  const struct {
    const char *name, *value;
  } given[] = {{"time", o->time}, {"partition", o->partition}, {"account", o->account}};
  for (int i = 0; i < 3; ++i) {
    if (given[i].value) {
      text_add(t, "#SBATCH --%s=%.200s\n", given[i].name, given[i].value);
    }
  }
}

// A task that fails is queued again: the runs that it has finished are not repeated.
void slurm_array_script(const slurm_work *w, const slurm_options *o, text *t)
{
  int tasks = slurm_tasks(w, o);
  add_directives(w, o, "%a.log", t);
  text_add(t, "#SBATCH --array=1-%d", tasks);
  if (o->array_limit > 0) {
    text_add(t, "%%%d", o->array_limit);
  }
  add_words(t, "\n");
  add_words(t, w->command);
  text_add(t, " --threads %d --shard \"$SLURM_ARRAY_TASK_ID/%d\" && exit 0\n", o->cpus, tasks);
  text_add(t, "if [ \"${SLURM_RESTART_COUNT:-0}\" -lt %d ]; then\n", (int)RESTARTS);
  add_words(t, "  scontrol requeue \"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\"\nfi\nexit 1\n");
}

void slurm_last_script(const slurm_work *w, const slurm_options *o, text *t)
{
  add_directives(w, o, "last.log", t);
  add_words(t, w->command);
  text_add(t, " --threads %d\n", o->cpus);
}

static bool write_script(const char *path, const text *t)
{
  output out;
  if (t->failed) {
    complain("not enough memory for the job script");
    return false;
  }
  if (!output_open(&out, path)) {
    return false;
  }
  fwrite(t->bytes, t->size, 1, out.file);
  return output_finish(&out);
}

// ---------------------------------------------------------------------------------------------
// Submission

// Runs sbatch; returns the number of the job, 0 on failure.
static long submit(const char *options, const char *script)
{
  text t = {0};
  add_words(&t, "sbatch --parsable ");
  add_words(&t, options);
  text_add_shell(&t, script);
  text_add_bytes(&t, "", 1);
  FILE *answer = t.failed ? NULL : popen(t.bytes, "r");
  char line[200] = "";
  bool read = answer && fgets(line, sizeof line, answer);
  int status = answer ? pclose(answer) : -1;
  text_free(&t);
  long job = read && status == 0 ? strtol(line, NULL, 10) : 0;
  if (job <= 0) {
    complain("sbatch did not take '%s'; its scripts can be submitted by hand", script);
    return 0;
  }
  return job;
}

bool slurm_submit(const slurm_work *w, const slurm_options *o)
{
  char path[1200], array[1200], last[1200], depends[80];
  snprintf(path, sizeof path, "%s/slurm", w->folder);
  if (mkdir(path, 0777) != 0 && errno != EEXIST) {
    complain("cannot create the folder '%s': %s", path, strerror(errno));
    return false;
  }
  snprintf(array, sizeof array, "%s/slurm/array.sh", w->folder);
  snprintf(last, sizeof last, "%s/slurm/last.sh", w->folder);
  text t = {0}, u = {0};
  slurm_array_script(w, o, &t);
  slurm_last_script(w, o, &u);
  bool ok = write_script(array, &t) && write_script(last, &u);
  text_free(&t);
  text_free(&u);
  long job = ok ? submit("", array) : 0;
  snprintf(depends, sizeof depends, "--dependency=afterany:%ld ", job);
  long end = job ? submit(depends, last) : 0;
  if (!end) {
    return false;
  }
  printf("submitted job array %ld of %d tasks, and job %ld, which merges\n", job, slurm_tasks(w, o),
         end);
  snprintf(path, sizeof path, "%s/slurm/jobs", w->folder);
  output out;
  if (!output_open(&out, path)) {
    return false;
  }
  fprintf(out.file, "%ld,%ld\n", job, end);
  return output_finish(&out);
}

void slurm_print_queue(const char *folder)
{
  char path[1200], jobs[80] = "", command[200];
  snprintf(path, sizeof path, "%s/slurm/jobs", folder);
  FILE *file = fopen(path, "rb");
  if (!file) {
    return;
  }
  bool read = fgets(jobs, sizeof jobs, file);
  fclose(file);
  if (!read || strspn(jobs, "0123456789,\n") != strlen(jobs)) {
    return;
  }
  jobs[strcspn(jobs, "\n")] = '\0';
  snprintf(command, sizeof command, "squeue --array --jobs=%s 2>/dev/null", jobs);
  FILE *queue = popen(command, "r");
  char line[400];
  while (queue && fgets(line, sizeof line, queue)) {
    fputs(line, stdout);
  }
  if (queue) {
    pclose(queue);
  }
}

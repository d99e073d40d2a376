// Sweeps on a cluster: a Slurm job array whose tasks run shards, and a last job that runs what is
// missing and merges.
#ifndef TENON_SWEEP_SLURM_H
#define TENON_SWEEP_SLURM_H

#include "text.h"

#include <stdint.h>

typedef struct slurm_options {
  int nodes;                              // that the tasks should keep busy; 1
  int cpus;                               // per task; 1
  int array_limit;                        // tasks that run at the same time; 0: no limit
  const char *time, *partition, *account; // as sbatch takes them; null: the cluster's defaults
} slurm_options;

// A command that can be cut into shards and continued.
typedef struct slurm_work {
  const char *name;    // of the job
  const char *command; // quoted for the shell, without shard and threads
  const char *folder;  // for scripts and logs
  double seconds;      // CPU time of all of it, estimated
  int64_t units;       // largest useful number of tasks
} slurm_work;

int slurm_tasks(const slurm_work *w, const slurm_options *o);
// The script of the array, and of the last job.
void slurm_array_script(const slurm_work *w, const slurm_options *o, text *out);
void slurm_last_script(const slurm_work *w, const slurm_options *o, text *out);
// Writes both scripts and submits them. Returns false with a message.
bool slurm_submit(const slurm_work *w, const slurm_options *o);
// Prints the state of the submitted jobs, if there are any and squeue can be run.
void slurm_print_queue(const char *folder);

// Adds a word quoted for the shell.
void text_add_shell(text *t, const char *word);

#endif

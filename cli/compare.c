#include "compare.h"

#include "progress.h"
#include "simulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {
  tn_method method;
  int substeps;
  bool ok;
  outcome out;
} row;

// Metrics of quality, shown where they apply.
static const char *const columns[] = {"energy_rel_final",
                                      "energy_rel_max",
                                      "momentum_rel",
                                      "max_joint_error_m",
                                      "mean_joint_error_m",
                                      "max_penetration_m",
                                      "mean_penetration_m",
                                      "top_drift_m",
                                      "top_drop_m",
                                      "rms_speed_end",
                                      "escaped"};
enum { COLUMNS = (int)(sizeof columns / sizeof columns[0]) };

static double value_of(const row *r, const char *name)
{
  for (int i = 0; i < r->out.metric_count; ++i) {
    if (strcmp(r->out.metrics[i].name, name) == 0) {
      return r->out.metrics[i].value;
    }
  }
  return (double)NAN;
}

// A column is shown if some run has a finite value other than zero.
static bool is_shown(const row *rows, int count, const char *name)
{
  for (int i = 0; i < count; ++i) {
    double value = rows[i].ok ? value_of(&rows[i], name) : 0.0;
    if (isfinite(value) && value != 0.0) {
      return true;
    }
  }
  return false;
}

static void print_table(const run_options *options, const row *rows, int count)
{
  printf("%s: %s; %g s\n\n", options->scene->name, options->scene->title, options->seconds);
  printf("%-8s %8s %10s", "method", "substeps", "ms_median");
  for (int k = 0; k < COLUMNS; ++k) {
    if (is_shown(rows, count, columns[k])) {
      printf("  %s", columns[k]);
    }
  }
  for (int i = 0; i < count; ++i) {
    printf("\n%-8s %8d ", method_name(rows[i].method), rows[i].substeps);
    if (!rows[i].ok) {
      printf("%10s", "failed");
      continue;
    }
    printf("%10.4f", rows[i].out.ms_median);
    for (int k = 0; k < COLUMNS; ++k) {
      if (is_shown(rows, count, columns[k])) {
        printf("  %*.3g", (int)strlen(columns[k]), value_of(&rows[i], columns[k]));
      }
    }
  }
  printf("\n");
}

static int run_all(const run_options *options, row *rows)
{
  int count = 0;
  for (int m = 0; m < options->method_count; ++m) {
    for (int s = 0; s < options->substeps_count && !interrupt_came(); ++s) {
      run_options one = *options;
      one.world.method = options->methods[m];
      one.world.substeps = options->substeps[s];
      row *r = &rows[count++];
      r->method = one.world.method;
      r->substeps = one.world.substeps;
      r->ok = simulate(&one, &r->out);
      if (r->ok && options->json) {
        report_json(&one, &r->out);
      }
    }
  }
  return count;
}

bool compare(const run_options *options)
{
  size_t most = (size_t)options->method_count * (size_t)options->substeps_count;
  row *rows = calloc(most, sizeof *rows);
  if (!rows) {
    complain("not enough memory for %zu runs", most);
    return false;
  }
  int count = run_all(options, rows);
  bool ok = true;
  for (int i = 0; i < count; ++i) {
    ok = ok && rows[i].ok;
  }
  if (!options->json) {
    print_table(options, rows, count);
  }
  free(rows);
  return ok;
}

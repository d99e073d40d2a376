// Results as text, and as JSON with one object per line.
#include "bench.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void bench_note(bench_row *row, const char *name, double value)
{
  if (row->metric_count < BENCH_METRICS) {
    row->metrics[row->metric_count++] = (scene_metric){name, value};
  }
}

static double metric_of(const bench_row *row, const char *name)
{
  for (int i = 0; i < row->metric_count; ++i) {
    if (strcmp(row->metrics[i].name, name) == 0) {
      return row->metrics[i].value;
    }
  }
  return (double)NAN;
}

// ---------------------------------------------------------------------------------------------
// Text

static void print_head(void)
{
  printf("%-22s %-7s %-9s %4s %3s %5s %10s %10s %8s %8s %9s  %-16s  %s\n", "scene", "engine",
         "setting", "sub", "thr", "lanes", "ms", "p99", "/bullet", "/ode", "ns", "hash", "quality");
}

static void print_cell(const bench_row *row, const char *metric, int width, const char *format)
{
  double value = metric_of(row, metric);
  char text[32] = "-";
  if (!isnan(value)) {
    snprintf(text, sizeof text, format, value);
  }
  printf(" %*s", width, text);
}

// Times of the phases, for rows with quality metrics and those that compare numbers of threads.
static void print_parts(const bench_row *row)
{
  static const char *const parts[] = {"ms_pairs", "ms_manifolds", "ms_prepare",
                                      "ms_solve", "ms_finish",    "bytes_a_body"};
  bool shown = !isnan(metric_of(row, "seconds")) || !isnan(metric_of(row, "speedup"));
  for (int i = 0; i < 6 && shown; ++i) {
    double value = metric_of(row, parts[i]);
    if (!isnan(value)) {
      printf("  %s %.3g", parts[i], value);
    }
  }
}

static void print_text(const bench_row *row)
{
  char name[64];
  snprintf(name, sizeof name, "%s:%d", row->scene, row->size);
  printf("%-22s %-7s %-9s %4d %3d %5d", name, row->engine, row->setting, row->substeps,
         row->threads, row->lanes);
  if (row->refused) {
    printf("  %s\n", row->refused);
    return;
  }
  printf(" %10.4f %10.4f", row->ms_median, row->ms_p99);
  print_cell(row, "ratio_bullet", 8, "%.3f");
  print_cell(row, "ratio_ode", 8, "%.3f");
  print_cell(row, "ns", 9, "%.1f");
  if (row->hash) {
    printf("  %016" PRIx64, row->hash);
  } else {
    printf("  %-16s", "-");
  }
  for (int i = 0; i < BENCH_SHOWN && row->shown[i]; ++i) {
    double value = metric_of(row, row->shown[i]);
    if (!isnan(value)) {
      printf("  %s %.3g", row->shown[i], value);
    }
  }
  print_parts(row);
  printf("\n");
}

// ---------------------------------------------------------------------------------------------
// JSON

static void print_number(FILE *json, double value)
{
  if (isfinite(value)) {
    fprintf(json, "%.6g", value);
  } else {
    fprintf(json, "null");
  }
}

static void print_json(FILE *json, const bench_row *row)
{
  fprintf(json,
          "{\"engine\": \"%s\", \"scene\": \"%s\", \"size\": %d, \"setting\": \"%s\", "
          "\"substeps\": %d, \"threads\": %d, \"lanes\": %d",
          row->engine, row->scene, row->size, row->setting, row->substeps, row->threads,
          row->lanes);
  if (row->refused) {
    fprintf(json, ", \"refused\": \"%s\"}\n", row->refused);
    return;
  }
  fprintf(json, ", \"ms_median\": ");
  print_number(json, row->ms_median);
  fprintf(json, ", \"ms_p99\": ");
  print_number(json, row->ms_p99);
  fprintf(json, ", \"metrics\": {");
  for (int i = 0; i < row->metric_count; ++i) {
    fprintf(json, "%s\"%s\": ", i ? ", " : "", row->metrics[i].name);
    print_number(json, row->metrics[i].value);
  }
  fprintf(json, "}, \"hash\": ");
  if (row->hash) {
    fprintf(json, "\"%016" PRIx64 "\"}\n", row->hash);
  } else {
    fprintf(json, "null}\n");
  }
}

void bench_report(bench *b, const bench_row *row)
{
  if (b->rows == 0) {
    print_head();
  }
  b->rows += 1;
  print_text(row);
  fflush(stdout);
  if (b->json) {
    print_json(b->json, row);
    fflush(b->json);
  }
}

#include "report.h"

#include "text.h"

#include <inttypes.h>
#include <stdio.h>

// ---------------------------------------------------------------------------------------------
// Text

static void print_head(const run_options *options, const outcome *out)
{
  const scene *s = options->scene;
  printf("%s: %s\n", s->name, s->title);
  printf("source       %s\n", s->source);
  for (int i = 0; i < SCENE_MAX_PARAMETERS && s->parameters[i].name; ++i) {
    printf("%-12s %g (%s)\n", s->parameters[i].name, out->settings.value[i],
           s->parameters[i].meaning);
  }
  int threads = options->world.threads;
  printf("solver       %s, %d substep%s, %d iteration%s, %d thread%s, %d lane%s\n",
         method_name(out->method), out->substeps, out->substeps == 1 ? "" : "s", out->iterations,
         out->iterations == 1 ? "" : "s", threads, threads == 1 ? "" : "s", out->lanes,
         out->lanes == 1 ? "" : "s");
}

static void print_energy(const outcome *out)
{
  if (out->energy_count > 0) {
    printf("\n  time s   kinetic J  potential J    elastic J      total J   change / scale\n");
  }
  for (int i = 0; i < out->energy_count; ++i) {
    const energy_line *line = &out->energy[i];
    const tn_energy *e = &line->energy;
    printf("%8.2f %11.4f %12.4f %12.4f %12.6f %16.3e\n", line->time, e->kinetic, e->potential,
           e->elastic, e->total, line->change);
  }
}

void report_text(const run_options *options, const outcome *out)
{
  print_head(options, out);
  print_energy(out);
  printf("\nframes       %d of 1/60 s, in %.2f s", out->frames, out->wall);
  if (out->frames < out->frames_wanted) {
    printf("; interrupted, %d requested", out->frames_wanted);
  }
  printf("\nms per frame %.4f median, %.4f 99th percentile\n", out->ms_median, out->ms_p99);
  printf("hash         %016" PRIx64 "\n\n", out->hash);
  for (int i = 0; i < out->metric_count; ++i) {
    printf("%-32s %.6g\n", out->metrics[i].name, out->metrics[i].value);
  }
}

// ---------------------------------------------------------------------------------------------
// JSON

static void add_pair(text *t, const char *name, double value)
{
  text_add_quoted(t, name);
  text_add(t, ": ");
  text_add_number(t, value);
}

void report_json(const run_options *options, const outcome *out)
{
  const scene *s = options->scene;
  text t = {0};
  text_add(&t, "{\"scene\": \"%s\", \"parameters\": {", s->name);
  for (int i = 0; i < SCENE_MAX_PARAMETERS && s->parameters[i].name; ++i) {
    text_add_bytes(&t, ", ", i > 0 ? 2 : 0);
    add_pair(&t, s->parameters[i].name, out->settings.value[i]);
  }
  text_add(&t, "}, \"method\": \"%s\", \"substeps\": %d, ", method_name(out->method),
           out->substeps);
  if (out->iterations != 1) {
    text_add(&t, "\"iterations\": %d, ", out->iterations);
  }
  text_add(&t, "\"threads\": %d, \"lanes\": %d, ", options->world.threads, out->lanes);
  add_pair(&t, "seconds", out->seconds);
  text_add(&t, ", \"frames\": %d, ", out->frames);
  add_pair(&t, "ms_median", out->ms_median);
  text_add(&t, ", ");
  add_pair(&t, "ms_p99", out->ms_p99);
  text_add(&t, ", \"hash\": \"%016" PRIx64 "\", \"metrics\": {", out->hash);
  for (int i = 0; i < out->metric_count; ++i) {
    text_add_bytes(&t, ", ", i > 0 ? 2 : 0);
    add_pair(&t, out->metrics[i].name, out->metrics[i].value);
  }
  text_add(&t, "}}\n");
  if (t.failed) {
    complain("not enough memory for the report");
  } else {
    fwrite(t.bytes, t.size, 1, stdout);
  }
  text_free(&t);
}

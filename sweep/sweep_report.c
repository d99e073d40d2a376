#include "sweep_report.h"

#include "options.h"
#include "output.h"
#include "sweep_page.h" // made from page.html
#include "text.h"

#include <math.h>
#include <string.h>

static void add_names(text *t, const sweep_spec *s)
{
  text_add(t, "\"parameters\":[");
  for (int i = 0; i < s->parameter_count; ++i) {
    text_add_quoted(t, s->parameters[i].name);
    text_add(t, ",");
  }
  text_add(t, "\"method\",\"substeps\",\"iterations\"],\"drawn\":[");
  for (int i = 0; i < s->parameter_count; ++i) {
    text_add(t, s->parameters[i].drawn ? "true," : "false,");
  }
  text_add(t, "false,false,false],\"metrics\":[");
  for (int i = 0; i < s->metric_count; ++i) {
    text_add(t, i > 0 ? "," : "");
    text_add_quoted(t, s->metrics[i]);
  }
  text_add(t, "]");
}

// Each row: parameters, method, substeps, iterations, metrics; null where a run has no value.
static void add_row(text *t, const sweep_spec *s, const run_result *r)
{
  sweep_point p = spec_point(s, r->run);
  text_add(t, "[");
  for (int i = 0; i < s->parameter_count; ++i) {
    text_add(t, "%.12g,", p.values[i]);
  }
  text_add(t, "\"%s\",%d,%d", method_name(p.method), p.substeps, p.iterations);
  for (int i = 0; i < s->metric_count; ++i) {
    text_add(t, ",");
    text_add_number(t, r->metrics[i]);
  }
  text_add(t, "]");
}

// "</" would end the script that holds the data.
static void write_data(FILE *file, const text *t)
{
  for (size_t i = 0; i < t->size; ++i) {
    if (t->bytes[i] == '<') {
      fputs("\\u003c", file);
    } else {
      fputc(t->bytes[i], file);
    }
  }
}

bool sweep_report_write(const sweep_spec *s, const result_table *t, const char *path)
{
  text data = {0};
  text_add(&data, "{\"scene\":");
  text_add_quoted(&data, s->scene ? s->scene->name : s->file_path);
  text_add(&data, ",\"title\":");
  text_add_quoted(&data, s->scene ? s->scene->title : "");
  text_add(&data, ",\"seconds\":%.9g,", s->seconds);
  add_names(&data, s);
  text_add(&data, ",\"failed\":%lld,\"rows\":[", (long long)t->failed_count);
  for (int64_t i = 0; i < t->count; ++i) {
    text_add(&data, i > 0 ? ",\n" : "");
    add_row(&data, s, &t->rows[i]);
  }
  text_add(&data, "]}");
  output out;
  bool ok = !data.failed && output_open(&out, path);
  if (ok) {
    static const char mark[] = "@DATA@";
    const char *at = strstr(sweep_page, mark);
    fwrite(sweep_page, 1, (size_t)(at - sweep_page), out.file);
    write_data(out.file, &data);
    fputs(at + sizeof mark - 1, out.file);
    ok = output_finish(&out);
  } else if (data.failed) {
    complain("not enough memory for the report");
  }
  text_free(&data);
  return ok;
}

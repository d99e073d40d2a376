// The report of a model as text and as JSON.
#include "model.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const fate_names[TN_IMPORT_FATE_COUNT] = {"honoured", "approximated", "ignored",
                                                             "visual", "missing"};

// Counts what does not fit.
typedef struct sink {
  char *buffer;
  size_t capacity, length;
} sink;

__attribute__((format(printf, 2, 3))) static void put(sink *s, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  size_t room = s->length < s->capacity ? s->capacity - s->length : 0;
  int more = vsnprintf(room ? s->buffer + s->length : NULL, room, format, arguments);
  va_end(arguments);
  s->length += more > 0 ? (size_t)more : 0;
}

static void put_string(sink *s, const char *text)
{
  put(s, "\"");
  for (; *text; ++text) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') {
      put(s, "\\%c", c);
    } else if (c < 32) {
      put(s, "\\u%04x", c);
    } else {
      put(s, "%c", c);
    }
  }
  put(s, "\"");
}

const tn_import_note *tn_model_report(const tn_model *model, int *count)
{
  int n = model ? model->report_count : 0;
  if (count) {
    *count = n;
  }
  return n ? model->report : NULL;
}

static void put_counts(sink *s, const tn_model *model, const char *separator, const char *quote)
{
  tn_model_counts c = tn_model_get_counts(model);
  const struct {
    const char *name;
    int count;
  } rows[] = {{"bodies", c.bodies - 1},
              {"joints", c.joints},
              {"geoms", c.geoms},
              {"sites", c.sites},
              {"meshes", c.meshes},
              {"actuators", c.actuators},
              {"tendons", c.tendons},
              {"equalities", c.equalities},
              {"sensors", c.sensors},
              {"keyframes", c.keyframes},
              {"degrees_of_freedom", c.velocities}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    put(s, "%s%s%s%s: %d", i ? separator : "", quote, rows[i].name, quote, rows[i].count);
  }
}

static void write_json(sink *s, const tn_model *model)
{
  put(s, "{\"file\": ");
  put_string(s, model->path);
  put(s, ", \"name\": ");
  put_string(s, model->name);
  put(s, ", \"mass\": %.9g, \"counts\": {", tn_model_total_mass(model));
  put_counts(s, model, ", ", "\"");
  put(s, "}");
  for (int fate = 0; fate < TN_IMPORT_FATE_COUNT; ++fate) {
    bool first = true;
    put(s, ",\n \"%s\": [", fate_names[fate]);
    for (int i = 0; i < model->report_count; ++i) {
      const tn_import_note *n = &model->report[i];
      if (n->fate != (tn_import_fate)fate) {
        continue;
      }
      put(s, "%s\n  {\"what\": ", first ? "" : ",");
      put_string(s, n->text);
      put(s, ", \"file\": ");
      put_string(s, n->file);
      put(s, ", \"line\": %d, \"count\": %d}", n->line, n->count);
      first = false;
    }
    put(s, "]");
  }
  put(s, "}\n");
}

static void write_text(sink *s, const tn_model *model)
{
  static const char *const titles[TN_IMPORT_FATE_COUNT] = {"honoured", "approximated", "ignored",
                                                           "no effect on the motion", "missing"};
  put(s, "%s: %.6g kg; ", *model->name ? model->name : model->path, tn_model_total_mass(model));
  put_counts(s, model, ", ", "");
  put(s, "\n");
  int fate = -1;
  for (int i = 0; i < model->report_count; ++i) {
    const tn_import_note *n = &model->report[i];
    if ((int)n->fate != fate) {
      fate = (int)n->fate;
      put(s, "%s:\n", titles[fate]);
    }
    put(s, "  %s:%d: %s", n->file, n->line, n->text);
    if (n->count > 1) {
      put(s, " (%d times)", n->count);
    }
    put(s, "\n");
  }
}

size_t tn_model_write_report(const tn_model *model, bool json, char *buffer, size_t capacity)
{
  sink s = {buffer, buffer ? capacity : 0, 0};
  if (!model) {
    return 0;
  }
  if (json) {
    write_json(&s, model);
  } else {
    write_text(&s, model);
  }
  return s.length + 1;
}

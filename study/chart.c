#include "chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Pixels.
static const double WIDTH = 660.0, HEIGHT = 340.0;
static const double LEFT = 88.0, RIGHT = 16.0, TOP = 14.0, BOTTOM = 50.0, POINT = 9.0;

typedef struct axis {
  double low, high; // values, not logarithms, also for a logarithmic scale
  bool is_log;
  double from, to; // pixels
} axis;

void chart_add(chart *c, chart_series series)
{
  if (series.sheet && c->count < CHART_SERIES) {
    c->series[c->count++] = series;
  }
}

void text_add_escaped(text *out, const char *words)
{
  for (; *words; ++words) {
    const char *entity = *words == '<' ? "&lt;" : *words == '&' ? "&amp;" : NULL;
    entity = *words == '"' ? "&quot;" : entity;
    text_add_bytes(out, entity ? entity : words, entity ? strlen(entity) : 1);
  }
}

// ---------------------------------------------------------------------------------------------
// Points

static bool is_of(const chart_series *s, int row)
{
  return !s->label || strcmp(s->sheet->rows[row].label, s->label) == 0;
}

static double value_at(const chart_series *s, int row, const char *column)
{
  int k = column ? sheet_column(s->sheet, column) : -1;
  return !column ? (double)row : k < 0 ? (double)NAN : s->sheet->rows[row].values[k];
}

static bool can_show(const axis *a, double value)
{
  return isfinite(value) && (!a->is_log || value > 0.0);
}

static double place(const axis *a, double value)
{
  double low = a->is_log ? log10(a->low) : a->low;
  double high = a->is_log ? log10(a->high) : a->high;
  double v = a->is_log ? log10(value) : value;
  double at = a->from + (a->to - a->from) * (v - low) / (high - low);
  return fmin(fmax(at, -2000.0), 3000.0); // points far outside are clipped anyway
}

static void widen(axis *a, const chart *c, bool is_x)
{
  a->low = (double)INFINITY;
  a->high = -(double)INFINITY;
  for (int i = 0; i < c->count; ++i) {
    const chart_series *s = &c->series[i];
    for (int row = 0; row < s->sheet->row_count; ++row) {
      double v = value_at(s, row, is_x ? s->x : s->y);
      if (is_of(s, row) && can_show(a, v)) {
        a->low = fmin(a->low, v);
        a->high = fmax(a->high, v);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Axes

// Tick distance: 1, 2 or 5 times a power of ten, for about `wanted` steps.
static double nice_step(double span, int wanted)
{
  double raw = span / (double)wanted;
  double power = pow(10.0, floor(log10(raw)));
  double lead = raw / power;
  return power * (lead <= 1.0 ? 1.0 : lead <= 2.0 ? 2.0 : lead <= 5.0 ? 5.0 : 10.0);
}

// The next of 1, 2 and 5 times a power of ten, up or down.
static double log_stop(double value, bool up)
{
  static const double leads[] = {1.0, 2.0, 5.0, 10.0};
  double power = pow(10.0, floor(log10(value)));
  double stop = power;
  for (int i = 0; i < 4; ++i) {
    double next = leads[i] * power;
    if (up && next >= value) {
      return next;
    }
    stop = next <= value ? next : stop;
  }
  return stop;
}

// Extends the axis to multiples of the tick distance, or to 1, 2 and 5 times a power of ten.
static void round_axis(axis *a, int ticks)
{
  if (!(a->low <= a->high)) {
    a->low = a->is_log ? 0.1 : 0.0;
    a->high = 1.0;
  }
  if (a->is_log) {
    a->low = log_stop(a->low * 1.001, false);
    a->high = log_stop(a->high * 0.999, true);
    a->high = a->high > a->low ? a->high : 10.0 * a->low;
    return;
  }
  if (!(a->high > a->low)) {
    double pad = fabs(a->low) > 0.0 ? 0.1 * fabs(a->low) : 1.0;
    a->low -= pad;
    a->high += pad;
  }
  double step = nice_step(a->high - a->low, ticks);
  a->low = step * floor(a->low / step + 1e-3); // tolerance: times are sums of rounded steps
  a->high = step * ceil(a->high / step - 1e-3);
}

static axis make_x(const chart *c)
{
  axis a = {.is_log = c->log_x, .from = LEFT, .to = WIDTH - RIGHT};
  widen(&a, c, true);
  if (c->categories) {
    a.low -= 0.5;
    a.high += 0.5;
  } else {
    round_axis(&a, 8);
  }
  return a;
}

static axis make_y(const chart *c)
{
  axis a = {.is_log = c->log_y, .from = HEIGHT - BOTTOM, .to = TOP};
  widen(&a, c, false);
  if (c->has_range) {
    a.low = fmax(a.low, c->y_low);
    a.high = fmin(a.high, c->y_high);
  }
  round_axis(&a, 6);
  return a;
}

static void add_tick(text *out, const axis *a, bool is_x, const char *words, double value)
{
  double at = place(a, value);
  if (is_x) {
    text_add(out, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", at, TOP,
             at, HEIGHT - BOTTOM);
    text_add(out, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", at,
             HEIGHT - BOTTOM + 16.0);
  } else {
    text_add(out, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", LEFT,
             at, WIDTH - RIGHT, at);
    text_add(out, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 7.0,
             at + 4.0);
  }
  text_add_escaped(out, words);
  text_add(out, "</text>");
}

// Ticks at decades, not too many; for few decades also at 2 and 5 times them.
static void draw_log_ticks(text *out, const axis *a, bool is_x)
{
  int first = (int)floor(log10(a->low) + 1e-6), last = (int)floor(log10(a->high) + 1e-6);
  int every = 1 + (last - first) / 9;
  bool is_short = last - first < 3;
  for (int k = first; k <= last; k += every) {
    for (int lead = 1; lead <= (is_short ? 5 : 1); lead += lead == 1 ? 1 : 3) {
      double value = lead * pow(10.0, (double)k);
      if (value >= 0.999 * a->low && value <= 1.001 * a->high) {
        char words[32];
        snprintf(words, sizeof words, abs(k) <= 3 ? "%g" : "%.0e", value);
        add_tick(out, a, is_x, words, value);
      }
    }
  }
}

static void draw_ticks(text *out, const axis *a, bool is_x)
{
  char words[32];
  if (a->is_log) {
    draw_log_ticks(out, a, is_x);
    return;
  }
  double step = nice_step(a->high - a->low, is_x ? 8 : 6);
  int count = (int)lround((a->high - a->low) / step);
  for (int i = 0; i <= count; ++i) {
    double v = a->low + (double)i * step;
    snprintf(words, sizeof words, "%g", fabs(v) < 0.01 * step ? 0.0 : v);
    add_tick(out, a, is_x, words, v);
  }
}

static void draw_categories(text *out, const chart *c, const axis *x)
{
  const sheet *s = c->series[0].sheet;
  for (int i = 0; i < s->row_count; ++i) {
    add_tick(out, x, true, s->rows[i].label, (double)i);
  }
}

// ---------------------------------------------------------------------------------------------
// Series

// Points of several series often coincide: later ones are drawn as rings around the others.
static void add_point(text *out, const chart *c, const chart_series *s, double x, double y)
{
  double radius = 2.8 + 1.4 * (double)(s - c->series);
  if (s->mark == MARK_PUBLISHED) {
    text_add(out, "<path class=\"mark\" d=\"M%.2f %.2fl6 6l-6 6l-6 -6z\"/>", x, y - 6.0);
  } else if (s->mark == MARK_DOTS) {
    text_add(out, "<circle class=\"mark ring\" cx=\"%.2f\" cy=\"%.2f\" r=\"%.1f\"/>", x, y, radius);
  } else {
    text_add(out, "<circle class=\"mark\" cx=\"%.2f\" cy=\"%.2f\" r=\"3.6\"/>", x, y);
  }
}

// The line is interrupted at missing values.
static void draw_line(text *out, const chart_series *s, const axis *x, const axis *y)
{
  text_add(out, "<path class=\"line\" d=\"");
  bool is_down = false;
  for (int i = 0; i < s->sheet->row_count; ++i) {
    if (is_of(s, i)) {
      double vx = value_at(s, i, s->x), vy = value_at(s, i, s->y);
      bool shows = can_show(x, vx) && can_show(y, vy);
      if (shows) {
        text_add(out, "%s%.2f %.2f", is_down ? "L" : "M", place(x, vx), place(y, vy));
      }
      is_down = shows;
    }
  }
  text_add(out, "\"/>");
}

// Exact zeros have no place on a logarithmic axis: triangles at its lower end.
static void draw_zeros(text *out, const chart_series *s, const axis *x, const axis *y)
{
  for (int i = 0; y->is_log && i < s->sheet->row_count; ++i) {
    double vx = value_at(s, i, s->x);
    if (is_of(s, i) && can_show(x, vx) && value_at(s, i, s->y) == 0.0) {
      text_add(out, "<path class=\"zero\" d=\"M%.2f %.2fl4 -7h-8z\"><title>0</title></path>",
               place(x, vx), y->from);
    }
  }
}

static void draw_series(text *out, const chart *c, const chart_series *s, const axis *x,
                        const axis *y)
{
  static const char *const classes[] = {"s", "s", "s", "law", "published"};
  text_add(out, "<g class=\"series %s c%d\" data-csv=\"%s\"", classes[s->mark], s->color,
           s->sheet->name);
  text_add(out, " data-label=\"");
  text_add_escaped(out, s->label ? s->label : "");
  text_add(out, "\" data-x=\"%s\" data-y=\"%s\">", s->x ? s->x : "", s->y);
  if (s->mark != MARK_DOTS && s->mark != MARK_PUBLISHED) {
    draw_line(out, s, x, y);
  }
  for (int i = 0; i < s->sheet->row_count && s->mark != MARK_LINE && s->mark != MARK_LAW; ++i) {
    double vx = value_at(s, i, s->x), vy = value_at(s, i, s->y);
    if (is_of(s, i) && can_show(x, vx) && can_show(y, vy)) {
      add_point(out, c, s, place(x, vx), place(y, vy));
    }
  }
  draw_zeros(out, s, x, y);
  text_add(out, "</g>");
}

static void draw_legend(text *out, const chart *c)
{
  text_add(out, "<ul class=\"legend\">");
  for (int i = 0; i < c->count; ++i) {
    const chart_series *s = &c->series[i];
    static const char *const classes[] = {"s", "s", "s", "law", "published"};
    text_add(out, "<li><svg width=\"34\" height=\"16\" aria-hidden=\"true\"><g class=\"%s c%d\">",
             classes[s->mark], s->color);
    if (s->mark != MARK_DOTS && s->mark != MARK_PUBLISHED) {
      text_add(out, "<path class=\"line\" d=\"M1 8L33 8\"/>");
    }
    if (s->mark != MARK_LINE && s->mark != MARK_LAW) {
      add_point(out, c, s, 17.0, 8.0);
    }
    text_add(out, "</g></svg>");
    text_add_escaped(out, s->name ? s->name : s->label);
    text_add(out, "</li>");
  }
  text_add(out, "</ul>");
}

// ---------------------------------------------------------------------------------------------

// The files of the series, each once.
static void name_data(text *out, const chart *c)
{
  text_add(out, "<p class=\"data\">Data:");
  for (int i = 0; i < c->count; ++i) {
    const char *name = c->series[i].sheet->name;
    bool is_new = true;
    for (int k = 0; k < i; ++k) {
      is_new = is_new && c->series[k].sheet != c->series[i].sheet;
    }
    if (is_new) {
      text_add(out, " <a href=\"data/%s.csv\">%s.csv</a>", name, name);
    }
  }
  text_add(out, "</p>");
}

static void draw_frame(text *out, const chart *c, const axis *x, const axis *y)
{
  if (c->categories) {
    draw_categories(out, c, x);
  } else {
    draw_ticks(out, x, true);
  }
  draw_ticks(out, y, false);
  text_add(out, "<rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
           LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
  text_add(out, "<text class=\"axis\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
           0.5 * (LEFT + WIDTH - RIGHT), HEIGHT - 12.0);
  text_add_escaped(out, c->x_label);
  text_add(out, "</text><text class=\"axis\" transform=\"translate(16 %.1f) rotate(-90)\"",
           0.5 * (TOP + HEIGHT - BOTTOM));
  text_add(out, " text-anchor=\"middle\">");
  text_add_escaped(out, c->y_label);
  text_add(out, "</text>");
}

void chart_draw(const chart *c, text *out)
{
  axis x = make_x(c), y = make_y(c);
  text_add(out, "<figure class=\"chart\"><figcaption>");
  text_add_escaped(out, c->title);
  text_add(out, "</figcaption><svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", WIDTH,
           HEIGHT);
  text_add_escaped(out, c->title);
  text_add(out, "\" data-x0=\"%.9g\" data-x1=\"%.9g\" data-y0=\"%.9g\" data-y1=\"%.9g\"", x.low,
           x.high, y.low, y.high);
  text_add(out, " data-box=\"%.1f %.1f %.1f %.1f\" data-log-x=\"%d\" data-log-y=\"%d\">", x.from,
           y.to, x.to, y.from, c->log_x, c->log_y);
  draw_frame(out, c, &x, &y);
  // A nested svg clips the curves, with a margin for points on the frame.
  double x0 = LEFT - POINT, y0 = TOP - POINT;
  double across = WIDTH - LEFT - RIGHT + 2.0 * POINT, down = HEIGHT - TOP - BOTTOM + 2.0 * POINT;
  text_add(out, "<svg class=\"plot\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" ", x0, y0,
           across, down);
  text_add(out, "viewBox=\"%.1f %.1f %.1f %.1f\" overflow=\"hidden\">", x0, y0, across, down);
  for (int i = 0; i < c->count; ++i) {
    draw_series(out, c, &c->series[i], &x, &y);
  }
  text_add(out, "</svg></svg>");
  draw_legend(out, c);
  name_data(out, c);
  text_add(out, "</figure>\n");
}

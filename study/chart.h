// Charts as inline SVG. Every series names its sheet and columns, and every chart its scales, so
// that a test can compare the drawing with the file.
#ifndef TENON_STUDY_CHART_H
#define TENON_STUDY_CHART_H

#include "sheet.h"
#include "text.h"

#define CHART_SERIES 24

typedef enum chart_mark {
  MARK_LINE,      // measured
  MARK_DOTS,      // measured, few points
  MARK_LINE_DOTS, // measured, few points in order
  MARK_LAW,       // closed-form result: dashed, black
  MARK_PUBLISHED, // diamonds, black
} chart_mark;

typedef struct chart_series {
  const sheet *sheet;
  const char *label; // rows of this name; null: all
  const char *x, *y; // columns; x null: the row's number
  const char *name;  // in the legend; null: the label
  chart_mark mark;
  int color; // of the palette
} chart_series;

typedef struct chart {
  const char *title, *x_label, *y_label;
  bool log_x, log_y;
  bool categories; // the x axis has the names of the rows of the first series
  bool has_range;  // otherwise y covers all values
  double y_low, y_high;
  chart_series series[CHART_SERIES];
  int count;
} chart;

void chart_add(chart *c, chart_series series);
void chart_draw(const chart *c, text *out);

// Adds text escaped for HTML.
void text_add_escaped(text *out, const char *words);

#endif

// Charts as inline SVG. Every series says which columns of which sheet it shows, and every chart
// its scales, so that a test can hold the drawing against the file.
#ifndef TENON_STUDY_CHART_H
#define TENON_STUDY_CHART_H

#include "sheet.h"
#include "text.h"

#define CHART_SERIES 24

typedef enum chart_mark {
  MARK_LINE,      // measured
  MARK_DOTS,      // measured, few points
  MARK_LINE_DOTS, // measured, few points in order
  MARK_LAW,       // what a law says: dashed, black
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
  bool categories; // the rows of the first series stand side by side, with their names
  bool has_range;  // else y shows everything
  double y_low, y_high;
  chart_series series[CHART_SERIES];
  int count;
} chart;

void chart_add(chart *c, chart_series series);
void chart_draw(const chart *c, text *out);

// Text inside HTML.
void text_add_escaped(text *out, const char *words);

#endif

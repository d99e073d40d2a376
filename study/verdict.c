// The table "published, measured here, holds?".
#include "page.h"

#include <math.h>
#include <string.h>

double claim_value(const claim *c)
{
  return sheet_value(c->sheet, c->label, c->column);
}

double claim_bound(const claim *c)
{
  return c->versus ? sheet_value(c->sheet, c->versus, c->column) : c->bound;
}

// What could not be measured is not met.
bool claim_holds(const claim *c)
{
  double value = claim_value(c), bound = claim_bound(c);
  return c->relation == AT_MOST ? value <= bound : value >= bound;
}

static void add_measured(text *out, const claim *c)
{
  text_add_escaped(out, c->by);
  text_add(out, ": ");
  add_value(out, c->sheet, c->label, c->column);
  text_add(out, " %s", c->unit);
}

static void add_bound(text *out, const claim *c)
{
  text_add(out, c->relation == AT_MOST ? "≤ " : "≥ ");
  if (c->versus) {
    add_value(out, c->sheet, c->versus, c->column);
    text_add(out, " (");
    text_add_escaped(out, c->versus);
    text_add(out, ")");
  } else {
    text_add(out, "%.4g", c->bound);
  }
}

static void add_line(text *out, const claim *c)
{
  bool holds = claim_holds(c);
  text_add(out, "<tr class=\"%s\"><td>", holds ? "holds" : "fails");
  text_add_escaped(out, c->source);
  text_add(out, "</td><td>");
  text_add_escaped(out, c->statement);
  text_add(out, "</td><td>");
  text_add_escaped(out, c->published ? c->published : "");
  text_add(out, "</td><td>");
  add_measured(out, c);
  text_add(out, "</td><td>");
  add_bound(out, c);
  text_add(out, "</td><td class=\"verdict\">%s", holds ? "yes" : "no");
  if (!holds && c->why) {
    text_add(out, "<span class=\"why\">");
    text_add_escaped(out, c->why);
    text_add(out, "</span>");
  }
  text_add(out, "</td></tr>\n");
}

static int count_holding(const page *p)
{
  int count = 0;
  for (int i = 0; i < p->claim_count; ++i) {
    count += claim_holds(&p->claims[i]);
  }
  return count;
}

// Losses first among what a reader sees.
static void add_losses(text *out, const page *p)
{
  text_add(out, "<ul class=\"losses\">");
  for (int i = 0; i < p->claim_count; ++i) {
    const claim *c = &p->claims[i];
    if (!claim_holds(c)) {
      text_add(out, "<li>");
      text_add_escaped(out, c->source);
      text_add(out, ": ");
      text_add_escaped(out, c->statement);
      text_add(out, " — ");
      add_measured(out, c);
      text_add(out, ", not ");
      add_bound(out, c);
      text_add(out, "</li>\n");
    }
  }
  text_add(out, "</ul>\n");
}

void add_verdicts(text *out, const page *p)
{
  int holding = count_holding(p);
  text_add(out, "<section id=\"table\"><h2>Published, measured here, holds?</h2>\n");
  text_add(out, "<p class=\"score\"><b>%d of %d lines hold.</b>%s</p>\n", holding, p->claim_count,
           holding < p->claim_count ? " These do not:" : "");
  if (holding < p->claim_count) {
    add_losses(out, p);
  }
  text_add(out, "<table class=\"verdicts\"><thead><tr><th>Source</th><th>What it says</th>"
                "<th>Published</th><th>Measured here</th>");
  text_add(out, "<th>Holds if</th><th>Holds?</th></tr></thead><tbody>\n");
  for (int i = 0; i < p->claim_count; ++i) {
    add_line(out, &p->claims[i]);
  }
  text_add(out, "</tbody></table></section>\n");
}

// The table of claims: published value, measured value, verdict.
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

claim_kind claim_kind_of(const claim *c)
{
  if (strncmp(c->by, "tenon", 5) != 0) {
    return OF_PAPER;
  }
  return c->published ? OF_TENON : OF_PEERS;
}

// A claim without a measured value does not hold.
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
  text_add(out, c->unit[0] ? " %s" : "%s", c->unit);
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

static int count_of(const page *p, claim_kind kind, bool only_holding)
{
  int count = 0;
  for (int i = 0; i < p->claim_count; ++i) {
    const claim *c = &p->claims[i];
    count += claim_kind_of(c) == kind && (!only_holding || claim_holds(c));
  }
  return count;
}

static void add_losses(text *out, const page *p, claim_kind kind)
{
  text_add(out, "<ul class=\"losses\">");
  for (int i = 0; i < p->claim_count; ++i) {
    const claim *c = &p->claims[i];
    if (claim_kind_of(c) == kind && !claim_holds(c)) {
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

static const char *const titles[CLAIM_KINDS] = {
    "The default method, tenon, against published results",
    "The papers' own methods, as implemented here",
    "The default method against other engines, on the same scenes"};

static void add_score(text *out, const page *p, claim_kind kind)
{
  int all = count_of(p, kind, false), holding = count_of(p, kind, true);
  if (all > 0) {
    text_add(out, "<p class=\"score\">%s: <b>%d of %d lines hold.</b>%s</p>\n", titles[kind],
             holding, all, holding < all ? " These do not:" : "");
    if (holding < all) {
      add_losses(out, p, kind);
    }
  }
}

static void add_table(text *out, const page *p, claim_kind kind)
{
  if (count_of(p, kind, false) == 0) {
    return;
  }
  text_add(out, "<h3>%s</h3>\n", titles[kind]);
  text_add(out, "<table class=\"verdicts\"><thead><tr><th>Source</th><th>Statement</th>"
                "<th>Published</th><th>Measured here</th>");
  text_add(out, "<th>Holds if</th><th>Holds?</th></tr></thead><tbody>\n");
  for (int i = 0; i < p->claim_count; ++i) {
    if (claim_kind_of(&p->claims[i]) == kind) {
      add_line(out, &p->claims[i]);
    }
  }
  text_add(out, "</tbody></table>\n");
}

void add_verdicts(text *out, const page *p)
{
  text_add(out, "<section id=\"table\"><h2>Published and measured results</h2>\n");
  for (int kind = 0; kind < CLAIM_KINDS; ++kind) {
    add_score(out, p, (claim_kind)kind);
  }
  for (int kind = 0; kind < CLAIM_KINDS; ++kind) {
    add_table(out, p, (claim_kind)kind);
  }
  text_add(out, "</section>\n");
}

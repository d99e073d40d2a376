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

// The paper, or the engine that Tenon is compared with, of a source: "Mueller et al. 2020, Fig. 4",
// "Fig. 1 against ode".
static const char *source_name(const claim *c, int *length)
{
  const char *engine = strstr(c->source, "against ");
  const char *name = engine ? engine + strlen("against ") : c->source;
  *length = (int)strcspn(name, ",");
  return name;
}

static bool same_source(const claim *a, const claim *b)
{
  int length, other;
  const char *one = source_name(a, &length), *two = source_name(b, &other);
  return length == other && strncmp(one, two, (size_t)length) == 0;
}

static void add_bar(text *out, const page *p, const claim *source, claim_kind kind)
{
  int all = 0, holding = 0;
  for (int i = 0; i < p->claim_count; ++i) {
    const claim *c = &p->claims[i];
    if (claim_kind_of(c) == kind && same_source(c, source)) {
      all += 1;
      holding += claim_holds(c);
    }
  }
  if (all == 0) {
    text_add(out, "<td>—</td>");
    return;
  }
  text_add(out, "<td><span class=\"bar\"><i style=\"width:%.0f%%\"></i></span> %d of %d</td>",
           100.0 * holding / all, holding, all);
}

void add_summary(text *out, const page *p)
{
  text_add(out, "<section id=\"summary\"><h2>Summary</h2>\n<table class=\"summary\"><thead><tr>"
                "<th>Lines that hold</th><th>Tenon</th><th>The paper's own method</th>"
                "<th>Tenon against other engines</th></tr></thead><tbody>\n");
  for (int i = 0; i < p->claim_count; ++i) {
    const claim *c = &p->claims[i];
    bool is_first = true;
    for (int k = 0; k < i; ++k) {
      is_first = is_first && !same_source(&p->claims[k], c);
    }
    if (is_first) {
      int length;
      const char *name = source_name(c, &length);
      text_add(out, "<tr><td>%.*s</td>", length, name);
      for (int kind = 0; kind < CLAIM_KINDS; ++kind) {
        add_bar(out, p, c, (claim_kind)kind);
      }
      text_add(out, "</tr>\n");
    }
  }
  text_add(out, "</tbody></table></section>\n");
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

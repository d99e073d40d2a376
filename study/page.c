#include "page.h"

#include "options.h"
#include "output.h"
#include "scenes.h"
#include "trial.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void add_words(text *out, const char *words)
{
  text_add_bytes(out, words, strlen(words));
}

// ---------------------------------------------------------------------------------------------
// Parts

static void add_entry(page *p, const char *level, const char *id, const char *title)
{
  text_add(&p->contents, "<li class=\"%s\"><a href=\"#%s\">", level, id);
  text_add_escaped(&p->contents, title);
  text_add(&p->contents, "</a></li>\n");
}

void page_document(page *p, const char *id, const char *title)
{
  add_entry(p, "document", id, title);
  text_add(&p->body, "<h2 id=\"%s\">", id);
  text_add_escaped(&p->body, title);
  text_add(&p->body, "</h2>\n");
}

void page_section(page *p, const char *id, const char *title)
{
  add_entry(p, "section", id, title);
  text_add(&p->body, "<h3 id=\"%s\">", id);
  text_add_escaped(&p->body, title);
  text_add(&p->body, "</h3>\n");
}

void page_say(page *p, const char *format, ...)
{
  char words[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(words, sizeof words, format, arguments);
  va_end(arguments);
  add_words(&p->body, "<p>");
  text_add_escaped(&p->body, words);
  add_words(&p->body, "</p>\n");
}

void page_chart(page *p, const chart *c)
{
  if (c->count > 0) {
    chart_draw(c, &p->body);
  }
}

// Columns without a finite value other than zero are not shown, nor is the state, which is given in
// words.
static bool is_shown(const sheet *s, int column)
{
  bool shows = false;
  for (int i = 0; i < s->row_count; ++i) {
    double value = s->rows[i].values[column];
    shows = shows || (isfinite(value) && value != 0.0);
  }
  return shows && strcmp(s->columns[column], "state") != 0;
}

// Allows line breaks after each part of a name.
static void add_breakable(text *out, const char *name)
{
  for (; *name; ++name) {
    text_add_bytes(out, name, 1);
    if (*name == '_') {
      add_words(out, "<wbr>");
    }
  }
}

// Rows of a small sheet have unique names, so name and column identify a number.
void page_values(page *p, const sheet *s)
{
  text *out = &p->body;
  text_add(out, "<div class=\"wide\"><table class=\"values\"><thead><tr><th>%s</th>", s->label);
  for (int i = 0; i < s->column_count; ++i) {
    if (is_shown(s, i)) {
      add_words(out, "<th>");
      add_breakable(out, s->columns[i]);
      add_words(out, "</th>");
    }
  }
  add_words(out, "</tr></thead><tbody>\n");
  for (int i = 0; i < s->row_count; ++i) {
    add_words(out, "<tr><td>");
    text_add_escaped(out, s->rows[i].label);
    add_words(out, "</td>");
    for (int k = 0; k < s->column_count; ++k) {
      if (is_shown(s, k)) {
        add_words(out, "<td>");
        add_value(out, s, s->rows[i].label, s->columns[k]);
        add_words(out, "</td>");
      }
    }
    add_words(out, "</tr>\n");
  }
  add_words(out, "</tbody></table></div>");
  page_link(p, s);
}

void page_link(page *p, const sheet *s)
{
  text_add(&p->body, "<p class=\"data\">Data: <a href=\"data/%s.csv\">", s->name);
  text_add(&p->body, "%s.csv</a></p>\n", s->name);
}

void page_claim(page *p, claim c)
{
  if (c.sheet && p->claim_count < PAGE_CLAIMS) {
    p->claims[p->claim_count++] = c;
  }
}

const char *page_words(page *p, const char *format, ...)
{
  if (p->word_count == PAGE_WORDS) {
    return "";
  }
  char *words = p->words[p->word_count++];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(words, sizeof p->words[0], format, arguments);
  va_end(arguments);
  return words;
}

void add_value(text *out, const sheet *s, const char *label, const char *column)
{
  double value = sheet_value(s, label, column);
  text_add(out, "<span class=\"value\" data-csv=\"%s\" data-label=\"", s->name);
  text_add_escaped(out, label);
  text_add(out, "\" data-column=\"%s\">", column);
  if (isfinite(value)) {
    text_add(out, "%.4g</span>", value);
  } else {
    text_add(out, "—</span>");
  }
}

// ---------------------------------------------------------------------------------------------
// Document

// clang-format off
static const char *const style[] = {
    ":root { --ink: #1c2127; --soft: #5c6670; --rule: #d5dae0; --good: #1d7a46; --bad: #b3261e; }\n",
    "* { box-sizing: border-box; }\n",
    "body { margin: 0 auto; padding: 2rem 1.5rem 4rem; max-width: 76rem; color: var(--ink); }\n",
    "body { background: #fff; font: 15px/1.5 system-ui, sans-serif; }\n",
    "h1 { font-size: 1.9rem; margin: 0 0 .3rem; }\n",
    "h2 { margin: 2.6rem 0 .6rem; font-size: 1.4rem; border-bottom: 2px solid var(--ink); }\n",
    "h3 { margin: 2rem 0 .3rem; font-size: 1.1rem; }\n",
    "p { max-width: 62rem; margin: .4rem 0; }\n",
    "a { color: #17568c; }\n",
    ".meta { color: var(--soft); }\n",
    ".quick { padding: .6rem .9rem; border: 2px solid var(--bad); max-width: 62rem; }\n",
    ".losses { font-size: .9rem; max-width: 62rem; }\n",
    "table { border-collapse: collapse; width: 100%; font-size: .86rem; margin: .6rem 0; }\n",
    "th, td { text-align: left; vertical-align: top; padding: .3rem .5rem; }\n",
    "td { border-top: 1px solid var(--rule); }\n",
    "thead th { border-bottom: 2px solid var(--ink); }\n",
    ".verdicts { table-layout: fixed; }\n",
    ".verdicts th:nth-child(1) { width: 17%; }\n",
    ".verdicts th:nth-child(2) { width: 27%; }\n",
    ".verdicts th:nth-child(3) { width: 12%; }\n",
    ".verdicts th:nth-child(4) { width: 17%; }\n",
    ".verdicts th:nth-child(5) { width: 10%; }\n",
    ".holds .verdict, .matrix .met { color: var(--good); }\n",
    ".fails .verdict, .matrix .unmet { color: var(--bad); }\n",
    ".verdict { font-weight: 600; }\n",
    ".fails td { background: #fdf3f2; }\n",
    ".why { display: block; font-weight: 400; color: var(--ink); }\n",
    ".wide { overflow-x: auto; }\n",
    ".values { font-size: .8rem; }\n",
    ".values td { white-space: nowrap; }\n",
    ".value { font-variant-numeric: tabular-nums; }\n",
    ".matrix td:first-child { font-weight: 600; }\n",
    ".chart { display: inline-block; vertical-align: top; width: calc(50% - 1rem); }\n",
    ".chart { margin: .8rem .8rem 0 0; min-width: min(27rem, 100%); }\n",
    ".chart > svg { width: 100%; height: auto; display: block; overflow: visible; }\n",
    "figcaption { font-weight: 600; font-size: .92rem; margin-bottom: .2rem; }\n",
    ".grid { stroke: var(--rule); }\n",
    ".frame { fill: none; stroke: #7b858f; }\n",
    ".tick { font-size: 14px; fill: var(--soft); }\n",
    ".axis { font-size: 16px; fill: var(--ink); }\n",
    ".legend { list-style: none; margin: .1rem 0 0; padding: 0 0 0 3rem; font-size: .8rem; }\n",
    ".legend { display: flex; flex-wrap: wrap; gap: .1rem 1rem; }\n",
    ".legend svg { vertical-align: middle; margin-right: .3rem; }\n",
    ".scene { float: right; width: 15rem; height: auto; margin: .4rem 0 .8rem 1.4rem; }\n",
    ".scene { border-radius: 8px; }\n",
    "h2, h3 { clear: right; }\n",
    ".data { font-size: .78rem; color: var(--soft); margin: .1rem 0 .6rem; }\n",
    ".line { fill: none; stroke-width: 1.8; stroke-linejoin: round; stroke: currentColor; }\n",
    ".mark { fill: currentColor; }\n",
    ".ring { fill: none; stroke: currentColor; stroke-width: 1.5; stroke-dasharray: none; }\n",
    ".c0 { color: #1766a6; }\n",
    ".c1 { color: #c8372d; stroke-dasharray: 7 3; }\n",
    ".c2 { color: #d98c00; stroke-dasharray: 2 3; }\n",
    ".c3 { color: #3f8f4f; stroke-dasharray: 9 3 2 3; }\n",
    ".c4 { color: #7b4fa3; stroke-dasharray: 5 2 1 2 1 2; }\n",
    ".c5 { color: #0f9aa0; }\n",
    ".c7 { color: #7a9a2e; stroke-dasharray: 3 2; }\n",
    ".c8 { color: #b0609f; stroke-dasharray: 3 2; }\n",
    ".law .line { stroke: #000; stroke-width: 1.2; stroke-dasharray: 4 4; }\n",
    ".published .mark { fill: #fff; stroke: #000; stroke-width: 1.6; stroke-dasharray: none; }\n",
    ".zero { fill: currentColor; stroke: none; }\n",
    ".summary td { vertical-align: middle; }\n",
    ".bar { display: inline-block; width: 7rem; height: .7rem; background: #e9c9c6; }\n",
    ".bar i { display: block; height: 100%; background: var(--good); }\n",
    ".contents { font-size: .82rem; margin-bottom: 1.5rem; }\n",
    ".contents ul { list-style: none; margin: 0; padding: 0; }\n",
    ".contents a { text-decoration: none; }\n",
    ".contents .document { font-weight: 600; margin-top: .4rem; }\n",
    ".contents .section { padding-left: .8rem; }\n",
    "@media (min-width: 72rem) {\n",
    "body { max-width: 96rem; margin: 0; padding-left: 18rem; }\n",
    ".contents { position: fixed; top: 0; bottom: 0; left: 0; width: 16rem; }\n",
    ".contents { overflow-y: auto; padding: 1.5rem 1rem; border-right: 1px solid var(--rule); }\n",
    "}\n",
    "@media (max-width: 72rem) { .contents .section { display: none; } }\n",
    "@media (max-width: 48rem) { .scene { float: none; display: block; margin-left: 0; } }\n",
    "@media (max-width: 48rem) { table { display: block; overflow-x: auto; } }\n",
    "@page { margin: 14mm; }\n",
    "@media print {\n",
    "* { print-color-adjust: exact; }\n",
    "body { max-width: none; padding: 0; font-size: 9.5pt; }\n",
    "a { color: inherit; text-decoration: none; }\n",
    ".contents { display: none; }\n",
    ".chart { width: 49%; margin: .3rem .5% 0 0; break-inside: avoid; }\n",
    ".tick { font-size: 15px; }\n",
    ".axis { font-size: 17px; }\n",
    ".legend { font-size: 7pt; padding: 0; }\n",
    "h2, h3 { break-after: avoid; }\n",
    "tr { break-inside: avoid; }\n",
    "table { font-size: 7.5pt; }\n",
    ".wide { overflow: visible; }\n",
    ".values, .matrix { font-size: 6pt; }\n",
    ".values td, .values th, .matrix td, .matrix th { padding: .1rem .2rem; }\n",
    ".values td { white-space: normal; }\n",
    "thead { display: table-header-group; }\n",
    ".fails td { background: none; }\n",
    "}\n",
};
// clang-format on

static void add_head(text *out)
{
  add_words(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n");
  add_words(out, "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n");
  add_words(out, "<link rel=\"icon\" href=\"data:,\"><title>Tenon: a study</title>\n<style>\n");
  for (size_t i = 0; i < sizeof style / sizeof style[0]; ++i) {
    add_words(out, style[i]);
  }
  add_words(out, "</style></head><body>\n");
}

static void add_processor(text *out)
{
  char line[256];
  FILE *file = fopen("/proc/cpuinfo", "r");
  while (file && fgets(line, sizeof line, file)) {
    char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) == 0 && colon) {
      line[strcspn(line, "\n")] = '\0';
      text_add_escaped(out, colon + 2);
      text_add(out, ", ");
      break;
    }
  }
  if (file) {
    fclose(file);
  }
  struct utsname about;
  if (uname(&about) == 0) {
    text_add(out, "%.40s %.40s, %ld cores", about.sysname, about.machine,
             sysconf(_SC_NPROCESSORS_ONLN));
  }
}

static void add_solvers(text *out)
{
  add_words(out,
            "<p class=\"meta\">Methods of Tenon: <b>tenon</b>, the default; <b>xpbd</b>, the "
            "method of Müller et al. 2020 with its errata corrected; <b>jacobi</b>, the same with "
            "averaged corrections. ");
  if (solver_count() == 3) {
    add_words(out, "No other engine was found at build time.");
  }
  for (int i = 3; i < solver_count(); ++i) {
    text_add(out, "<b>%s</b>: ", solver_at(i)->name);
    text_add_escaped(out, solver_describe(i));
    add_words(out, "; ");
  }
  add_words(out, "</p>\n");
}

static void add_title(text *out, const study *s)
{
  char date[32] = "";
  time_t now = time(NULL);
  strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
  add_words(out, "<h1>Published results, reproduced</h1>\n<p class=\"meta\">");
  text_add_escaped(out, tn_config());
  text_add(out, ". %s. ", date);
  add_processor(out);
  add_words(
      out,
      ". One thread; times are CPU times. Sleeping is disabled. Frames of 1/60 s unless stated "
      "otherwise.</p>\n");
  add_solvers(out);
  if (s->options.quick) {
    add_words(out, "<p class=\"quick\"><b>Quick study.</b> Shorter and smaller than the published "
                   "experiments: each section states what was run. Times are from few frames "
                   "and uncertain. <code>tenon study</code> without <code>--quick</code> runs "
                   "the full experiments.</p>\n");
  }
  add_words(out,
            "<p>Published values are those in the papers' text and tables; the papers' curves are "
            "compared with the statements of the text. Published times are from other "
            "machines. Known errors in the papers are corrected, see the project's "
            "docs/paper_map.md. Every number and every curve is in the CSV file named beside "
            "it.</p>\n");
}

static void add_contents(text *out, const page *p)
{
  add_words(out, "<nav class=\"contents\" aria-label=\"Contents\"><ul>\n");
  add_words(out, "<li class=\"document\"><a href=\"#summary\">Summary</a></li>\n");
  add_words(out, "<li class=\"document\"><a href=\"#table\">Published and measured</a></li>\n");
  text_add_bytes(out, p->contents.bytes, p->contents.size);
  add_words(out, "</ul></nav>\n");
}

bool page_write(const page *p, const study *s, const char *path)
{
  text out = {0};
  add_head(&out);
  add_contents(&out, p);
  add_title(&out, s);
  add_summary(&out, p);
  add_verdicts(&out, p);
  text_add_bytes(&out, p->body.bytes, p->body.size);
  add_words(&out, "</body></html>\n");
  output file;
  bool ok = !out.failed && !p->body.failed && output_open(&file, path);
  if (ok) {
    fwrite(out.bytes, out.size, 1, file.file);
    ok = output_finish(&file);
  } else {
    complain("the report could not be written");
  }
  text_free(&out);
  return ok;
}

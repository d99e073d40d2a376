// The report: sections with charts, and a table of published and measured values.
#ifndef TENON_STUDY_PAGE_H
#define TENON_STUDY_PAGE_H

#include "chart.h"
#include "study.h"

#define PAGE_CLAIMS 200
#define PAGE_WORDS 400

typedef enum claim_relation { AT_MOST, AT_LEAST } claim_relation;

// Kind of a claim: a published result for the default method, a published result for the method it
// was published for, or a comparison with another engine.
typedef enum claim_kind { OF_TENON, OF_PAPER, OF_PEERS, CLAIM_KINDS } claim_kind;

// One line of the table. Whether it holds is computed from the sheet alone.
typedef struct claim {
  const char *source;    // "Mueller et al. 2020, Fig. 4"
  const char *statement; // the published statement
  const char *published; // the published value; may be empty
  const char *by;        // solver that was measured
  const sheet *sheet;
  const char *label, *column, *unit;
  claim_relation relation;
  double bound;
  const char *versus; // row of the same column to use as the bound; or null
  const char *why;    // explanation if it does not hold; may be null
} claim;

struct page {
  text body;
  text contents; // a list item for each heading
  claim claims[PAGE_CLAIMS];
  int claim_count;
  char words[PAGE_WORDS][96];
  int word_count;
};

void page_document(page *p, const char *id, const char *title);
void page_section(page *p, const char *id, const char *title);
void page_say(page *p, const char *format, ...); // a paragraph
void page_chart(page *p, const chart *c);        // with a link to its data
void page_values(page *p, const sheet *s);       // all of a small sheet
void page_link(page *p, const sheet *s);         // to its file
void page_claim(page *p, claim c);
// Formats a string that is valid as long as the page, for claims.
const char *page_words(page *p, const char *format, ...);

// Adds a number of a sheet, with a reference to its row and column.
void add_value(text *out, const sheet *s, const char *label, const char *column);

// verdict.c
double claim_value(const claim *c);
double claim_bound(const claim *c);
claim_kind claim_kind_of(const claim *c);
bool claim_holds(const claim *c);
void add_verdicts(text *out, const page *p);
// Bars of the lines that hold, by source: ours beside the papers' methods beside other engines.
void add_summary(text *out, const page *p);

// Writes the whole document.
bool page_write(const page *p, const study *s, const char *path);

#endif

// Seabra et al. 2022: Figure 11, friction, and the seven columns of Table 1.
#include "picture.h"
#include "seabra.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Figure 11: scaling of time with size

typedef struct growth {
  const char *name, *title, *scene, *setting;
  int sizes[2][4]; // values of the parameter, full and quick; 0 ends
  int lead[2];     // frames before the timed ones
  bool is_large;   // other engines take one step per frame only
} growth;

static const growth growths[] = {
    {"seabra_fig11_chain",
     "Figure 11: chains of capsules",
     "chain",
     "end_mass_ratio=100 count=%d",
     {{50, 100, 200, 400}, {50, 100, 200, 0}},
     {10, 5},
     false},
    {"seabra_fig11_pyramid",
     "Figure 11: pyramids",
     "pyramid",
     "base=%d",
     {{10, 18, 26, 36}, {6, 9, 12, 0}},
     {10, 3},
     false},
    {"seabra_fig11_capsules",
     "Figure 11: piles of capsules",
     "capsules",
     "count=%d",
     {{250, 500, 1000, 2000}, {60, 120, 240, 0}},
     {150, 60},
     true},
};
enum { GROWTHS = (int)(sizeof growths / sizeof growths[0]), MOST_SIZES = 4 };

static void measure_growth(study *s, const growth *g)
{
  char name[SHEET_WORD];
  snprintf(name, sizeof name, "%s_end", g->name);
  sheet *all = study_new_sheet(s, g->name, "solver,bodies,ms_frame,ms_substep");
  sheet *ends = study_new_sheet(s, name, "solver,exponent,ms_of_largest");
  bool quick = s->options.quick;
  for (int i = 0; i < solver_count() && !interrupt_came(); ++i) {
    if (g->is_large && solver_at(i)->peer && !solver_at(i)->iterates) {
      continue;
    }
    double first[2] = {0.0, 0.0}, last[2] = {0.0, 0.0}; // bodies, ms
    for (int k = 0; k < MOST_SIZES && g->sizes[quick][k] > 0; ++k) {
      char settings[64];
      snprintf(settings, sizeof settings, g->setting, g->sizes[quick][k]);
      trial t = {.scene = g->scene,
                 .settings = settings,
                 .solver = solver_at(i),
                 .substeps = SEABRA_SUBSTEPS,
                 .seconds = study_pick(s, 0.5, 0.25),
                 .lead = g->lead[quick]};
      finding f = trial_run(s, &t);
      double bodies = f.run ? (double)f.run->body_count : (double)NAN;
      int steps = t.solver->iterates ? 1 : SEABRA_SUBSTEPS;
      sheet_add(all, t.solver->name, (double[]){bodies, f.ms, f.ms / (double)steps});
      last[0] = bodies;
      last[1] = f.ms;
      memcpy(first, k == 0 ? last : first, sizeof first);
      finding_free(&f);
    }
    double exponent = log(last[1] / first[1]) / log(last[0] / first[0]);
    sheet_add(ends, solver_at(i)->name, (double[]){exponent, last[1]});
  }
}

static void measure_scaling(study *s)
{
  measure_growth(s, &growths[s->part]);
}

static void tell_growth(const study *s, page *p, const growth *g)
{
  char name[SHEET_WORD];
  snprintf(name, sizeof name, "%s_end", g->name);
  const sheet *all = study_sheet(s, g->name), *ends = study_sheet(s, name);
  chart c = {.title = g->title,
             .x_label = "bodies",
             .y_label = "ms per frame of 1/60 s",
             .log_x = true,
             .log_y = true};
  for (int i = 0; i < solver_count(); ++i) {
    const char *by = solver_at(i)->name;
    chart_add(&c, (chart_series){.sheet = all,
                                 .label = by,
                                 .x = "bodies",
                                 .y = "ms_frame",
                                 .mark = MARK_LINE_DOTS,
                                 .color = solver_color(i)});
    if (i < OWN_SOLVERS) {
      page_claim(
          p, (claim){
                 .source = SEABRA "Fig. 11",
                 .statement = page_words(p, "Time is linear in size: exponent, scene %s", g->scene),
                 .published = "1",
                 .by = by,
                 .sheet = ends,
                 .label = by,
                 .column = "exponent",
                 .unit = "",
                 .bound = 1.3,
                 .why = "in a fuller box each body has more neighbours, and large scenes exceed "
                        "the cache"});
    } else if (isfinite(sheet_value(ends, by, "ms_of_largest"))) {
      page_claim(p, (claim){.source = page_words(p, "Fig. 11 against %s", by),
                            .statement = page_words(p, "Time of the largest scene %s", g->scene),
                            .by = "tenon",
                            .sheet = ends,
                            .label = "tenon",
                            .column = "ms_of_largest",
                            .unit = "ms per frame",
                            .versus = by});
    }
  }
  page_chart(p, &c);
}

static void tell_scaling(const study *s, page *p)
{
  page_section(p, "seabra-fig-11", "Figure 11: scaling of time with size");
  page_say(
      p,
      "Frames of 1/60 s with %d substeps, median of %g s after some frames; the files also have "
      "the published unit, ms per substep. The paper: all engines scale linearly. Exponents are "
      "from the smallest to the largest size. In the pile other engines take one step per frame "
      "only.",
      (int)SEABRA_SUBSTEPS, study_pick(s, 0.5, 0.25));
  for (int i = 0; i < GROWTHS; ++i) {
    tell_growth(s, p, &growths[i]);
  }
}

const experiment seabra_scaling = {.name = "seabra_scaling",
                                   .title = "Seabra Fig. 11, times",
                                   .cost = {80.0, 6.0},
                                   .parts = GROWTHS,
                                   .measure = measure_scaling,
                                   .tell = tell_scaling};

// ---------------------------------------------------------------------------------------------
// Friction: the paper has a column for it but no figure

static void measure_friction(study *s)
{
  sheet *out = study_new_sheet(s, "seabra_friction", "solver,creep_m,stopping_error_rel");
  for (int i = 0; i < solver_count() && !interrupt_came(); ++i) {
    trial slope = {
        .scene = "slope", .solver = solver_at(i), .substeps = SEABRA_SUBSTEPS, .seconds = 10.0};
    trial slide = {
        .scene = "sliding", .solver = solver_at(i), .substeps = SEABRA_SUBSTEPS, .seconds = 3.0};
    finding still = trial_run(s, &slope), moving = trial_run(s, &slide);
    double expected = finding_metric(&moving, "way_expected_m");
    double error = fabs(finding_metric(&moving, "way_m") / expected - 1.0);
    sheet_add(out, solver_at(i)->name, (double[]){finding_metric(&still, "creep_m"), error});
    finding_free(&still);
    finding_free(&moving);
  }
}

static void tell_friction(const study *s, page *p)
{
  const sheet *table = study_sheet(s, "seabra_friction");
  page_section(p, "seabra-friction", "Friction");
  page_picture(p, "slope");
  page_say(p,
           "The paper's table has a column for friction but no experiment. Here: a cube on a slope "
           "of 20 degrees with a coefficient of 0.5, which must rest (scene slope, 10 s: its "
           "creep), and a block sliding to a stop from 5 m/s (scene sliding: its distance against "
           "v² / 2 μ g).");
  page_values(p, table);
  for (int i = 0; i < solver_count(); ++i) {
    const char *name = solver_at(i)->name;
    if (i < OWN_SOLVERS) {
      page_claim(p, (claim){
                        .source = SEABRA "Table 1",
                        .statement = "Stopping distance of a sliding block",
                        .published = "v²/2μg",
                        .by = name,
                        .sheet = table,
                        .label = name,
                        .column = "stopping_error_rel",
                        .unit = "relative",
                        .bound = 0.01,
                    });
    }
  }
}

const experiment seabra_friction = {.name = "seabra_friction",
                                    .title = "Seabra Table 1, friction",
                                    .cost = {2.0, 2.0},
                                    .parts = 1,
                                    .measure = measure_friction,
                                    .tell = tell_friction};

// ---------------------------------------------------------------------------------------------
// Table 1. Each column is a number with two bounds: good up to the first, mild up to the second,
// bad above.

typedef struct criterion {
  const char *column, *title, *definition;
  double bounds[2];
  const char *words[3];     // good, mild, bad
  const char *published[4]; // PBD, Jacobi, Unity, Havok
} criterion;

static const criterion criteria[] = {
    {"velocity_transfer",
     "Velocity transfer",
     "cradle, first impact: the largest difference of a ball's speed from theory, over the first "
     "ball's",
     {0.02, 0.02},
     {"Accurate", "Inaccurate", "Inaccurate"},
     {"Accurate", "Accurate", "Inaccurate", "Inaccurate"}},
    {"constraint_error",
     "Constraint error",
     "chain of 500 with a heavy end: the largest joint gap over the length of a link",
     {1e-3, 0.5},
     {"None", "Noticeable", "Very Noticeable"},
     {"Noticeable", "Noticeable", "Very Noticeable", "None"}},
    {"penetration",
     "Inter-penetration",
     "stack of 10 and pyramid: the largest overlap at any time over the size of a cube",
     {1e-3, 0.05},
     {"None", "Significant", "Very Significant"},
     {"Significant", "Very Significant", "None", "None"}},
    {"drift",
     "Velocity drift",
     "stack of 10: horizontal drift of its top over the size of a cube",
     {1e-3, 0.1},
     {"None", "Significant", "Very Significant"},
     {"None", "None", "Very Significant", "Significant"}},
    {"fallen_share",
     "Stacking",
     "pyramid: the share of displaced cubes",
     {0.0, 0.5},
     {"Stable", "Somewhat", "Falls"},
     {"Rotational Error", "Somewhat", "Drifting", "Stable"}},
    {"rotational_energy",
     "Rotational kinetic energy",
     "plate: the largest change of the energy, relative",
     {0.01, 0.01},
     {"Stable", "Unstable", "Unstable"},
     {"Stable", "Stable", "Increase", "Loss"}},
    {"friction_creep",
     "Stable friction",
     "slope of 20 degrees, coefficient 0.5: creep in 10 s over the size of the cube",
     {1e-3, 1e-3},
     {"Yes", "No", "No"},
     {"No", "No", "No", "Yes"}},
};
enum { CRITERIA = (int)(sizeof criteria / sizeof criteria[0]) };

static double end_value(const study *s, const char *sheet_name, const char *by, const char *column)
{
  const sheet *from = study_sheet(s, sheet_name);
  return from ? sheet_value(from, by, column) : (double)NAN;
}

static double cubes_of_pyramid(const study *s)
{
  return study_pick(s, 666.0, 78.0);
}

// From the sheets of the figures; a link has 0.2 m, a cube 1 m.
static void measure_table(study *s)
{
  sheet *out = study_new_sheet(s, "seabra_table1",
                               "solver,velocity_transfer,constraint_error,penetration,drift,"
                               "fallen_share,rotational_energy,friction_creep");
  for (int i = 0; i < solver_count(); ++i) {
    const char *name = solver_at(i)->name;
    double stack = end_value(s, "seabra_fig5_end", name, "max_penetration_m");
    double pyramid = end_value(s, "seabra_fig6_end", name, "max_penetration_m");
    double fallen = end_value(s, "seabra_fig6_end", name, "fallen");
    double values[CRITERIA] = {end_value(s, "seabra_fig1_end", name, "transfer_error"),
                               end_value(s, "seabra_fig4_500_end", name, "max_joint_error_m") / 0.2,
                               stack > pyramid ? stack : pyramid,
                               end_value(s, "seabra_fig5_end", name, "top_drift_m"),
                               fallen / cubes_of_pyramid(s),
                               end_value(s, "seabra_fig8_end", name, "energy_error"),
                               end_value(s, "seabra_friction", name, "creep_m")};
    sheet_add(out, name, values);
  }
}

static int grade_of(const criterion *k, double value)
{
  return value <= k->bounds[0] ? 0 : value <= k->bounds[1] ? 1 : 2; // NaN: the worst
}

// Other engines have no number if they do not support the scene, Tenon's methods if they failed.
static void add_cell(text *out, const sheet *table, const criterion *k, const solver *by)
{
  double value = sheet_value(table, by->name, k->column);
  if (by->peer && !isfinite(value)) {
    text_add(out, "<td>not measured</td>");
    return;
  }
  int grade = grade_of(k, value);
  text_add(out, "<td class=\"%s\">%s<br>", grade == 0 ? "met" : "unmet", k->words[grade]);
  add_value(out, table, by->name, k->column);
  text_add(out, "</td>");
}

static void add_row(text *out, const sheet *table, const criterion *k)
{
  text_add(out, "<tr><td>%s</td>", k->title);
  for (int i = 0; i < 4; ++i) {
    text_add(out, "<td>%s</td>", k->published[i]);
  }
  for (int i = 0; i < solver_count(); ++i) {
    add_cell(out, table, k, solver_at(i));
  }
  text_add(out, "</tr>\n");
}

static void add_matrix(page *p, const sheet *table)
{
  text *out = &p->body;
  text_add(out, "<div class=\"wide\"><table class=\"matrix\"><thead><tr><th></th><th colspan=\"4\">"
                "published</th>");
  text_add(out, "<th colspan=\"%d\">measured here</th></tr><tr><th></th>", solver_count());
  text_add(out, "<th>PBD</th><th>Jacobi</th><th>Unity</th><th>Havok</th>");
  for (int i = 0; i < solver_count(); ++i) {
    text_add(out, "<th>%s</th>", solver_at(i)->name);
  }
  text_add(out, "</tr></thead><tbody>\n");
  for (int i = 0; i < CRITERIA; ++i) {
    add_row(out, table, &criteria[i]);
  }
  text_add(out, "</tbody></table></div>\n");
}

// The default method must be good in every column; the two others must match the paper's result.
static void claim_columns(page *p, const sheet *table)
{
  for (int i = 0; i < CRITERIA; ++i) {
    const criterion *k = &criteria[i];
    page_claim(p, (claim){
                      .source = SEABRA "Table 1",
                      .statement = page_words(p, "%s: %s", k->title, k->words[0]),
                      .published = "best result: the same",
                      .by = "tenon",
                      .sheet = table,
                      .label = "tenon",
                      .column = k->column,
                      .unit = "",
                      .bound = k->bounds[0],
                      .why = "see the section of the figure",
                  });
    for (int m = 0; m < 2; ++m) {
      const char *name = solver_at(m + 1)->name;
      bool is_good = strcmp(k->published[m], k->words[0]) == 0;
      page_claim(p, (claim){
                        .source = SEABRA "Table 1",
                        .statement = page_words(p, "%s of %s", k->title, m ? "Jacobi" : "PBD"),
                        .published = k->published[m],
                        .by = name,
                        .sheet = table,
                        .label = name,
                        .column = k->column,
                        .unit = "",
                        .relation = is_good ? AT_MOST : AT_LEAST,
                        .bound = is_good              ? k->bounds[0]
                                 : k->bounds[0] > 0.0 ? k->bounds[0]
                                                      : 1e-3,
                        .why = is_good ? "worse than published"
                                       : "better than published, by the bound used here",
                    });
    }
  }
}

static void tell_table(const study *s, page *p)
{
  page_document(p, "seabra", "Seabra et al. 2022: A comparison of physics simulators for games");
  const sheet *table = study_sheet(s, "seabra_table1");
  page_section(p, "seabra-table-1", "Table 1: seven columns as numbers");
  page_say(p, "The paper uses words. Here each column is a number, which determines the word:");
  text_add(&p->body, "<ul>");
  for (int i = 0; i < CRITERIA; ++i) {
    const criterion *k = &criteria[i];
    text_add(&p->body, "<li><b>%s</b>: %s. ", k->title, k->definition);
    text_add(&p->body, "“%s” up to %g", k->words[0], k->bounds[0]);
    if (k->bounds[1] > k->bounds[0]) {
      text_add(&p->body, ", “%s” up to %g", k->words[1], k->bounds[1]);
    }
    text_add(&p->body, ", else “%s”.</li>\n", k->words[2]);
  }
  text_add(&p->body, "</ul>\n");
  add_matrix(p, table);
  page_link(p, table);
  claim_columns(p, table);
}

const experiment seabra_table = {.name = "seabra_table",
                                 .title = "Seabra Table 1",
                                 .cost = {0.1, 0.1},
                                 .parts = 1,
                                 .measure = measure_table,
                                 .tell = tell_table,
                                 .is_derived = true};

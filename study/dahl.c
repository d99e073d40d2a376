// Dahl and Bargteil: Global Momentum Preservation for Position-based Dynamics, 2019.
#include "page.h"
#include "picture.h"
#include "trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PAPER "Dahl and Bargteil 2019, "

// ---------------------------------------------------------------------------------------------
// Figures 2 and 3: two masses on a rod

static const double SPEED = 10.0; // rad/s

typedef struct rotor {
  const char *name, *method, *settings;
  int color;
} rotor;

// The figure's three curves, and the same with preserved momentum.
static const rotor rotors[] = {
    {"rigid", "xpbd", "keep_momentum=0", 4},
    {"soft", "xpbd", "keep_momentum=0 compliance=0.001", 3},
    {"soft and damped", "xpbd", "keep_momentum=0 compliance=0.001 linear_damping=0.1", 0},
    {"rigid preserved", "xpbd", "keep_momentum=1", 1},
    {"soft and damped preserved", "xpbd", "keep_momentum=1 compliance=0.001 damping=0.1", 2},
    {"tenon rigid", "tenon", "keep_momentum=0", 5},
};
enum { ROTORS = (int)(sizeof rotors / sizeof rotors[0]) };

// One step of 1 s, which the paper calculates by hand.
static void measure_one_step(study *s)
{
  sheet *out = study_new_sheet(
      s, "dahl_fig2", "method,energy_J,angular_momentum,energy_error_rel,momentum_error_rel");
  double energy = 2.0 - sqrt(2.0), momentum = sqrt(2.0); // published
  sheet_add(out, "published", (double[]){energy, momentum, 0.0, 0.0});
  for (int i = 0; i < 3; ++i) {
    trial t = {.scene = "rotor",
               .settings = i == 1 ? "speed=1" : "speed=1 keep_momentum=0",
               .solver = solver_at(i < 2),
               .substeps = 1,
               .seconds = 1.0,
               .dt = 1.0};
    finding f = trial_run(s, &t);
    double kinetic = f.ok ? tn_world_energy(f.run->world).kinetic : (double)NAN;
    static const char *const names[] = {"xpbd", "xpbd preserved", "tenon"};
    double turning = finding_metric(&f, "angular_momentum");
    sheet_add(
        out, names[i],
        (double[]){kinetic, turning, fabs(kinetic / energy - 1.0), fabs(turning / momentum - 1.0)});
    finding_free(&f);
  }
}

// In a position-based step a mass moves straight and is projected back to its circle: a rotation by
// f is followed by one of atan(sin f / (2 - cos f)), and its speed is sin f / h.
static void add_law(sheet *out, double seconds)
{
  double h = 1.0 / 60.0, turn = atan(SPEED * h);
  sheet_add(out, "law", (double[]){0.0, 1.0, 1.0});
  for (int i = 1; i <= (int)(seconds * 60.0 + 0.5); ++i) {
    // Momentum uses the tangential velocity, energy the velocity along the chord.
    double along = sin(turn) / (SPEED * h);
    double chord = 2.0 * sin(0.5 * turn) / (SPEED * h);
    if (i % 3 == 0) {
      sheet_add(out, "law", (double[]){(double)i * h, along, chord * chord});
    }
    turn = atan(sin(turn) / (2.0 - cos(turn)));
  }
}

static double falloff_seconds(const study *s)
{
  return study_pick(s, 10.0, 5.0);
}

static void measure_falloff(study *s)
{
  measure_one_step(s);
  sheet *curves = study_new_sheet(s, "dahl_fig3", "run,time_s,momentum_rel,kinetic_rel");
  sheet *ends = study_new_sheet(s, "dahl_fig3_end", "run,momentum_rel,momentum_error,kinetic_rel");
  add_law(curves, falloff_seconds(s));
  for (int i = 0; i < ROTORS; ++i) {
    trial t = {.scene = "rotor",
               .settings = rotors[i].settings,
               .solver = solver_named(rotors[i].method),
               .substeps = 1,
               .seconds = falloff_seconds(s),
               .readings = 200,
               .tracked = "angular_momentum"};
    finding f = trial_run(s, &t);
    for (int k = 0; k < f.reading_count; ++k) {
      const reading *r = &f.curve[k];
      sheet_add(
          curves, rotors[i].name,
          (double[]){r->time, r->tracked / f.curve[0].tracked, r->kinetic / f.curve[0].kinetic});
    }
    const reading *last = &f.curve[f.reading_count - 1];
    double momentum = f.ok ? last->tracked / f.curve[0].tracked : (double)NAN;
    sheet_add(ends, rotors[i].name,
              (double[]){momentum, fabs(momentum - 1.0), last->kinetic / f.curve[0].kinetic});
    finding_free(&f);
  }
  const sheet_row *law = &curves->rows[0];
  for (int i = 0; i < curves->row_count; ++i) {
    law = strcmp(curves->rows[i].label, "law") == 0 ? &curves->rows[i] : law;
  }
  sheet_add(ends, "law", (double[]){law->values[1], fabs(law->values[1] - 1.0), law->values[2]});
}

static void tell_one_step(const study *s, page *p)
{
  const sheet *step = study_sheet(s, "dahl_fig2");
  page_section(p, "dahl-fig-2", "Figure 2: one step of one second");
  page_say(p, "Two masses of 1 kg, 2 m apart, at 1 m/s, one step of 1 s (scene rotor). The paper's "
              "calculation: 2 − √2 = 0.586 J of 1 J remain, and √2 = 1.414 of 2 kg m²/s.");
  page_values(p, step);
  page_claim(p, (claim){
                    .source = PAPER "Fig. 2",
                    .statement = "A position-based step loses 41 % of the energy, to within",
                    .published = "0.586 J of 1 J remain",
                    .by = "xpbd",
                    .sheet = step,
                    .label = "xpbd",
                    .column = "energy_error_rel",
                    .unit = "relative",
                    .bound = 1e-3,
                });
  page_claim(p,
             (claim){
                 .source = PAPER "Fig. 2",
                 .statement = "A position-based step loses 29 % of the angular momentum, to within",
                 .published = "1.414 of 2 kg m²/s remain",
                 .by = "xpbd",
                 .sheet = step,
                 .label = "xpbd",
                 .column = "momentum_error_rel",
                 .unit = "relative",
                 .bound = 1e-3,
             });
  for (int i = 0; i < 2; ++i) {
    const char *by = i ? "tenon" : "xpbd preserved";
    page_claim(p, (claim){
                      .source = PAPER "Fig. 2",
                      .statement = "With preservation the same step conserves angular momentum",
                      .published = "2 kg m²/s",
                      .by = by,
                      .sheet = step,
                      .label = by,
                      .column = "angular_momentum",
                      .unit = "kg m²/s",
                      .relation = AT_LEAST,
                      .bound = 1.9999,
                  });
  }
}

static void claim_falloff(page *p, const sheet *ends)
{
  page_claim(p, (claim){
                    .source = PAPER "Fig. 3",
                    .statement = "Without preservation angular momentum decays",
                    .published = "",
                    .by = "xpbd rigid",
                    .sheet = ends,
                    .label = "rigid",
                    .column = "momentum_rel",
                    .unit = "of the initial value",
                    .bound = 0.9,
                });
  page_claim(p, (claim){
                    .source = PAPER "Fig. 3",
                    .statement = "A soft constraint loses less",
                    .published = "",
                    .by = "xpbd soft",
                    .sheet = ends,
                    .label = "soft",
                    .column = "momentum_rel",
                    .unit = "of the initial value",
                    .relation = AT_LEAST,
                    .versus = "rigid",
                });
  page_claim(p, (claim){
                    .source = PAPER "Fig. 3",
                    .statement = "Mass-proportional damping adds to the loss",
                    .published = "",
                    .by = "xpbd soft and damped",
                    .sheet = ends,
                    .label = "soft and damped",
                    .column = "momentum_rel",
                    .unit = "of the initial value",
                    .versus = "soft",
                });
  static const char *const kept[] = {"rigid preserved", "soft and damped preserved", "tenon rigid"};
  for (int i = 0; i < 3; ++i) {
    page_claim(p, (claim){
                      .source = PAPER "sec. 4",
                      .statement = "With preservation angular momentum is conserved",
                      .published = "no loss",
                      .by = kept[i],
                      .sheet = ends,
                      .label = kept[i],
                      .column = "momentum_error",
                      .unit = "relative",
                      .bound = 1e-4,
                  });
  }
}

static void tell_falloff(const study *s, page *p)
{
  page_document(p, "dahl",
                "Dahl and Bargteil 2019: Global momentum preservation for "
                "position-based dynamics");
  tell_one_step(s, p);
  const sheet *curves = study_sheet(s, "dahl_fig3");
  page_section(p, "dahl-fig-3", "Figure 3: decay of energy and angular momentum");
  page_picture(p, "soft_cube_spin");
  page_say(p,
           "Two masses on one constraint, rotating at 10 rad/s, one step per frame as in plain "
           "position based dynamics (scene rotor, 1 substep, %g s; soft: 0.001 m/N; damped: "
           "0.1/s of all motion, with preservation of all but rigid motion). “Law” is the exact "
           "recursion of the rigid case. The paper does not state its step and stiffness, so only "
           "the order of the curves is compared.",
           falloff_seconds(s));
  static const char *const titles[] = {"Kinetic energy", "Angular momentum"};
  static const char *const columns[] = {"kinetic_rel", "momentum_rel"};
  for (int k = 0; k < 2; ++k) {
    chart c = {.title = titles[k],
               .x_label = "time, s",
               .y_label = "relative to the initial value",
               .has_range = true,
               .y_low = 0.0,
               .y_high = 1.2};
    for (int i = 0; i < ROTORS; ++i) {
      chart_add(&c, (chart_series){.sheet = curves,
                                   .label = rotors[i].name,
                                   .x = "time_s",
                                   .y = columns[k],
                                   .mark = MARK_LINE,
                                   .color = rotors[i].color});
    }
    chart_add(&c, (chart_series){.sheet = curves,
                                 .label = "law",
                                 .x = "time_s",
                                 .y = columns[k],
                                 .name = "law of the rigid case",
                                 .mark = MARK_LAW});
    page_chart(p, &c);
  }
  claim_falloff(p, study_sheet(s, "dahl_fig3_end"));
}

const experiment dahl_falloff = {.name = "dahl_falloff",
                                 .title = "Dahl Fig. 2, 3, momentum",
                                 .cost = {1.0, 1.0},
                                 .parts = 1,
                                 .measure = measure_falloff,
                                 .tell = tell_falloff};

// ---------------------------------------------------------------------------------------------
// Table 1: cost of the correction

typedef struct case_of_table {
  const char *name, *scene;
  double vertices, ms, correction, percent; // published; ms
} case_of_table;

static const case_of_table cases[] = {{"4 cubes", "four_cubes", 400.0, 3.117, 0.014, 0.45},
                                      {"bowling", "bowling", 475.0, 5.603, 0.019, 0.33},
                                      {"car ramp", "car_ramp", 3272.0, 42.997, 0.194, 0.45},
                                      {"car spin", "car_spin", 4734.0, 61.043, 0.229, 0.38},
                                      {"Enterprise", "ship", 4334.0, 45.569, 0.264, 0.58}};
enum { CASES = 5, FRAMES = 20 };

// Large scenes vary less and take longer.
static int overhead_runs(const study *s, const case_of_table *k)
{
  return (int)(k->vertices > 1000.0 ? study_pick(s, 6.0, 1.0) : study_pick(s, 25.0, 3.0));
}

// A frame does the same work in every run, so its shortest time is the best estimate.
static void note_shortest(const finding *f, double *shortest)
{
  for (int i = 0; i < FRAMES; ++i) {
    shortest[i] = fmin(shortest[i], f->ok ? f->times[i] : (double)NAN);
  }
}

static double mean_of(const double *times)
{
  double sum = 0.0;
  for (int i = 0; i < FRAMES; ++i) {
    sum += times[i] / (double)FRAMES;
  }
  return sum;
}

static void measure_overhead(study *s)
{
  sheet *out = study_new_sheet(s, "dahl_table1",
                               "example,published_vertices,vertices,published_ms,ms_with,"
                               "ms_without,published_correction_ms,correction_ms,"
                               "published_percent,percent");
  for (int i = 0; i < CASES; ++i) {
    double shortest[2][FRAMES];
    for (int k = 0; k < FRAMES; ++k) {
      shortest[0][k] = shortest[1][k] = (double)INFINITY;
    }
    double vertices = 0.0;
    for (int run = 0; run < 2 * overhead_runs(s, &cases[i]); ++run) {
      trial t = {.scene = cases[i].scene,
                 .settings = run % 2 ? "keep_momentum=0" : "keep_momentum=1",
                 .solver = solver_named("xpbd"),
                 .substeps = 20,
                 .seconds = (double)FRAMES / 60.0};
      finding f = trial_run(s, &t);
      note_shortest(&f, shortest[run % 2]);
      vertices = finding_metric(&f, "particles");
      finding_free(&f);
    }
    double with = mean_of(shortest[0]), without = mean_of(shortest[1]);
    sheet_add(out, cases[i].name,
              (double[]){cases[i].vertices, vertices, cases[i].ms, with, without,
                         cases[i].correction, with - without, cases[i].percent,
                         100.0 * (with - without) / with});
  }
}

static void tell_overhead(const study *s, page *p)
{
  const sheet *table = study_sheet(s, "dahl_table1");
  page_section(p, "dahl-table-1", "Table 1: cost of the correction");
  page_picture(p, "bowling");
  page_say(p,
           "Frames of 1/60 s with and without the correction, method xpbd, 20 substeps: the first "
           "%d frames, before most collisions, so that both do the same work; for each frame "
           "the shortest time of %d runs, %d for large scenes. The share is a difference of nearly "
           "equal times, uncertain by some tenths of a percent. The scenes are Tenon's models.",
           (int)FRAMES, overhead_runs(s, &cases[0]), overhead_runs(s, &cases[2]));
  chart c = {.title = "Share of the correction in the time of a frame",
             .x_label = "example",
             .y_label = "percent",
             .categories = true};
  chart_add(&c, (chart_series){.sheet = table,
                               .y = "published_percent",
                               .name = "published",
                               .mark = MARK_PUBLISHED});
  chart_add(&c, (chart_series){
                    .sheet = table, .y = "percent", .name = "xpbd", .mark = MARK_DOTS, .color = 1});
  page_chart(p, &c);
  for (int i = 0; i < CASES; ++i) {
    const case_of_table *k = &cases[i];
    page_claim(p, (claim){
                      .source = PAPER "Table 1",
                      .statement = page_words(p, "Time of the correction, “%s”", k->name),
                      .published = page_words(p, "%g ms", k->correction),
                      .by = "xpbd",
                      .sheet = table,
                      .label = k->name,
                      .column = "correction_ms",
                      .unit = "ms",
                      .bound = k->correction,
                  });
    page_claim(p, (claim){
                      .source = PAPER "Table 1",
                      .statement = page_words(p, "Share of the correction, “%s”", k->name),
                      .published = page_words(p, "%g %%", k->percent),
                      .by = "xpbd",
                      .sheet = table,
                      .label = k->name,
                      .column = "percent",
                      .unit = "% of a frame",
                      .bound = k->percent,
                      .why = "the rest of the frame takes a fraction of the published time",
                  });
    page_claim(p, (claim){
                      .source = PAPER "Table 1",
                      .statement = page_words(p, "Time of “%s”", k->name),
                      .published = page_words(p, "%g ms", k->ms),
                      .by = "xpbd",
                      .sheet = table,
                      .label = k->name,
                      .column = "ms_with",
                      .unit = "ms",
                      .bound = k->ms,
                  });
  }
}

const experiment dahl_overhead = {.name = "dahl_overhead",
                                  .title = "Dahl Table 1, overhead",
                                  .cost = {30.0, 2.0},
                                  .parts = 1,
                                  .measure = measure_overhead,
                                  .tell = tell_overhead};

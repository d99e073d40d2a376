// Deul, Charrier, Bender: Position-Based Rigid Body Dynamics, 2014.
#include "page.h"
#include "picture.h"
#include "trial.h"

#include <math.h>
#include <stdio.h>

#define PAPER "Deul et al. 2014, "

// Published: steps of 0.01 s with five iterations, without collision detection. Here: five
// substeps, time of the solver alone.
static const double STEP = 0.01;
enum { SUBSTEPS = 5 };

// ---------------------------------------------------------------------------------------------
// Figure 4: the mobile

static const int counts[] = {3, 7, 15, 31, 63, 127, 255, 511, 1023, 2047, 4095};
enum { COUNTS = (int)(sizeof counts / sizeof counts[0]) };

static int count_sizes(const study *s)
{
  return (int)study_pick(s, COUNTS, COUNTS - 1);
}

static finding hang_mobile(study *s, int method, int count)
{
  char settings[32];
  snprintf(settings, sizeof settings, "count=%d", count);
  trial t = {.scene = "mobile",
             .settings = settings,
             .solver = solver_at(method),
             .substeps = SUBSTEPS,
             .seconds = count > 500 ? 0.3 : 1.0,
             .dt = STEP};
  return trial_run(s, &t);
}

static void measure_mobile(study *s)
{
  sheet *out = study_new_sheet(s, "deul_fig4", "method,constraints,solve_ms,max_joint_error_m");
  sheet *ends = study_new_sheet(s, "deul_fig4_end",
                                "method,ms_of_127,ms_of_largest,exponent,max_joint_error_m");
  sheet_add(out, "published", (double[]){127.0, 0.17, (double)NAN});
  sheet_add(out, "published", (double[]){4095.0, 10.0 / 2.5, (double)NAN}); // "2.5 times real time"
  for (int m = 0; m < 2; ++m) {
    double small = (double)NAN, large = (double)NAN, error = 0.0;
    int last = counts[count_sizes(s) - 1];
    for (int i = 0; i < count_sizes(s); ++i) {
      finding f = hang_mobile(s, m, counts[i]);
      double ms = f.ok ? f.solve_ms : (double)NAN;
      double gap = finding_metric(&f, "max_joint_error_m");
      sheet_add(out, solver_at(m)->name, (double[]){(double)counts[i], ms, gap});
      small = counts[i] == 127 ? ms : small;
      large = counts[i] == last ? ms : large;
      error = f.ok ? fmax(error, gap) : (double)NAN;
      finding_free(&f);
    }
    double exponent = log(large / small) / log((double)last / 127.0);
    sheet_add(ends, solver_at(m)->name, (double[]){small, large, exponent, error});
  }
}

static void claim_mobile(page *p, const sheet *ends, int last)
{
  for (int m = 0; m < 2; ++m) {
    const char *name = solver_at(m)->name;
    page_claim(p, (claim){
                      .source = PAPER "Fig. 4",
                      .statement = "Time is linear in the number of constraints: exponent",
                      .published = "1",
                      .by = name,
                      .sheet = ends,
                      .label = name,
                      .column = "exponent",
                      .unit = "",
                      .bound = 1.15,
                  });
    page_claim(p, (claim){
                      .source = PAPER "sec. 8",
                      .statement = "127 constraints of the mobile",
                      .published = "0.17 ms",
                      .by = name,
                      .sheet = ends,
                      .label = name,
                      .column = "ms_of_127",
                      .unit = "ms",
                      .bound = 0.17,
                      .why = "slower than published: five substeps with a direct solve",
                  });
    page_claim(
        p, (claim){
               .source = PAPER "sec. 8",
               .statement = page_words(p, "%d constraints, 2.5 times faster than real time", last),
               .published = page_words(p, "%.3g ms", 4.0 * last / 4095.0),
               .by = name,
               .sheet = ends,
               .label = name,
               .column = "ms_of_largest",
               .unit = "ms",
               .bound = 4.0 * last / 4095.0,
               .why = "slower than published, or did not stay finite",
           });
    page_claim(p, (claim){
                      .source = PAPER "sec. 8",
                      .statement = "The mobile is exceptionally stable: largest joint gap",
                      .published = "",
                      .by = name,
                      .sheet = ends,
                      .label = name,
                      .column = "max_joint_error_m",
                      .unit = "m",
                      .bound = 1e-3,
                      .why = "one pass per substep does not reach the ends of a large tree",
                  });
  }
}

static void tell_mobile(const study *s, page *p)
{
  const sheet *all = study_sheet(s, "deul_fig4");
  int last = counts[count_sizes(s) - 1];
  page_section(p, "deul-fig-4", "Figure 4: time against the number of constraints");
  page_picture(p, "mobile");
  page_say(p,
           "The mobile (scene mobile), steps of 0.01 s with %d substeps instead of five "
           "iterations; time of the solver alone, mean from 0.3 to 1 s. Published: 0.17 ms for 127 "
           "constraints; 2.5 times faster than real time, so 4 ms, for 4,095. Bodies are boxes "
           "here.%s",
           (int)SUBSTEPS, last < 4095 ? " Quick: up to 2,047." : "");
  chart c = {.title = "Time of the solver for a step of 0.01 s",
             .x_label = "constraints",
             .y_label = "ms per step",
             .log_x = true,
             .log_y = true};
  for (int m = 0; m < 2; ++m) {
    chart_add(&c, (chart_series){.sheet = all,
                                 .label = solver_at(m)->name,
                                 .x = "constraints",
                                 .y = "solve_ms",
                                 .mark = MARK_LINE_DOTS,
                                 .color = m});
  }
  chart_add(&c, (chart_series){.sheet = all,
                               .label = "published",
                               .x = "constraints",
                               .y = "solve_ms",
                               .mark = MARK_PUBLISHED});
  page_chart(p, &c);
  chart e = {.title = "Error of the joints",
             .x_label = "constraints",
             .y_label = "largest gap in a joint, m",
             .log_x = true,
             .log_y = true};
  for (int m = 0; m < 2; ++m) {
    chart_add(&e, (chart_series){.sheet = all,
                                 .label = solver_at(m)->name,
                                 .x = "constraints",
                                 .y = "max_joint_error_m",
                                 .mark = MARK_LINE_DOTS,
                                 .color = m});
  }
  page_chart(p, &e);
  claim_mobile(p, study_sheet(s, "deul_fig4_end"), last);
}

// ---------------------------------------------------------------------------------------------
// Figures 2 and 3: the pile, and tori on a cloth

static double pile_seconds(const study *s)
{
  return study_pick(s, 10.0, 1.5);
}

static void measure_pile(study *s)
{
  sheet *out = study_new_sheet(s, "deul_pile",
                               "method,contact_points,solve_ms,ms_of_4000_contacts,rms_speed_end");
  for (int m = 0; m < 2; ++m) {
    trial t = {.scene = "pile",
               .settings = s->options.quick ? "count=200 across=6" : NULL,
               .solver = solver_at(m),
               .substeps = SUBSTEPS,
               .seconds = pile_seconds(s),
               .dt = STEP};
    finding f = trial_run(s, &t);
    double scaled = f.ok ? 4000.0 * f.solve_ms / f.contacts : (double)NAN;
    sheet_add(out, solver_at(m)->name,
              (double[]){f.contacts, f.solve_ms, scaled, finding_metric(&f, "rms_speed_end")});
    finding_free(&f);
  }
}

static void measure_cloth(study *s)
{
  sheet *out =
      study_new_sheet(s, "deul_cloth", "method,particles,ms_step,held,max_torus_speed_end");
  for (int m = 0; m < 2; ++m) {
    trial t = {.scene = "tori_on_cloth",
               .solver = solver_at(m),
               .substeps = SUBSTEPS,
               .seconds = study_pick(s, 10.0, 1.0),
               .dt = STEP};
    finding f = trial_run(s, &t);
    sheet_add(out, solver_at(m)->name,
              (double[]){finding_metric(&f, "particles"), f.ms, finding_metric(&f, "held"),
                         finding_metric(&f, "max_torus_speed_end")});
    finding_free(&f);
  }
}

static void measure_times(study *s)
{
  static void (*const parts[])(study *) = {measure_mobile, measure_pile, measure_cloth};
  parts[s->part](s);
}

static void tell_times(const study *s, page *p)
{
  page_document(p, "deul", "Deul et al. 2014: Position-based rigid body dynamics");
  tell_mobile(s, p);
  page_section(p, "deul-pile", "Figures 2 and 3: the pile, and tori on a cloth");
  page_picture(p, "tori_on_cloth");
  page_say(p,
           "The pile: %s (scene pile), %g s in steps of 0.01 s with %d substeps; mean "
           "time of the solver, scaled to 4,000 contact points. The cloth: 41 × 41 particles and "
           "ten tori "
           "(scene tori_on_cloth), whole steps of 0.01 s over %g s. Published on a Core i7 at 3.8 "
           "GHz, without collision detection.",
           s->options.quick ? "200 bodies, most of them still falling" : "2,000 bodies",
           pile_seconds(s), (int)SUBSTEPS, study_pick(s, 10.0, 1.0));
  const sheet *pile = study_sheet(s, "deul_pile"), *cloth = study_sheet(s, "deul_cloth");
  for (int m = 0; m < 2; ++m) {
    const char *name = solver_at(m)->name;
    page_claim(p, (claim){
                      .source = PAPER "sec. 8",
                      .statement = "The pile: time to resolve 4,000 contacts",
                      .published = "17 ms",
                      .by = name,
                      .sheet = pile,
                      .label = name,
                      .column = "ms_of_4000_contacts",
                      .unit = "ms",
                      .bound = 17.0,
                  });
    page_claim(p, (claim){
                      .source = PAPER "sec. 8",
                      .statement = "Cloth of 1,681 particles and ten tori: time of a step",
                      .published = "7.13 ms",
                      .by = name,
                      .sheet = cloth,
                      .label = name,
                      .column = "ms_step",
                      .unit = "ms",
                      .bound = 7.13,
                  });
  }
  page_values(p, pile);
  page_values(p, cloth);
}

const experiment deul_times = {.name = "deul_times",
                               .title = "Deul Fig. 2-4, times",
                               .cost = {60.0, 3.0},
                               .parts = 3,
                               .measure = measure_times,
                               .tell = tell_times};

// Mueller, Macklin, Chentanez, Jeschke, Kim: Detailed Rigid Body Simulation with Extended Position
// Based Dynamics, 2020.
#include "page.h"
#include "picture.h"
#include "trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PAPER "Müller et al. 2020, "

// Substeps, and iterations per substep.
typedef struct split {
  int substeps, iterations;
} split;

static void name_split(char *name, const solver *by, split how)
{
  snprintf(name, SHEET_WORD, "%.20s %dx%d", by->name, how.substeps, how.iterations);
}

// ---------------------------------------------------------------------------------------------
// Figures 4 to 6: forces at rest

static const split rest_splits[] = {{20, 1}, {5, 4}, {1, 20}, {1, 1}};
enum { REST_SPLITS = (int)(sizeof rest_splits / sizeof rest_splits[0]) };

// Joint i of the tree also carries the load of joints 2 i + 1 and 2 i + 2.
static double carried_kg(const scene_run *run, int i)
{
  if (i >= run->body_count) {
    return 0.0;
  }
  return (double)tn_body_mass(run->world, run->bodies[i]).mass + carried_kg(run, 2 * i + 1) +
         carried_kg(run, 2 * i + 2);
}

static double gravity_of(const scene_run *run)
{
  return (double)tn_length(tn_world_gravity(run->world));
}

static void add_spring(sheet *out, const char *label, const finding *f, int joint, double load)
{
  tn_joint_state state = tn_joint_get_state(f->run->world, f->run->joints[joint]);
  double compliance = (double)tn_joint_get_def(f->run->world, f->run->joints[joint]).compliance;
  double values[] = {load, (double)tn_length(state.force), compliance, (double)state.elongation,
                     load * compliance};
  sheet_add(out, label, values);
}

static void measure_springs(study *s)
{
  const char *head = "run,load_N,force_N,compliance_m_per_N,elongation_m,elongation_law_m";
  sheet *springs = study_new_sheet(s, "mueller_fig4", head);
  sheet *worst =
      study_new_sheet(s, "mueller_fig4_worst", "run,force_error_rel,elongation_error_rel");
  for (int m = 0; m < OWN_SOLVERS; ++m) {
    double all[2] = {0.0, 0.0};
    for (int k = 0; k < REST_SPLITS; ++k) {
      trial t = {.scene = "springs7",
                 .settings = "damping=4",
                 .solver = solver_at(m),
                 .substeps = rest_splits[k].substeps,
                 .iterations = rest_splits[k].iterations,
                 .seconds = 20.0};
      finding f = trial_run(s, &t);
      char label[SHEET_WORD];
      name_split(label, t.solver, rest_splits[k]);
      for (int i = 0; f.ok && i < f.run->joint_count; ++i) {
        add_spring(springs, label, &f, i, gravity_of(f.run) * carried_kg(f.run, i));
      }
      double one[2] = {finding_metric(&f, "force_error_rel"),
                       finding_metric(&f, "elongation_error_rel")};
      sheet_add(worst, label, one);
      all[0] = f.ok ? fmax(all[0], one[0]) : (double)NAN;
      all[1] = f.ok ? fmax(all[1], one[1]) : (double)NAN;
      finding_free(&f);
    }
    char label[SHEET_WORD];
    snprintf(label, sizeof label, "%.20s worst", solver_at(m)->name);
    sheet_add(worst, label, all);
  }
}

static void measure_torque(study *s)
{
  static const double forces[] = {1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0};
  sheet *out =
      study_new_sheet(s, "mueller_fig5", "method,force_N,torque_Nm,torque_law_Nm,error_rel");
  for (int m = 0; m < OWN_SOLVERS; ++m) {
    for (int i = 0; i < 7; ++i) {
      char settings[64];
      snprintf(settings, sizeof settings, "lever=0.2 force=%g", forces[i]);
      trial t = {.scene = "torque_bar",
                 .settings = settings,
                 .solver = solver_at(m),
                 .substeps = 20,
                 .seconds = 5.0};
      finding f = trial_run(s, &t);
      double values[] = {forces[i], finding_metric(&f, "torque_nm"), 0.2 * forces[i],
                         finding_metric(&f, "torque_error_rel")};
      sheet_add(out, t.solver->name, values);
      finding_free(&f);
    }
  }
}

static void measure_ratio(study *s)
{
  const char *head = "method,load_N,force_N,compliance_m_per_N,elongation_m,elongation_law_m";
  sheet *springs = study_new_sheet(s, "mueller_fig6", head);
  sheet *worst = study_new_sheet(
      s, "mueller_fig6_worst",
      "method,soft_force_error_rel,soft_elongation_error_rel,rigid_force_error_rel,rigid_error_m");
  for (int m = 0; m < OWN_SOLVERS; ++m) {
    trial t = {.scene = "mass_ratio",
               .settings = "damping=4",
               .solver = solver_at(m),
               .substeps = 20,
               .seconds = 20.0};
    finding f = trial_run(s, &t);
    for (int i = 0; f.ok && i < f.run->joint_count; ++i) {
      add_spring(springs, t.solver->name, &f, i, gravity_of(f.run) * (i % 2 ? 1.0 : 1.001));
    }
    double values[] = {
        finding_metric(&f, "force_error_rel"), finding_metric(&f, "elongation_error_rel"),
        finding_metric(&f, "rigid_force_error_rel"),
        fmax(finding_metric(&f, "rigid_top_error_m"), finding_metric(&f, "rigid_bottom_error_m"))};
    sheet_add(worst, t.solver->name, values);
    finding_free(&f);
  }
}

static void measure_forces(study *s)
{
  measure_springs(s);
  measure_torque(s);
  measure_ratio(s);
}

static void tell_springs(const study *s, page *p)
{
  page_section(p, "mueller-fig-4", "Figure 4: boxes on springs");
  page_picture(p, "springs7");
  page_say(p, "Three boxes of 1 kg and four of 1/8 kg on distance joints of 0.01 m/N, gravity 10 "
              "m/s² (scene springs7, damping 4/s, after 20 s). The law: a joint carries the weight "
              "below it and stretches by that times its compliance. “20x1” is 20 substeps with one "
              "iteration.");
  const sheet *springs = study_sheet(s, "mueller_fig4");
  chart c = {.title = "Force in each joint against the weight it carries",
             .x_label = "weight carried, N",
             .y_label = "measured force, N"};
  chart_add(&c, (chart_series){.sheet = springs,
                               .label = "tenon 20x1",
                               .x = "load_N",
                               .y = "load_N",
                               .name = "law: force = weight",
                               .mark = MARK_LAW});
  static const char *const shown[] = {"tenon 20x1", "tenon 1x1", "xpbd 20x1", "xpbd 1x20",
                                      "jacobi 20x1"};
  static const int colors[] = {0, 5, 1, 4, 2};
  for (int i = 0; i < 5; ++i) {
    chart_add(&c, (chart_series){.sheet = springs,
                                 .label = shown[i],
                                 .x = "load_N",
                                 .y = "force_N",
                                 .mark = MARK_DOTS,
                                 .color = colors[i]});
  }
  page_chart(p, &c);
  const sheet *worst = study_sheet(s, "mueller_fig4_worst");
  static const char *const labels[] = {"tenon worst", "xpbd worst", "jacobi worst"};
  static const char *const columns[] = {"force_error_rel", "elongation_error_rel"};
  for (int i = 0; i < 6; ++i) {
    page_claim(p, (claim){
                      .source = PAPER "Fig. 4",
                      .statement = i % 2 ? "Correct elongations for any substeps and iterations"
                                         : "Correct forces for any substeps and iterations",
                      .published = "load × compliance",
                      .by = labels[i / 2],
                      .sheet = worst,
                      .label = labels[i / 2],
                      .column = columns[i % 2],
                      .unit = "relative",
                      .bound = 0.01,
                  });
  }
}

static void tell_torque(const study *s, page *p)
{
  page_section(p, "mueller-fig-5", "Figure 5: the torque of a servo");
  page_picture(p, "torque_bar");
  page_say(p, "A bar on a hinge with a target angle of zero and zero compliance, pulled 20 cm from "
              "the axis (scene torque_bar, 20 substeps). The law: torque = force × 0.2 m.");
  const sheet *bar = study_sheet(s, "mueller_fig5");
  chart c = {.title = "Torque that holds the bar",
             .x_label = "force, N",
             .y_label = "measured torque, N m",
             .log_x = true,
             .log_y = true};
  chart_add(&c, (chart_series){.sheet = bar,
                               .label = "tenon",
                               .x = "force_N",
                               .y = "torque_law_Nm",
                               .name = "law: force × 0.2 m",
                               .mark = MARK_LAW});
  for (int m = 0; m < OWN_SOLVERS; ++m) {
    const char *name = solver_at(m)->name;
    chart_add(&c, (chart_series){.sheet = bar,
                                 .label = name,
                                 .x = "force_N",
                                 .y = "torque_Nm",
                                 .mark = MARK_DOTS,
                                 .color = m});
    page_claim(p, (claim){
                      .source = PAPER "Fig. 5",
                      .statement = "The servo holds with the correct torque (100 N)",
                      .published = "force × 0.2 m",
                      .by = name,
                      .sheet = bar,
                      .label = name,
                      .column = "error_rel",
                      .unit = "relative",
                      .bound = 0.001,
                  });
  }
  page_chart(p, &c);
}

static void tell_ratio(const study *s, page *p)
{
  page_section(p, "mueller-fig-6", "Figure 6: 1 g carries 1 kg");
  page_picture(p, "mass_ratio");
  page_say(p,
           "A box of 1 g on the ceiling carries one of 1 kg, with joints of 0.01, 0.001 and 0 m/N "
           "(scene mass_ratio, damping 4/s, 20 substeps, after 20 s). The paper: elongations "
           "proportional to the forces; with zero compliance a small error remains at the top "
           "joint at 20 substeps.");
  const sheet *springs = study_sheet(s, "mueller_fig6");
  chart c = {.title = "Elongation of the soft joints against force × compliance",
             .x_label = "force × compliance, m",
             .y_label = "measured elongation, m"};
  chart_add(&c, (chart_series){.sheet = springs,
                               .label = "tenon",
                               .x = "elongation_law_m",
                               .y = "elongation_law_m",
                               .name = "law",
                               .mark = MARK_LAW});
  const sheet *worst = study_sheet(s, "mueller_fig6_worst");
  for (int m = 0; m < OWN_SOLVERS; ++m) {
    const char *name = solver_at(m)->name;
    chart_add(&c, (chart_series){.sheet = springs,
                                 .label = name,
                                 .x = "elongation_law_m",
                                 .y = "elongation_m",
                                 .mark = MARK_DOTS,
                                 .color = m});
    page_claim(p, (claim){
                      .source = PAPER "Fig. 6",
                      .statement = "Elongations proportional to the forces at 1 : 1000",
                      .published = "load × compliance",
                      .by = name,
                      .sheet = worst,
                      .label = name,
                      .column = "soft_elongation_error_rel",
                      .unit = "relative",
                      .bound = 0.01,
                  });
    page_claim(p, (claim){
                      .source = PAPER "Fig. 6",
                      .statement = "Zero compliance: the distance stays zero, up to a small "
                                   "error",
                      .published = "0 m",
                      .by = name,
                      .sheet = worst,
                      .label = name,
                      .column = "rigid_error_m",
                      .unit = "m",
                      .bound = 1e-3,
                  });
  }
  page_chart(p, &c);
}

static void tell_forces(const study *s, page *p)
{
  page_document(p, "mueller",
                "Müller et al. 2020: Detailed rigid body simulation with extended "
                "position based dynamics");
  tell_springs(s, p);
  tell_torque(s, p);
  tell_ratio(s, p);
}

const experiment mueller_forces = {.name = "mueller_forces",
                                   .title = "Müller Fig. 4-6, forces",
                                   .cost = {2.0, 2.0},
                                   .parts = 1,
                                   .measure = measure_forces,
                                   .tell = tell_forces};

// ---------------------------------------------------------------------------------------------
// Figure 9: energy of the triple pendulum

static const split energy_splits[] = {{40, 1}, {20, 2}, {10, 4}, {4, 10}, {1, 40}, {1, 100}};
enum { ENERGY_SPLITS = (int)(sizeof energy_splits / sizeof energy_splits[0]) };

static double energy_seconds(const study *s)
{
  return study_pick(s, 10.0, 5.0);
}

static void measure_energy(study *s)
{
  sheet *curves = study_new_sheet(s, "mueller_fig9", "run,time_s,energy_rel");
  sheet *ends = study_new_sheet(s, "mueller_fig9_end",
                                "run,substeps,iterations,energy_error,energy_rel_final,ms_frame");
  for (int m = 0; m < OWN_SOLVERS; ++m) {
    for (int k = 0; k < ENERGY_SPLITS; ++k) {
      split how = energy_splits[k];
      trial t = {.scene = "pendulum_triple",
                 .solver = solver_at(m),
                 .substeps = how.substeps,
                 .iterations = how.iterations,
                 .seconds = energy_seconds(s),
                 .readings = 200};
      finding f = trial_run(s, &t);
      char label[SHEET_WORD];
      name_split(label, t.solver, how);
      for (int i = 0; i < f.reading_count; ++i) {
        sheet_add(curves, label, (double[]){f.curve[i].time, f.curve[i].energy_rel});
      }
      double values[] = {(double)how.substeps, (double)how.iterations,
                         fabs(finding_metric(&f, "energy_rel_max")),
                         finding_metric(&f, "energy_rel_final"), f.ms};
      sheet_add(ends, label, values);
      finding_free(&f);
    }
  }
}

static const char *split_words(page *p, const solver *by, split how)
{
  char name[SHEET_WORD];
  name_split(name, by, how);
  return page_words(p, "%s", name);
}

static void claim_energy(page *p, const sheet *ends, const solver *by)
{
  const char *mine[ENERGY_SPLITS];
  for (int k = 0; k < ENERGY_SPLITS; ++k) {
    mine[k] = split_words(p, by, energy_splits[k]);
  }
  for (int k = 0; k + 2 < ENERGY_SPLITS; ++k) {
    page_claim(p, (claim){
                      .source = PAPER "Fig. 9",
                      .statement = "Substeps conserve energy better than iterations",
                      .published = "",
                      .by = mine[k],
                      .sheet = ends,
                      .label = mine[k],
                      .column = "energy_error",
                      .unit = "of the energy",
                      .versus = mine[k + 1],
                  });
  }
}

static void tell_energy(const study *s, page *p)
{
  const sheet *curves = study_sheet(s, "mueller_fig9"), *ends = study_sheet(s, "mueller_fig9_end");
  page_section(p, "mueller-fig-9", "Figure 9: energy of the triple pendulum");
  page_picture(p, "pendulum_triple");
  page_say(p,
           "Three rods of 1 m and 1 kg, released horizontally (scene pendulum_triple), for %g s. "
           "Combinations of substeps and iterations of equal cost; and one substep with 100 "
           "iterations, which comes to rest in the paper. Energy is relative to the difference in "
           "potential energy between the initial state and the vertical pendulum.",
           energy_seconds(s));
  for (int m = 0; m < OWN_SOLVERS; ++m) {
    const solver *by = solver_at(m);
    static const char *const titles[] = {
        "Energy, method tenon", "Energy, method xpbd (the paper's)", "Energy, method jacobi"};
    chart c = {.title = titles[m],
               .x_label = "time, s",
               .y_label = "change of energy, relative",
               .has_range = true,
               .y_low = -1.2,
               .y_high = 0.6};
    for (int k = 0; k < ENERGY_SPLITS; ++k) {
      const char *label = split_words(p, by, energy_splits[k]);
      chart_add(&c, (chart_series){.sheet = curves,
                                   .label = label,
                                   .x = "time_s",
                                   .y = "energy_rel",
                                   .mark = MARK_LINE,
                                   .color = k});
    }
    page_chart(p, &c);
  }
  claim_energy(p, ends, solver_at(1));
  claim_energy(p, ends, solver_at(0));
  page_claim(p, (claim){
                    .source = PAPER "Fig. 8, 9",
                    .statement = "40 substeps, one iteration: keeps swinging for a long time",
                    .published = "",
                    .by = "xpbd 40x1",
                    .sheet = ends,
                    .label = "xpbd 40x1",
                    .column = "energy_error",
                    .unit = "of the energy",
                    .bound = 0.2,
                });
  page_claim(p, (claim){
                    .source = PAPER "Fig. 8, 9",
                    .statement = "40 substeps, one iteration: keeps swinging for a long time",
                    .published = "",
                    .by = "tenon 40x1",
                    .sheet = ends,
                    .label = "tenon 40x1",
                    .column = "energy_error",
                    .unit = "of the energy",
                    .bound = 0.005,
                });
  page_claim(p, (claim){
                    .source = PAPER "Fig. 8, 9",
                    .statement = "1 substep, 100 iterations: comes to rest very quickly",
                    .published = "",
                    .by = "xpbd 1x100",
                    .sheet = ends,
                    .label = "xpbd 1x100",
                    .column = "energy_rel_final",
                    .unit = "of the energy",
                    .bound = -0.5,
                });
}

const experiment mueller_energy = {.name = "mueller_energy",
                                   .title = "Müller Fig. 9, energy",
                                   .cost = {3.0, 2.0},
                                   .parts = 1,
                                   .measure = measure_energy,
                                   .tell = tell_energy};

// ---------------------------------------------------------------------------------------------
// Figure 11: elongation of the chain of bunnies

static const split chain_splits[] = {{20, 1}, {10, 2}, {5, 4}, {2, 10}, {1, 20}};
enum { CHAIN_SPLITS = (int)(sizeof chain_splits / sizeof chain_splits[0]) };

static double chain_seconds(const study *s)
{
  return study_pick(s, 3.0, 1.0);
}

static void measure_elongation(study *s)
{
  sheet *out =
      study_new_sheet(s, "mueller_fig11", "method,substeps,iterations,elongation_rel,ms_frame");
  sheet *by_run = study_new_sheet(s, "mueller_fig11_runs", "run,elongation_rel");
  for (int m = 0; m < OWN_SOLVERS; ++m) {
    for (int k = 0; k < CHAIN_SPLITS; ++k) {
      split how = chain_splits[k];
      trial t = {.scene = "bunny_chain",
                 .settings = "angle=0",
                 .solver = solver_at(m),
                 .substeps = how.substeps,
                 .iterations = how.iterations,
                 .seconds = chain_seconds(s),
                 .tracked = "elongation_rel"};
      finding f = trial_run(s, &t);
      double mean = f.ok ? f.tracked : (double)NAN;
      double values[] = {(double)how.substeps, (double)how.iterations, mean, f.ms};
      sheet_add(out, t.solver->name, values);
      char label[SHEET_WORD];
      name_split(label, t.solver, how);
      sheet_add(by_run, label, &mean);
      finding_free(&f);
    }
  }
}

static void claim_elongation(page *p, const sheet *runs, const char *more, const char *fewer)
{
  page_claim(p, (claim){
                    .source = PAPER "Fig. 11",
                    .statement = "Replacing iterations by substeps is by far the best choice",
                    .published = "",
                    .by = more,
                    .sheet = runs,
                    .label = more,
                    .column = "elongation_rel",
                    .unit = "of the length",
                    .versus = fewer,
                });
}

static void tell_elongation(const study *s, page *p)
{
  const sheet *all = study_sheet(s, "mueller_fig11"), *runs = study_sheet(s, "mueller_fig11_runs");
  page_section(p, "mueller-fig-11", "Figure 11: elongation of a chain of 100 bunnies");
  page_picture(p, "bunny_chain");
  page_say(p,
           "The chain hangs straight (scene bunny_chain, angle 0); the sum of all gaps over its "
           "length, mean over %g s. Substeps × iterations is always 20.",
           chain_seconds(s));
  chart c = {.title = "Elongation of the chain",
             .x_label = "substeps (iterations = 20 / substeps)",
             .y_label = "elongation, of the length",
             .log_x = true,
             .log_y = true};
  for (int m = 0; m < OWN_SOLVERS; ++m) {
    chart_add(&c, (chart_series){.sheet = all,
                                 .label = solver_at(m)->name,
                                 .x = "substeps",
                                 .y = "elongation_rel",
                                 .mark = MARK_LINE_DOTS,
                                 .color = m});
  }
  page_chart(p, &c);
  claim_elongation(p, runs, "xpbd 20x1", "xpbd 10x2");
  claim_elongation(p, runs, "xpbd 10x2", "xpbd 5x4");
  claim_elongation(p, runs, "xpbd 5x4", "xpbd 2x10");
  claim_elongation(p, runs, "xpbd 2x10", "xpbd 1x20");
  claim_elongation(p, runs, "tenon 20x1", "tenon 1x20");
  claim_elongation(p, runs, "tenon 20x1", "xpbd 20x1");
}

const experiment mueller_elongation = {.name = "mueller_elongation",
                                       .title = "Müller Fig. 11, elongation",
                                       .cost = {6.0, 2.0},
                                       .parts = 1,
                                       .measure = measure_elongation,
                                       .tell = tell_elongation};

// ---------------------------------------------------------------------------------------------
// Table 1: times

typedef struct example {
  const char *name, *scene;
  int substeps;
  double published; // ms per frame
} example;

static const example examples[] = {{"3 boxes", "springs3", 20, 0.34},
                                   {"7 boxes", "springs7", 20, 0.44},
                                   {"2 rods", "pendulum_double", 40, 0.07},
                                   {"3 rods", "pendulum_triple", 40, 0.09},
                                   {"loop", "pendulum_loop", 40, 0.2},
                                   {"bunnies", "bunny_chain", 20, 2.3},
                                   {"balls", "sculpture", 10, 15.0},
                                   {"coin", "coin", 20, 0.3},
                                   {"car", "car", 20, 18.0},
                                   {"robot", "robot_arm", 20, 0.4},
                                   {"rope", "rope", 20, 3.5}};
enum { EXAMPLES = (int)(sizeof examples / sizeof examples[0]) };

static double times_seconds(const study *s)
{
  return study_pick(s, 3.0, 0.5);
}

static void measure_times(study *s)
{
  sheet *out =
      study_new_sheet(s, "mueller_table1", "example,substeps,published_ms,tenon_ms,xpbd_ms");
  for (int i = 0; i < EXAMPLES; ++i) {
    const example *e = &examples[i];
    double ms[2] = {(double)NAN, (double)NAN};
    for (int run = 0; run < 4; ++run) {
      if (run % 2 && scene_find(e->scene)->tenon_only) {
        continue; // xpbd does not hold this scene
      }
      trial t = {.scene = e->scene,
                 .solver = solver_at(run % 2),
                 .substeps = e->substeps,
                 .seconds = times_seconds(s)};
      finding f = trial_run(s, &t);
      ms[run % 2] = fmin(ms[run % 2], f.ms); // ignores NaN
      finding_free(&f);
    }
    sheet_add(out, e->name, (double[]){(double)e->substeps, e->published, ms[0], ms[1]});
  }
}

static void tell_times(const study *s, page *p)
{
  const sheet *times = study_sheet(s, "mueller_table1");
  page_section(p, "mueller-table-1", "Table 1: times");
  page_picture(p, "sculpture");
  page_say(
      p,
      "Milliseconds per frame of 1/60 s, median of the first %g s, the lower of two runs. "
      "Published on a Core i7 at 3.6 GHz; the paper does not state its mesh sizes, number of "
      "balls, robot and car; the scenes' own are used. The sculpture and the car work with the "
      "default method only.",
      times_seconds(s));
  chart c = {.title = "Times of Table 1",
             .x_label = "example",
             .y_label = "ms per frame",
             .log_y = true,
             .categories = true};
  chart_add(&c,
            (chart_series){
                .sheet = times, .y = "published_ms", .name = "published", .mark = MARK_PUBLISHED});
  chart_add(&c,
            (chart_series){
                .sheet = times, .y = "tenon_ms", .name = "tenon", .mark = MARK_DOTS, .color = 0});
  chart_add(&c, (chart_series){
                    .sheet = times, .y = "xpbd_ms", .name = "xpbd", .mark = MARK_DOTS, .color = 1});
  page_chart(p, &c);
  for (int i = 0; i < EXAMPLES; ++i) {
    const example *e = &examples[i];
    const char *told = page_words(p, "Time of “%s”, %d substeps", e->name, e->substeps);
    page_claim(p,
               (claim){
                   .source = PAPER "Table 1",
                   .statement = told,
                   .published = page_words(p, "%g ms", e->published),
                   .by = "tenon",
                   .sheet = times,
                   .label = e->name,
                   .column = "tenon_ms",
                   .unit = "ms",
                   .bound = e->published,
                   .why = "slower than published; the default method solves joints directly, which "
                          "costs more than one pass over them",
               });
  }
}

const experiment mueller_times = {.name = "mueller_times",
                                  .title = "Müller Table 1, times",
                                  .cost = {14.0, 4.0},
                                  .parts = 1,
                                  .measure = measure_times,
                                  .tell = tell_times};

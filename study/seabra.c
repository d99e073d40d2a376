// Seabra, Fernandes, Lopes, Pereira: Position Based Rigid Body Simulation: A comparison of physics
// simulators for games, 2022. Figures 1 to 10.
#include "seabra.h"
#include "picture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int solver_color(int index)
{
  static const int colors[] = {0, 1, 2, 3, 7, 4, 8};
  return colors[index % 7];
}

// ---------------------------------------------------------------------------------------------
// Experiments

// A chart over time.
typedef struct view {
  const char *title, *column, *axis;
  bool log_y;
  double y_low, y_high; // limits of the range shown
} view;

static const view energy = {"Energy", "energy_rel", "change of energy, relative", false, -1.0, 2.0};
static const view gaps = {"Joints", "joint_error_m", "largest gap in a joint, m", true, 1e-8, 1e3};
static const view drift = {
    "Horizontal drift", "top_drift_m", "drift of the top cube, m", true, 1e-10, 1e2};
static const view oscillation = {"Vertical drop", "top_drop_m", "drop of the top cube, m",
                                 false,           -0.02,        0.1};
static const view sinking = {
    "Vertical drop", "top_drop_m", "drop of the top cube, m", true, 1e-6, 1e2};
static const view fall = {"Vertical drop", "top_drop_m", "drop of the top cube, m",
                          false,           -10.0,        40.0};
static const view depth = {"Overlap", "penetration_m", "largest overlap, m", true, 1e-7, 2.0};
static const view motion = {"Motion", "motion_m_per_s", "rms speed from positions, m/s", true, 1e-8,
                            1e3};

typedef struct figure {
  const char *name; // of its sheets
  const char *number, *title, *scene;
  const char *settings[2]; // full, quick
  double seconds[2];
  const view *views[2];   // its charts; null: none
  const char *says;       // set-up, and the paper's results
  const char *end, *unit; // the metric for comparing solvers, less is better
  const char *comparison; // statement in the table
  bool is_large;          // other engines take one step per frame only: 20 would take minutes
} figure;

static const figure figures[] = {
    {.name = "seabra_fig1",
     .number = "Fig. 1",
     .title = "Figure 1: Newton's cradle",
     .scene = "cradle",
     .seconds = {30.0, 5.0},
     .views = {&energy, NULL},
     .says = "Five balls on strings, restitution 1, one raised by 30 degrees. The paper: PBD shows "
             "a stable energy loss and is closest to theory; Havok and Unity drop at collisions.",
     .end = "energy_error",
     .unit = "of the energy",
     .comparison = "Cradle: energy lost or gained"},
    {.name = "seabra_fig2",
     .number = "Fig. 2",
     .title = "Figure 2: a triple pendulum of distance joints",
     .scene = "pendulum_distance",
     .seconds = {10.0, 5.0},
     .views = {&energy, NULL},
     .says = "Three balls of 1 kg on strings of 1 m, released horizontally. The paper: PBD and "
             "Havok only lose energy, Unity loses less but sometimes gains, Jacobi is very "
             "unstable.",
     .end = "energy_error",
     .unit = "of the energy",
     .comparison = "Pendulum: energy lost or gained"},
    {.name = "seabra_fig4_100",
     .number = "Fig. 4",
     .title = "Figure 4: a chain of 100 links with a heavy end",
     .scene = "chain",
     .settings = {"end_mass_ratio=100", "end_mass_ratio=100"},
     .seconds = {10.0, 2.0},
     .views = {&energy, &gaps},
     .says = "100 links of 1 kg, the last of 100 kg, released horizontally; ball joints. The "
             "paper: PBD has "
             "negligible gains and acceptable losses.",
     .end = "energy_error",
     .unit = "of the energy",
     .comparison = "Chain of 100: energy lost or gained"},
    {.name = "seabra_fig4_500",
     .number = "Fig. 4",
     .title = "Figure 4: a chain of 500 links with a heavy end",
     .scene = "chain",
     .settings = {"count=500 end_mass_ratio=100", "count=500 end_mass_ratio=100"},
     .seconds = {6.0, 0.5},
     .views = {&energy, &gaps},
     .says = "As before with 500 links. The paper: PBD breaks and gains massive energy, Jacobi is "
             "more robust, Havok has no visible error.",
     .end = "max_joint_error_m",
     .unit = "m",
     .comparison = "Chain of 500: largest gap in a joint"},
    {.name = "seabra_fig5",
     .number = "Fig. 5",
     .title = "Figure 5: a stack of ten cubes",
     .scene = "stack",
     .seconds = {30.0, 10.0},
     .views = {&drift, &oscillation},
     .says =
         "Ten cubes of 1 m and 1 kg, friction 0.6. The paper: Havok and Unity drift and finally "
         "fall; PBD and Jacobi do not drift but oscillate vertically.",
     .end = "top_drift_m",
     .unit = "m",
     .comparison = "Stack of 10: drift of the top"},
    {.name = "seabra_fig5_tall",
     .number = "Fig. 5",
     .title = "Figure 5: a taller stack",
     .scene = "stack",
     .settings = {"count=50", "count=20"},
     .seconds = {15.0, 3.0},
     .views = {&drift, &oscillation},
     .says = "The paper does not state the number of cubes; it mentions hundreds carried by the "
             "lower ones.",
     .end = "top_drift_m",
     .unit = "m",
     .comparison = "Tall stack: drift of the top"},
    {.name = "seabra_fig6",
     .number = "Fig. 6",
     .title = "Figure 6: a pyramid",
     .scene = "pyramid",
     .settings = {"base=36", "base=12"},
     .seconds = {12.0, 5.0},
     .views = {&drift, &sinking},
     .says = "666 cubes (78 in a quick study); published: 650. The paper: with PBD it collapses "
             "by rotation, with Unity by drift; with Jacobi it stands more often; with Havok it "
             "stands.",
     .end = "max_drift_m",
     .unit = "m",
     .comparison = "Pyramid: largest drift of a cube",
     .is_large = true},
    {.name = "seabra_fig6_small",
     .number = "Fig. 6",
     .title = "Figure 6: a smaller pyramid",
     .scene = "pyramid",
     .settings = {"base=20", "base=6"},
     .seconds = {8.0, 3.0},
     .views = {&drift, &sinking},
     .says =
         "210 cubes (21 in a quick study), so that other engines can run with 20 substeps, too.",
     .end = "max_drift_m",
     .unit = "m",
     .comparison = "Smaller pyramid: largest drift of a cube"},
    {.name = "seabra_fig8",
     .number = "Fig. 8",
     .title = "Figure 8: a plate that bounces without loss",
     .scene = "plate",
     .seconds = {30.0, 10.0},
     .views = {&energy, NULL},
     .says = "A plate of 2 × 0.1 × 1 m falls on its corner, restitution 1, no friction. The paper: "
             "PBD and Jacobi have stable energy with mild gains, Unity gains, Havok loses.",
     .end = "energy_error",
     .unit = "of the energy",
     .comparison = "Plate: energy lost or gained"},
    {.name = "seabra_fig9",
     .number = "Fig. 9",
     .title = "Figure 9: a pyramid whose layers overlap by 0.1",
     .scene = "overlap",
     .settings = {"base=36", "base=12"},
     .seconds = {8.0, 4.0},
     .views = {&fall, &depth},
     .says =
         "Cubes created with an overlap of 0.1 m; the drop of the top should be zero. The paper: "
         "position based methods resolve this at once, Unity and Havok over several frames.",
     .end = "fallen",
     .unit = "cubes",
     .comparison = "Overlap of 0.1: displaced cubes",
     .is_large = true},
    {.name = "seabra_fig9_deep",
     .number = "Fig. 9",
     .title = "Figure 9: a pyramid whose layers overlap by 0.4",
     .scene = "overlap",
     .settings = {"base=36 overlap_m=0.4", "base=12 overlap_m=0.4"},
     .seconds = {8.0, 4.0},
     .views = {&fall, &depth},
     .says =
         "The paper: PBD and Jacobi dismantle it in the first step, Unity throws its top layers, "
         "Havok behaves as before.",
     .end = "fallen",
     .unit = "cubes",
     .comparison = "Overlap of 0.4: displaced cubes",
     .is_large = true},
    {.name = "seabra_fig10",
     .number = "Fig. 10",
     .title = "Figure 10: an infeasible chain",
     .scene = "unsolvable",
     .seconds = {10.0, 10.0},
     .views = {&motion, &gaps},
     .says = "20 capsules pinned at both ends, at 1.1 times their total length, damping 1/s. The "
             "paper: Havok and Jacobi reach a stable state, Unity and PBD oscillate. Motion is "
             "computed from positions, not from velocities, which a method may leave at zero. A "
             "motion of exactly zero is not drawn.",
     .end = "motion_end_m_per_s",
     .unit = "m/s",
     .comparison = "Infeasible chain: residual motion"},
};
enum { FIGURES = (int)(sizeof figures / sizeof figures[0]) };

static const char *const curve_head =
    "solver,time_s,energy_rel,joint_error_m,penetration_m,top_drift_m,top_drop_m,motion_m_per_s";
// State: 1 measured, 0 not finite, -1 not supported by the engine, -2 omitted.
static const char *const end_head =
    "solver,state,ms_frame,energy_rel_final,energy_error,energy_gain,max_joint_error_m,"
    "max_penetration_m,top_drift_m,top_drop_m,max_drift_m,fallen,max_speed_run,"
    "motion_end_m_per_s,transfer_error";

enum { READINGS = 200 };

// ---------------------------------------------------------------------------------------------
// Measuring

// Error of the cradle's first impact, which should transfer all speed to the last ball.
static double transfer_error(const finding *f)
{
  static const char *const balls[] = {"hit_speed_1", "hit_speed_2", "hit_speed_3", "hit_speed_4"};
  double worst = fabs(finding_metric(f, "hit_speed_5") - 1.0);
  for (int i = 0; i < 4; ++i) {
    worst = fmax(worst, fabs(finding_metric(f, balls[i])));
  }
  return worst;
}

static void add_end(sheet *ends, const char *name, const finding *f)
{
  double values[] = {f->ok        ? 1.0
                     : f->refused ? -1.0
                                  : 0.0,
                     f->ms,
                     finding_metric(f, "energy_rel_final"),
                     fabs(finding_metric(f, "energy_rel_max")),
                     f->ok ? f->gain : (double)NAN,
                     finding_metric(f, "max_joint_error_m"),
                     finding_metric(f, "max_penetration_run"),
                     finding_metric(f, "top_drift_m"),
                     finding_metric(f, "top_drop_m"),
                     finding_metric(f, "max_drift_m"),
                     finding_metric(f, "fallen"),
                     finding_metric(f, "max_speed_run"),
                     f->ok ? f->motion : (double)NAN,
                     transfer_error(f)};
  sheet_add(ends, name, values);
}

static void add_curve(sheet *curves, const char *name, const finding *f)
{
  for (int k = 0; k < f->reading_count; ++k) {
    const reading *r = &f->curve[k];
    sheet_add(curves, name,
              (double[]){r->time, r->energy_rel, r->joint_error_m, r->penetration_m, r->drift_m,
                         r->drop_m, r->motion});
  }
}

// Reason for missing values of a solver, stored as a row's name.
static void add_note(sheet *notes, const figure *fig, const solver *by, const char *why)
{
  char words[SHEET_WORD];
  snprintf(words, sizeof words, "%.24s of %.20s: %.70s", fig->scene, by->name, why);
  for (char *c = words; *c; ++c) {
    *c = *c == ',' || *c == '\n' ? ';' : *c;
  }
  sheet_add(notes, words, (double[]){0.0});
}

static void measure_figure(study *s, const figure *fig)
{
  char name[SHEET_WORD];
  snprintf(name, sizeof name, "%s_end", fig->name);
  sheet *curves = study_new_sheet(s, fig->name, curve_head);
  sheet *ends = study_new_sheet(s, name, end_head);
  snprintf(name, sizeof name, "%s_notes", fig->name);
  sheet *notes = study_new_sheet(s, name, "note,figures");
  for (int i = 0; i < solver_count() && !interrupt_came(); ++i) {
    const solver *by = solver_at(i);
    if (fig->is_large && by->peer && !by->iterates) {
      double left_out[SHEET_COLUMNS];
      left_out[0] = -2.0;
      for (int k = 1; k < SHEET_COLUMNS; ++k) {
        left_out[k] = (double)NAN;
      }
      sheet_add(ends, by->name, left_out);
      continue;
    }
    trial t = {.scene = fig->scene,
               .settings = fig->settings[s->options.quick],
               .solver = by,
               .substeps = SEABRA_SUBSTEPS,
               .seconds = fig->seconds[s->options.quick],
               .readings = READINGS};
    finding f = trial_run(s, &t);
    add_curve(curves, by->name, &f);
    add_end(ends, by->name, &f);
    if (!f.ok) {
      add_note(notes, fig, by, f.why);
    }
    finding_free(&f);
  }
}

static void measure_figures(study *s)
{
  measure_figure(s, &figures[s->part]);
}

// ---------------------------------------------------------------------------------------------
// Report

static const sheet *ends_of(const study *s, const char *name)
{
  char whole[SHEET_WORD];
  snprintf(whole, sizeof whole, "%s_end", name);
  return study_sheet(s, whole);
}

static void draw_view(const study *s, page *p, const figure *fig, const view *v)
{
  chart c = {.title = v->title,
             .x_label = "time, s",
             .y_label = v->axis,
             .log_y = v->log_y,
             .has_range = true,
             .y_low = v->y_low,
             .y_high = v->y_high};
  for (int i = 0; i < solver_count(); ++i) {
    const char *name = solver_at(i)->name;
    if (sheet_value(ends_of(s, fig->name), name, "state") >= 0.0) {
      chart_add(&c, (chart_series){.sheet = study_sheet(s, fig->name),
                                   .label = name,
                                   .x = "time_s",
                                   .y = v->column,
                                   .mark = MARK_LINE,
                                   .color = solver_color(i)});
    }
  }
  page_chart(p, &c);
}

// Tenon against every engine that supports the scene.
static void compare_with_peers(page *p, const figure *fig, const sheet *ends)
{
  for (int i = OWN_SOLVERS; i < solver_count(); ++i) {
    const char *name = solver_at(i)->name;
    if (sheet_value(ends, name, "state") > 0.0) {
      page_claim(p, (claim){.source = page_words(p, "%s against %s", fig->number, name),
                            .statement = fig->comparison,
                            .by = "tenon",
                            .sheet = ends,
                            .label = "tenon",
                            .column = fig->end,
                            .unit = fig->unit,
                            .relation = AT_MOST,
                            .versus = name});
    }
  }
}

static void tell_notes(const study *s, page *p, const figure *fig)
{
  char name[SHEET_WORD];
  snprintf(name, sizeof name, "%s_notes", fig->name);
  const sheet *notes = study_sheet(s, name);
  for (int i = 0; notes && i < notes->row_count; ++i) {
    page_say(p, "Not measured: %s.", notes->rows[i].label);
  }
}

static void tell_figure(const study *s, page *p, const figure *fig)
{
  bool quick = s->options.quick;
  const sheet *ends = ends_of(s, fig->name);
  page_section(p, fig->name, fig->title);
  page_picture(p, fig->scene);
  page_say(p, "%s", fig->says);
  page_say(p, "Settings: scene %s%s%s, %g s, %d substeps%s%s.", fig->scene,
           fig->settings[quick] ? " with " : "", fig->settings[quick] ? fig->settings[quick] : "",
           fig->seconds[quick], (int)SEABRA_SUBSTEPS,
           solver_count() > OWN_SOLVERS ? "; “1 step”: one step per frame with 20 iterations" : "",
           fig->is_large && solver_count() > OWN_SOLVERS
               ? "; other engines with 20 substeps would take minutes and were omitted"
               : "");
  for (int i = 0; i < 2 && fig->views[i]; ++i) {
    draw_view(s, p, fig, fig->views[i]);
  }
  page_values(p, ends);
  tell_notes(s, p, fig);
  compare_with_peers(p, fig, ends);
}

// The paper's statements about its methods, and requirements for the default method.
typedef struct said {
  const char *figure, *number, *statement, *published, *by, *column, *unit;
  claim_relation relation;
  double bound;
  const char *why;
} said;

static const said sayings[] = {
    {"seabra_fig1", "Fig. 1", "PBD: a stable loss without gain: largest gain", "no gain", "xpbd",
     "energy_gain", "of the energy", AT_MOST, 0.01, NULL},
    {"seabra_fig1", "Fig. 1", "PBD: closest to theory", "", "xpbd", "energy_error", "of the energy",
     AT_MOST, 0.1, "every impact of touching balls distributes some speed over all of them"},
    {"seabra_fig1", "Fig. 1", "The default method conserves the energy of the cradle",
     "theory: no loss", "tenon", "energy_error", "of the energy", AT_MOST, 0.01, NULL},
    {"seabra_fig2", "Fig. 2", "PBD only loses energy: largest gain", "no gain", "xpbd",
     "energy_gain", "of the energy", AT_MOST, 0.001, NULL},
    {"seabra_fig2", "Fig. 2", "Jacobi is very unstable", "", "jacobi", "energy_gain",
     "of the energy", AT_LEAST, 0.05,
     "here each constraint uses its share of the mass, and Jacobi is stable"},
    {"seabra_fig2", "Fig. 2", "The default method conserves the energy", "theory: no loss", "tenon",
     "energy_error", "of the energy", AT_MOST, 0.005, NULL},
    {"seabra_fig4_100", "Fig. 4", "PBD, 100 capsules: negligible gains", "", "xpbd", "energy_gain",
     "of the energy", AT_MOST, 0.01, NULL},
    {"seabra_fig4_100", "Fig. 4", "PBD, 100 capsules: acceptable losses", "", "xpbd",
     "energy_error", "of the energy", AT_MOST, 0.1, NULL},
    {"seabra_fig4_100", "Fig. 4", "The default method, 100 capsules: conserves energy",
     "theory: no loss", "tenon", "energy_error", "of the energy", AT_MOST, 0.005, NULL},
    {"seabra_fig4_500", "Fig. 4", "PBD, 500 capsules: gains massive amounts of energy", "", "xpbd",
     "energy_gain", "of the energy", AT_LEAST, 1.0,
     "with the errata corrected it does not break here, but stretches and loses energy"},
    {"seabra_fig4_500", "Fig. 4", "Jacobi, 500 capsules: more robust", "", "jacobi", "energy_gain",
     "of the energy", AT_MOST, 0.1, NULL},
    {"seabra_fig4_500", "Fig. 4", "The default method, 500 capsules: conserves energy",
     "theory: no loss", "tenon", "energy_error", "of the energy", AT_MOST, 0.005, NULL},
    {"seabra_fig5", "Fig. 5", "PBD does not drift", "no drift", "xpbd", "top_drift_m", "m", AT_MOST,
     1e-3, "contacts are corrected one corner after the other, which rotates and shifts the cubes"},
    {"seabra_fig5", "Fig. 5", "Jacobi does not drift", "no drift", "jacobi", "top_drift_m", "m",
     AT_MOST, 1e-3, "averaged corrections are too weak to carry the stack, and it falls"},
    {"seabra_fig5", "Fig. 5", "The default method does not drift", "no drift", "tenon",
     "top_drift_m", "m", AT_MOST, 1e-3, NULL},
    {"seabra_fig5_tall", "Fig. 5", "The default method holds a tall stack", "", "tenon",
     "top_drift_m", "m", AT_MOST, 0.05, NULL},
    {"seabra_fig6", "Fig. 6", "With PBD the pyramid collapses", "collapses", "xpbd", "fallen",
     "cubes", AT_LEAST, 1.0, NULL},
    {"seabra_fig6", "Fig. 6", "With Jacobi the pyramid stands more often", "somewhat", "jacobi",
     "fallen", "cubes", AT_MOST, 0.0, "averaged corrections are too weak to carry it"},
    {"seabra_fig6", "Fig. 6", "With the default method the pyramid stands, as with Havok", "stable",
     "tenon", "fallen", "cubes", AT_MOST, 0.0, NULL},
    {"seabra_fig8", "Fig. 8", "PBD has stable energy", "stable", "xpbd", "energy_error",
     "of the energy", AT_MOST, 0.05,
     "velocities are corrected corner by corner; each correction undoes part of the others"},
    {"seabra_fig8", "Fig. 8", "Jacobi has stable energy", "stable", "jacobi", "energy_error",
     "of the energy", AT_MOST, 0.05, "as for xpbd"},
    {"seabra_fig8", "Fig. 8", "The default method conserves the energy of the plate",
     "theory: no loss", "tenon", "energy_error", "of the energy", AT_MOST, 0.01, NULL},
    {"seabra_fig9", "Fig. 9", "PBD resolves an overlap of 0.1 at once and the pyramid stays", "",
     "xpbd", "fallen", "cubes", AT_MOST, 0.0,
     "the whole overlap is corrected in a few substeps, which ejects the cubes"},
    {"seabra_fig9", "Fig. 9", "The default method resolves an overlap of 0.1 gently", "", "tenon",
     "fallen", "cubes", AT_MOST, 0.0, NULL},
    {"seabra_fig9_deep", "Fig. 9", "PBD dismantles a pyramid with an overlap of 0.4", "dismantled",
     "xpbd", "fallen", "cubes", AT_LEAST, 1.0, NULL},
    {"seabra_fig9_deep", "Fig. 9",
     "Havok keeps a pyramid with an overlap of 0.4; so should the "
     "default method",
     "stays", "tenon", "fallen", "cubes", AT_MOST, 0.0,
     "cubes that overlap by nearly half are closer to each other's sides than to their tops, and "
     "are pushed sideways"},
    {"seabra_fig10", "Fig. 10", "PBD oscillates: residual motion", "oscillates", "xpbd",
     "motion_end_m_per_s", "m/s", AT_LEAST, 0.01,
     "here the joints reach a state in which all corrections "
     "cancel"},
    {"seabra_fig10", "Fig. 10", "Jacobi comes to rest", "static", "jacobi", "motion_end_m_per_s",
     "m/s", AT_MOST, 1e-3, NULL},
    {"seabra_fig10", "Fig. 10", "The default method comes to rest", "static", "tenon",
     "motion_end_m_per_s", "m/s", AT_MOST, 1e-3,
     "the error is redistributed every substep, and the links jitter by about a millimetre, "
     "which their velocities do not show; with sleeping enabled they come to rest"},
};
enum { SAYINGS = (int)(sizeof sayings / sizeof sayings[0]) };

static void tell_figures(const study *s, page *p)
{
  for (int i = 0; i < SAYINGS; ++i) {
    const said *k = &sayings[i];
    page_claim(p, (claim){
                      .source = page_words(p, SEABRA "%s", k->number),
                      .statement = k->statement,
                      .published = k->published,
                      .by = k->by,
                      .sheet = ends_of(s, k->figure),
                      .label = k->by,
                      .column = k->column,
                      .unit = k->unit,
                      .relation = k->relation,
                      .bound = k->bound,
                      .why = k->why,
                  });
  }
  for (int i = 0; i < FIGURES; ++i) {
    tell_figure(s, p, &figures[i]);
  }
}

const experiment seabra_figures = {.name = "seabra_figures",
                                   .title = "Seabra Fig. 1-10",
                                   .cost = {200.0, 18.0},
                                   .parts = FIGURES,
                                   .measure = measure_figures,
                                   .tell = tell_figures};

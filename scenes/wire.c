// Marbles on tracks of two wires: Mueller et al. 2020, Figures 12 to 14.
#include "track.h"

#include <math.h>

static const tn_vec3 STILL = {0.0f, 0.0f, 0.0f};

// ---------------------------------------------------------------------------------------------
// Figure 12: a marble hits three others

enum { ROW_MARBLES = 4 };

static void straight_track(track *t, float length)
{
  for (int i = 0; i <= 8; ++i) {
    track_add(t, tn_v3(((float)i / 8.0f - 0.5f) * length, 0.0f, 0.0f), tn_v3(0.0f, 1.0f, 0.0f));
  }
}

static void build_marble_impulse(scene_run *run)
{
  track t = {.count = 0};
  float radius = (float)scene_value(run, "radius");
  float speed = (float)scene_value(run, "speed");
  straight_track(&t, 100.0f * radius);
  track_lay(run, &t, radius);
  track_add_marble(run, tn_v3(-12.0f * radius, 0.0f, 0.0f), tn_v3(speed, 0.0f, 0.0f), STILL,
                   radius);
  for (int i = 1; i < ROW_MARBLES; ++i) {
    tn_vec3 center = tn_v3(2.0f * radius * (float)(i - 1), 0.0f, 0.0f);
    track_add_marble(run, center, STILL, STILL, radius);
  }
  run->energy_scale = tn_world_energy(run->world).kinetic;
}

static void measure_marble_impulse(const scene_run *run, scene_sheet *sheet)
{
  static const char *const names[ROW_MARBLES] = {"hit_speed_1", "hit_speed_2", "hit_speed_3",
                                                 "hit_speed_4"};
  for (int i = 0; i < ROW_MARBLES; ++i) {
    double speed = (double)tn_body_velocity(run->world, run->bodies[i]).x;
    scene_note(sheet, names[i], speed / scene_value(run, "speed"));
  }
}

const scene scene_marble_impulse = {
    .name = "marble_impulse",
    .title = "A marble hits three others",
    .source = "Mueller et al. 2020, Fig. 12",
    .group = SCENE_DETAILED,
    .camera = {{0.0f, 0.3f, 0.9f}, {0.0f, 0.0f, 0.0f}},
    .seconds = 0.7,
    .substeps = 20,
    .conserves = true,
    .parameters = {{"speed", 0.01, 100.0, 1.0, false, "speed of the first marble, m/s"},
                   {"radius", 0.001, 10.0, 0.02, false, "radius of a marble, m"},
                   {"restitution", 0.0, 1.0, 1.0, false, "restitution of marbles"},
                   {"friction", 0.0, 10.0, 0.0, false, "coefficient of friction"}},
    .build = build_marble_impulse,
    .measure = measure_marble_impulse,
};

// ---------------------------------------------------------------------------------------------
// Figure 13: marbles created inside the wires of a horizontal ring

static void ring_track(track *t, float radius)
{
  t->closed = true;
  for (int i = 0; i < 24; ++i) {
    float angle = (float)i * (TN_PI / 12.0f);
    tn_vec3 center = tn_v3(radius * tn_cos(angle), 0.0f, radius * tn_sin(angle));
    track_add(t, center, tn_v3(0.0f, 1.0f, 0.0f));
  }
}

static void build_marbles_in_wires(scene_run *run)
{
  track t = {.count = 0};
  float radius = (float)scene_value(run, "radius");
  ring_track(&t, 15.0f * radius);
  track_lay(run, &t, radius);
  float depth = (float)scene_value(run, "depth") * radius;
  for (int i = 0; i < t.count && !run->failed; ++i) {
    tn_vec3 center = tn_sub(t.center[i], tn_v3(0.0f, depth, 0.0f));
    track_add_marble(run, center, STILL, STILL, radius);
  }
  run->energy_scale = run->weighing_mass * (double)(SCENE_GRAVITY * radius);
}

static void measure_marbles_in_wires(const scene_run *run, scene_sheet *sheet)
{
  track t = {.count = 0};
  ring_track(&t, 15.0f * (float)scene_value(run, "radius"));
  track_note(run, sheet, &t);
}

const scene scene_marbles_in_wires = {
    .name = "marbles_in_wires",
    .title = "Marbles created inside the wires of their track",
    .source = "Mueller et al. 2020, Fig. 13",
    .group = SCENE_DETAILED,
    .camera = {{0.3f, 0.5f, 0.6f}, {0.0f, 0.0f, 0.0f}},
    .seconds = 3.0,
    .substeps = 20,
    .parameters = {{"depth", 0.0, 1.0, 0.2, false,
                    "initial depth below rest, relative to the radius"},
                   {"radius", 0.001, 10.0, 0.02, false, "radius of a marble, m"},
                   {"restitution", 0.0, 1.0, 0.0, false, "restitution of marbles"},
                   {"friction", 0.0, 10.0, 0.6, false, "coefficient of friction"}},
    .build = build_marbles_in_wires,
    .measure = measure_marbles_in_wires,
};

// ---------------------------------------------------------------------------------------------
// Figure 14: down a ramp, through a loop, around a coil

static const float RAMP_LENGTH = 1.0f, RAMP_HEIGHT = 0.8f, LOOP_RADIUS = 0.15f;

static void add_ramp(track *t)
{
  enum { STEPS = 40 };
  for (int i = 0; i < STEPS; ++i) {
    float left = 1.0f - (float)i / (float)STEPS;
    float slope = 2.0f * RAMP_HEIGHT * left / RAMP_LENGTH;
    track_add(t, tn_v3(-RAMP_LENGTH * left, RAMP_HEIGHT * left * left, 0.0f),
              track_unit(tn_v3(slope, 1.0f, 0.0f)));
  }
}

// Shifted sideways to pass itself, with smooth transitions at both ends.
static void add_loop(track *t, float shift)
{
  enum { STEPS = 24 };
  for (int i = 0; i < STEPS; ++i) {
    float turn = (float)i / (float)STEPS;
    float sine = tn_sin(2.0f * TN_PI * turn);
    float cosine = tn_cos(2.0f * TN_PI * turn);
    float aside = shift * (turn - sine / (2.0f * TN_PI));
    track_add(t, tn_v3(LOOP_RADIUS * sine, LOOP_RADIUS * (1.0f - cosine), aside),
              tn_v3(-sine, cosine, 0.0f));
  }
}

// From `from` along x: straight, a transition, `turns` turns, a transition, straight. The track is
// banked for the speed of a marble from the top of the ramp.
static void add_coil(track *t, tn_vec3 from, float radius, float turns)
{
  const float step = radius * (TN_PI / 12.0f);
  const float ease = 10.0f * radius; // length of the transition
  const float round = 2.0f * TN_PI * turns * radius;
  int steps = (int)((round + 3.0f * ease) / step);
  float heading = 0.0f;
  tn_vec3 at = from;
  for (int i = 0; i <= steps; ++i) {
    float way = (float)i * step;
    float into = fminf(1.0f, fmaxf(0.0f, fminf(way, round + 2.0f * ease - way) / ease));
    float share = into * into; // smooth start, which the banking follows
    float curvature = share / radius;
    float square = 2.0f * SCENE_GRAVITY * (RAMP_HEIGHT - at.y);
    tn_vec3 inward = tn_v3(-tn_sin(heading), 0.0f, tn_cos(heading));
    tn_vec3 up = tn_add(tn_v3(0.0f, SCENE_GRAVITY, 0.0f), tn_scale(square * curvature, inward));
    track_add(t, at, track_unit(up));
    float middle = heading + 0.5f * step * curvature;
    at = tn_add(at, tn_scale(step, tn_v3(tn_cos(middle), -0.2f * share, tn_sin(middle))));
    heading += step * curvature;
  }
}

static void run_track(const scene_run *run, track *t)
{
  float shift = 6.0f * (float)scene_value(run, "radius");
  add_ramp(t);
  add_loop(t, shift);
  add_coil(t, tn_v3(0.0f, 0.0f, shift), (float)scene_value(run, "coil_radius"),
           (float)scene_value(run, "turns"));
}

static void build_marble_run(scene_run *run)
{
  track t = {.count = 0};
  float radius = (float)scene_value(run, "radius");
  run_track(run, &t);
  track_lay(run, &t, radius);
  int count = (int)scene_value(run, "count");
  for (int i = 0; i < count && !run->failed; ++i) {
    track_add_marble(run, t.center[i + 1], STILL, STILL, radius);
  }
  run->energy_scale = run->weighing_mass * (double)(SCENE_GRAVITY * RAMP_HEIGHT);
}

static void measure_marble_run(const scene_run *run, scene_sheet *sheet)
{
  track t = {.count = 0};
  run_track(run, &t);
  track_note(run, sheet, &t);
}

const scene scene_marble_run = {
    .name = "marble_run",
    .title = "Marbles that roll down a ramp, through a loop and around a coil",
    .source = "Mueller et al. 2020, Fig. 14",
    .group = SCENE_DETAILED,
    .camera = {{1.2f, 0.9f, 2.7f}, {0.0f, -0.1f, 0.3f}},
    .seconds = 4.0,
    .substeps = 10,
    .parameters = {{"count", 1.0, 8.0, 4.0, true, "number of marbles"},
                   {"radius", 0.005, 0.02, 0.02, false, "radius of a marble, m"},
                   {"coil_radius", 0.05, 1.0, 0.1, false, "radius of the coil, m"},
                   {"turns", 0.0, 10.0, 5.0, false, "turns of the coil"},
                   {"restitution", 0.0, 1.0, 0.0, false, "restitution of marbles"},
                   {"friction", 0.0, 10.0, 0.6, false, "coefficient of friction"}},
    .build = build_marble_run,
    .measure = measure_marble_run,
};

// Marbles on tracks of two wires: Mueller et al. 2020, Figures 1 and 12 to 14.
#include "build.h"

#include <math.h>

static const float GRAVITY = 9.81f;

// ---------------------------------------------------------------------------------------------
// Tracks

enum { MAX_STATIONS = 512 };

// Where the centre of a marble passes, and the way up that it sees.
typedef struct track {
  tn_vec3 center[MAX_STATIONS], up[MAX_STATIONS];
  int count;
  bool closed;
} track;

static void add_station(track *t, tn_vec3 center, tn_vec3 up)
{
  if (t->count < MAX_STATIONS) {
    t->center[t->count] = center;
    t->up[t->count] = up;
    t->count += 1;
  }
}

static int neighbour(const track *t, int i, int step)
{
  int k = i + step;
  if (t->closed) {
    return (k + t->count) % t->count;
  }
  return k < 0 ? 0 : k >= t->count ? t->count - 1 : k;
}

static tn_vec3 scaled_to_unit(tn_vec3 v)
{
  return tn_scale(1.0f / tn_length(v), v);
}

// The gauge is 1.4 radii of the marble, a wire's radius a quarter of it.
static tn_vec3 rail_point(const track *t, int i, float radius, float side)
{
  tn_vec3 way = tn_sub(t->center[neighbour(t, i, 1)], t->center[neighbour(t, i, -1)]);
  tn_vec3 right = scaled_to_unit(tn_cross(way, t->up[i]));
  float below = sqrtf(1.25f * 1.25f - 0.7f * 0.7f);
  tn_vec3 foot = tn_sub(t->center[i], tn_scale(below * radius, t->up[i]));
  return tn_add(foot, tn_scale(side * 0.7f * radius, right));
}

static void lay_rail(scene_run *run, const track *t, float radius, float side, tn_material material)
{
  tn_wire_point points[MAX_STATIONS];
  for (int i = 0; i < t->count; ++i) {
    points[i].position = rail_point(t, i, radius, side);
  }
  for (int i = 0; i < t->count; ++i) {
    int next = neighbour(t, i, 1);
    int last = neighbour(t, i, -1);
    tn_vec3 d = tn_sub(points[next].position, points[last].position);
    bool is_inside = t->closed || (i > 0 && i < t->count - 1);
    points[i].tangent = tn_scale(is_inside ? 0.5f : 1.0f, d);
  }
  tn_shape_def wire = tn_default_shape_def(TN_SHAPE_WIRE);
  wire.radius = 0.25f * radius;
  wire.material = material;
  wire.geometry = tn_wire_create(run->world, points, t->count, t->closed);
  if (TN_IS_NULL(wire.geometry)) {
    run->failed = true;
    return;
  }
  scene_add_fixed(run, (tn_transform){{0.0, 0.0, 0.0}, tn_quat_identity()}, &wire);
}

// Marbles may be as elastic as they like, wires are not.
static void lay_track(scene_run *run, const track *t, float radius)
{
  tn_world_set_gravity(run->world, tn_v3(0.0f, -GRAVITY, 0.0f));
  tn_material material = scene_material((float)scene_value(run, "friction"), 0.0f);
  material.combine_restitution = TN_COMBINE_MINIMUM;
  lay_rail(run, t, radius, -1.0f, material);
  lay_rail(run, t, radius, 1.0f, material);
}

static tn_body_id add_marble(scene_run *run, tn_vec3 center, tn_vec3 velocity, float radius)
{
  tn_shape_def shape = scene_sphere_shape(radius);
  shape.material =
      scene_material((float)scene_value(run, "friction"), (float)scene_value(run, "restitution"));
  tn_body_def def = tn_default_body_def();
  def.position = tn_offset(tn_p3(0.0, 0.0, 0.0), center);
  def.velocity = velocity;
  return scene_add_solid(run, &def, &shape, 0.01f);
}

// How far a marble is from where the track carries it, and the station it is at.
static double distance_from_track(const scene_run *run, const track *t, int marble, int *station)
{
  tn_vec3 p =
      tn_between_points(tn_p3(0.0, 0.0, 0.0), tn_body_position(run->world, run->bodies[marble]));
  double least = (double)INFINITY;
  for (int i = 0; i < t->count - !t->closed; ++i) {
    tn_vec3 a = t->center[i];
    tn_vec3 ab = tn_sub(t->center[neighbour(t, i, 1)], a);
    float s = fminf(1.0f, fmaxf(0.0f, tn_dot(tn_sub(p, a), ab) / tn_dot(ab, ab)));
    double distance = (double)tn_length(tn_sub(p, tn_add(a, tn_scale(s, ab))));
    if (distance < least) {
      least = distance;
      *station = i;
    }
  }
  return least;
}

// Marbles more than their radius away are off the track, except past its end.
static void note_track(const scene_run *run, scene_sheet *sheet, const track *t)
{
  double radius = scene_value(run, "radius");
  int off = 0;
  int past = 0;
  for (int i = 0; i < run->body_count; ++i) {
    int station = 0;
    double distance = distance_from_track(run, t, i, &station);
    bool is_past = !t->closed && station >= t->count - 2;
    past += is_past;
    off += !is_past && !(distance < radius);
  }
  scene_note(sheet, "off_track", (double)off);
  scene_note(sheet, "past_end", (double)past);
}

// ---------------------------------------------------------------------------------------------
// Figure 12: a marble hits three

enum { ROW_MARBLES = 4 };

static void straight_track(track *t, float length)
{
  for (int i = 0; i <= 8; ++i) {
    add_station(t, tn_v3(((float)i / 8.0f - 0.5f) * length, 0.0f, 0.0f), tn_v3(0.0f, 1.0f, 0.0f));
  }
}

static void build_marble_impulse(scene_run *run)
{
  track t = {.count = 0};
  float radius = (float)scene_value(run, "radius");
  float speed = (float)scene_value(run, "speed");
  straight_track(&t, 100.0f * radius);
  lay_track(run, &t, radius);
  add_marble(run, tn_v3(-12.0f * radius, 0.0f, 0.0f), tn_v3(speed, 0.0f, 0.0f), radius);
  for (int i = 1; i < ROW_MARBLES; ++i) {
    tn_vec3 center = tn_v3(2.0f * radius * (float)(i - 1), 0.0f, 0.0f);
    add_marble(run, center, tn_v3(0.0f, 0.0f, 0.0f), radius);
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
    .title = "A marble that hits three",
    .source = "Mueller et al. 2020, Fig. 12",
    .group = SCENE_DETAILED,
    .camera = {{0.0f, 0.3f, 0.9f}, {0.0f, 0.0f, 0.0f}},
    .seconds = 0.7,
    .substeps = 20,
    .conserves = true,
    .parameters = {{"speed", 0.01, 100.0, 1.0, false, "of the first marble, m/s"},
                   {"radius", 0.001, 10.0, 0.02, false, "of a marble, m"},
                   {"restitution", 0.0, 1.0, 1.0, false, "of marbles"},
                   {"friction", 0.0, 10.0, 0.0, false, "coefficient of friction"}},
    .build = build_marble_impulse,
    .measure = measure_marble_impulse,
};

// ---------------------------------------------------------------------------------------------
// Figure 13: marbles created inside the wires of a level ring

static void ring_track(track *t, float radius)
{
  t->closed = true;
  for (int i = 0; i < 24; ++i) {
    float angle = (float)i * (TN_PI / 12.0f);
    tn_vec3 center = tn_v3(radius * tn_cos(angle), 0.0f, radius * tn_sin(angle));
    add_station(t, center, tn_v3(0.0f, 1.0f, 0.0f));
  }
}

static void build_marbles_in_wires(scene_run *run)
{
  track t = {.count = 0};
  float radius = (float)scene_value(run, "radius");
  ring_track(&t, 15.0f * radius);
  lay_track(run, &t, radius);
  float depth = (float)scene_value(run, "depth") * radius;
  for (int i = 0; i < t.count && !run->failed; ++i) {
    tn_vec3 center = tn_sub(t.center[i], tn_v3(0.0f, depth, 0.0f));
    add_marble(run, center, tn_v3(0.0f, 0.0f, 0.0f), radius);
  }
  run->energy_scale = run->weighing_mass * (double)(GRAVITY * radius);
}

static void measure_marbles_in_wires(const scene_run *run, scene_sheet *sheet)
{
  track t = {.count = 0};
  ring_track(&t, 15.0f * (float)scene_value(run, "radius"));
  note_track(run, sheet, &t);
}

const scene scene_marbles_in_wires = {
    .name = "marbles_in_wires",
    .title = "Marbles created inside the wires they lie on",
    .source = "Mueller et al. 2020, Fig. 13",
    .group = SCENE_DETAILED,
    .camera = {{0.3f, 0.5f, 0.6f}, {0.0f, 0.0f, 0.0f}},
    .seconds = 3.0,
    .substeps = 20,
    .parameters = {{"depth", 0.0, 1.0, 0.2, false, "below where they rest, over their radius"},
                   {"radius", 0.001, 10.0, 0.02, false, "of a marble, m"},
                   {"restitution", 0.0, 1.0, 0.0, false, "of marbles"},
                   {"friction", 0.0, 10.0, 0.6, false, "coefficient of friction"}},
    .build = build_marbles_in_wires,
    .measure = measure_marbles_in_wires,
};

// ---------------------------------------------------------------------------------------------
// Figures 1 and 14: down a ramp, through a loop, around a coil

static const float RAMP_LENGTH = 1.0f, RAMP_HEIGHT = 0.8f, LOOP_RADIUS = 0.15f;

static void add_ramp(track *t)
{
  enum { STEPS = 40 };
  for (int i = 0; i < STEPS; ++i) {
    float left = 1.0f - (float)i / (float)STEPS;
    float slope = 2.0f * RAMP_HEIGHT * left / RAMP_LENGTH;
    add_station(t, tn_v3(-RAMP_LENGTH * left, RAMP_HEIGHT * left * left, 0.0f),
                scaled_to_unit(tn_v3(slope, 1.0f, 0.0f)));
  }
}

// Shifted sideways, so that it passes itself, without a bend where it begins and ends.
static void add_loop(track *t, float shift)
{
  enum { STEPS = 24 };
  for (int i = 0; i < STEPS; ++i) {
    float turn = (float)i / (float)STEPS;
    float sine = tn_sin(2.0f * TN_PI * turn);
    float cosine = tn_cos(2.0f * TN_PI * turn);
    float aside = shift * (turn - sine / (2.0f * TN_PI));
    add_station(t, tn_v3(LOOP_RADIUS * sine, LOOP_RADIUS * (1.0f - cosine), aside),
                tn_v3(-sine, cosine, 0.0f));
  }
}

// From `from` along x: straight, tighter and tighter, `turns` times around, and straight again. The
// track leans inward as a marble needs it that came from the ramp's top.
static void add_coil(track *t, tn_vec3 from, float radius, float turns)
{
  const float step = radius * (TN_PI / 12.0f);
  const float ease = 10.0f * radius; // from straight to round
  const float round = 2.0f * TN_PI * turns * radius;
  int steps = (int)((round + 3.0f * ease) / step);
  float heading = 0.0f;
  tn_vec3 at = from;
  for (int i = 0; i <= steps; ++i) {
    float way = (float)i * step;
    float into = fminf(1.0f, fmaxf(0.0f, fminf(way, round + 2.0f * ease - way) / ease));
    float share = into * into; // slowly at first: the lean follows
    float curvature = share / radius;
    float square = 2.0f * GRAVITY * (RAMP_HEIGHT - at.y);
    tn_vec3 inward = tn_v3(-tn_sin(heading), 0.0f, tn_cos(heading));
    tn_vec3 up = tn_add(tn_v3(0.0f, GRAVITY, 0.0f), tn_scale(square * curvature, inward));
    add_station(t, at, scaled_to_unit(up));
    float middle = heading + 0.5f * step * curvature;
    at = tn_add(at, tn_scale(step, tn_v3(tn_cos(middle), -0.2f * share, tn_sin(middle))));
    heading += step * curvature;
  }
}

static void sculpture_track(const scene_run *run, track *t)
{
  float shift = 6.0f * (float)scene_value(run, "radius");
  add_ramp(t);
  add_loop(t, shift);
  add_coil(t, tn_v3(0.0f, 0.0f, shift), (float)scene_value(run, "coil_radius"),
           (float)scene_value(run, "turns"));
}

static void build_sculpture(scene_run *run)
{
  track t = {.count = 0};
  float radius = (float)scene_value(run, "radius");
  sculpture_track(run, &t);
  lay_track(run, &t, radius);
  int count = (int)scene_value(run, "count");
  for (int i = 0; i < count && !run->failed; ++i) {
    add_marble(run, t.center[i + 1], tn_v3(0.0f, 0.0f, 0.0f), radius);
  }
  run->energy_scale = run->weighing_mass * (double)(GRAVITY * RAMP_HEIGHT);
}

static void measure_sculpture(const scene_run *run, scene_sheet *sheet)
{
  track t = {.count = 0};
  sculpture_track(run, &t);
  note_track(run, sheet, &t);
}

const scene scene_sculpture = {
    .name = "sculpture",
    .title = "Marbles that roll down a ramp, through a loop and around a coil",
    .source = "Mueller et al. 2020, Fig. 1 and 14",
    .group = SCENE_DETAILED,
    .camera = {{0.8f, 0.9f, 1.8f}, {0.0f, 0.2f, 0.2f}},
    .seconds = 4.0,
    .substeps = 10,
    .parameters = {{"count", 1.0, 8.0, 4.0, true, "marbles"},
                   {"radius", 0.005, 0.02, 0.02, false, "of a marble, m"},
                   {"coil_radius", 0.05, 1.0, 0.1, false, "m"},
                   {"turns", 0.0, 10.0, 5.0, false, "of the coil"},
                   {"restitution", 0.0, 1.0, 0.0, false, "of marbles"},
                   {"friction", 0.0, 10.0, 0.6, false, "coefficient of friction"}},
    .build = build_sculpture,
    .measure = measure_sculpture,
};

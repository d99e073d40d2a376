// A rolling ball sculpture: Mueller et al. 2020, Figures 1 and 14. Marbles roll down a ramp,
// through two loops and around a coil; a belt moves them up again.
#include "track.h"

#include <math.h>

static const float DROP = 0.8f, RAMP = 1.6f; // m, of the ramp
static const float LAST_FALL = 0.2f;         // m, of the turn before it
static const float COIL_RADIUS = 0.15f, COIL_FALL = 0.1f;
static const float ONTO_BELT = 0.6f, OFF_BELT = 0.04f; // m, radii of the bends

// ---------------------------------------------------------------------------------------------
// The path, built from a position and a heading in the xz plane.

typedef struct way {
  track *track;
  tn_vec3 at;
  float heading; // 0: along x; grows towards z
} way;

// Stations are about 4 cm apart, which the cubics through them require.
static int steps_for(float length)
{
  return 1 + (int)(length / 0.04f);
}

static tn_vec3 ahead(const way *w)
{
  return tn_v3(tn_cos(w->heading), 0.0f, tn_sin(w->heading));
}

// Squared speed of a marble that rolls down from the belt's end. It rotates about the line between
// its contacts, so it is slower than a sliding one.
static float square_speed(float y)
{
  static const float START = 0.15f;
  float arm = track_rolling_radius(1.0f);
  return START +
         2.0f * SCENE_GRAVITY * fmaxf(DROP + LAST_FALL - y, 0.0f) / (1.0f + 0.4f / (arm * arm));
}

static void add_level(way *w)
{
  track_add(w->track, w->at, tn_v3(0.0f, 1.0f, 0.0f));
}

static void go_straight(way *w, float length)
{
  int steps = steps_for(length);
  for (int i = 0; i < steps; ++i) {
    add_level(w);
    w->at = tn_add(w->at, tn_scale(length / (float)steps, ahead(w)));
  }
}

// A ramp that begins and ends horizontally.
static void go_down_ramp(way *w)
{
  int steps = steps_for(RAMP);
  tn_vec3 top = w->at, along = ahead(w);
  for (int i = 0; i < steps; ++i) {
    float s = (float)i / (float)steps;
    float y = -0.5f * DROP * (1.0f - tn_cos(TN_PI * s));
    float slope = 0.5f * TN_PI * DROP / RAMP * tn_sin(TN_PI * s);
    tn_vec3 up = tn_add(tn_scale(slope, along), tn_v3(0.0f, 1.0f, 0.0f));
    track_add(w->track, tn_add(tn_add(top, tn_scale(RAMP * s, along)), tn_v3(0.0f, y, 0.0f)),
              track_unit(up));
  }
  w->at = tn_add(tn_add(top, tn_scale(RAMP, along)), tn_v3(0.0f, -DROP, 0.0f));
}

// A vertical loop along x that ends `shift` further in z.
static void go_through_loop(way *w, float radius, float shift)
{
  int steps = steps_for(2.0f * TN_PI * radius);
  for (int i = 0; i < steps; ++i) {
    float turn = (float)i / (float)steps;
    float sine = tn_sin(2.0f * TN_PI * turn), cosine = tn_cos(2.0f * TN_PI * turn);
    float aside = shift * (turn - sine / (2.0f * TN_PI));
    tn_vec3 place = tn_v3(radius * sine, radius * (1.0f - cosine), aside);
    track_add(w->track, tn_add(w->at, place), tn_v3(-sine, cosine, 0.0f));
  }
  w->at.z += shift;
}

// A descending coil with transitions from and to straight. The track is banked for the speed of a
// marble.
static void go_around_coil(way *w, int half_turns)
{
  const float ease = 10.0f * COIL_RADIUS; // equal to a third of a full bend at each end
  const float round = TN_PI * (float)half_turns * COIL_RADIUS - 2.0f / 3.0f * ease;
  const float length = round + 2.0f * ease;
  int steps = steps_for(length);
  float step = length / (float)steps, start = w->heading;
  for (int i = 0; i < steps; ++i) {
    float s = (float)i * step;
    float into = fminf(1.0f, fminf(s, length - s) / ease);
    float share = into * into; // smooth start, which the banking follows
    float middle = fminf(1.0f, fminf(s + 0.5f * step, length - s - 0.5f * step) / ease);
    tn_vec3 inward = tn_v3(-tn_sin(w->heading), 0.0f, tn_cos(w->heading));
    float pull = square_speed(w->at.y) * share / COIL_RADIUS;
    track_add(w->track, w->at,
              track_unit(tn_add(tn_v3(0.0f, SCENE_GRAVITY, 0.0f), tn_scale(pull, inward))));
    float bend = step * middle * middle / COIL_RADIUS;
    w->heading += 0.5f * bend;
    w->at = tn_add(w->at, tn_scale(step, tn_add(ahead(w), tn_v3(0.0f, -COIL_FALL * share, 0.0f))));
    w->heading += 0.5f * bend;
  }
  w->heading = start + TN_PI * (float)half_turns; // remove rounding errors
}

// An arc in a vertical plane, from one slope to another, both as angles.
static void bend_up(way *w, float radius, float from, float to)
{
  float length = radius * fabsf(to - from);
  int steps = steps_for(length);
  float step = length / (float)steps;
  for (int i = 0; i < steps; ++i) {
    float here = from + (to - from) * (float)i / (float)steps;
    float middle = from + (to - from) * ((float)i + 0.5f) / (float)steps;
    tn_vec3 up = tn_add(tn_scale(-tn_sin(here), ahead(w)), tn_v3(0.0f, tn_cos(here), 0.0f));
    track_add(w->track, w->at, up);
    w->at = tn_add(w->at, tn_add(tn_scale(step * tn_cos(middle), ahead(w)),
                                 tn_v3(0.0f, step * tn_sin(middle), 0.0f)));
  }
}

// Half a circle towards -z with decreasing descent.
static void turn_back(way *w, float radius, float fall)
{
  int steps = steps_for(TN_PI * radius);
  tn_vec3 center = tn_add(w->at, tn_v3(0.0f, 0.0f, -radius));
  for (int i = 0; i < steps; ++i) {
    float turn = TN_PI * (float)i / (float)steps;
    tn_vec3 out = tn_v3(-tn_sin(turn), 0.0f, tn_cos(turn));
    tn_vec3 place = tn_add(center, tn_scale(radius, out));
    place.y -= fall * tn_sin(0.5f * turn);
    float pull = square_speed(place.y) / radius * tn_sin(turn); // no banking at the ends
    tn_vec3 up = tn_add(tn_v3(0.0f, SCENE_GRAVITY, 0.0f), tn_scale(-pull, out));
    track_add(w->track, place, track_unit(up));
  }
  w->at = tn_add(center, tn_v3(0.0f, -fall, -radius));
  w->heading += TN_PI;
}

// ---------------------------------------------------------------------------------------------
// The whole track

// The belt: a straight line upwards along -x, from the entry to the exit of marbles.
typedef struct belt {
  tn_vec3 from, to;
  float slope;
} belt;

static const float OVERLAP = 0.08f;   // m, of wires and belt
static const float OFF_DROP = 0.002f; // m, from belt to wire
static const float BELT_GRIP = 2.0f;  // coefficient of friction of the belt
// Stations with guards before and after the belt, where marbles may collide.
enum { GUARDED_BEFORE = 10, GUARDED_AFTER = 60 };

// From the top of the ramp to the end of the horizontal part.
static void go_down(way *w)
{
  go_down_ramp(w);
  go_straight(w, 0.3f);
  go_through_loop(w, 0.15f, 0.12f);
  go_straight(w, 0.12f);
  go_through_loop(w, 0.11f, 0.12f);
  go_straight(w, 0.9f);
  go_around_coil(w, 7);
  go_straight(w, 0.1f);
}

// Slope of a belt between two bends, for a total of `rise` over `run`.
static float find_slope(float run, float rise)
{
  float lo = 0.0f, hi = 1.2f;
  for (int i = 0; i < 40; ++i) {
    float slope = 0.5f * (lo + hi), s = tn_sin(slope), c = tn_cos(slope);
    float radii = ONTO_BELT + OFF_BELT;
    float reached = radii * (1.0f - c) + (run - radii * s) * s / c;
    lo = reached < rise ? slope : lo;
    hi = reached < rise ? hi : slope;
  }
  return lo;
}

static void add_on_belt(track *t, const belt *b, tn_vec3 at, float further, float lower)
{
  tn_vec3 along = tn_v3(-tn_cos(b->slope), tn_sin(b->slope), 0.0f);
  tn_vec3 up = tn_v3(tn_sin(b->slope), tn_cos(b->slope), 0.0f);
  track_add(t, tn_add(at, tn_sub(tn_scale(further, along), tn_scale(lower, up))), up);
}

// Starts and ends slightly inside the belt and below it, so that no marble hits the end of a wire.
// A marble must not touch the wires before it has left the belt: they would stop it.
static belt make_way(track *t)
{
  t->count = 0;
  way w = {.track = t, .at = {0.0f, DROP, 0.0f}};
  go_down(&w); // to find its end
  belt b = {.slope = find_slope(w.at.x, DROP + LAST_FALL - w.at.y)};
  tn_vec3 bend = tn_v3(tn_sin(b.slope), 1.0f - tn_cos(b.slope), 0.0f);
  b.from = tn_add(w.at, tn_scale(ONTO_BELT, tn_v3(-bend.x, bend.y, 0.0f)));
  b.to = tn_v3(OFF_BELT * bend.x, DROP + LAST_FALL - OFF_BELT * bend.y, w.at.z);

  *t = (track){.count = 0};
  add_on_belt(t, &b, b.to, -0.5f * OVERLAP, 3.0f * OFF_DROP);
  w = (way){.track = t, .at = b.to, .heading = TN_PI};
  w.at.y -= OFF_DROP;
  bend_up(&w, OFF_BELT, b.slope, -LAST_FALL / b.to.z);
  turn_back(&w, 0.5f * b.to.z, w.at.y - DROP);
  w = (way){.track = t, .at = {0.0f, DROP, 0.0f}};
  go_down(&w);
  bend_up(&w, ONTO_BELT, 0.0f, b.slope);
  add_on_belt(t, &b, b.from, 0.0f, 0.0f);
  add_on_belt(t, &b, b.from, 0.5f * OVERLAP, 0.001f);
  add_on_belt(t, &b, b.from, OVERLAP, 0.003f);
  return b;
}

// Guards: shortly before the belt, along it, and until marbles are fast.
static void make_guarded_way(track *guarded, const track *t, const belt *b)
{
  *guarded = (track){.count = 0};
  int onto = t->count - 3, off = 1; // the stations where the belt starts and ends
  for (int i = onto - GUARDED_BEFORE; i < onto; ++i) {
    track_add(guarded, t->center[i], t->up[i]);
  }
  float length = tn_length(tn_sub(b->to, b->from));
  int steps = steps_for(length);
  for (int i = 0; i < steps; ++i) {
    add_on_belt(guarded, b, b->from, length * (float)i / (float)steps, 0.0f);
  }
  for (int i = off; i < off + GUARDED_AFTER; ++i) {
    track_add(guarded, t->center[i], t->up[i]);
  }
}

// A rotation that maps x and y to two given perpendicular directions.
static tn_quat frame_of(tn_vec3 x, tn_vec3 y)
{
  tn_quat q = tn_quat_x_to(x);
  tn_vec3 side = tn_rotate(q, tn_v3(0.0f, 1.0f, 0.0f));
  float angle = tn_atan2(tn_dot(tn_cross(side, y), x), tn_dot(side, y));
  return tn_quat_mul(tn_quat_axis_angle(x, angle), q);
}

// Two moving faces that form a V. Marbles lie on them without rolling and move with them.
static void lay_belt(scene_run *run, const belt *b, float radius)
{
  tn_vec3 way_up = tn_sub(b->to, b->from), along = track_unit(way_up);
  tn_vec3 up = tn_v3(tn_sin(b->slope), tn_cos(b->slope), 0.0f), side = tn_cross(along, up);
  tn_vec3 middle = tn_scale(0.5f, tn_add(b->from, b->to));
  for (int i = 0; i < 2; ++i) {
    tn_vec3 aside = i ? side : tn_scale(-1.0f, side);
    tn_vec3 normal = track_unit(tn_add(up, aside)), outward = track_unit(tn_sub(up, aside));
    tn_shape_def face =
        scene_box_shape(tn_v3(0.5f * tn_length(way_up), 0.25f * radius, 2.0f * radius));
    face.material = scene_material(BELT_GRIP, 0.0f);
    face.material.rolling_friction = 0.5f;
    face.material.surface_velocity = tn_v3((float)scene_value(run, "belt_speed"), 0.0f, 0.0f);
    tn_vec3 center =
        tn_add(middle, tn_sub(tn_scale(radius, outward), tn_scale(1.26f * radius, normal)));
    scene_add_fixed(
        run, (tn_transform){tn_offset(tn_p3(0.0, 0.0, 0.0), center), frame_of(along, normal)},
        &face);
  }
}

// A sensor in the middle of the ramp.
static void add_gate(scene_run *run, float radius)
{
  tn_shape_def gate = scene_box_shape(tn_v3(0.1f * radius, 3.0f * radius, 2.0f * radius));
  gate.sensor = true;
  tn_pos at = tn_p3(0.5 * (double)RAMP, 0.5 * (double)DROP, 0.0);
  scene_add_fixed(run, (tn_transform){at, tn_quat_identity()}, &gate);
}

// Time of a marble from one station to the next.
static float time_between(const track *t, int i)
{
  float middle = 0.5f * (t->center[i].y + t->center[i + 1].y);
  return tn_length(tn_sub(t->center[i + 1], t->center[i])) / sqrtf(square_speed(middle));
}

static float time_on_wires(const track *t)
{
  float time = 0.0f;
  for (int i = 0; i + 1 < t->count; ++i) {
    time += time_between(t, i);
  }
  return time;
}

// A rolling marble at `time` after leaving the belt.
static void add_rolling_marble(scene_run *run, const track *t, float time, float radius)
{
  int i = 0;
  while (i + 2 < t->count && time > time_between(t, i)) {
    time -= time_between(t, i++);
  }
  tn_vec3 step = tn_sub(t->center[i + 1], t->center[i]), along = track_unit(step);
  tn_vec3 place = tn_add(t->center[i], tn_scale(time / time_between(t, i), step));
  tn_vec3 velocity = tn_scale(sqrtf(square_speed(place.y)), along);
  tn_vec3 spin = tn_scale(1.0f / track_rolling_radius(radius), tn_cross(t->up[i], velocity));
  track_add_marble(run, place, velocity, spin, radius);
}

// Entry of marbles onto the belt: friction slows them down to its speed.
typedef struct braking {
  float entry, speed; // m/s, before and after
  float rate;         // m/s^2
  float time;         // s
} braking;

static braking brake(const scene_run *run, const belt *b)
{
  float grip = 0.5f * (BELT_GRIP + (float)scene_value(run, "friction"));
  braking k = {.entry = sqrtf(square_speed(b->from.y)),
               .speed = (float)scene_value(run, "belt_speed")};
  k.rate = SCENE_GRAVITY * (sqrtf(2.0f) * grip * tn_cos(b->slope) + tn_sin(b->slope));
  k.time = (k.entry - k.speed) / k.rate;
  return k;
}

// Position along the belt at `time` after the entry.
static float way_up_belt(const braking *k, float time)
{
  float slowing = fminf(time, k->time);
  return k->entry * slowing - 0.5f * k->rate * slowing * slowing + k->speed * (time - slowing);
}

static void add_lifted_marble(scene_run *run, const belt *b, const braking *k, float time,
                              float radius)
{
  tn_vec3 along = track_unit(tn_sub(b->to, b->from)), still = {0.0f, 0.0f, 0.0f};
  tn_vec3 velocity = tn_scale(fmaxf(k->speed, k->entry - k->rate * time), along);
  tn_vec3 place = tn_add(b->from, tn_scale(way_up_belt(k, time), along));
  track_add_marble(run, place, velocity, still, radius);
}

// Marbles at equal intervals of time.
static void add_marbles(scene_run *run, const track *t, const belt *b, float radius)
{
  braking k = brake(run, b);
  float steady = tn_length(tn_sub(b->to, b->from)) - way_up_belt(&k, k.time);
  float rolling = time_on_wires(t), rising = k.time + steady / k.speed;
  int count = (int)scene_value(run, "count");
  for (int i = 0; i < count && !run->failed; ++i) {
    float time = (rolling + rising) * ((float)i + 0.5f) / (float)count;
    if (time < rolling) {
      add_rolling_marble(run, t, time, radius);
    } else {
      add_lifted_marble(run, b, &k, time - rolling, radius);
    }
  }
}

static void build_sculpture(scene_run *run)
{
  track t, guarded;
  float radius = (float)scene_value(run, "radius");
  belt b = make_way(&t);
  track_lay(run, &t, radius);
  make_guarded_way(&guarded, &t, &b);
  track_lay_guards(run, &guarded, radius);
  lay_belt(run, &b, radius);
  add_gate(run, radius);
  add_marbles(run, &t, &b, radius);
  run->energy_scale = run->weighing_mass * (double)(SCENE_GRAVITY * DROP);
}

enum { PASSES };

static void count_passes(scene_run *run, float dt)
{
  (void)dt;
  int count;
  const tn_contact_event *events = tn_world_contact_events(run->world, &count);
  for (int i = 0; i < count; ++i) {
    run->memory[PASSES] += events[i].kind == TN_EVENT_SENSOR_BEGIN;
  }
}

static void measure_sculpture(const scene_run *run, scene_sheet *sheet)
{
  track t;
  make_way(&t);
  t.closed = true; // the belt connects the last station to the first
  scene_note(sheet, "escaped", (double)track_count_off(run, &t));
  scene_note(sheet, "rounds", run->memory[PASSES] / (double)run->body_count);
}

const scene scene_sculpture = {
    .name = "sculpture",
    .title = "A rolling ball sculpture: ramp, loops, coil, and a belt upwards",
    .source = "Mueller et al. 2020, Fig. 1 and 14",
    .group = SCENE_DETAILED,
    .camera = {{3.4f, 1.3f, 2.0f}, {1.7f, 0.3f, 0.6f}},
    .seconds = 60.0,
    .substeps = 20,
    .tenon_only = true, // the belt needs rolling friction
    .parameters = {{"count", 1.0, 35.0, 30.0, true, "number of marbles"},
                   {"radius", 0.01, 0.02, 0.02, false, "radius of a marble, m"},
                   {"belt_speed", 0.1, 2.0, 0.5, false, "speed of the belt, m/s"},
                   {"restitution", 0.0, 1.0, 0.0, false, "restitution of marbles"},
                   {"friction", 0.0, 10.0, 0.6, false, "coefficient of friction"}},
    .build = build_sculpture,
    .drive = count_passes,
    .measure = measure_sculpture,
};

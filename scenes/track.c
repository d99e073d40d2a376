// Tracks of two wires, and marbles on them.
#include "track.h"

#include <math.h>

void track_add(track *t, tn_vec3 center, tn_vec3 up)
{
  if (t->count < TRACK_MAX_STATIONS) {
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

tn_vec3 track_unit(tn_vec3 v)
{
  return tn_scale(1.0f / tn_length(v), v);
}

// The gauge is 1.4 radii of the marble, the radius of a wire a quarter of a marble's.
static const float HALF_GAUGE = 0.7f, WIRE = 0.25f;

float track_rolling_radius(float radius)
{
  return radius * sqrtf((1.0f + WIRE) * (1.0f + WIRE) - HALF_GAUGE * HALF_GAUGE) / (1.0f + WIRE);
}

// A wire beside the path of the marbles' centres; offsets to the right and up in marble radii.
typedef struct rail {
  float right, up;
} rail;

static tn_vec3 rail_point(const track *t, int i, float radius, rail r)
{
  tn_vec3 way = tn_sub(t->center[neighbour(t, i, 1)], t->center[neighbour(t, i, -1)]);
  tn_vec3 right = track_unit(tn_cross(way, t->up[i]));
  tn_vec3 beside = tn_add(tn_scale(r.right, right), tn_scale(r.up, t->up[i]));
  return tn_add(t->center[i], tn_scale(radius, beside));
}

// Rails do not bounce, for any restitution of the marble.
static tn_material rail_material(float friction)
{
  tn_material material = scene_material(friction, 0.0f);
  material.combine_restitution = TN_COMBINE_MINIMUM;
  return material;
}

static void lay_rail(scene_run *run, const track *t, float radius, rail r, tn_material material)
{
  tn_wire_point points[TRACK_MAX_STATIONS];
  for (int i = 0; i < t->count; ++i) {
    points[i].position = rail_point(t, i, radius, r);
  }
  for (int i = 0; i < t->count; ++i) {
    bool is_inside = t->closed || (i > 0 && i < t->count - 1);
    tn_vec3 d = tn_sub(points[neighbour(t, i, 1)].position, points[neighbour(t, i, -1)].position);
    points[i].tangent = tn_scale(is_inside ? 0.5f : 1.0f, d);
  }
  tn_shape_def wire = tn_default_shape_def(TN_SHAPE_WIRE);
  wire.radius = WIRE * radius;
  wire.material = material;
  wire.geometry = tn_wire_create(run->world, points, t->count, t->closed);
  if (TN_IS_NULL(wire.geometry)) {
    run->failed = true;
    return;
  }
  scene_add_fixed(run, (tn_transform){{0.0, 0.0, 0.0}, tn_quat_identity()}, &wire);
}

void track_lay(scene_run *run, const track *t, float radius)
{
  scene_set_gravity(run);
  tn_material material = rail_material((float)scene_value(run, "friction"));
  float below = sqrtf((1.0f + WIRE) * (1.0f + WIRE) - HALF_GAUGE * HALF_GAUGE);
  lay_rail(run, t, radius, (rail){-HALF_GAUGE, -below}, material);
  lay_rail(run, t, radius, (rail){HALF_GAUGE, -below}, material);
}

// The gap between the two guards is smaller than a marble.
void track_lay_guards(scene_run *run, const track *t, float radius)
{
  tn_material material = rail_material(0.0f);
  material.combine_friction = TN_COMBINE_MINIMUM;
  lay_rail(run, t, radius, (rail){-1.1f, 1.0f}, material);
  lay_rail(run, t, radius, (rail){1.1f, 1.0f}, material);
}

tn_body_id track_add_marble(scene_run *run, tn_vec3 center, tn_vec3 velocity, tn_vec3 spin,
                            float radius)
{
  tn_shape_def shape = scene_sphere_shape(radius);
  shape.material =
      scene_material((float)scene_value(run, "friction"), (float)scene_value(run, "restitution"));
  tn_body_def def = scene_body_def();
  def.position = tn_offset(tn_p3(0.0, 0.0, 0.0), center);
  def.velocity = velocity;
  def.angular_velocity = spin;
  return scene_add_solid(run, &def, &shape, 0.01f);
}

// Distance of a marble from the track, and its station.
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

// A marble past the end does not count as off the track.
static bool is_past_end(const track *t, int station)
{
  return !t->closed && station >= t->count - 2;
}

int track_count_off(const scene_run *run, const track *t)
{
  double radius = scene_value(run, "radius");
  int off = 0;
  for (int i = 0; i < run->body_count; ++i) {
    int station = 0;
    double distance = distance_from_track(run, t, i, &station);
    off += !is_past_end(t, station) && !(distance < radius);
  }
  return off;
}

int track_count_past(const scene_run *run, const track *t)
{
  int past = 0;
  for (int i = 0; i < run->body_count; ++i) {
    int station = 0;
    distance_from_track(run, t, i, &station);
    past += is_past_end(t, station);
  }
  return past;
}

void track_note(const scene_run *run, scene_sheet *sheet, const track *t)
{
  scene_note(sheet, "off_track", (double)track_count_off(run, t));
  scene_note(sheet, "past_end", (double)track_count_past(run, t));
}

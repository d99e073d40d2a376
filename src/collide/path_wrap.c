// The shortest path around a round solid, in the plane across its axis; for a sphere in the plane
// through its centre and both points. With p, q the points there, L their distances from the
// centre, r the radius:
//
//   tangents   r (cos f p/L + sin f s n x p/L),   cos f = r / L,   s = 1 counterclockwise, -1 back
//   arc        r times the angle between the tangents, in the direction s
//   inside     the point m of the circle with m' . (p - m) / |p - m| + m' . (q - m) / |q - m| = 0,
//              m' the tangent: the shortest path over the circle
//
// A cylinder unrolls into a plane, where the path is straight: its height grows evenly with the
// length in the plane across the axis.
//
// Since the touching points make the path shortest, its length changes with them only to second
// order: the gradient of the length is that of the straight parts, with the touching points fixed
// to the solid.
#include "collide/path_wrap.h"

#include "base/dangle.h"
#include "base/dvec.h"

#include <math.h>

#define LEAST 1e-15 // m, of lengths that give a direction

typedef struct flat {
  double x, y;
} flat;

static double flat_dot(flat a, flat b)
{
  return a.x * b.x + a.y * b.y;
}

static double flat_cross(flat a, flat b)
{
  return a.x * b.y - a.y * b.x;
}

static flat flat_sum(double s, flat a, double t, flat b)
{
  flat v = {s * a.x + t * b.x, s * a.y + t * b.y};
  return v;
}

static double flat_length(flat a)
{
  return sqrt(flat_dot(a, a));
}

// The zero vector for one of no length.
static flat flat_unit(flat a)
{
  double length = flat_length(a), scale = length > LEAST ? 1.0 / length : 0.0;
  return flat_sum(scale, a, 0.0, a);
}

// The problem in the plane; distances from the centre are greater than the radius.
typedef struct flat_path {
  double radius;
  flat p[2], side;
} flat_path;

// What solves it: the points, and the lengths of the path before, between and after them.
typedef struct flat_wrap {
  int count;
  flat at[2];
  double before, between, after;
} flat_wrap;

// The point of the segment from p to q that is nearest to the centre.
static flat nearest(const flat_path *f)
{
  flat d = flat_sum(1.0, f->p[1], -1.0, f->p[0]);
  double square = flat_dot(d, d), t = square > 0.0 ? -flat_dot(d, f->p[0]) / square : 0.0;
  return flat_sum(1.0, f->p[0], fmin(fmax(t, 0.0), 1.0), d);
}

// ---------------------------------------------------------------------------------------------
// Around

// The path that winds about the centre in the direction `sign`.
static flat_wrap wind(const flat_path *f, double sign)
{
  flat_wrap w = {.count = 2};
  double length[2];
  for (int i = 0; i < 2; ++i) {
    double square = flat_dot(f->p[i], f->p[i]), r = f->radius;
    length[i] = sqrt(fmax(0.0, square - r * r));
    flat turned = {-f->p[i].y, f->p[i].x};
    double turn = i == 0 ? sign : -sign;
    w.at[i] = flat_sum(r * r / square, f->p[i], turn * r * length[i] / square, turned);
  }
  double angle = sign * d_atan2(flat_cross(w.at[0], w.at[1]), flat_dot(w.at[0], w.at[1]));
  w.before = length[0];
  w.between = f->radius * (angle < 0.0 ? angle + 2.0 * D_PI : angle);
  w.after = length[1];
  return w;
}

// How much a path passes on the side asked for.
static double goodness(const flat_path *f, const flat_wrap *w)
{
  return flat_dot(flat_unit(flat_sum(1.0, w->at[0], 1.0, w->at[1])), f->side);
}

// Whether one point is between the circle and the tangents from the other: no tangents cross, and
// both ways wind about the circle. With f the angle from a point to its tangents, the angle between
// the points is less than the difference of the f.
static bool is_nested(const flat_path *f)
{
  double r = f->radius, l = flat_length(f->p[0]), k = flat_length(f->p[1]);
  double sines = sqrt(fmax(0.0, (l * l - r * r) * (k * k - r * r)));
  return flat_dot(f->p[0], f->p[1]) > r * r + sines;
}

static flat_wrap find_around(const flat_path *f)
{
  flat_wrap none = {0};
  flat near = nearest(f);
  bool sided = f->side.x != 0.0 || f->side.y != 0.0;
  bool meets = flat_length(near) < f->radius;
  double sense = flat_cross(f->p[0], f->p[1]) >= 0.0 ? 1.0 : -1.0; // the shorter way
  if (!meets && (!sided || flat_dot(near, f->side) >= 0.0)) {
    return none;
  }
  if (!meets && !is_nested(f)) { // the segment passes on the wrong side: the long way
    return wind(f, -sense);
  }
  flat_wrap shorter = wind(f, sense), longer = wind(f, -sense);
  return sided && goodness(f, &longer) > goodness(f, &shorter) ? longer : shorter;
}

// ---------------------------------------------------------------------------------------------
// Inside

// Bisects the angle between p and q.
static flat_wrap find_inside(const flat_path *f)
{
  enum { HALVINGS = 50 };
  flat_wrap none = {0}, w = {.count = 1};
  flat lo = flat_unit(f->p[0]), hi = flat_unit(f->p[1]), m = lo;
  if (flat_length(nearest(f)) <= f->radius) {
    return none;
  }
  double sense = flat_cross(lo, hi) >= 0.0 ? 1.0 : -1.0;
  for (int i = 0; i < HALVINGS; ++i) {
    m = flat_unit(flat_sum(1.0, lo, 1.0, hi));
    flat along = {-sense * m.y, sense * m.x};
    flat to_p = flat_unit(flat_sum(1.0, f->p[0], -f->radius, m));
    flat to_q = flat_unit(flat_sum(1.0, f->p[1], -f->radius, m));
    bool further = flat_dot(along, to_p) + flat_dot(along, to_q) > 0.0;
    lo = further ? m : lo;
    hi = further ? hi : m;
  }
  w.at[0] = flat_sum(f->radius, m, 0.0, m);
  w.before = flat_length(flat_sum(1.0, f->p[0], -1.0, w.at[0]));
  w.after = flat_length(flat_sum(1.0, f->p[1], -1.0, w.at[0]));
  return w;
}

// ---------------------------------------------------------------------------------------------
// In space

static tn_pos unit_or(tn_pos v, tn_pos other)
{
  double length = sqrt(pos_dot(v, v));
  return length > LEAST ? pos_scale(1.0 / length, v) : other;
}

// Some unit vector across a unit vector.
static tn_pos across(tn_pos v)
{
  bool x = fabs(v.x) <= fabs(v.y) && fabs(v.x) <= fabs(v.z), y = !x && fabs(v.y) <= fabs(v.z);
  return unit_or(pos_cross(v, tn_p3(x, y, !x && !y)), tn_p3(1.0, 0.0, 0.0));
}

// The normal of the plane that the path is seen in. With centre and points on one line all planes
// through it are equal, and the side decides.
static tn_pos plane_normal(const path_solid *solid, tn_pos p, tn_pos q)
{
  bool sphere = pos_dot(solid->axis, solid->axis) == 0.0;
  tn_pos n = sphere ? pos_cross(p, q) : solid->axis;
  double size = sqrt(pos_dot(p, p) * pos_dot(q, q));
  if (sphere && sqrt(pos_dot(n, n)) <= 1e-12 * size) {
    tn_pos along = unit_or(p, tn_p3(1.0, 0.0, 0.0));
    return unit_or(pos_cross(along, solid->side), across(along));
  }
  return unit_or(n, tn_p3(0.0, 0.0, 1.0));
}

path_wrap path_wrap_find(const path_solid *solid, tn_pos a, tn_pos b)
{
  path_wrap out = {0};
  tn_pos p = pos_sub(a, solid->center), q = pos_sub(b, solid->center);
  tn_pos n = plane_normal(solid, p, q);
  double height[2] = {pos_dot(n, p), pos_dot(n, q)};
  tn_pos u = pos_sub(p, pos_scale(height[0], n));
  double first = sqrt(pos_dot(u, u)), r = solid->radius;
  if (first <= r || !(r > 0.0)) {
    return out;
  }
  u = pos_scale(1.0 / first, u);
  tn_pos v = pos_cross(n, u);
  flat_path f = {r, {{first, 0.0}, {pos_dot(u, q), pos_dot(v, q)}}, {0.0, 0.0}};
  f.side = (flat){pos_dot(u, solid->side), pos_dot(v, solid->side)};
  if (flat_length(f.p[1]) <= r) {
    return out;
  }
  flat_wrap w = solid->inside ? find_inside(&f) : find_around(&f);
  double whole = w.before + w.between + w.after, rise = height[1] - height[0];
  double part[2] = {w.before, w.before + w.between};
  for (int i = 0; i < w.count; ++i) {
    double h = height[0] + rise * part[i] / whole;
    tn_pos flat_at = pos_add(pos_scale(w.at[i].x, u), pos_scale(w.at[i].y, v));
    out.at[i] = pos_add(solid->center, pos_add(flat_at, pos_scale(h, n)));
  }
  double climb = w.count == 2 ? rise * w.between / whole : 0.0;
  out.count = w.count;
  out.arc = sqrt(w.between * w.between + climb * climb);
  return out;
}

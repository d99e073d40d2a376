// A path is a polyline through its points and the points where it touches solids, plus the arcs in
// between: sum of factor |p_i - p_(i-1)| + factor arc. The touching points count as fixed to their
// solid, see collide/path_wrap.c.
#include "solver/joint/coupling_path.h"

#include "base/dvec.h"
#include "collide/path_wrap.h"
#include "kernel/tuning.h"

static void pull(double *row, double scale, tn_pos lever, tn_pos n)
{
  tn_pos turning = pos_cross(lever, n);
  row[0] += scale * n.x;
  row[1] += scale * n.y;
  row[2] += scale * n.z;
  row[3] += scale * turning.x;
  row[4] += scale * turning.y;
  row[5] += scale * turning.z;
}

static double add_straight(const path_part *a, const path_part *b, double factor, double (*j)[6])
{
  tn_pos d = pos_sub(b->at, a->at);
  double length = sqrt(pos_dot(d, d));
  // A segment within one body has no gradient: not even rounding may move anything.
  if (j && factor > 0.0 && a->side != b->side && length > (double)TUNING_MIN_LENGTH) {
    tn_pos n = pos_scale(1.0 / length, d);
    if (b->side >= 0) {
      pull(j[b->side], factor, b->lever, n);
    }
    if (a->side >= 0) {
      pull(j[a->side], -factor, a->lever, n);
    }
  }
  return factor * length;
}

static path_wrap wrap_of(const path_part *solid, tn_pos a, tn_pos b)
{
  const tn_coupling_point *p = solid->of;
  path_solid s = {solid->at, (double)p->radius, dquat_rotate(solid->turn, pos_from_vec3(p->axis)),
                  dquat_rotate(solid->turn, pos_from_vec3(p->side)), p->inside};
  return path_wrap_find(&s, a, b);
}

static bool is_solid(const path_part *part)
{
  return part->of->radius > 0.0f;
}

double path_length(const path_part *parts, int count, double (*j)[6])
{
  double sum = 0.0;
  for (int i = 1; i < count; ++i) {
    path_part last = parts[i - 1];
    bool around = is_solid(&parts[i]) && i + 1 < count;
    const path_part *next = &parts[around ? i + 1 : i];
    double factor = (double)next->of->factor;
    if (around && factor > 0.0) {
      path_wrap w = wrap_of(&parts[i], last.at, next->at);
      for (int k = 0; k < w.count; ++k) {
        path_part touch = parts[i];
        touch.at = w.at[k];
        touch.lever = pos_add(touch.lever, pos_sub(w.at[k], parts[i].at));
        sum += k == 0 ? add_straight(&last, &touch, factor, j) : factor * w.arc;
        last = touch;
      }
    }
    sum += add_straight(&last, next, factor, j);
    i += around;
  }
  return sum;
}

int path_corners(const path_part *parts, int count, path_corner *corners)
{
  int total = 0;
  for (int i = 0; i < count; ++i) {
    bool around = is_solid(&parts[i]) && i > 0 && i + 1 < count;
    if (!around) {
      corners[total++] = (path_corner){parts[i].at, i > 0 ? (double)parts[i].of->factor : 0.0};
      continue;
    }
    path_wrap w = wrap_of(&parts[i], parts[i - 1].at, parts[i + 1].at);
    for (int k = 0; k < w.count && parts[i + 1].of->factor > 0.0f; ++k) {
      corners[total++] = (path_corner){w.at[k], (double)parts[i + 1].of->factor};
    }
  }
  return total;
}

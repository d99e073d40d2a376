// Searches four products at a time. What is found does not depend on the width: products are those
// of single vectors, and ties go to the first.
#if defined(__GNUC__)
#define TN_LANES 4
#endif
#include "collide/vector_rows.h"

#include "collide/collide_tuning.h"
#include "kernel/lane.h"

#include <stdalign.h>

static int padded(int count)
{
  return (count + VECTOR_ROWS_WIDTH - 1) / VECTOR_ROWS_WIDTH * VECTOR_ROWS_WIDTH;
}

size_t vector_rows_size(int count)
{
  return 3 * (size_t)padded(count) * sizeof(float);
}

vector_rows vector_rows_make(void *memory, const tn_vec3 *vectors, size_t stride, int count)
{
  int length = padded(count);
  float *row = memory;
  vector_rows v = {row, row + length, row + 2 * length, count, {0.0f, 0.0f, 0.0f}};
  for (int i = 0; i < length; i++) {
    const char *at = (const char *)vectors + (size_t)(i < count ? i : 0) * stride;
    tn_vec3 p;
    memcpy(&p, at, sizeof p);
    v.x[i] = p.x;
    v.y[i] = p.y;
    v.z[i] = p.z;
    v.extent = tn_v3(fmaxf(v.extent.x, fabsf(p.x)), fmaxf(v.extent.y, fabsf(p.y)),
                     fmaxf(v.extent.z, fabsf(p.z)));
  }
  return v;
}

vector_rows vector_rows_turned(void *memory, const vector_rows *from, tn_vec3 about, tn_quat turn)
{
  int length = padded(from->count);
  float *row = memory;
  vector_rows v = {row, row + length, row + 2 * length, from->count, {0.0f, 0.0f, 0.0f}};
  tn_vec3 i = tn_rotate(turn, tn_v3(1.0f, 0.0f, 0.0f)),
          j = tn_rotate(turn, tn_v3(0.0f, 1.0f, 0.0f)),
          k = tn_rotate(turn, tn_v3(0.0f, 0.0f, 1.0f));
  for (int n = 0; n < length; n += TN_LANES) {
    R x = load(from->x + n) - about.x, y = load(from->y + n) - about.y,
      z = load(from->z + n) - about.z;
    store(v.x + n, x * i.x + y * j.x + z * k.x);
    store(v.y + n, x * i.y + y * j.y + z * k.y);
    store(v.z + n, x * i.z + y * j.z + z * k.z);
  }
  return v;
}

KERNEL float largest_of(R r)
{
  alignas(16) float lane[TN_LANES];
  store(lane, r);
  float top = lane[0];
  for (int i = 1; i < TN_LANES; i++) {
    top = lane[i] > top ? lane[i] : top;
  }
  return top;
}

KERNEL R products(const vector_rows *v, int i, R x, R y, R z)
{
  return x * load(v->x + i) + y * load(v->y + i) + z * load(v->z + i);
}

// The largest product, its index if it is the only one, and the largest of the others.
typedef struct best_product {
  float top, second;
  int index;
} best_product;

// Without branches: which vector wins is not predictable.
KERNEL best_product find_best(const vector_rows *v, tn_vec3 d)
{
  alignas(16) static const float first[4] = {0.0f, 1.0f, 2.0f, 3.0f};
  alignas(16) float lane[TN_LANES];
  R x = splat(d.x), y = splat(d.y), z = splat(d.z), here = load(first);
  R top = products(v, 0, x, y, z), second = splat(-INFINITY), index = here;
  for (int i = TN_LANES; i < v->count; i += TN_LANES) {
    R p = products(v, i, x, y, z);
    here = here + (float)TN_LANES;
    second = r_max(second, r_min(p, top));
    index = pick(p > top, here, index);
    top = r_max(p, top);
  }
  best_product best = {.top = largest_of(top)};
  M wins = top == splat(best.top);
  best.second = largest_of(pick(wins, second, top));
  // The sum over the winning lanes, of which there may be several.
  store(lane, pick(wins, index + (float)VECTOR_ROWS_MAX, splat(0.0f)));
  float sum = 0.0f;
  for (int i = 0; i < TN_LANES; i++) {
    sum += lane[i];
  }
  best.index = (int)sum - VECTOR_ROWS_MAX;
  best.second = best.index < VECTOR_ROWS_MAX ? best.second : best.top;
  return best;
}

static float product_at(const vector_rows *v, int i, tn_vec3 d)
{
  return d.x * v->x[i] + d.y * v->y[i] + d.z * v->z[i];
}

static double exact_product_at(const vector_rows *v, int i, d3 d)
{
  return d.x * (double)v->x[i] + d.y * (double)v->y[i] + d.z * (double)v->z[i];
}

static int first_of_equals(const vector_rows *v, tn_vec3 d, float top)
{
  int i = 0;
  while (i + 1 < v->count && product_at(v, i, d) < top) {
    i++;
  }
  return i;
}

static int compare_all(const vector_rows *v, d3 d)
{
  int best = 0;
  double top = exact_product_at(v, 0, d);
  for (int i = 1; i < v->count; i++) {
    double p = exact_product_at(v, i, d);
    if (p > top) {
      best = i;
      top = p;
    }
  }
  return best;
}

int vector_rows_furthest(const vector_rows *v, tn_vec3 direction)
{
  best_product best = find_best(v, direction);
  return best.top > best.second ? best.index : first_of_equals(v, direction, best.top);
}

// Where the lead of the best in float exceeds the rounding error it is the best in double too.
int vector_rows_furthest_exact(const vector_rows *v, d3 direction)
{
  tn_vec3 d = tn_v3((float)direction.x, (float)direction.y, (float)direction.z);
  float bound = fabsf(d.x) * v->extent.x + fabsf(d.y) * v->extent.y + fabsf(d.z) * v->extent.z;
  best_product best = find_best(v, d);
  bool sure = bound > COLLIDE_PRODUCT_LEAST && bound < COLLIDE_PRODUCT_MOST &&
              best.top - best.second > COLLIDE_PRODUCT_ROUNDING * bound;
  return sure ? best.index : compare_all(v, direction);
}

void vector_rows_range(const vector_rows *v, tn_vec3 direction, float *lowest, float *highest)
{
  R x = splat(direction.x), y = splat(direction.y), z = splat(direction.z);
  R top = products(v, 0, x, y, z), bottom = top;
  for (int i = TN_LANES; i < v->count; i += TN_LANES) {
    R p = products(v, i, x, y, z);
    top = r_max(p, top);
    bottom = r_min(p, bottom);
  }
  *highest = largest_of(top);
  *lowest = -largest_of(-bottom);
}

float vector_rows_products(const vector_rows *v, tn_vec3 direction, float *products_out)
{
  R x = splat(direction.x), y = splat(direction.y), z = splat(direction.z);
  R bottom = splat(INFINITY);
  for (int i = 0; i < v->count; i += TN_LANES) {
    R p = products(v, i, x, y, z);
    store(products_out + i, p);
    bottom = r_min(p, bottom);
  }
  return -largest_of(-bottom);
}

prism_reach vector_rows_reach(const vector_rows *v, const float *known, int lowest, const prism *p,
                              const float slack[3])
{
  R none = splat(-INFINITY), near_any = none, all[3] = {none, none, none};
  R foremost[3] = {none, none, none}, zero = splat(0.0f);
  R x = splat(v->x[lowest]), y = splat(v->y[lowest]), z = splat(v->z[lowest]);
  for (int i = 0; i < v->count; i += TN_LANES) {
    R height = load(known + i), near = p->limit - height;
    R dx = load(v->x + i) - x, dy = load(v->y + i) - y, dz = load(v->z + i) - z;
    R rise = height - known[lowest], above = r_max(rise - p->rounding, zero);
    R across = dx * dx + dy * dy + dz * dz - rise * rise;
    M may_be_lowest = above * above <= r_max(across, zero) * (p->slope * p->slope);
    for (int k = 0; k < 3; k++) {
      tn_vec3 s = p->side[k];
      R inside = products(v, i, splat(s.x), splat(s.y), splat(s.z)) - p->offset[k];
      all[k] = r_max(inside, all[k]);
      foremost[k] = r_max(pick(may_be_lowest, inside, none), foremost[k]);
      near = r_min(inside + slack[k], near);
    }
    near_any = r_max(near, near_any);
  }
  prism_reach reach = {.near_any = largest_of(near_any) >= 0.0f};
  for (int k = 0; k < 3; k++) {
    reach.all[k] = largest_of(all[k]);
    reach.foremost[k] = largest_of(foremost[k]);
  }
  return reach;
}

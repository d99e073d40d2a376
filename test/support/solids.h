// Shared by the tests of mass and hulls: random numbers, comparisons, rigid motions of points.
#ifndef TENON_TEST_SOLIDS_H
#define TENON_TEST_SOLIDS_H

// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include "collide/quickhull.h"

static inline uint64_t random_bits(uint64_t *state)
{
  *state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t x = *state;
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static inline double random_between(uint64_t *state, double lo, double hi)
{
  return lo + (hi - lo) * (double)(random_bits(state) >> 11) / 9007199254740992.0;
}

static inline int random_int(uint64_t *state, int lo, int hi)
{
  return lo + (int)(random_bits(state) % (uint64_t)(hi - lo + 1));
}

static inline tn_vec3 random_vector(uint64_t *state, double size)
{
  double x = random_between(state, -size, size), y = random_between(state, -size, size);
  return tn_v3((float)x, (float)y, (float)random_between(state, -size, size));
}

static inline tn_vec3 random_in_ball(uint64_t *state, double radius)
{
  for (;;) {
    tn_vec3 v = random_vector(state, radius);
    if ((double)tn_dot(v, v) <= radius * radius) {
      return v;
    }
  }
}

static inline void random_quat(uint64_t *state, double q[4])
{
  double square;
  do {
    square = 0.0;
    for (int i = 0; i < 4; i++) {
      q[i] = random_between(state, -1.0, 1.0);
      square += q[i] * q[i];
    }
  } while (square > 1.0 || square < 0.01);
  for (int i = 0; i < 4; i++) {
    q[i] /= sqrt(square);
  }
}

static inline void random_points(uint64_t *state, tn_vec3 *points, int count)
{
  for (int i = 0; i < count; i++) {
    points[i] = random_vector(state, 1.0);
  }
}

#define ASSERT_NEAR(actual, expected, tolerance)                                                   \
  assert_near((double)(actual), (double)(expected), (double)(tolerance), __LINE__)

static inline void assert_near(double actual, double expected, double tolerance, int line)
{
  if (!(fabs(actual - expected) <= tolerance)) {
    fail_msg("line %d: %.17g is not %.17g within %g", line, actual, expected, tolerance);
  }
}

// Rotates the points by a unit quaternion, in double, then translates them.
static inline void place_points(tn_vec3 *points, int count, tn_vec3 position, const double q[4])
{
  d3 u = {q[0], q[1], q[2]};
  for (int i = 0; i < count; i++) {
    d3 v = {(double)points[i].x, (double)points[i].y, (double)points[i].z};
    d3 t = d3_scale(2.0, d3_cross(u, v));
    d3 r = d3_add(v, d3_add(d3_scale(q[3], t), d3_cross(u, t)));
    points[i] = tn_v3((float)(r.x + (double)position.x), (float)(r.y + (double)position.y),
                      (float)(r.z + (double)position.z));
  }
}

static inline void hash_bytes(uint64_t *hash, const void *bytes, size_t size)
{
  const unsigned char *byte = bytes;
  for (size_t i = 0; i < size; i++) {
    *hash = (*hash ^ byte[i]) * UINT64_C(0x100000001b3);
  }
}

#define assert_hash(actual, expected)                                                              \
  do {                                                                                             \
    if ((actual) != (expected))                                                                    \
      fail_msg("the hash is %016llx", (unsigned long long)(actual));                               \
  } while (0)

#endif

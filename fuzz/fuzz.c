// Functions that the fuzz targets share.
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_BODIES = 400, MOST_PARTICLES = 3000 };

void fuzz_fail(const char *what)
{
  fprintf(stderr, "fuzz: %s\n", what);
  abort();
}

void fuzz_log(tn_log_level level, const char *message, void *context)
{
  (void)level, (void)context;
  if (!message || !message[0]) {
    fuzz_fail("an empty message");
  }
}

tn_world_def fuzz_world_def(void)
{
  tn_world_def def = tn_default_world_def();
  def.substeps = 2;
  def.log = fuzz_log;
  return def;
}

static bool finite3(tn_vec3 v)
{
  return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

static void check_bodies(const tn_world *world)
{
  int count = tn_world_bodies(world, NULL, 0);
  tn_body_id *ids = calloc((size_t)count + 1, sizeof *ids);
  tn_world_bodies(world, ids, count);
  for (int i = 0; ids && i < count; ++i) {
    tn_transform at = tn_body_transform(world, ids[i]);
    float q = at.q.x + at.q.y + at.q.z + at.q.w;
    if (!isfinite(at.p.x) || !isfinite(at.p.y) || !isfinite(at.p.z) || !isfinite(q) ||
        !finite3(tn_body_velocity(world, ids[i])) ||
        !finite3(tn_body_angular_velocity(world, ids[i]))) {
      fuzz_fail("a body is not finite");
    }
  }
  free(ids);
}

void fuzz_check_finite(const tn_world *world)
{
  tn_soft_id softs[64];
  check_bodies(world);
  int count = tn_world_softs(world, softs, 64);
  for (int i = 0; i < count && i < 64; ++i) {
    int particles = tn_soft_positions(world, softs[i], NULL, 0);
    for (int k = 0; k < particles; ++k) {
      tn_pos p = tn_soft_position(world, softs[i], k);
      if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z) ||
          !finite3(tn_soft_velocity(world, softs[i], k))) {
        fuzz_fail("a particle is not finite");
      }
    }
  }
}

void fuzz_run_world(tn_world *world, int steps)
{
  tn_counters c = tn_world_counters(world);
  if (c.bodies > MOST_BODIES || c.particles > MOST_PARTICLES) {
    return; // valid, but slow
  }
  if (tn_world_substeps(world) * tn_world_iterations(world) > 16) {
    tn_world_set_substeps(world, 2);
    tn_world_set_iterations(world, 1);
  }
  for (int i = 0; i < steps; ++i) {
    tn_world_step(world, 1.0f / 60.0f);
  }
  fuzz_check_finite(world);
}

// ---------------------------------------------------------------------------------------------
// Random numbers

uint32_t fuzz_next(fuzz_random *r)
{
  uint64_t x = r->state += 0x9e3779b97f4a7c15ull; // splitmix64
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return (uint32_t)(x >> 32);
}

int fuzz_index(fuzz_random *r, int count)
{
  return count > 0 ? (int)(fuzz_next(r) % (uint32_t)count) : 0;
}

double fuzz_number(fuzz_random *r)
{
  static const double wild[] = {
      0.0,   -0.0,         1.0,           -1.0,         2.0,   0.5,     1e-3,    1e-6,
      1e-9,  1e-20,        1e-38,         1e-45,        10.0,  60.0,    1000.0,  1e4,
      1e6,   1e9,          1e12,          1e15,         1e20,  3.4e38,  1e39,    1e300,
      -1e3,  -1e9,         -1e30,         3.1416,       -1.57, 6.2832,  1.00001, 255.0,
      256.0, 2147483647.0, -2147483648.0, 4294967296.0, 0.1,   65535.0, 1e308,   4.0};
  switch (fuzz_index(r, 4)) {
  case 0:
    return wild[fuzz_index(r, (int)(sizeof wild / sizeof *wild))];
  case 1:
    return (double)fuzz_index(r, 20);
  case 2:
    return ((double)fuzz_next(r) / 4294967296.0 - 0.5) * 4.0;
  default:
    return ldexp((double)fuzz_next(r) / 4294967296.0 - 0.5, fuzz_index(r, 40) - 20);
  }
}

// Philox4x32-10 of Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (SC 2011).
#include <tenon/batch.h>

static void philox_round(uint32_t x[4], const uint32_t key[2])
{
  uint64_t a = 0xd2511f53ull * x[0], b = 0xcd9e8d57ull * x[2];
  uint32_t y[4] = {(uint32_t)(b >> 32) ^ x[1] ^ key[0], (uint32_t)b,
                   (uint32_t)(a >> 32) ^ x[3] ^ key[1], (uint32_t)a};
  for (int i = 0; i < 4; ++i) {
    x[i] = y[i];
  }
}

void tn_batch_random(uint64_t seed, uint32_t world, uint32_t step, uint32_t draw, uint32_t out[4])
{
  uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  out[0] = world;
  out[1] = step;
  out[2] = draw;
  out[3] = 0;
  for (int i = 0; i < 10; ++i) {
    philox_round(out, key);
    key[0] += 0x9e3779b9u;
    key[1] += 0xbb67ae85u;
  }
}

double tn_batch_uniform(uint64_t seed, uint32_t world, uint32_t step, uint32_t draw, double lo,
                        double hi)
{
  uint32_t bits[4];
  tn_batch_random(seed, world, step, draw, bits);
  return lo + (hi - lo) * ((double)bits[0] * 0x1p-32);
}

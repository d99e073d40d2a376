// Lanes: the only kernel file that depends on the target's instruction set.
//
// R is a float, or a vector of TN_LANES floats; M is the mask that a comparison of two R gives.
// Kernels apply + - * / and comparisons to R as to plain floats and use the primitives below where
// targets differ. Every primitive is exact or correctly rounded, so all targets and lane widths
// give the same bits.
#ifndef TENON_KERNEL_LANE_H
#define TENON_KERNEL_LANE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef TN_LANES
#define TN_LANES 1
#endif

// Inlining is forced in optimized builds only: debug and sanitizer builds would take minutes to
// compile. TN_FREE_INLINING leaves it to the compiler, which compiles the passes ten times as fast.
#if defined(__CUDACC__)
#define INLINED static __host__ __device__ __forceinline__
#elif defined(__GNUC__) && defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) &&              \
    !defined(__SANITIZE_THREAD__) && !defined(TN_FREE_INLINING)
#define INLINED static inline __attribute__((always_inline, unused))
#else
#define INLINED static inline
#endif

// WebAssembly is as fast without forced inlining and a third of the size, except for functions
// marked INLINED. LARGE functions are too big to be duplicated there.
#if defined(__wasm__)
#define KERNEL static inline
#define LARGE static __attribute__((noinline, minsize, unused))
#else
#define KERNEL INLINED
#define LARGE KERNEL
#endif

// Copies between memory and lanes, which stay in registers only if they are inlined.
#if defined(TN_FREE_INLINING)
#define TRANSFER static inline __attribute__((always_inline, unused))
#else
#define TRANSFER KERNEL
#endif

// A pass over blocks of one type. One function for all types would take twice as long to compile;
// where the size of the code counts, the compiler decides.
#if defined(__GNUC__) && !defined(TN_SMALL)
#define SEPARATE static __attribute__((noinline))
#else
#define SEPARATE static
#endif

// Rarely taken parts of a kernel: out of line, so that the rest keeps its registers.
#if defined(__CUDACC__)
#define SELDOM static __host__ __device__
#elif defined(__GNUC__)
#define SELDOM static __attribute__((noinline, unused))
#else
#define SELDOM static
#endif

#if TN_LANES == 1

typedef float R;
typedef int32_t M; // 0 or 1

KERNEL R splat(float x)
{
  return x;
}

KERNEL R load(const float *p)
{
  return *p;
}

KERNEL void store(float *p, R x)
{
  *p = x;
}

KERNEL R pick(M m, R a, R b)
{
  return m ? a : b;
}

KERNEL M m_not(M m)
{
  return !m;
}

KERNEL int m_any(M m)
{
  return m;
}

KERNEL R r_sqrt(R x)
{
  return sqrtf(x);
}

// 2^k for integral k in [-126, 127], by writing the exponent bits.
KERNEL R r_exp2i(R k)
{
  int32_t bits = ((int32_t)k + 127) * 8388608;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

#else

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

typedef float R __attribute__((vector_size(4 * TN_LANES)));
typedef int32_t M __attribute__((vector_size(4 * TN_LANES))); // 0 or -1 (all bits)

KERNEL R splat(float x)
{
  return x - (R){0};
}

// Loads and stores are aligned to the vector's size.
KERNEL R load(const float *p)
{
  R x;
  memcpy(&x, __builtin_assume_aligned(p, 4 * TN_LANES), sizeof x);
  return x;
}

KERNEL void store(float *p, R x)
{
  memcpy(__builtin_assume_aligned(p, 4 * TN_LANES), &x, sizeof x);
}

KERNEL R pick(M m, R a, R b)
{
#if TN_LANES == 8 && defined(__AVX__)
  return (R)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)m);
#elif TN_LANES == 4 && defined(__wasm_simd128__)
  return (R)wasm_v128_bitselect((v128_t)a, (v128_t)b, (v128_t)m);
#else
  return (R)((m & (M)a) | (~m & (M)b));
#endif
}

KERNEL M m_not(M m)
{
  return ~m;
}

// Whether any lane is set. Use it only to skip work that would change no lane: otherwise results
// would depend on the lane width.
KERNEL int m_any(M m)
{
#if TN_LANES == 16 && defined(__AVX512DQ__)
  return _mm512_movepi32_mask((__m512i)m);
#elif TN_LANES == 8 && defined(__AVX__)
  return _mm256_movemask_ps((__m256)m);
#elif TN_LANES == 4 && defined(__SSE2__)
  return _mm_movemask_ps((__m128)m);
#elif TN_LANES == 4 && defined(__wasm_simd128__)
  return wasm_v128_any_true((v128_t)m);
#else
  int any = 0;
  for (int i = 0; i < TN_LANES; ++i) {
    any |= m[i];
  }
  return any;
#endif
}

KERNEL R r_sqrt(R x)
{
#if TN_LANES == 16 && defined(__AVX512F__)
  return (R)_mm512_sqrt_ps((__m512)x);
#elif TN_LANES == 8 && defined(__AVX__)
  return (R)_mm256_sqrt_ps((__m256)x);
#elif TN_LANES == 4 && defined(__SSE2__)
  return (R)_mm_sqrt_ps((__m128)x);
#elif TN_LANES == 4 && defined(__wasm_simd128__)
  return (R)wasm_f32x4_sqrt((v128_t)x);
#elif TN_LANES == 4 && defined(__ARM_NEON) && defined(__aarch64__)
  return (R)vsqrtq_f32((float32x4_t)x);
#else
  R y = x;
  for (int i = 0; i < TN_LANES; ++i) {
    y[i] = sqrtf(x[i]);
  }
  return y;
#endif
}

KERNEL R r_exp2i(R k)
{
  M bits = (__builtin_convertvector(k, M) + 127) * 8388608;
  return (R)bits;
}

#endif

// Exactly a < b ? a : b and a > b ? a : b, also for NaN and signed zeros; the instructions have the
// same semantics.
KERNEL R r_min(R a, R b)
{
#if TN_LANES == 16 && defined(__AVX512F__)
  return (R)_mm512_min_ps((__m512)a, (__m512)b);
#elif TN_LANES == 8 && defined(__AVX__)
  return (R)_mm256_min_ps((__m256)a, (__m256)b);
#elif TN_LANES == 4 && defined(__SSE2__)
  return (R)_mm_min_ps((__m128)a, (__m128)b);
#elif TN_LANES == 4 && defined(__wasm_simd128__)
  return (R)wasm_f32x4_pmin((v128_t)b, (v128_t)a);
#else
  return pick(a < b, a, b);
#endif
}

KERNEL R r_max(R a, R b)
{
#if TN_LANES == 16 && defined(__AVX512F__)
  return (R)_mm512_max_ps((__m512)a, (__m512)b);
#elif TN_LANES == 8 && defined(__AVX__)
  return (R)_mm256_max_ps((__m256)a, (__m256)b);
#elif TN_LANES == 4 && defined(__SSE2__)
  return (R)_mm_max_ps((__m128)a, (__m128)b);
#elif TN_LANES == 4 && defined(__wasm_simd128__)
  return (R)wasm_f32x4_pmax((v128_t)b, (v128_t)a);
#else
  return pick(a > b, a, b);
#endif
}

// NaN propagates, so that later checks find it.
KERNEL R r_clamp(R x, R lo, R hi)
{
  R raised = pick(x < lo, lo, x);
  return pick(raised > hi, hi, raised);
}

KERNEL R r_abs(R x)
{
#if TN_LANES == 1
  return fabsf(x);
#else
  return (R)((M)x & 0x7fffffff);
#endif
}

// The nearest integer for |x| < 4e6: adding 1.5 * 2^23 rounds off the fraction.
KERNEL R r_round(R x)
{
  return (x + 12582912.0f) - 12582912.0f;
}

// 1 / x, or 0 where x <= floor: an effective mass is zero where nothing can move.
KERNEL R r_inverse_above(R x, R floor)
{
  return pick(x > floor, 1.0f / x, splat(0.0f));
}

#endif

// Shared by all tests: worlds with collected log messages, comparisons of doubles, random numbers,
// helpers that create bodies and joints.
#ifndef TENON_TEST_SUPPORT_H
#define TENON_TEST_SUPPORT_H

// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include <tenon/tenon.h>

// TEST_TSAN, TEST_ASAN: built with the thread or the address sanitizer. They find races and invalid
// accesses in few steps and are slow, so tests run fewer of them; a test on one thread has no races
// to find.
#if defined(__SANITIZE_THREAD__)
#define TEST_TSAN 1
#elif defined(__SANITIZE_ADDRESS__)
#define TEST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TEST_TSAN 1
#elif __has_feature(address_sanitizer)
#define TEST_ASAN 1
#endif
#endif
void test_skip_under_tsan(void); // skips the test under the thread sanitizer

// Whether TENON_LONG is set, as `make test-long` does: larger scenes and more random cases.
bool test_long(void);
// How many cases to run: `brief`, or `full` in a long run.
int test_cases(int brief, int full);

// ---------------------------------------------------------------------------------------------
// Messages

typedef struct test_log {
  int count;
  tn_log_level level; // of the last message
  char last[256];
} test_log;

// Log of the worlds that are created by the functions below.
extern test_log test_messages;

// A tn_log_fn; the context is a test_log.
void test_collect(tn_log_level level, const char *message, void *context);
const char *test_last_message(void);
void test_forget_messages(void);

// Asserts that exactly one message was logged since the last call, and that it contains `part`.
#define assert_message(part) test_assert_message(part, __FILE__, __LINE__)
void test_assert_message(const char *part, const char *file, int line);

// ---------------------------------------------------------------------------------------------
// Worlds

// The default definition with gravity (0, -10, 0) and messages collected in test_messages.
tn_world_def test_world_def(int substeps, tn_method method);
tn_world *test_world(int substeps, tn_method method);
tn_world *test_world_with(int substeps, tn_method method, int lanes, int threads);
// Steps the world; every step must return TN_STEP_OK.
#define test_run(world, dt, steps) test_run_at(world, dt, steps, __FILE__, __LINE__)
void test_run_at(tn_world *world, float dt, int steps, const char *file, int line);

#define TEST_METHODS 3
extern const tn_method test_methods[TEST_METHODS];
const char *test_method_name(tn_method method);

// The lane widths of this machine, widest last; returns how many.
int test_lanes(int lanes[4]);

// Whether all positions, velocities and read-outs of bodies and joints are finite.
bool test_is_finite(const tn_world *world);

// An allocator that counts, checks the sizes of freed blocks, and can fail on request.
#define TEST_METER_BLOCKS 128
typedef struct test_meter {
  int until_failure; // allocations that still succeed before one fails; negative: all do
  int failed;
  size_t bytes; // currently allocated
  void *memory[TEST_METER_BLOCKS];
  size_t size[TEST_METER_BLOCKS];
} test_meter;

tn_allocator test_metered(test_meter *meter);

// ---------------------------------------------------------------------------------------------
// Bodies and joints

// The default definition with the mass of a cube of 1 m and 1 kg.
tn_body_def test_body_def(void);
// A box of uniform density, at rest.
tn_body_id test_box(tn_world *world, tn_pos position, float mass, tn_vec3 half_extents);
tn_body_id test_body(tn_world *world, tn_body_type type, tn_pos position);
// With both frames at `point` and axis a along `axis`; a null id stands for the world.
tn_joint_def test_joint_def(const tn_world *world, tn_joint_kind kind, tn_body_id a, tn_body_id b,
                            tn_pos point, tn_vec3 axis);
tn_joint_id test_joint(tn_world *world, tn_joint_kind kind, tn_body_id a, tn_body_id b,
                       tn_pos point, tn_vec3 axis);
extern const tn_body_id test_no_body; // null

// ---------------------------------------------------------------------------------------------
// Numbers

// |actual - expected| <= tolerance; false for NaN. Prints both.
#define assert_close(actual, expected, tolerance)                                                  \
  test_assert_close((double)(actual), (double)(expected), (double)(tolerance), #actual, __FILE__,  \
                    __LINE__)
void test_assert_close(double actual, double expected, double tolerance, const char *what,
                       const char *file, int line);

// value < bound; false for NaN. Prints both.
#define assert_below(value, bound)                                                                 \
  test_assert_below((double)(value), (double)(bound), #value, __FILE__, __LINE__)
void test_assert_below(double value, double bound, const char *what, const char *file, int line);

// The difference relative to the larger of both; 0 for two zeros.
double rel(double a, double b);

// Uniform in [0, 1).
float test_random(uint32_t *state);
float test_between(uint32_t *state, float lo, float hi);
int test_index(uint32_t *state, int count);
// Components in [-size, size].
tn_vec3 test_vector(uint32_t *state, float size);
tn_quat test_rotation(uint32_t *state);

#endif

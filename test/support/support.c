#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void test_skip_under_tsan(void)
{
#if defined(TEST_TSAN)
  skip();
#endif
}

bool test_long(void)
{
  return getenv("TENON_LONG") != NULL;
}

int test_cases(int brief, int full)
{
  return test_long() ? full : brief;
}

// ---------------------------------------------------------------------------------------------
// Messages

test_log test_messages;

void test_collect(tn_log_level level, const char *message, void *context)
{
  test_log *log = context;
  log->count += 1;
  log->level = level;
  snprintf(log->last, sizeof log->last, "%s", message);
}

const char *test_last_message(void)
{
  return test_messages.last;
}

void test_forget_messages(void)
{
  memset(&test_messages, 0, sizeof test_messages);
}

void test_assert_message(const char *part, const char *file, int line)
{
  if (test_messages.count != 1 || !strstr(test_messages.last, part)) {
    print_error("wanted one message with \"%s\", got %d, the last being \"%s\"\n", part,
                test_messages.count, test_messages.last);
    _fail(file, line);
  }
  test_forget_messages();
}

// ---------------------------------------------------------------------------------------------
// Worlds

tn_world_def test_world_def(int substeps, tn_method method)
{
  tn_world_def def = tn_default_world_def();
  def.gravity = tn_v3(0.0f, -10.0f, 0.0f);
  def.substeps = substeps;
  def.method = method;
  def.sleeping = false;
  def.log = test_collect;
  def.log_context = &test_messages;
  def.log_repeats = true;
  return def;
}

tn_world *test_world_with(int substeps, tn_method method, int lanes, int threads)
{
  tn_world_def def = test_world_def(substeps, method);
  def.lanes = lanes;
  def.threads = threads;
  test_forget_messages();
  tn_world *world = tn_world_create(&def);
  if (!world) {
    fail_msg("no world: %s", test_last_message());
  }
  return world;
}

tn_world *test_world(int substeps, tn_method method)
{
  return test_world_with(substeps, method, 0, 1);
}

void test_run_at(tn_world *world, float dt, int steps, const char *file, int line)
{
  for (int i = 0; i < steps; ++i) {
    uint32_t status = tn_world_step(world, dt);
    if (status != TN_STEP_OK) {
      print_error("step %d of %d: status %u: %s\n", i, steps, (unsigned)status,
                  test_last_message());
      _fail(file, line);
    }
  }
}

const tn_method test_methods[TEST_METHODS] = {TN_METHOD_TENON, TN_METHOD_XPBD, TN_METHOD_JACOBI};

const char *test_method_name(tn_method method)
{
  return method == TN_METHOD_TENON ? "tenon" : method == TN_METHOD_XPBD ? "xpbd" : "jacobi";
}

int test_lanes(int lanes[4])
{
  int count = 0;
  for (int width = 1; width <= 16; width = width == 1 ? 4 : 2 * width) {
    tn_world_def def = test_world_def(1, TN_METHOD_TENON);
    def.lanes = width;
    tn_world *world = tn_world_create(&def);
    if (world) {
      lanes[count++] = width;
      tn_world_destroy(world);
    }
  }
  test_forget_messages();
  return count;
}

static bool is_finite_body(const tn_world *world, tn_body_id body)
{
  tn_transform t = tn_body_transform(world, body);
  tn_vec3 v = tn_body_velocity(world, body);
  tn_vec3 w = tn_body_angular_velocity(world, body);
  double place = t.p.x + t.p.y + t.p.z + (double)(t.q.x + t.q.y + t.q.z + t.q.w);
  double motion = (double)(v.x + v.y + v.z) + (double)(w.x + w.y + w.z);
  return isfinite(place) && isfinite(motion);
}

static bool is_finite_joint(const tn_world *world, tn_joint_id joint)
{
  tn_joint_state s = tn_joint_get_state(world, joint);
  const float *part = (const float *)&s;
  double sum = 0.0;
  for (size_t i = 0; i < offsetof(tn_joint_state, broken) / sizeof(float); ++i) {
    sum += (double)part[i];
  }
  return isfinite(sum);
}

bool test_is_finite(const tn_world *world)
{
  int bodies = tn_world_bodies(world, NULL, 0);
  int joints = tn_world_joints(world, NULL, 0);
  tn_body_id *body = calloc((size_t)bodies + 1, sizeof *body);
  tn_joint_id *joint = calloc((size_t)joints + 1, sizeof *joint);
  tn_world_bodies(world, body, bodies);
  tn_world_joints(world, joint, joints);
  bool finite = isfinite(tn_world_energy(world).total);
  for (int i = 0; i < bodies; ++i) {
    finite = finite && is_finite_body(world, body[i]);
  }
  for (int i = 0; i < joints; ++i) {
    finite = finite && is_finite_joint(world, joint[i]);
  }
  free(body);
  free(joint);
  return finite;
}

static void *metered_alloc(size_t size, size_t alignment, void *context)
{
  test_meter *meter = context;
  if (meter->until_failure-- == 0) {
    meter->failed += 1;
    return NULL;
  }
  for (int i = 0; i < TEST_METER_BLOCKS; ++i) {
    if (!meter->memory[i]) {
      size_t whole = (size + alignment - 1) / alignment * alignment;
      meter->memory[i] = aligned_alloc(alignment, whole);
      meter->size[i] = size;
      meter->bytes += size;
      memset(meter->memory[i], 0xa5, whole); // callers must not rely on zeroed memory
      return meter->memory[i];
    }
  }
  fail_msg("more than %d blocks", TEST_METER_BLOCKS);
  return NULL;
}

static void metered_release(void *memory, size_t size, void *context)
{
  test_meter *meter = context;
  for (int i = 0; i < TEST_METER_BLOCKS; ++i) {
    if (meter->memory[i] == memory) {
      assert_int_equal(meter->size[i], size);
      meter->memory[i] = NULL;
      meter->bytes -= size;
      free(memory);
      return;
    }
  }
  fail_msg("released what was never given");
}

tn_allocator test_metered(test_meter *meter)
{
  tn_allocator allocator = {metered_alloc, metered_release, meter};
  return allocator;
}

// ---------------------------------------------------------------------------------------------
// Bodies and joints

const tn_body_id test_no_body = {0, 0, 0};

tn_body_def test_body_def(void)
{
  tn_body_def def = tn_default_body_def();
  def.mass = tn_mass_scaled_to(tn_mass_box(tn_v3(0.5f, 0.5f, 0.5f), 1.0f), 1.0f);
  return def;
}

tn_body_id test_box(tn_world *world, tn_pos position, float mass, tn_vec3 half_extents)
{
  tn_body_def def = test_body_def();
  def.position = position;
  def.mass = tn_mass_scaled_to(tn_mass_box(half_extents, 1.0f), mass);
  tn_body_id id = tn_body_create(world, &def);
  if (TN_IS_NULL(id)) {
    fail_msg("no body: %s", test_last_message());
  }
  return id;
}

tn_body_id test_body(tn_world *world, tn_body_type type, tn_pos position)
{
  tn_body_def def = test_body_def();
  def.type = type;
  def.position = position;
  tn_body_id id = tn_body_create(world, &def);
  if (TN_IS_NULL(id)) {
    fail_msg("no body: %s", test_last_message());
  }
  return id;
}

tn_joint_def test_joint_def(const tn_world *world, tn_joint_kind kind, tn_body_id a, tn_body_id b,
                            tn_pos point, tn_vec3 axis)
{
  tn_joint_def def = tn_default_joint_def(kind);
  def.body_a = a;
  def.body_b = b;
  if (!tn_joint_def_at(world, &def, point, axis)) {
    fail_msg("no joint: %s", test_last_message());
  }
  return def;
}

tn_joint_id test_joint(tn_world *world, tn_joint_kind kind, tn_body_id a, tn_body_id b,
                       tn_pos point, tn_vec3 axis)
{
  tn_joint_def def = test_joint_def(world, kind, a, b, point, axis);
  tn_joint_id id = tn_joint_create(world, &def);
  if (TN_IS_NULL(id)) {
    fail_msg("no joint: %s", test_last_message());
  }
  return id;
}

// ---------------------------------------------------------------------------------------------
// Numbers

void test_assert_close(double actual, double expected, double tolerance, const char *what,
                       const char *file, int line)
{
  if (!(fabs(actual - expected) <= tolerance)) {
    print_error("%s = %.17g is not %.17g within %g (off by %g)\n", what, actual, expected,
                tolerance, actual - expected);
    _fail(file, line);
  }
}

void test_assert_below(double value, double bound, const char *what, const char *file, int line)
{
  if (!(value < bound)) {
    print_error("%s = %.17g is not below %g\n", what, value, bound);
    _fail(file, line);
  }
}

double rel(double a, double b)
{
  double size = fmax(fabs(a), fabs(b));
  return size > 0.0 ? fabs(a - b) / size : 0.0;
}

static uint32_t random_bits(uint32_t *state)
{
  *state = *state * 1664525u + 1013904223u;
  return *state;
}

float test_random(uint32_t *state)
{
  return (float)(random_bits(state) >> 8) / 16777216.0f;
}

float test_between(uint32_t *state, float lo, float hi)
{
  return lo + (hi - lo) * test_random(state);
}

int test_index(uint32_t *state, int count)
{
  return (int)((uint64_t)random_bits(state) * (uint64_t)count >> 32);
}

tn_vec3 test_vector(uint32_t *state, float size)
{
  float x = test_between(state, -size, size);
  float y = test_between(state, -size, size);
  return tn_v3(x, y, test_between(state, -size, size));
}

tn_quat test_rotation(uint32_t *state)
{
  for (;;) {
    float x = test_between(state, -1.0f, 1.0f);
    float y = test_between(state, -1.0f, 1.0f);
    float z = test_between(state, -1.0f, 1.0f);
    float w = test_between(state, -1.0f, 1.0f);
    float square = x * x + y * y + z * z + w * w;
    if (square > 0.01f && square < 1.0f) {
      float s = 1.0f / sqrtf(square);
      tn_quat q = {s * x, s * y, s * z, s * w};
      return q;
    }
  }
}

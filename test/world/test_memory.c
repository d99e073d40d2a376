// Memory that runs out: every allocation of recorded calls fails once, each in a process of its
// own. The call changes nothing, made again it does what it should, and the world goes on with the
// recorded bits. A step moves nothing; detection has looked for contacts already, so that the next
// one may start its searches elsewhere and differ by rounding. Mesh helpers, snapshots, tools and
// readers are in test_memory_tools.c.
#include "churn.h"
#include "data/record_format.h"
#include "data/recorded_calls.h"
#include "data/world.h"
#include "failing_memory.h"
#include "menagerie.h"
#include "tools/replay_calls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROOM = 1 << 22, STEPS_AFTER = 3, MOST_BODIES = 64 }; // ROOM: bytes of a snapshot
// m; a manifold that is kept from the attempt that failed has rounded otherwise than a new one
#define ROUNDING 1e-4

// What a child process has found, in memory that it shares with its parent.
typedef struct finding {
  int asked;
  uint64_t after; // hash of the world after the call
  tn_pos place[MOST_BODIES];
  int points; // of contacts
  char problem[200];
} finding;

typedef struct script {
  uint8_t *bytes;
  size_t size;
  char path[40];
} script;

static uint8_t before_call[ROOM], after_call[ROOM];
static finding *found;
static int children;

static uint64_t checksum(const uint8_t *bytes, size_t size)
{
  uint64_t hash = 1469598103934665603u;
  for (size_t i = 0; i < size; ++i) {
    hash = (hash ^ bytes[i]) * 1099511628211u;
  }
  return hash;
}

// ---------------------------------------------------------------------------------------------
// Recordings

static script begin_script(tn_world *world)
{
  script s = {.path = "/tmp/tenon_memory_XXXXXX"};
  int handle = mkstemp(s.path);
  assert_true(handle >= 0);
  close(handle);
  assert_true(tn_world_record_calls(world, s.path));
  return s;
}

static void end_script(script *s, tn_world *world)
{
  tn_world_destroy(world);
  FILE *in = fopen(s->path, "rb");
  assert_non_null(in);
  fseek(in, 0, SEEK_END);
  s->size = (size_t)ftell(in);
  rewind(in);
  s->bytes = malloc(s->size + 1);
  assert_non_null(s->bytes);
  assert_int_equal(fread(s->bytes, 1, s->size, in), s->size);
  fclose(in);
  unlink(s->path);
}

// ---------------------------------------------------------------------------------------------
// One call

typedef struct record {
  uint32_t name;
  const uint8_t *content, *end;
} record;

static bool next_record(const script *s, const uint8_t **at, record *r)
{
  uint32_t size;
  if ((size_t)(s->bytes + s->size - *at) < RECORD_HEAD) {
    return false;
  }
  memcpy(&r->name, *at, 4);
  memcpy(&size, *at + 4, 4);
  r->content = *at + RECORD_HEAD;
  *at = r->end = r->content + size;
  return true;
}

static int call_of(const record *r)
{
  for (int i = 0; i < RECORD_CALL_COUNT; ++i) {
    if (record_name_hash(record_calls[i].name) == r->name) {
      return i;
    }
  }
  return -1;
}

// Makes the call of a record, in which allocation `fail_at` fails; returns a step's status.
static uint32_t make(tn_world *world, const record *r, int fail_at)
{
  int call = call_of(r);
  record_reader reader = {.at = r->content, .end = r->end, .world = world->world_id};
  void *a[RECORD_MOST_ARGUMENTS] = {0};
  uint32_t status = 0;
  assert_true(record_get_call(&reader, call, a));
  memory_fail_at(fail_at);
  if (call == CALL_tn_world_step) {
    float dt;
    memcpy(&dt, a[0], sizeof dt);
    status = tn_world_step(world, dt);
  } else {
    replay_functions[call](world, a);
  }
  record_release(&reader);
  return status;
}

static size_t save(const tn_world *world, uint8_t *bytes)
{
  size_t size = tn_world_save(world, bytes, ROOM);
  return size <= ROOM ? size : 0;
}

// Goes on for some steps and compares them with the recorded ones, if `same`.
static bool goes_on(tn_world *world, const script *s, const uint8_t *at, bool same)
{
  record r;
  uint32_t status = 0;
  for (int steps = 0; steps < STEPS_AFTER && next_record(s, &at, &r);) {
    if (r.name == record_name_hash(RECORD_RESULT)) {
      uint64_t hash;
      uint32_t wanted;
      memcpy(&wanted, r.content, 4);
      memcpy(&hash, r.content + 4, 8);
      if ((same && hash != tn_world_hash(world)) || (steps > 0 && status != wanted)) {
        return false;
      }
      ++steps;
    } else if (call_of(&r) >= 0) {
      status = make(world, &r, -1);
    }
  }
  return true;
}

// Checksum of what moves: bodies and particles.
static uint64_t motion(const tn_world *world)
{
  tn_body_id bodies[MOST_BODIES];
  tn_soft_id softs[8];
  uint64_t sum = 0;
  int count = tn_world_bodies(world, bodies, MOST_BODIES);
  for (int i = 0; i < count; ++i) {
    tn_transform at = tn_body_transform(world, bodies[i]);
    tn_vec3 v[2] = {tn_body_velocity(world, bodies[i]), tn_body_angular_velocity(world, bodies[i])};
    sum = 31 * sum + checksum((const uint8_t *)&at, sizeof at);
    sum = 31 * sum + checksum((const uint8_t *)v, sizeof v);
  }
  count = tn_world_softs(world, softs, 8);
  for (int i = 0; i < count; ++i) {
    int particles = tn_soft_positions(world, softs[i], NULL, 0);
    for (int k = 0; k < particles; ++k) {
      tn_pos at = tn_soft_position(world, softs[i], k);
      tn_vec3 v = tn_soft_velocity(world, softs[i], k);
      sum = 31 * sum + checksum((const uint8_t *)&at, sizeof at);
      sum = 31 * sum + checksum((const uint8_t *)&v, sizeof v);
    }
  }
  return sum;
}

static void places(const tn_world *world, tn_pos *out)
{
  tn_body_id bodies[MOST_BODIES];
  int count = tn_world_bodies(world, bodies, MOST_BODIES);
  for (int i = 0; i < count && i < MOST_BODIES; ++i) {
    out[i] = tn_body_position(world, bodies[i]);
  }
}

// Whether a step that was made again ended as it should.
static bool is_close(const tn_world *world)
{
  static tn_pos is[MOST_BODIES];
  places(world, is);
  for (int i = 0; i < MOST_BODIES; ++i) {
    const tn_pos *was = &found->place[i];
    if (!(fabs(is[i].x - was->x) + fabs(is[i].y - was->y) + fabs(is[i].z - was->z) < ROUNDING)) {
      return false;
    }
  }
  return tn_world_counters(world).points == found->points;
}

// In a child: the call with a failed allocation, then again without.
static const char *fails_well(tn_world *world, const script *s, const record *r, int fail_at)
{
  size_t size = save(world, before_call);
  uint64_t moved = motion(world);
  long live = memory_live();
  test_forget_messages();
  uint32_t status = make(world, r, fail_at);
  if (!memory_has_failed()) {
    return "the allocation did not happen";
  }
  bool stepped = call_of(r) == CALL_tn_world_step;
  bool said = test_messages.count > 0 && strstr(test_messages.last, "out of memory");
  bool unchanged = save(world, after_call) == size && memcmp(before_call, after_call, size) == 0;
  if (!unchanged && status != TN_STEP_OUT_OF_MEMORY && tn_world_hash(world) == found->after) {
    return goes_on(world, s, r->end, true) ? NULL
                                           : "it was done, and the world goes on differently";
  }
  if (stepped && status != TN_STEP_OUT_OF_MEMORY) { // something small was left out
    return said && goes_on(world, s, r->end, false) ? NULL : "the step does not say so";
  }
  if (motion(world) != moved) {
    return "bodies or particles have moved";
  }
  if (!stepped && !unchanged) {
    return "the world has changed";
  }
  if (!stepped && memory_live() > live + 64) {
    return "memory was lost";
  }
  make(world, r, -1);
  bool same = tn_world_hash(world) == found->after;
  if (!same && !(stepped && is_close(world))) {
    return "made again it does something else";
  }
  return goes_on(world, s, r->end, same) ? NULL : "made again, the world goes on differently";
}

// In a child: the call without failures, counting allocations.
static void measure(tn_world *world, const record *r)
{
  make(world, r, -1);
  found->asked = memory_asked();
  found->after = tn_world_hash(world);
  found->points = tn_world_counters(world).points;
  memset(found->place, 0, sizeof found->place);
  places(world, found->place);
}

// Runs a child; false if it did not end well.
static bool child(tn_world *world, const script *s, const record *r, int fail_at)
{
  fflush(stdout);
  ++children;
  pid_t pid = fork();
  if (pid == 0) {
    const char *problem = NULL;
    alarm(20);
    if (fail_at < 0) {
      measure(world, r);
    } else {
      problem = fails_well(world, s, r, fail_at);
    }
    snprintf(found->problem, sizeof found->problem, "%s", problem ? problem : "");
    tn_world_destroy(world);
    _exit(problem ? 1 : 0);
  }
  int status = 0;
  assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
  if (!WIFEXITED(status)) {
    snprintf(found->problem, sizeof found->problem, "ended by signal %d", WTERMSIG(status));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Returns the number of failed allocations that did not end well.
static int run_script(script *s, const char *name)
{
  tn_world_def def = test_world_def(1, TN_METHOD_TENON), recorded;
  assert_true(record_get_header(s->bytes, s->size, &recorded));
  def.gravity = recorded.gravity;
  def.method = recorded.method;
  def.sleeping = recorded.sleeping;
  def.substeps = recorded.substeps;
  def.iterations = recorded.iterations;
  tn_world *world = tn_world_create(&def);
  assert_non_null(world);
  const uint8_t *at = s->bytes + RECORD_HEADER_SIZE;
  record r;
  int problems = 0, calls = 0;
  while (next_record(s, &at, &r)) {
    int call = call_of(&r);
    if (call < 0) {
      continue;
    }
    ++calls;
    assert_true(child(world, s, &r, -1));
    int asked = found->asked;
    for (int n = 0; n < asked; ++n) {
      if (!child(world, s, &r, n)) {
        print_error("%s, call %d, %s, allocation %d of %d: %s\n", name, calls,
                    record_calls[call].name, n, asked, found->problem);
        ++problems;
      }
    }
    make(world, &r, -1);
  }
  tn_world_destroy(world);
  free(s->bytes);
  print_message("%s: %d calls, %d processes\n", name, calls, children);
  return problems;
}

// ---------------------------------------------------------------------------------------------
// Scripts

static void churned_worlds_survive_failed_allocations(void **state)
{
  (void)state;
  int problems = 0;
  for (uint32_t seed = 0; seed < (uint32_t)test_cases(3, 40); ++seed) {
    churn c = {0};
    c.world[c.count++] = test_world_with(2, test_methods[seed % TEST_METHODS], 4, 1);
    script s = begin_script(c.world[0]);
    churn_begin(&c, 7 * seed + 2);
    for (int i = 0; i < 12; ++i) {
      churn_step(&c);
    }
    end_script(&s, c.world[0]);
    char name[40];
    snprintf(name, sizeof name, "churn %u", 7 * seed + 2);
    problems += run_script(&s, name);
  }
  assert_int_equal(problems, 0);
}

static void joints_of_all_kinds_survive_failed_allocations(void **state)
{
  (void)state;
  tn_world *world = test_world(2, TN_METHOD_TENON);
  script s = begin_script(world);
  menagerie_build(world, 1, 50.0f);
  for (int i = 0; i < 4; ++i) {
    menagerie_disturb(world, 16 * i);
    tn_world_step(world, 1.0f / 60.0f);
  }
  end_script(&s, world);
  assert_int_equal(run_script(&s, "menagerie"), 0);
}

int main(void)
{
  found = mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(churned_worlds_survive_failed_allocations),
      cmocka_unit_test(joints_of_all_kinds_survive_failed_allocations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// Running scenes: creation, steps, metrics, snapshots.
#include "gallery.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

slot slots[GALLERY_SLOTS];

static double parameters[SCENE_MAX_PARAMETERS];
static char last_message[256];

void *gallery_memory(purpose what, size_t size)
{
  static void *memory[PURPOSES];
  static size_t capacity[PURPOSES];
  if (size > capacity[what]) {
    free(memory[what]);
    capacity[what] = size + size / 2;
    memory[what] = malloc(capacity[what]);
    if (!memory[what]) {
      __builtin_trap(); // the page reports that the engine has stopped
    }
  }
  return memory[what];
}

void gallery_log(tn_log_level level, const char *message, void *context)
{
  (void)context;
  if (level != TN_LOG_INFO) {
    strncpy(last_message, message, sizeof last_message - 1);
  }
}

// Returns the last message once.
EXPORT(message) const char *page_message(void)
{
  static char told[sizeof last_message];
  memcpy(told, last_message, sizeof told);
  last_message[0] = '\0';
  return told;
}

// ---------------------------------------------------------------------------------------------
// Creation and destruction

// The module imports nothing: the page puts its clock into the function table and passes its index.
static tn_clock_fn *page_clock;

EXPORT(use_clock) void page_use_clock(tn_clock_fn *clock)
{
  page_clock = clock;
}

EXPORT(parameters) double *page_parameters(void)
{
  return parameters;
}

EXPORT(close) void page_close(int s)
{
  scene_destroy(slots[s].run);
  forget_changes(s);
  free(slots[s].items);
  memset(&slots[s], 0, sizeof slots[s]);
}

scene_settings page_settings(void)
{
  scene_settings settings;
  memcpy(settings.value, parameters, sizeof settings.value);
  return settings;
}

bool open_scene(int s, const scene *which, int method, int substeps, int iterations)
{
  page_close(s);
  scene_settings settings = page_settings();
  tn_world_def def = tn_default_world_def();
  def.method = (tn_method)method;
  def.substeps = substeps;
  def.iterations = iterations;
  def.log = gallery_log;
  def.clock = page_clock;
  slots[s].run = scene_create(which, &settings, &def);
  slots[s].dirty = true;
  return slots[s].run != NULL;
}

EXPORT(open) int page_open(int s, int index, int method, int substeps, int iterations)
{
  int count;
  const scene *const *all = scene_list(&count);
  return index >= 0 && index < count && open_scene(s, all[index], method, substeps, iterations);
}

EXPORT(solve_by) void page_solve_by(int s, int method, int substeps, int iterations)
{
  tn_world *world = slots[s].run->world;
  tn_world_set_method(world, (tn_method)method);
  tn_world_set_substeps(world, substeps);
  tn_world_set_iterations(world, iterations);
}

EXPORT(set_gravity) void page_set_gravity(int s, float x, float y, float z)
{
  tn_world_set_gravity(slots[s].run->world, tn_v3(x, y, z));
}

// ---------------------------------------------------------------------------------------------
// Steps

static void watch_peaks(slot *s)
{
  const scene_run *run = s->run;
  for (int i = 0; i < run->joint_count; ++i) {
    if (tn_joint_is_valid(run->world, run->joints[i])) {
      tn_joint_state state = tn_joint_get_state(run->world, run->joints[i]);
      s->peak[0] = fmax(s->peak[0], (double)state.elongation);
      s->peak[1] = fmax(s->peak[1], (double)state.angular_error);
    }
  }
}

// Steps a frame; the metrics are separate, so that the page can time the frame alone.
EXPORT(advance) uint32_t page_advance(int s)
{
  return scene_advance(slots[s].run, FRAME);
}

EXPORT(observe) void page_observe(int s)
{
  scene_observe(slots[s].run, FRAME);
  watch_peaks(&slots[s]);
}

// A step of the length of a substep, with one substep.
EXPORT(substep) uint32_t page_substep(int s)
{
  scene_run *run = slots[s].run;
  int substeps = tn_world_substeps(run->world);
  tn_world_set_substeps(run->world, 1);
  uint32_t status = scene_step(run, FRAME / (float)substeps);
  run->frames -= 1;
  tn_world_set_substeps(run->world, substeps);
  return status;
}

EXPORT(hash) uint64_t page_hash(int s)
{
  return tn_world_hash(slots[s].run->world);
}

static double deepest_now(const tn_world *world)
{
  int count = tn_world_contacts(world, NULL, 0);
  tn_contact *contacts = gallery_memory(FOR_IDS, (size_t)count * sizeof *contacts + 1);
  tn_world_contacts(world, contacts, count);
  double deepest = 0.0;
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < contacts[i].count; ++k) {
      deepest = fmax(deepest, -(double)contacts[i].points[k].gap);
    }
  }
  return deepest;
}

// Time, frames, energies, momenta, errors, counts, gravity, time by phase; engine.js has the order.
EXPORT(numbers) const double *page_numbers(int s)
{
  slot *here = &slots[s];
  const tn_world *world = here->run->world;
  tn_energy e = tn_world_energy(world);
  tn_momentum m = tn_world_momentum(world, tn_p3(0.0, 0.0, 0.0));
  tn_counters c = tn_world_counters(world);
  tn_vec3 g = tn_world_gravity(world);
  tn_profile t = tn_world_profile(world);
  double *out = gallery_memory(FOR_DOUBLES, 32 * sizeof *out);
  double all[] = {here->run->time,
                  (double)here->run->frames,
                  e.kinetic,
                  e.potential,
                  e.elastic,
                  e.total,
                  m.linear[0],
                  m.linear[1],
                  m.linear[2],
                  m.angular[0],
                  m.angular[1],
                  m.angular[2],
                  here->peak[0],
                  here->peak[1],
                  deepest_now(world),
                  (double)c.bodies,
                  (double)c.awake,
                  (double)c.joints,
                  (double)c.contacts,
                  (double)c.points,
                  (double)c.bytes,
                  (double)g.x,
                  (double)g.y,
                  (double)g.z,
                  t.pairs,
                  t.manifolds,
                  t.prepare,
                  t.solve,
                  t.finish};
  memcpy(out, all, sizeof all);
  memset(here->peak, 0, sizeof here->peak);
  return out;
}

// ---------------------------------------------------------------------------------------------
// Snapshots: the metrics of the run, then the world.

static uint32_t state_size;

EXPORT(state_size) uint32_t page_state_size(void)
{
  return state_size;
}

EXPORT(save) const void *page_save(int s)
{
  const scene_run *run = slots[s].run;
  size_t size = tn_world_save(run->world, NULL, 0);
  char *out = gallery_memory(FOR_STATE, sizeof *run + size);
  memcpy(out, run, sizeof *run);
  tn_world_save(run->world, out + sizeof *run, size);
  state_size = (uint32_t)(sizeof *run + size);
  return out;
}

// Buffer for a state to restore.
EXPORT(state_room) void *page_state_room(uint32_t size)
{
  return gallery_memory(FOR_STATE, size);
}

// The lists of the run stay valid: bodies and joints are only ever added to them.
static void restore_books(scene_run *run, const scene_run *saved)
{
  scene_run books = *saved;
  books.scene = run->scene;
  books.world = run->world;
  books.bodies = run->bodies;
  books.joints = run->joints;
  books.roles = run->roles;
  books.body_capacity = run->body_capacity;
  books.joint_capacity = run->joint_capacity;
  *run = books;
}

EXPORT(restore) int page_restore(int s, uint32_t size)
{
  slot *here = &slots[s];
  const char *in = gallery_memory(FOR_STATE, size);
  scene_run saved;
  if (size < sizeof saved) {
    return false;
  }
  memcpy(&saved, in, sizeof saved);
  if (!tn_world_restore(here->run->world, in + sizeof saved, size - sizeof saved)) {
    return false;
  }
  restore_books(here->run, &saved);
  here->dirty = true;
  return true;
}

// Unfolding of entangled solids. The elastic energy of a mesh has local minima with inverted
// elements, such as one half of a cube lying inside the other half. An element that stays inverted
// is found here, one per body at a time. The elements around it are softened, and their particles
// are shape matched as one cluster, whose energy has a single minimum. The cluster grows by one
// ring of neighbours after the other until it has its rest shape.
#include "base/dvec.h"
#include "solver/soft/soft_steps.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Elements: corotated tetrahedra, then shape match elements

static int32_t element_count(const soft *s)
{
  return s->list[SOFT_COROTATED].count + s->list[SOFT_SHAPE_MATCH].count;
}

static const int32_t *element(const soft *s, int32_t index, int *size)
{
  int32_t tets = s->list[SOFT_COROTATED].count;
  if (index < tets) {
    *size = 4;
    return s->list[SOFT_COROTATED].members + 4 * (size_t)index;
  }
  const int32_t *v =
      s->list[SOFT_SHAPE_MATCH].members + SHAPE_MATCH_PARTICLES * (size_t)(index - tets);
  *size = v[4] == NO_SLOT ? 4 : SHAPE_MATCH_PARTICLES;
  return v;
}

// Volume over rest volume of the tetrahedron of four corners of an element.
static double corner_volume(const soft *s, const int32_t *v, const int *corner)
{
  const soft_particle *p[4];
  for (int i = 0; i < 4; ++i) {
    p[i] = &s->particles[v[corner[i]]];
  }
  double rest = pos_triple(pos_from_vec3(tn_sub(p[1]->rest, p[0]->rest)),
                           pos_from_vec3(tn_sub(p[2]->rest, p[0]->rest)),
                           pos_from_vec3(tn_sub(p[3]->rest, p[0]->rest)));
  double now = pos_triple(pos_sub(p[1]->at, p[0]->at), pos_sub(p[2]->at, p[0]->at),
                          pos_sub(p[3]->at, p[0]->at));
  return now / rest;
}

// A hexahedron is inverted if the tetrahedron of a corner and its three neighbours is.
static bool is_inverted(const soft *s, int32_t index)
{
  static const int corners[8][4] = {{0, 1, 3, 4}, {1, 2, 0, 5}, {2, 3, 1, 6}, {3, 0, 2, 7},
                                    {4, 7, 5, 0}, {5, 4, 6, 1}, {6, 5, 7, 2}, {7, 6, 4, 3}};
  static const int all[4] = {0, 1, 2, 3};
  int size;
  const int32_t *v = element(s, index, &size);
  if (size == 4) {
    return corner_volume(s, v, all) < TUNING_INVERTED_VOLUME;
  }
  for (int i = 0; i < 8; ++i) {
    if (corner_volume(s, v, corners[i]) < TUNING_INVERTED_VOLUME) {
      return true;
    }
  }
  return false;
}

// ---------------------------------------------------------------------------------------------
// Detection

// Returns whether the layout must be built again, which restores the stiffness of the elements.
static bool end_unfold(soft *s)
{
  bool was_active = s->unfold.active;
  memset(&s->unfold, 0, sizeof s->unfold);
  return was_active;
}

// Round robin over the elements, a part per step, until an inverted one is found.
static void scan_elements(soft *s)
{
  int32_t count = element_count(s), looks = count / TUNING_UNFOLD_SCAN_PARTS;
  looks = looks > TUNING_UNFOLD_SCAN_COUNT ? looks : TUNING_UNFOLD_SCAN_COUNT;
  looks = looks < count ? looks : count;
  for (int32_t i = 0; i < looks && !s->unfold.found; ++i) {
    s->unfold.element = s->unfold.element + 1 < count ? s->unfold.element + 1 : 0;
    s->unfold.found = is_inverted(s, s->unfold.element);
  }
}

// Returns whether the layout must be built again.
static bool update_unfold(soft *s, float dt)
{
  if (s->unfold.active) {
    s->unfold.time += dt;
    bool over = s->unfold.off < TUNING_UNFOLD_DONE || s->unfold.time > TUNING_UNFOLD_TIMEOUT;
    return over && end_unfold(s);
  }
  if (s->unfold.found && s->unfold.element < element_count(s) &&
      is_inverted(s, s->unfold.element)) {
    s->unfold.time += dt;
    s->unfold.active = s->unfold.time > TUNING_UNFOLD_DELAY;
    return false;
  }
  s->unfold.found = false;
  s->unfold.time = 0.0f;
  scan_elements(s);
  return false;
}

typedef struct unfold_task {
  const soft_system *system;
  float dt;
  atomic_bool is_stale; // the layout
} unfold_task;

static void update_unfold_task(int first, int last, void *context)
{
  unfold_task *t = context;
  for (int i = first; i < last; ++i) {
    soft *s = &t->system->softs[i];
    if (s->alive && !s->asleep && element_count(s) > 0 && update_unfold(s, t->dt)) {
      atomic_store_explicit(&t->is_stale, true, memory_order_relaxed);
    }
  }
}

void soft_unfold_update(const soft_system *system, float dt)
{
  unfold_task task = {.system = system, .dt = dt};
  if (RULE(soft_unfold)) {
    task_run(system->tasks, update_unfold_task, system->soft_pool->used, 1, &task);
    *system->layout_stale = *system->layout_stale || task.is_stale;
  }
}

// ---------------------------------------------------------------------------------------------
// The cluster

// Marks the particles of the inverted element with 1 and those of its n-th ring of neighbours with
// n + 1; returns their number. The number of rings grows with time.
static int32_t mark_region(const soft *s, uint8_t *marks)
{
  int size, rings = 1 + (int)((s->unfold.time - TUNING_UNFOLD_DELAY) / TUNING_UNFOLD_RING_TIME);
  const int32_t *v = element(s, s->unfold.element, &size);
  memset(marks, 0, (size_t)s->particle_count);
  for (int i = 0; i < size; ++i) {
    marks[v[i]] = 1;
  }
  int32_t total = size, grown = size;
  for (int ring = 0; ring < rings && grown > 0; ++ring) {
    grown = 0;
    for (int32_t e = 0; e < element_count(s); ++e) {
      v = element(s, e, &size);
      bool touched = false;
      for (int i = 0; i < size; ++i) {
        touched = touched || (marks[v[i]] > 0 && marks[v[i]] <= ring + 1);
      }
      for (int i = 0; i < size && touched; ++i) {
        grown += marks[v[i]] == 0;
        marks[v[i]] = marks[v[i]] == 0 ? (uint8_t)(ring + 2) : marks[v[i]];
      }
    }
    total += grown;
  }
  return total;
}

// Parts of the marked particles, with the rest shape of the definition from its centre of mass.
static void init_cluster_parts(const soft *s, const uint8_t *marks, cluster_part *parts)
{
  double center[3] = {0.0, 0.0, 0.0}, mass = 0.0;
  int32_t count = 0;
  for (int32_t i = 0; i < s->particle_count; ++i) {
    if (marks[i]) {
      const soft_particle *p = &s->particles[i];
      cluster_part part = {.particle = i, .mass = p->mass};
      parts[count++] = part;
      center[0] += (double)p->mass * (double)p->rest.x;
      center[1] += (double)p->mass * (double)p->rest.y;
      center[2] += (double)p->mass * (double)p->rest.z;
      mass += (double)p->mass;
    }
  }
  for (int32_t i = 0; i < count; ++i) {
    tn_vec3 x = s->particles[parts[i].particle].rest;
    parts[i].rest[0] = (float)((double)x.x - center[0] / mass);
    parts[i].rest[1] = (float)((double)x.y - center[1] / mass);
    parts[i].rest[2] = (float)((double)x.z - center[2] / mass);
  }
}

// Softens the elements whose particles are all marked; it lasts until the layout is rebuilt.
// Returns the sum of their stiffness times volume, in J, for the cluster.
static double soften_elements(const soft_system *system, int32_t slot, soft_type type,
                              const uint8_t *marks)
{
  soft_graph *g = system->graph;
  soft_layout l = soft_layout_of(type);
  soft_rows *rows = &g->data.rows[type];
  double sum = 0.0;
  for (int32_t at = 0; at < rows->block_count * BLOCK_WIDTH; ++at) {
    soft_source from = g->sources[type][at];
    const int32_t *v =
        system->softs[slot].list[type].members + (size_t)from.index * (size_t)l.particles;
    bool inside = from.soft == slot;
    for (int i = 0; i < l.particles && inside; ++i) {
      inside = v[i] == NO_SLOT || marks[v[i]];
    }
    if (!inside) {
      continue;
    }
    const float *fields =
        system->softs[slot].list[type].fields + (size_t)from.index * (size_t)(l.params + l.state);
    size_t row = (size_t)(at / BLOCK_WIDTH) * (size_t)soft_block_rows(type) + (size_t)l.particles;
    int lane = at % BLOCK_WIDTH;
    if (type == SOFT_COROTATED) {
      const CorotatedParams *tet = (const CorotatedParams *)fields;
      rows->row[row + offsetof(CorotatedParams, shear) / sizeof(R)][lane] =
          TUNING_UNFOLD_SOFTENING * tet->shear;
      rows->row[row + offsetof(CorotatedParams, bulk) / sizeof(R)][lane] = SOFT_ROW_OFF;
      sum += 1.0 / (double)tet->shear;
    } else {
      const ShapeMatchParams *cell = (const ShapeMatchParams *)fields;
      rows->row[row + offsetof(ShapeMatchParams, omega_squared) / sizeof(R)][lane] =
          cell->omega_squared / TUNING_UNFOLD_SOFTENING;
      for (int i = 0; i < SHAPE_MATCH_PARTICLES; ++i) {
        sum += (double)(cell->omega_squared * cell->mass[i] * v_dot(cell->rest[i], cell->rest[i])) /
               3.0;
      }
    }
  }
  return sum;
}

// The cluster is as stiff as its elements, omega^2 = 3 E V / sum m q^2, and critically damped:
// damping time 2 / omega.
static void set_cluster_stiffness(soft *s, const cluster_part *parts, double stiffness)
{
  double spread = 0.0;
  for (int32_t i = 0; i < s->unfold.cluster.count; ++i) {
    const float *r = parts[i].rest;
    spread += (double)(parts[i].mass * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]));
  }
  double rate = 3.0 * stiffness / spread;
  s->unfold.cluster.omega_squared = (float)rate;
  s->unfold.cluster.damping = (float)(2.0 / sqrt(rate));
}

static bool pack_unfold(const soft_system *system, int32_t slot, uint8_t *marks)
{
  soft_graph *g = system->graph;
  soft *s = &system->softs[slot];
  int32_t count = mark_region(s, marks), first = g->unfold_part_count;
  if (!heap_reserve(system->heap, (void **)&g->unfold_parts, &g->unfold_part_capacity,
                    first + count, sizeof(cluster_part))) {
    return false;
  }
  g->unfold_part_count += count;
  init_cluster_parts(s, marks, g->unfold_parts + first);
  soft_cluster *c = &s->unfold.cluster;
  if (c->count == 0) {
    c->q[3] = 1.0f;
  }
  c->first = first;
  c->count = count;
  double stiffness = soften_elements(system, slot, SOFT_COROTATED, marks) +
                     soften_elements(system, slot, SOFT_SHAPE_MATCH, marks);
  set_cluster_stiffness(s, g->unfold_parts + first, stiffness);
  s->unfold.off = soft_cluster_error(s, c, g->unfold_parts + first);
  return true;
}

bool soft_unfold_pack(const soft_system *system)
{
  bool ok = true;
  system->graph->unfold_part_count = 0;
  for (int32_t i = 0; i < system->soft_pool->used && ok; ++i) {
    soft *s = &system->softs[i];
    if (s->alive && s->first > 0 && s->unfold.active) {
      uint8_t *marks = heap_alloc(system->heap, (size_t)s->particle_count);
      ok = marks && pack_unfold(system, i, marks);
      heap_free(system->heap, marks, (size_t)s->particle_count);
    }
  }
  return ok;
}

// Elastic solids that have come to rest entangled. Each element would leave such a state for its
// own shape, but all of them hold each other there: a local minimum of the elastic energy, as half
// of a cube that lies inside the other half. What stays flat or inside out is found here, one
// element at a time. What surrounds it loses its own shape and is pulled, as one cluster, to the
// shape that all of it had at rest; that has one minimum only. From ring to ring of neighbours the
// cluster grows until it is right.
#include "soft_make.h"

#include <math.h>
#include <string.h>

#define FOLDED 0.05    // share of its volume below which an element counts as folded
#define WAIT 0.25f     // s that one is given to unfold by itself
#define RING_TIME 0.1f // s until the cluster takes in another ring of neighbours
#define LONGEST 4.0f   // s until it is given up, as something else may hold it there
#define RIGHT 0.02     // off its shape by less than this share of its size it is let go
#define LOOSE 1e6f     // how much softer the elements of the cluster are meanwhile
#define LOOK 64        // elements looked at in a step, or a sixteenth of all

static tn_pos wide(tn_vec3 v)
{
  return tn_p3((double)v.x, (double)v.y, (double)v.z);
}

static double triple(tn_pos a, tn_pos b, tn_pos c)
{
  return a.x * (b.y * c.z - b.z * c.y) + a.y * (b.z * c.x - b.x * c.z) +
         a.z * (b.x * c.y - b.y * c.x);
}

// ---------------------------------------------------------------------------------------------
// Elements: tetrahedra, then cells

static int32_t element_count(const soft *s)
{
  return s->list[SOFT_TET].count + s->list[SOFT_CELL].count;
}

static const int32_t *element(const soft *s, int32_t index, int *size)
{
  int32_t tets = s->list[SOFT_TET].count;
  if (index < tets) {
    *size = 4;
    return s->list[SOFT_TET].members + 4 * (size_t)index;
  }
  const int32_t *v = s->list[SOFT_CELL].members + CELL_SIZE * (size_t)(index - tets);
  *size = v[4] == NO_SLOT ? 4 : CELL_SIZE;
  return v;
}

// Share of its volume at rest that the corner v0 of a tetrahedron still has.
static double corner_volume(const soft *s, const int32_t *v, const int *corner)
{
  const soft_particle *p[4];
  for (int i = 0; i < 4; ++i) {
    p[i] = &s->particles[v[corner[i]]];
  }
  double rest = triple(wide(tn_sub(p[1]->rest, p[0]->rest)), wide(tn_sub(p[2]->rest, p[0]->rest)),
                       wide(tn_sub(p[3]->rest, p[0]->rest)));
  double now =
      triple(pos_sub(p[1]->at, p[0]->at), pos_sub(p[2]->at, p[0]->at), pos_sub(p[3]->at, p[0]->at));
  return now / rest;
}

static bool is_folded(const soft *s, int32_t index)
{
  static const int corners[8][4] = {{0, 1, 3, 4}, {1, 2, 0, 5}, {2, 3, 1, 6}, {3, 0, 2, 7},
                                    {4, 7, 5, 0}, {5, 4, 6, 1}, {6, 5, 7, 2}, {7, 6, 4, 3}};
  static const int all[4] = {0, 1, 2, 3};
  int size;
  const int32_t *v = element(s, index, &size);
  if (size == 4) {
    return corner_volume(s, v, all) < FOLDED;
  }
  for (int i = 0; i < 8; ++i) {
    if (corner_volume(s, v, corners[i]) < FOLDED) {
      return true;
    }
  }
  return false;
}

// ---------------------------------------------------------------------------------------------
// Watching

static void forget_fold(tn_world *world, soft *s)
{
  if (s->fold.active) {
    world->soft_graph.dirty = true; // elements are stiff again
  }
  memset(&s->fold, 0, sizeof s->fold);
}

// An element that is folded now, or none.
static void look_for_one(soft *s)
{
  int32_t count = element_count(s), looks = count / 16 > LOOK ? count / 16 : LOOK;
  looks = looks < count ? looks : count;
  for (int32_t i = 0; i < looks && !s->fold.found; ++i) {
    s->fold.element = s->fold.element + 1 < count ? s->fold.element + 1 : 0;
    s->fold.found = is_folded(s, s->fold.element);
  }
}

static void watch(tn_world *world, soft *s, float dt)
{
  if (s->fold.active) {
    s->fold.time += dt;
    if (s->fold.off < RIGHT || s->fold.time > LONGEST) {
      forget_fold(world, s);
    }
    return;
  }
  if (s->fold.found && s->fold.element < element_count(s) && is_folded(s, s->fold.element)) {
    s->fold.time += dt;
    s->fold.active = s->fold.time > WAIT;
    return;
  }
  s->fold.found = false;
  s->fold.time = 0.0f;
  look_for_one(s);
}

void soft_watch_folds(tn_world *world, float dt)
{
  for (int32_t i = 0; i < world->soft_list.used; ++i) {
    soft *s = &world->softs[i];
    if (s->alive && !s->asleep && element_count(s) > 0) {
      watch(world, s, dt);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// The cluster

// Marks the particles around the folded element; returns how many.
static int32_t mark_region(const soft *s, uint8_t *marks)
{
  int size, rings = 1 + (int)((s->fold.time - WAIT) / RING_TIME);
  const int32_t *v = element(s, s->fold.element, &size);
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

// Parts in the shape of the definition, from their centre of mass.
static void put_parts(const soft *s, const uint8_t *marks, cluster_part *parts)
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

// Elements all of whose particles are marked give way; returns the sum of their stiffness times
// volume, which the cluster has instead.
static double loosen(tn_world *world, int32_t slot, soft_type type, const uint8_t *marks)
{
  soft_graph *g = &world->soft_graph;
  soft_layout l = soft_layout_of(type);
  soft_rows *rows = &g->data.rows[type];
  double sum = 0.0;
  for (int32_t at = 0; at < rows->block_count * BLOCK_WIDTH; ++at) {
    soft_source from = g->sources[type][at];
    const int32_t *v =
        world->softs[slot].list[type].members + (size_t)from.index * (size_t)l.particles;
    bool inside = from.soft == slot;
    for (int i = 0; i < l.particles && inside; ++i) {
      inside = v[i] == NO_SLOT || marks[v[i]];
    }
    if (!inside) {
      continue;
    }
    const float *fields =
        world->softs[slot].list[type].fields + (size_t)from.index * (size_t)(l.params + l.state);
    size_t row = (size_t)(at / BLOCK_WIDTH) * (size_t)soft_block_rows(type) + (size_t)l.particles;
    int lane = at % BLOCK_WIDTH;
    if (type == SOFT_TET) {
      const TetParams *tet = (const TetParams *)fields;
      rows->row[row + offsetof(TetParams, shear) / sizeof(R)][lane] = LOOSE * tet->shear;
      rows->row[row + offsetof(TetParams, bulk) / sizeof(R)][lane] = 1e30f;
      sum += 1.0 / (double)tet->shear;
    } else {
      const CellParams *cell = (const CellParams *)fields;
      rows->row[row + offsetof(CellParams, rate) / sizeof(R)][lane] = cell->rate / LOOSE;
      for (int i = 0; i < CELL_SIZE; ++i) {
        sum += (double)(cell->rate * cell->mass[i] * v_dot(cell->rest[i], cell->rest[i])) / 3.0;
      }
    }
  }
  return sum;
}

// Stretched by e it holds E V e^2 / 2; it comes to rest as fast as it can.
static void make_stiff(soft *s, const cluster_part *parts, double stiffness)
{
  double spread = 0.0;
  for (int32_t i = 0; i < s->fold.cluster.count; ++i) {
    const float *r = parts[i].rest;
    spread += (double)(parts[i].mass * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]));
  }
  double rate = 3.0 * stiffness / spread;
  s->fold.cluster.rate = (float)rate;
  s->fold.cluster.damping = (float)(2.0 / sqrt(rate));
}

static bool pack_fold(tn_world *world, int32_t slot, uint8_t *marks)
{
  soft_graph *g = &world->soft_graph;
  soft *s = &world->softs[slot];
  int32_t count = mark_region(s, marks), first = g->fold_count;
  if (!memory_reserve(world, (void **)&g->folds, &g->fold_capacity, first + count,
                      sizeof(cluster_part))) {
    return false;
  }
  g->fold_count += count;
  put_parts(s, marks, g->folds + first);
  soft_cluster *c = &s->fold.cluster;
  if (c->count == 0) {
    c->q[3] = 1.0f;
  }
  c->first = first;
  c->count = count;
  double stiffness = loosen(world, slot, SOFT_TET, marks) + loosen(world, slot, SOFT_CELL, marks);
  make_stiff(s, g->folds + first, stiffness);
  s->fold.off = soft_fit_cluster(s, c, g->folds + first);
  return true;
}

bool soft_pack_folds(tn_world *world)
{
  bool ok = true;
  world->soft_graph.fold_count = 0;
  for (int32_t i = 0; i < world->soft_list.used && ok; ++i) {
    soft *s = &world->softs[i];
    if (s->alive && s->first > 0 && s->fold.active) {
      uint8_t *marks = memory_take(world, (size_t)s->particle_count);
      ok = marks && pack_fold(world, i, marks);
      memory_give(world, marks, (size_t)s->particle_count);
    }
  }
  return ok;
}

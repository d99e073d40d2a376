// Tearing. Where an edge is strained beyond tear_strain or tear_force, one of its ends is split:
// the elements around that particle (its star) are divided by the plane normal to the edge,
// connected groups of them get a copy of the particle each. A tear runs along the borders of
// elements.
#include "collide/elements.h"
#include "data/soft_elements.h"
#include "solver/soft/soft_steps.h"

#include <math.h>
#include <string.h>

// An overstrained edge from particle a to b.
typedef struct tear {
  int32_t a, b;
  float excess;  // max(strain / tear_strain, tension / tear_force): above 1 it tears
  float tension; // N; 0 for an edge of a solid
} tear;

// ---------------------------------------------------------------------------------------------
// Finding overstrained edges

typedef struct tear_list {
  tear list[TUNING_MAX_TEARS];
  int count;
} tear_list;

// Keeps the TUNING_MAX_TEARS largest in descending order; ties go to the first one found.
static void add_tear(tear_list *tears, const tear *t)
{
  for (int i = 0; i < tears->count; ++i) {
    const tear *o = &tears->list[i];
    if ((o->a == t->a && o->b == t->b) || (o->a == t->b && o->b == t->a)) {
      return;
    }
  }
  int at = tears->count < TUNING_MAX_TEARS ? tears->count++ : TUNING_MAX_TEARS;
  for (; at > 0 && tears->list[at - 1].excess < t->excess; --at) {
    if (at < TUNING_MAX_TEARS) {
      tears->list[at] = tears->list[at - 1];
    }
  }
  if (at < TUNING_MAX_TEARS) {
    tears->list[at] = *t;
  }
}

static double particle_distance(const soft *s, int32_t a, int32_t b)
{
  tn_pos d = pos_sub(s->particles[b].at, s->particles[a].at);
  return sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
}

static float strain_excess(const soft *s, int32_t a, int32_t b, float rest)
{
  return ((float)particle_distance(s, a, b) / rest - 1.0f) / s->tear_strain;
}

static void find_torn_edges(const soft *s, float dt, tear_list *tears)
{
  const soft_row_list *list = &s->list[SOFT_EDGE];
  soft_layout l = soft_layout_of(SOFT_EDGE);
  for (int32_t i = 0; i < list->count; ++i) {
    const int32_t *v = list->members + 2 * (size_t)i;
    const float *fields = list->fields + (size_t)i * (size_t)(l.params + l.state);
    const EdgeParams *params = (const EdgeParams *)fields;
    const EdgeState *state = (const EdgeState *)(fields + l.params);
    float tension = -state->sum / dt;
    tear t = {v[0], v[1], strain_excess(s, v[0], v[1], params->rest), tension};
    t.excess = fmaxf(t.excess, tension / s->tear_force);
    if (t.excess > 1.0f) {
      add_tear(tears, &t);
    }
  }
}

// Corners of a hexahedron are joined by an edge if they differ along one axis; `place` has a bit
// per axis. All corners of a tetrahedron are joined.
static bool is_element_edge(int size, int i, int k)
{
  static const int place[8] = {0, 1, 3, 2, 4, 5, 7, 6};
  int bits = place[i] ^ place[k];
  return size == 4 || bits == 1 || bits == 2 || bits == 4;
}

static int corners_of(soft_type type, const int32_t *v)
{
  return type == SOFT_SHAPE_MATCH && v[4] != NO_SLOT ? 8 : 4;
}

static void find_torn_solids(const soft *s, soft_type type, tear_list *tears)
{
  soft_layout l = soft_layout_of(type);
  for (int32_t i = 0; i < s->list[type].count && isfinite(s->tear_strain); ++i) {
    const int32_t *v = s->list[type].members + (size_t)i * (size_t)l.particles;
    int size = corners_of(type, v);
    for (int k = 0; k < size * size; ++k) {
      int a = k / size, b = k % size;
      if (a < b && is_element_edge(size, a, b)) {
        tn_vec3 d = tn_sub(s->particles[v[b]].rest, s->particles[v[a]].rest);
        tear t = {v[a], v[b], strain_excess(s, v[a], v[b], tn_length(d)), 0.0f};
        if (t.excess > 1.0f) {
          add_tear(tears, &t);
        }
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// The star of a particle: its solid elements if the body has any, else triangles, else edges

typedef struct star_element {
  int32_t v[SOFT_MAX_PARTICLES];
  int size;         // corners
  bool far;         // on the side of the torn edge's other end
  int group;        // connected component on its side
  double rest_size; // length, area or volume
} star_element;

typedef struct particle_star {
  const soft *soft;
  int32_t center, toward; // the particle to split, the other end of the torn edge
  star_element elements[TUNING_MAX_STAR_ELEMENTS];
  int count;
  int group_count, kept_group;            // kept_group keeps the original particle
  double share[TUNING_MAX_STAR_ELEMENTS]; // of the mass, by group
  int32_t copy[TUNING_MAX_STAR_ELEMENTS]; // particle of each group
} particle_star;

static bool contains(const int32_t *v, int size, int32_t particle)
{
  for (int i = 0; i < size; ++i) {
    if (v[i] == particle) {
      return true;
    }
  }
  return false;
}

static double size_of_element(const soft *s, const int32_t *v, int size)
{
  static const int corners[SOFT_MAX_PARTICLES] = {0, 1, 2, 3, 4, 5, 6, 7};
  tn_vec3 x[SOFT_MAX_PARTICLES];
  for (int i = 0; i < size; ++i) {
    x[i] = s->particles[v[i]].rest;
  }
  return size == 2   ? (double)tn_length(tn_sub(x[1], x[0]))
         : size == 3 ? soft_triangle_area(x, corners)
         : size == 4 ? soft_tet_volume(x, corners)
                     : soft_hex_volume(x, corners);
}

// False if the star is full.
static bool add_star_element(particle_star *c, const int32_t *v, int size)
{
  if (!contains(v, size, c->center)) {
    return true;
  }
  if (c->count == TUNING_MAX_STAR_ELEMENTS) {
    return false;
  }
  star_element *p = &c->elements[c->count++];
  memset(p, 0, sizeof *p);
  memcpy(p->v, v, (size_t)size * sizeof *v);
  p->size = size;
  p->rest_size = size_of_element(c->soft, v, size);
  return true;
}

// The minimum volume row of a shape matched tetrahedron belongs to that element.
static bool is_element(const soft *s, soft_type type, int32_t index)
{
  soft_layout l = soft_layout_of(type);
  const float *fields = s->list[type].fields + (size_t)index * (size_t)(l.params + l.state);
  return type != SOFT_VOLUME || ((const VolumeParams *)fields)->lower_bound_only < 0.5f;
}

static bool add_list(particle_star *c, soft_type type)
{
  soft_layout l = soft_layout_of(type);
  for (int32_t i = 0; i < c->soft->list[type].count; ++i) {
    const int32_t *v = c->soft->list[type].members + (size_t)i * (size_t)l.particles;
    if (is_element(c->soft, type, i) &&
        !add_star_element(c, v, type == SOFT_EDGE ? 2 : corners_of(type, v))) {
      return false;
    }
  }
  return true;
}

static bool is_solid(const soft *s)
{
  return s->list[SOFT_COROTATED].count + s->list[SOFT_NEO_HOOKEAN].count +
             s->list[SOFT_VOLUME].count + s->list[SOFT_SHAPE_MATCH].count >
         0;
}

static bool is_rope(const soft *s)
{
  return !is_solid(s) && s->triangle_count == 0;
}

static bool find_star(particle_star *c)
{
  const soft *s = c->soft;
  if (is_solid(s)) {
    return add_list(c, SOFT_COROTATED) && add_list(c, SOFT_NEO_HOOKEAN) &&
           add_list(c, SOFT_VOLUME) && add_list(c, SOFT_SHAPE_MATCH);
  }
  for (int32_t i = 0; i < s->triangle_count; ++i) {
    if (!add_star_element(c, s->triangles + 3 * (size_t)i, 3)) {
      return false;
    }
  }
  return s->triangle_count > 0 || add_list(c, SOFT_EDGE);
}

// Signed distance, times the edge length, from the plane through the centre normal to the torn
// edge.
static double side_of_plane(const particle_star *c, tn_pos at)
{
  const soft_particle *p = c->soft->particles;
  tn_pos n = pos_sub(p[c->toward].at, p[c->center].at), d = pos_sub(at, p[c->center].at);
  return n.x * d.x + n.y * d.y + n.z * d.z;
}

// A triangle or solid is far if its corners' mean is, or if it contains the torn edge; of single
// edges only the torn one is.
static void set_side(const particle_star *c, star_element *p)
{
  double sum = 0.0;
  for (int i = 0; i < p->size; ++i) {
    sum += side_of_plane(c, c->soft->particles[p->v[i]].at);
  }
  p->far =
      p->size == 2 ? contains(p->v, 2, c->toward) : sum > 0.0 || contains(p->v, p->size, c->toward);
}

static int shared_vertices(const star_element *a, const star_element *b)
{
  int count = 0;
  for (int i = 0; i < a->size; ++i) {
    count += contains(b->v, b->size, a->v[i]);
  }
  return count;
}

// Elements on one side are connected by common edges of triangles or common faces of solids.
static bool share_face(const star_element *a, const star_element *b)
{
  return a->far == b->far && a->size > 2 && shared_vertices(a, b) >= (a->size == 3 ? 2 : 3);
}

static void flood_group(particle_star *c, int from)
{
  for (int i = 0; i < c->count; ++i) {
    star_element *p = &c->elements[i];
    if (p->group < 0 && share_face(&c->elements[from], p)) {
      p->group = c->elements[from].group;
      flood_group(c, i);
    }
  }
}

// Groups the elements. The largest group on the near side keeps the particle. False if all elements
// are on one side: nothing to split.
static bool group_star(particle_star *c)
{
  bool near = false, far = false;
  double total = 0.0, most = 0.0;
  for (int i = 0; i < c->count; ++i) {
    set_side(c, &c->elements[i]);
    c->elements[i].group = -1;
    near = near || !c->elements[i].far;
    far = far || c->elements[i].far;
    total += c->elements[i].rest_size;
  }
  for (int i = 0; i < c->count && near && far; ++i) {
    star_element *p = &c->elements[i];
    if (p->group < 0) {
      p->group = c->group_count++;
      flood_group(c, i);
    }
    c->share[p->group] += p->rest_size / total;
  }
  for (int i = 0; i < c->count && near && far; ++i) {
    const star_element *p = &c->elements[i];
    if (!p->far && c->share[p->group] > most) {
      most = c->share[p->group];
      c->kept_group = p->group;
    }
  }
  return near && far;
}

// Group of the element that has all these particles, or -1.
static int group_with(const particle_star *c, const int32_t *v, int size)
{
  for (int i = 0; i < c->count; ++i) {
    const star_element *p = &c->elements[i];
    bool all = true;
    for (int k = 0; k < size; ++k) {
      all = all && contains(p->v, p->size, v[k]);
    }
    if (all) {
      return p->group;
    }
  }
  return -1;
}

// ---------------------------------------------------------------------------------------------
// Memory

static void copy_arrays(soft *to, const soft *from)
{
  const size_t particles = (size_t)from->particle_count * sizeof(soft_particle);
  memmove(to->particles, from->particles, particles);
  int32_t count =
      from->triangle_count < to->triangle_count ? from->triangle_count : to->triangle_count;
  memmove(to->triangles, from->triangles, 3 * (size_t)count * sizeof(int32_t));
  for (int type = 0; type < SOFT_TYPE_COUNT; ++type) {
    soft_layout l = soft_layout_of((soft_type)type);
    const soft_row_list *a = &from->list[type];
    soft_row_list *b = &to->list[type];
    size_t n = (size_t)(a->count < b->count ? a->count : b->count);
    memmove(b->members, a->members, n * (size_t)l.particles * sizeof(int32_t));
    memmove(b->fields, a->fields, n * (size_t)(l.params + l.state) * sizeof(float));
  }
  if (from->plastic) { // shape match elements are never removed
    memmove(to->plastic, from->plastic,
            9 * (size_t)from->list[SOFT_SHAPE_MATCH].count * sizeof(float));
  }
}

static bool grow_arrays(heap *h, soft *s, int particles, int triangles, int edges)
{
  soft grown = *s;
  grown.particle_count += particles;
  grown.triangle_count += triangles;
  grown.list[SOFT_EDGE].count += edges;
  grown.size = soft_assign_arrays(&grown, NULL);
  grown.memory = heap_alloc(h, grown.size);
  if (!grown.memory) {
    return false;
  }
  soft_assign_arrays(&grown, grown.memory);
  copy_arrays(&grown, s);
  heap_free(h, s->memory, s->size);
  *s = grown;
  return true;
}

// Removes a row; the allocation keeps its size. The arrays move down in ascending order, so none is
// overwritten before it has moved.
static void remove_row(soft *s, soft_type type, int32_t index)
{
  soft_layout l = soft_layout_of(type);
  soft_row_list *list = &s->list[type];
  size_t after = (size_t)list->count - (size_t)index - 1, places = (size_t)l.particles;
  size_t fields = (size_t)l.params + (size_t)l.state;
  memmove(list->members + (size_t)index * places, list->members + ((size_t)index + 1) * places,
          after * places * sizeof(int32_t));
  memmove(list->fields + (size_t)index * fields, list->fields + ((size_t)index + 1) * fields,
          after * fields * sizeof(float));
  soft shrunk = *s;
  shrunk.list[type].count -= 1;
  soft_assign_arrays(&shrunk, s->memory);
  copy_arrays(&shrunk, s);
  *s = shrunk;
}

// ---------------------------------------------------------------------------------------------
// Splitting

static void replace_index(int32_t *v, int size, int32_t from, int32_t to)
{
  for (int i = 0; i < size; ++i) {
    v[i] = v[i] == from ? to : v[i];
  }
}

// Groups with an element that contains the edge from the centre to x; if there is none, the group
// that lies in its direction.
static int groups_of_edge(const particle_star *c, int32_t x, int *groups)
{
  int count = 0, best = c->kept_group;
  double most = TUNING_NO_DIRECTION;
  for (int i = 0; i < c->count; ++i) {
    const star_element *p = &c->elements[i];
    bool known = false;
    for (int k = 0; k < count; ++k) {
      known = known || groups[k] == p->group;
    }
    if (!known && contains(p->v, p->size, x)) {
      groups[count++] = p->group;
    }
    for (int k = 0; k < p->size; ++k) {
      const soft_particle *at = c->soft->particles;
      tn_pos d = pos_sub(at[p->v[k]].at, at[c->center].at), e = pos_sub(at[x].at, at[c->center].at);
      double along = p->v[k] == c->center ? TUNING_NO_DIRECTION : d.x * e.x + d.y * e.y + d.z * e.z;
      best = along > most ? p->group : best;
      most = fmax(most, along);
    }
  }
  if (count == 0) {
    groups[count++] = best;
  }
  return count;
}

// Edges between two groups are duplicated: the number of copies. Edges of ropes never are.
static int count_new_edges(const particle_star *c)
{
  const soft_row_list *list = &c->soft->list[SOFT_EDGE];
  int count = 0, groups[TUNING_MAX_STAR_ELEMENTS];
  for (int32_t i = 0; i < list->count && c->elements[0].size > 2; ++i) {
    const int32_t *v = list->members + 2 * (size_t)i;
    if (contains(v, 2, c->center)) {
      count += groups_of_edge(c, v[v[0] == c->center], groups) - 1;
    }
  }
  return count;
}

static void split_edges(particle_star *c, soft *s, int32_t first_new)
{
  soft_row_list *list = &s->list[SOFT_EDGE];
  soft_layout l = soft_layout_of(SOFT_EDGE);
  size_t size = (size_t)l.params + (size_t)l.state;
  int32_t next = first_new;
  for (int32_t i = 0; i < first_new; ++i) {
    int32_t *v = list->members + 2 * (size_t)i;
    if (!contains(v, 2, c->center)) {
      continue;
    }
    int groups[TUNING_MAX_STAR_ELEMENTS], x = v[v[0] == c->center];
    int count = c->elements[0].size > 2 ? groups_of_edge(c, x, groups) : 1;
    groups[0] = c->elements[0].size > 2 ? groups[0] : group_with(c, v, 2);
    EdgeParams *params = (EdgeParams *)(list->fields + (size_t)i * size);
    params->compliance *= (float)count; // the copies together are as stiff as the edge
    for (int k = 1; k < count; ++k, ++next) {
      int32_t *copy = list->members + 2 * (size_t)next;
      memcpy(copy, v, 2 * sizeof *v);
      memcpy(list->fields + (size_t)next * size, params, size * sizeof(float));
      replace_index(copy, 2, c->center, c->copy[groups[k]]);
    }
    replace_index(v, 2, c->center, c->copy[groups[0]]);
  }
}

// A bending row belongs to the triangles 0 1 2 and 1 0 3 beside its edge; it is removed when these
// are in different groups.
static void split_bending(const particle_star *c, soft *s, soft_type type)
{
  for (int32_t i = s->list[type].count - 1; i >= 0; --i) {
    int32_t *v = s->list[type].members + 4 * (size_t)i;
    if (!contains(v, 4, c->center)) {
      continue;
    }
    const int32_t one[3] = {v[0], v[1], v[2]}, two[3] = {v[1], v[0], v[3]};
    int a = contains(one, 3, c->center) ? group_with(c, one, 3) : -1;
    int b = contains(two, 3, c->center) ? group_with(c, two, 3) : -1;
    bool both = contains(one, 3, c->center) && contains(two, 3, c->center);
    int group = a >= 0 ? a : b;
    if (group < 0 || (both && a != b)) {
      remove_row(s, type, i);
    } else {
      replace_index(v, 4, c->center, c->copy[group]);
    }
  }
}

static void split_solids(const particle_star *c, soft *s, soft_type type)
{
  soft_layout l = soft_layout_of(type);
  for (int32_t i = 0; i < s->list[type].count; ++i) {
    int32_t *v = s->list[type].members + (size_t)i * (size_t)l.particles;
    int size = corners_of(type, v);
    if (contains(v, size, c->center)) {
      replace_index(v, size, c->center, c->copy[group_with(c, v, size)]);
      if (type == SOFT_SHAPE_MATCH) {
        soft_refit_shape_match(s, i);
      }
    }
  }
}

static int place_in(const int32_t *v, int size, int32_t particle)
{
  for (int i = 0; i < size; ++i) {
    if (v[i] == particle) {
      return i;
    }
  }
  return -1;
}

// Whether a triangle lies in a face of the element with the same orientation.
static bool is_face_of(const star_element *p, const int32_t *v)
{
  int count, corners = p->size == 4 ? 3 : 4;
  const int(*faces)[4] = soft_faces(p->size, &count);
  for (int k = 0; k < count; ++k) {
    int32_t face[4];
    for (int m = 0; m < corners; ++m) {
      face[m] = p->v[faces[k][m]];
    }
    int a = place_in(face, corners, v[0]), b = place_in(face, corners, v[1]);
    int c = place_in(face, corners, v[2]);
    if (a >= 0 && b >= 0 && c >= 0 && (b - a + corners) % corners < (c - a + corners) % corners) {
      return true;
    }
  }
  return false;
}

// Solids split at one corner of a face still share its other corners, so corners alone do not tell
// which element a surface triangle belongs to: its orientation does.
static int group_of_triangle(const particle_star *c, const int32_t *v)
{
  if (c->elements[0].size < 4) {
    return group_with(c, v, 3);
  }
  for (int i = 0; i < c->count; ++i) {
    if (is_face_of(&c->elements[i], v)) {
      return c->elements[i].group;
    }
  }
  return -1;
}

static void split_triangles(const particle_star *c, soft *s, int32_t count)
{
  for (int32_t i = 0; i < count; ++i) {
    int32_t *v = s->triangles + 3 * (size_t)i;
    int group = contains(v, 3, c->center) ? group_of_triangle(c, v) : -1;
    if (group >= 0) {
      replace_index(v, 3, c->center, c->copy[group]);
    }
  }
}

// Triangulates the faces between elements of different groups, which the tear exposes. Returns the
// number of triangles; null `out` counts only.
static int add_exposed_faces(const particle_star *c, int32_t *out)
{
  int count = 0;
  for (int i = 0; i < c->count * c->count; ++i) {
    const star_element *p = &c->elements[i / c->count], *q = &c->elements[i % c->count];
    if (p->group == q->group || p->size < 4 || shared_vertices(p, q) < (p->size == 4 ? 3 : 4)) {
      continue;
    }
    int face_count;
    const int(*faces)[4] = soft_faces(p->size, &face_count);
    for (int k = 0; k < face_count; ++k) {
      int corners = p->size == 4 ? 3 : 4, shared = 0;
      int32_t v[4];
      for (int m = 0; m < corners; ++m) {
        v[m] = p->v[faces[k][m]];
        shared += contains(q->v, q->size, v[m]);
      }
      if (shared < corners || !contains(v, corners, c->center)) {
        continue;
      }
      replace_index(v, corners, c->center, c->copy[p->group]);
      for (int m = 0; m + 2 < corners; ++m, ++count) {
        if (out) {
          out[3 * count] = v[0];
          out[3 * count + 1] = v[m + 1];
          out[3 * count + 2] = v[m + 2];
        }
      }
    }
  }
  return count;
}

// Copies of the particle have its position and velocity and a share of its mass by element size.
// Only the kept one stays pinned.
static void split_particle(particle_star *c, soft *s)
{
  soft_particle *center = &s->particles[c->center];
  float mass = center->mass;
  for (int i = 0; i < c->group_count; ++i) {
    soft_particle *p = &s->particles[c->copy[i]];
    *p = *center;
    p->mass = mass * (float)c->share[i];
    p->pinned = i == c->kept_group ? center->pinned : 0;
  }
}

typedef enum split_result {
  SPLIT_DONE,
  SPLIT_NOTHING, // there is nothing to part
  SPLIT_NO_MEMORY,
} split_result;

// Splits `center`; `made` is the first new particle.
static split_result split_at(heap *h, soft *s, int32_t center, int32_t toward, int32_t *made)
{
  particle_star c = {.soft = s, .center = center, .toward = toward};
  if (!find_star(&c) || !group_star(&c)) {
    return SPLIT_NOTHING;
  }
  *made = s->particle_count;
  int32_t particles = s->particle_count, edges = s->list[SOFT_EDGE].count;
  int32_t triangles = s->triangle_count;
  for (int i = 0; i < c.group_count; ++i) {
    c.copy[i] = i == c.kept_group ? center : particles++;
  }
  int faces = triangles > 0 ? add_exposed_faces(&c, NULL) : 0;
  if (!grow_arrays(h, s, particles - s->particle_count, faces, count_new_edges(&c))) {
    return SPLIT_NO_MEMORY;
  }
  split_particle(&c, s);
  split_edges(&c, s, edges);
  split_solids(&c, s, SOFT_COROTATED);
  split_solids(&c, s, SOFT_NEO_HOOKEAN);
  split_solids(&c, s, SOFT_VOLUME);
  split_solids(&c, s, SOFT_SHAPE_MATCH);
  split_bending(&c, s, SOFT_BEND);
  split_bending(&c, s, SOFT_DIHEDRAL);
  split_triangles(&c, s, triangles);
  if (faces > 0) {
    add_exposed_faces(&c, s->triangles + 3 * (size_t)triangles);
  }
  return SPLIT_DONE;
}

// ---------------------------------------------------------------------------------------------
// Tears of a step

static bool is_in_element(const soft *s, int32_t a, int32_t b)
{
  particle_star c = {.soft = s, .center = a};
  find_star(&c);
  for (int i = 0; i < c.count; ++i) {
    if (c.elements[i].size > 2 && contains(c.elements[i].v, c.elements[i].size, b)) {
      return true;
    }
  }
  return false;
}

static void remove_edge(soft *s, int32_t a, int32_t b)
{
  for (int32_t i = s->list[SOFT_EDGE].count - 1; i >= 0; --i) {
    const int32_t *v = s->list[SOFT_EDGE].members + 2 * (size_t)i;
    if (contains(v, 2, a) && contains(v, 2, b)) {
      remove_row(s, SOFT_EDGE, i);
    }
  }
}

// Splits an end of the edge, preferably one that is not pinned. An edge outside all elements, or
// the last one of a rope, is removed instead.
static split_result tear_at(heap *h, soft *s, const tear *t, int32_t *parted, int32_t *made)
{
  bool rope = is_rope(s);
  int32_t first = s->particles[t->b].pinned ? t->a : t->b, second = t->a + t->b - first;
  *parted = first;
  *made = -1;
  if (rope || is_in_element(s, t->a, t->b)) {
    split_result result = split_at(h, s, first, second, made);
    if (result == SPLIT_NOTHING) {
      *parted = second;
      result = split_at(h, s, second, first, made);
    }
    if (result != SPLIT_NOTHING || !rope) {
      return result;
    }
  }
  remove_edge(s, t->a, t->b);
  return SPLIT_DONE;
}

static void report_tear(const soft_system *system, int32_t slot, const tear *t, int32_t parted,
                        int32_t made)
{
  const soft *s = &system->softs[slot];
  tn_vec3 d = tn_between_points(s->particles[t->a].at, s->particles[t->b].at);
  float length = tn_length(d), pull = parted == t->a ? t->tension : -t->tension;
  soft_break event = {.soft = slot,
                      .attachment = NO_SLOT,
                      .particles = {parted, made},
                      .point = s->particles[parted].at,
                      .force = tn_scale(length > 0.0f ? pull / length : 0.0f, d)};
  system->on_break(&event, system->break_context);
}

// Whether it tore. `complete` becomes false if a tear has to wait for memory.
static bool tear_soft(const soft_system *system, int32_t slot, float dt, bool *complete)
{
  soft *s = &system->softs[slot];
  tear_list tears = {.count = 0};
  find_torn_edges(s, dt, &tears);
  for (int type = SOFT_VOLUME; type <= SOFT_SHAPE_MATCH; ++type) {
    find_torn_solids(s, (soft_type)type, &tears);
  }
  int32_t done[2 * TUNING_MAX_TEARS];
  int count = 0;
  for (int i = 0; i < tears.count; ++i) {
    const tear *t = &tears.list[i];
    int32_t parted, made;
    split_result result = SPLIT_NOTHING;
    if (!contains(done, count, t->a) && !contains(done, count, t->b)) {
      result = tear_at(system->heap, s, t, &parted, &made);
    }
    *complete = *complete && result != SPLIT_NO_MEMORY;
    if (result == SPLIT_DONE) {
      report_tear(system, slot, t, parted, made);
      done[count++] = t->a;
      done[count++] = t->b;
    }
    if (count > 0 && is_rope(s)) { // one tear relieves the whole rope
      break;
    }
  }
  if (count > 0) {
    s->pressure = 0.0f; // a torn surface leaks
    s->closed = s->closed && is_solid(s);
  }
  return count > 0;
}

bool soft_tear(const soft_system *system, float dt)
{
  bool any = false, torn = false, complete = true;
  for (int32_t i = 0; i < system->soft_pool->used; ++i) {
    const soft *s = &system->softs[i];
    any =
        any || (s->alive && s->first > 0 && (isfinite(s->tear_strain) || isfinite(s->tear_force)));
  }
  if (!any) {
    return true;
  }
  for (int32_t i = 0; i < system->soft_pool->used; ++i) {
    const soft *s = &system->softs[i];
    if (s->alive && s->first > 0 && (isfinite(s->tear_strain) || isfinite(s->tear_force))) {
      torn = tear_soft(system, i, dt, &complete) || torn;
    }
  }
  if (torn) {
    soft_graph_invalidate(system->graph, system->layout_stale);
  }
  return complete;
}

// The trees of an articulation: found from the roots over joints, checked at each call.
#include "tools/articulation.h"

#include "data/ids.h"
#include "data/world.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// What joints leave free

static bool is_locked_at(tn_range r)
{
  return r.lo == r.hi;
}

static void find_generic_freedom(const tn_joint_def *def, joint_freedom *f)
{
  bool at_zero = true;
  for (int i = 0; i < 3; ++i) {
    if (is_locked_at(def->linear[i])) {
      f->locked[i] = (double)def->linear[i].lo;
    } else {
      f->slides[f->slide_count++] = i;
    }
    if (is_locked_at(def->angular[i])) {
      f->locked[3 + i] = (double)def->angular[i].lo;
      at_zero = at_zero && def->angular[i].lo == 0.0f;
    } else {
      f->turns[f->turn_count++] = i;
    }
  }
  f->turn = f->turn_count == 3              ? TURN_BALL
            : f->turn_count == 0            ? TURN_NONE
            : f->turn_count == 1 && at_zero ? TURN_AXIS
                                            : TURN_VECTOR;
}

joint_freedom joint_freedom_of(const joint *j)
{
  joint_freedom f = {0};
  switch (j->def.kind) {
  case TN_JOINT_CYLINDER:
    f.slide_count = 1;
    f.turn = TURN_AXIS;
    f.turn_count = 1;
    break;
  case TN_JOINT_PRISMATIC:
    f.slide_count = 1;
    break;
  case TN_JOINT_HINGE:
    f.turn = TURN_AXIS;
    f.turn_count = 1;
    break;
  case TN_JOINT_UNIVERSAL:
    f.turn = TURN_UNIVERSAL;
    f.turn_count = 2;
    break;
  case TN_JOINT_BALL:
    f.turn = TURN_BALL;
    f.turn_count = 3;
    break;
  case TN_JOINT_GENERIC:
    find_generic_freedom(&j->def, &f);
    break;
  default:
    break;
  }
  return f;
}

// Whether a joint constrains anything now.
static bool holds(const joint *j)
{
  if (!j->alive || !j->def.enabled || j->broken) {
    return false;
  }
  joint_freedom f = joint_freedom_of(j);
  return f.slide_count + f.turn_count < 6;
}

// ---------------------------------------------------------------------------------------------
// Trees

typedef struct tree_builder {
  tn_articulation *a;
  int *link_of;   // by body slot: 1 + link, 0: none yet
  bool *used;     // by joint slot: part of a tree or listed as a loop
  bool *cut;      // by joint slot: not to be followed
  int32_t *order; // scratch: joints of a body in the order of their creation, as slot * 2 + side
  int body_count, joint_count;
} tree_builder;

static art_link *add_link(tree_builder *t, int32_t slot, int parent, int32_t parent_slot)
{
  tn_articulation *a = t->a;
  art_link *link = &a->links[a->link_count];
  memset(link, 0, sizeof *link);
  link->body = body_id_at(a->world, slot);
  link->parent = parent;
  link->parent_slot = parent_slot;
  link->first_position = a->position_count;
  link->first_velocity = a->velocity_count;
  t->link_of[slot] = ++a->link_count;
  return link;
}

static void finish_link(tn_articulation *a, art_link *link)
{
  const joint_freedom *f = &link->freedom;
  link->velocity_count = f->free_root ? 6 : f->slide_count + f->turn_count;
  link->position_count = link->velocity_count + (f->free_root || f->turn == TURN_BALL ? 1 : 0);
  a->position_count += link->position_count;
  a->velocity_count += link->velocity_count;
}

static void add_joint_link(tree_builder *t, int32_t joint_slot, int side, int parent)
{
  const joint *j = &t->a->world->joints[joint_slot];
  art_link *link = add_link(t, j->slot[side], parent, j->slot[1 - side]);
  link->joint = joint_id_at(t->a->world, joint_slot);
  link->reversed = side == 0;
  link->freedom = joint_freedom_of(j);
  finish_link(t->a, link);
  t->used[joint_slot] = true;
}

// Joints of a body in the order of their creation: its list has the latest first.
static int list_joints(tree_builder *t, int32_t slot, int32_t *order)
{
  const tn_world *world = t->a->world;
  int count = 0;
  for (int32_t at = world->bodies[slot].first_joint; at != NO_SLOT;
       at = world->joints[at / 2].next[at % 2]) {
    order[count++] = at;
  }
  for (int i = 0; i < count / 2; ++i) {
    int32_t swap = order[i];
    order[i] = order[count - 1 - i];
    order[count - 1 - i] = swap;
  }
  return count;
}

// Whether the joint can carry a body of a tree: distance joints only limit it.
static bool is_edge(const tree_builder *t, int32_t joint_slot)
{
  const joint *j = &t->a->world->joints[joint_slot];
  return !t->used[joint_slot] && !t->cut[joint_slot] && holds(j) &&
         j->def.kind != TN_JOINT_DISTANCE;
}

static void add_loop(tree_builder *t, int32_t joint_slot)
{
  const joint *j = &t->a->world->joints[joint_slot];
  bool hangs_out = false; // on a dynamic body outside of the trees
  for (int side = 0; side < 2; ++side) {
    const body *b = &t->a->world->bodies[j->slot[side]];
    hangs_out = hangs_out || (b->type == TN_BODY_DYNAMIC && !t->link_of[j->slot[side]]);
  }
  if (!t->used[joint_slot] && holds(j) && !hangs_out) {
    t->used[joint_slot] = true;
    t->a->loops[t->a->loop_count++] = joint_id_at(t->a->world, joint_slot);
  }
}

// The first joint of a root to something that does not move carries it; without one it is free.
static void add_root(tree_builder *t, int32_t slot)
{
  const tn_world *world = t->a->world;
  int count = list_joints(t, slot, t->order);
  for (int i = 0; i < count; ++i) {
    int32_t joint_slot = t->order[i] / 2;
    int side = t->order[i] % 2;
    int32_t other = world->joints[joint_slot].slot[1 - side];
    if (is_edge(t, joint_slot) && world->bodies[other].type != TN_BODY_DYNAMIC) {
      add_joint_link(t, joint_slot, side, -1);
      return;
    }
  }
  art_link *link = add_link(t, slot, -1, WORLD_SLOT);
  link->freedom.free_root = true;
  finish_link(t->a, link);
}

// Depth first: the bodies of `order` that a link's joints lead to, each with all that hang on it.
// An own stack: `path` holds the links from the root, `next` the joint to go on with at each.
static void grow(tree_builder *t, int32_t *path, int32_t *next)
{
  const tn_world *world = t->a->world;
  int depth = 1;
  path[0] = t->a->link_count - 1;
  next[0] = 0;
  while (depth > 0) {
    int at = path[depth - 1];
    int32_t slot = (int32_t)t->a->links[at].body.index;
    int count = list_joints(t, slot, t->order);
    bool went_on = false;
    while (next[depth - 1] < count && !went_on) {
      int32_t entry = t->order[next[depth - 1]++];
      const joint *j = &world->joints[entry / 2];
      int32_t other = j->slot[1 - entry % 2];
      if (is_edge(t, entry / 2) && world->bodies[other].type == TN_BODY_DYNAMIC &&
          !t->link_of[other]) {
        add_joint_link(t, entry / 2, 1 - entry % 2, at);
        path[depth] = t->a->link_count - 1;
        next[depth++] = 0;
        went_on = true;
      }
    }
    depth -= went_on ? 0 : 1;
  }
}

static void find_loops(tree_builder *t)
{
  for (int i = 0; i < t->a->link_count; ++i) {
    int count = list_joints(t, (int32_t)t->a->links[i].body.index, t->order);
    for (int k = 0; k < count; ++k) {
      add_loop(t, t->order[k] / 2);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Memory

static void *take(tn_articulation *a, size_t count, size_t size)
{
  return heap_alloc(&a->heap, (count + 1) * size);
}

static void give(tn_articulation *a, void *memory, size_t count, size_t size)
{
  heap_free(&a->heap, memory, (count + 1) * size);
}

// Numbers of the arrays that depend on the trees.
static size_t loop_rows_of(const tn_articulation *a)
{
  return 6 * (size_t)a->loop_count;
}

static bool take_state(tn_articulation *a)
{
  size_t n = (size_t)a->velocity_count, p = (size_t)a->position_count, r = loop_rows_of(a);
  a->columns = take(a, n, sizeof *a->columns);
  a->positions = take(a, p, sizeof(double));
  a->start = take(a, p, sizeof(double));
  a->velocities = take(a, n, sizeof(double));
  a->vectors = take(a, 3 * n, sizeof(double));
  a->matrix = take(a, n * n, sizeof(double));
  a->loop_jacobian = take(a, n * r, sizeof(double));
  a->loop_matrix = take(a, r * r, sizeof(double));
  a->loop_rows = take(a, 2 * r, sizeof(double));
  return a->columns && a->positions && a->start && a->velocities && a->vectors && a->matrix &&
         a->loop_jacobian && a->loop_matrix && a->loop_rows;
}

// Joints and bodies of the world bound the sizes while the trees are found.
static bool find_trees(tn_articulation *a, const tn_articulation_def *def, const char **why)
{
  const tn_world *world = a->world;
  size_t bodies = (size_t)world->body_pool.used, joints = (size_t)world->joint_pool.used;
  tree_builder t = {.a = a};
  art_link *links = a->links = take(a, bodies, sizeof *links);
  tn_joint_id *loops = a->loops = take(a, joints, sizeof *loops);
  t.link_of = take(a, bodies, sizeof *t.link_of);
  t.used = take(a, joints, sizeof *t.used);
  t.cut = take(a, joints, sizeof *t.cut);
  t.order = take(a, joints, sizeof *t.order);
  int32_t *path = take(a, 2 * bodies, sizeof *path);
  bool ok = links && loops && t.link_of && t.used && t.cut && t.order && path;
  for (int i = 0; ok && i < def->cut_count; ++i) {
    t.cut[def->cuts[i].index - 1] = true;
  }
  for (int i = 0; ok && i < def->root_count; ++i) {
    if (t.link_of[def->roots[i].index]) {
      *why = "a root is part of the tree of another root";
      ok = false;
    } else {
      add_root(&t, (int32_t)def->roots[i].index);
      grow(&t, path, path + bodies);
    }
  }
  if (ok) {
    find_loops(&t);
    a->links = take(a, (size_t)a->link_count, sizeof *links);
    a->loops = take(a, (size_t)a->loop_count, sizeof *loops);
    ok = a->links && a->loops;
    if (ok) {
      memcpy(a->links, links, (size_t)a->link_count * sizeof *links);
      memcpy(a->loops, loops, (size_t)a->loop_count * sizeof *loops);
    }
  } else {
    a->links = NULL;
    a->loops = NULL;
  }
  give(a, links, bodies, sizeof *links);
  give(a, loops, joints, sizeof *loops);
  give(a, t.link_of, bodies, sizeof *t.link_of);
  give(a, t.used, joints, sizeof *t.used);
  give(a, t.cut, joints, sizeof *t.cut);
  give(a, t.order, joints, sizeof *t.order);
  give(a, path, 2 * bodies, sizeof *path);
  return ok;
}

// ---------------------------------------------------------------------------------------------
// The API

tn_articulation_def tn_default_articulation_def(void)
{
  return (tn_articulation_def){.cookie = DEF_COOKIE};
}

static const char *why_bad_def(const tn_world *world, const tn_articulation_def *def)
{
  if (!def || def->cookie != DEF_COOKIE) {
    return "the definition does not come from tn_default_articulation_def";
  }
  if (!def->roots || def->root_count < 1) {
    return "there is no root";
  }
  for (int i = 0; i < def->root_count; ++i) {
    if (TN_IS_NULL(def->roots[i])) {
      return "a root is null: it must be a body, the world has no coordinates";
    }
    if (!tn_body_is_valid(world, def->roots[i])) {
      return "a root has been destroyed or belongs to another world";
    }
    if (world->bodies[def->roots[i].index].type != TN_BODY_DYNAMIC) {
      return "a root is not dynamic";
    }
  }
  for (int i = 0; i < def->cut_count; ++i) {
    if (!def->cuts || !tn_joint_is_valid(world, def->cuts[i])) {
      return "a cut is null, has been destroyed or belongs to another world";
    }
  }
  return NULL;
}

tn_articulation *tn_articulation_create(tn_world *world, const tn_articulation_def *def)
{
  if (!world) {
    return NULL;
  }
  const char *why = why_bad_def(world, def);
  heap memory = {.allocator = world->heap.allocator};
  tn_articulation *a = why ? NULL : heap_alloc(&memory, sizeof *a);
  if (a) {
    a->world = world;
    a->heap = memory;
    if (find_trees(a, def, &why) && take_state(a)) {
      return a;
    }
    tn_articulation_destroy(a);
  }
  report(&world->log, TN_LOG_ERROR, "tn_articulation_create: %s", why ? why : "out of memory");
  return NULL;
}

void tn_articulation_destroy(tn_articulation *a)
{
  if (!a) {
    return;
  }
  size_t n = (size_t)a->velocity_count, p = (size_t)a->position_count, r = loop_rows_of(a);
  give(a, a->links, (size_t)a->link_count, sizeof *a->links);
  give(a, a->loops, (size_t)a->loop_count, sizeof *a->loops);
  give(a, a->columns, n, sizeof *a->columns);
  give(a, a->positions, p, sizeof(double));
  give(a, a->start, p, sizeof(double));
  give(a, a->velocities, n, sizeof(double));
  give(a, a->vectors, 3 * n, sizeof(double));
  give(a, a->matrix, n * n, sizeof(double));
  give(a, a->loop_jacobian, n * r, sizeof(double));
  give(a, a->loop_matrix, r * r, sizeof(double));
  give(a, a->loop_rows, 2 * r, sizeof(double));
  heap memory = a->heap;
  heap_free(&memory, a, sizeof *a);
}

tn_articulation_counts tn_articulation_get_counts(const tn_articulation *a)
{
  if (!a) {
    return (tn_articulation_counts){0};
  }
  return (tn_articulation_counts){a->link_count, a->loop_count, a->position_count,
                                  a->velocity_count};
}

int tn_articulation_joints(const tn_articulation *a, tn_articulation_joint *joints, int capacity)
{
  for (int i = 0; a && i < a->link_count && i < capacity; ++i) {
    const art_link *l = &a->links[i];
    joints[i] = (tn_articulation_joint){l->joint,          l->body,           l->parent,
                                        l->first_position, l->position_count, l->first_velocity,
                                        l->velocity_count};
  }
  return a ? a->link_count : 0;
}

int tn_articulation_loops(const tn_articulation *a, tn_joint_id *loops, int capacity)
{
  for (int i = 0; a && i < a->loop_count && i < capacity; ++i) {
    loops[i] = a->loops[i];
  }
  return a ? a->loop_count : 0;
}

const joint *art_joint(const tn_articulation *a, const art_link *link)
{
  return TN_IS_NULL(link->joint) ? NULL : &a->world->joints[link->joint.index - 1];
}

static bool is_same_freedom(const joint_freedom *a, const joint_freedom *b)
{
  bool same =
      a->slide_count == b->slide_count && a->turn_count == b->turn_count && a->turn == b->turn;
  for (int i = 0; i < 3; ++i) {
    same = same && a->slides[i] == b->slides[i] && a->turns[i] == b->turns[i];
  }
  return same;
}

static const char *why_unsound(const tn_articulation *a, const art_link *link)
{
  if (!tn_body_is_valid(a->world, link->body)) {
    return "has been destroyed";
  }
  if (a->world->bodies[link->body.index].type != TN_BODY_DYNAMIC) {
    return "is not dynamic any more";
  }
  if (TN_IS_NULL(link->joint)) {
    return NULL;
  }
  if (!tn_joint_is_valid(a->world, link->joint)) {
    return "has lost its joint, which has been destroyed";
  }
  const joint *j = art_joint(a, link);
  if (!holds(j)) {
    return "has lost its joint, which is disabled or broken";
  }
  joint_freedom now = joint_freedom_of(j);
  return is_same_freedom(&now, &link->freedom) ? NULL
                                               : "has a joint whose locked axes have changed";
}

bool art_is_sound(const tn_articulation *a, const char *caller)
{
  for (int i = 0; a && i < a->link_count; ++i) {
    const char *why = why_unsound(a, &a->links[i]);
    if (why) {
      report(&a->world->log, TN_LOG_ERROR, "%s: body %d of the articulation %s; make a new one",
             caller, i, why);
      return false;
    }
  }
  for (int i = 0; a && i < a->loop_count; ++i) {
    if (!tn_joint_is_valid(a->world, a->loops[i])) {
      report(&a->world->log, TN_LOG_ERROR,
             "%s: joint %d that closes a loop has been destroyed; make a new articulation", caller,
             i);
      return false;
    }
  }
  return a != NULL;
}

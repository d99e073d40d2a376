// Dynamic AABB tree. Two rules shape it: a leaf is inserted where it adds the least surface area,
// and the heights of siblings differ by at most MAX_IMBALANCE, so that the height is logarithmic
// and queries can use a small fixed stack.
//
// Proof of the second rule: a change at the bottom alters the height of each ancestor by at most
// one, because rotations that would alter it more are refused. So siblings differ by at most
// MAX_IMBALANCE + 1 when rebalance() reaches their parent. If they do, swapping the lower one with
// the higher child of the other restores the rule: let the siblings have heights h and h -
// MAX_IMBALANCE - 1, and the taller one children of heights h - 1 and d with h - 1 - MAX_IMBALANCE
// <= d <= h - 1. Afterwards the lower sibling is next to d, which is at most MAX_IMBALANCE higher,
// and their parent, of height d + 1, is next to h - 1.
//
// The least number of leaves of a tree of height H is N(H) = N(H - 1) + N(H - 1 - MAX_IMBALANCE),
// with 1 for the last term if its argument is negative. With MAX_IMBALANCE = 12 it exceeds the 2^29
// leaves that MAX_NODES allows at H = 128. A smaller bound makes lower trees that are slower to
// query: a few large boxes belong near the top.
#include "detect/aabb_tree.h"

#define MAX_IMBALANCE 12 // levels
#define MAX_HEIGHT 127
#define FREE_NODE (-1) // in place of the height
#define MAX_NODES (1 << 30)

// The box of a plane is infinite; areas and their differences must stay finite.
static double bounded(double extent)
{
  return extent < 1e30 ? extent : 1e30;
}

static double half_area(const world_aabb *b)
{
  double x = bounded(b->upper.x - b->lower.x);
  double y = bounded(b->upper.y - b->lower.y);
  double z = bounded(b->upper.z - b->lower.z);
  return x * y + y * z + z * x;
}

static double smaller(double a, double b)
{
  return a < b ? a : b;
}

static double larger(double a, double b)
{
  return a > b ? a : b;
}

static world_aabb united(const world_aabb *a, const world_aabb *b)
{
  world_aabb u = {
      {smaller(a->lower.x, b->lower.x), smaller(a->lower.y, b->lower.y),
       smaller(a->lower.z, b->lower.z)},
      {larger(a->upper.x, b->upper.x), larger(a->upper.y, b->upper.y),
       larger(a->upper.z, b->upper.z)},
  };
  return u;
}

static double united_area(const tree *t, int32_t a, int32_t b)
{
  world_aabb u = united(&t->nodes[a].box, &t->nodes[b].box);
  return half_area(&u);
}

// ---------------------------------------------------------------------------------------------
// Nodes

static int32_t node_count(const tree *t)
{
  return t->count > 0 ? 2 * t->count - 1 : 0;
}

static bool make_room(heap *h, tree *t, int32_t wanted)
{
  if (wanted <= t->capacity) {
    return true;
  }
  void *nodes = t->nodes;
  int32_t capacity = t->capacity == 0 ? 16 : 2 * t->capacity;
  if (t->capacity > MAX_NODES / 2 ||
      !heap_grow(h, &nodes, t->used, t->capacity, capacity, sizeof *t->nodes)) {
    return false;
  }
  t->nodes = nodes;
  t->capacity = capacity;
  return true;
}

// Free nodes form a list by `parent`. `live`: nodes in use, from the number of leaves.
static int32_t take_node(tree *t, int32_t live)
{
  if (live == t->used) {
    return t->used++;
  }
  int32_t taken = t->first_free;
  t->first_free = t->nodes[taken].parent;
  return taken;
}

static void give_node(tree *t, int32_t node)
{
  t->nodes[node].height = FREE_NODE;
  t->nodes[node].parent = t->first_free;
  t->first_free = node;
}

static bool is_leaf(const tree_node *n)
{
  return n->height == 0;
}

static int32_t sibling_of(const tree *t, int32_t node)
{
  const tree_node *parent = &t->nodes[t->nodes[node].parent];
  return parent->child[parent->child[0] == node];
}

static void put_in_place_of(tree *t, int32_t node, int32_t old, int32_t parent)
{
  t->nodes[node].parent = parent;
  if (parent == NO_SLOT) {
    t->root = node;
  } else {
    t->nodes[parent].child[t->nodes[parent].child[1] == old] = node;
  }
}

static void refit(tree *t, int32_t node)
{
  tree_node *n = &t->nodes[node];
  const tree_node *a = &t->nodes[n->child[0]], *b = &t->nodes[n->child[1]];
  n->box = united(&a->box, &b->box);
  n->height = 1 + (a->height > b->height ? a->height : b->height);
  n->category = a->category | b->category;
}

// ---------------------------------------------------------------------------------------------
// Shape of the tree

static int32_t height_difference(int32_t a, int32_t b)
{
  return a < b ? b - a : a - b;
}

static bool is_balanced(int32_t height_a, int32_t height_b)
{
  return height_difference(height_a, height_b) <= MAX_IMBALANCE;
}

static int32_t parent_height(int32_t height_a, int32_t height_b)
{
  return 1 + (height_a > height_b ? height_a : height_b);
}

// Whether a rotation (swap of a node with a child of its sibling) keeps the tree balanced and
// alters the top node's height by at most `most`.
static bool may_rotate(const tree *t, int32_t uncle, int32_t nephew, int32_t old_height,
                       int32_t most)
{
  int32_t low = t->nodes[uncle].height, high = t->nodes[nephew].height;
  int32_t beside = t->nodes[sibling_of(t, nephew)].height;
  int32_t parent = parent_height(low, beside);
  return is_balanced(low, beside) && is_balanced(parent, high) &&
         height_difference(parent_height(parent, high), old_height) <= most;
}

static void rotate(tree *t, int32_t uncle, int32_t nephew)
{
  int32_t parent = t->nodes[nephew].parent, top = t->nodes[parent].parent;
  put_in_place_of(t, nephew, uncle, top);
  put_in_place_of(t, uncle, nephew, parent);
  refit(t, parent);
  refit(t, top);
}

// Refits a node whose children have changed and does the best rotation below it: the one that saves
// most area, or, if the children are out of balance, the best one that restores balance. The node's
// height alters by at most `most`.
static void rebalance(tree *t, int32_t node, int32_t most)
{
  int32_t old_height = t->nodes[node].height;
  refit(t, node);
  const int32_t *child = t->nodes[node].child;
  bool must = !is_balanced(t->nodes[child[0]].height, t->nodes[child[1]].height);
  double best_gain = must ? -HUGE_VAL : 0.0;
  int32_t best_uncle = NO_SLOT, best_nephew = NO_SLOT;
  for (int side = 0; side < 2; ++side) {
    int32_t uncle = child[side], parent = child[1 - side];
    if (is_leaf(&t->nodes[parent])) {
      continue;
    }
    double area = half_area(&t->nodes[parent].box);
    for (int i = 0; i < 2; ++i) {
      int32_t nephew = t->nodes[parent].child[i], stays = t->nodes[parent].child[1 - i];
      double gain = area - united_area(t, uncle, stays);
      if (gain > best_gain && may_rotate(t, uncle, nephew, old_height, most)) {
        best_gain = gain;
        best_uncle = uncle;
        best_nephew = nephew;
      }
    }
  }
  if (best_uncle != NO_SLOT) {
    rotate(t, best_uncle, best_nephew);
  }
}

static void rebalance_upwards(tree *t, int32_t node)
{
  for (; node != NO_SLOT; node = t->nodes[node].parent) {
    rebalance(t, node, 1);
  }
}

// The node next to which a leaf adds the least area, by greedy descent. Nodes higher than
// MAX_IMBALANCE cannot have a leaf as sibling.
static int32_t best_sibling(const tree *t, const world_aabb *box)
{
  int32_t at = t->root;
  while (!is_leaf(&t->nodes[at])) {
    const tree_node *n = &t->nodes[at];
    world_aabb grown = united(&n->box, box);
    double here = half_area(&grown), inherited = here - half_area(&n->box);
    double cost[2];
    for (int i = 0; i < 2; ++i) {
      const tree_node *c = &t->nodes[n->child[i]];
      world_aabb beside = united(&c->box, box);
      cost[i] = inherited + half_area(&beside) - (is_leaf(c) ? 0.0 : half_area(&c->box));
    }
    if (n->height <= MAX_IMBALANCE && here < cost[0] && here < cost[1]) {
      break;
    }
    at = n->child[cost[1] < cost[0]];
  }
  return at;
}

// Links a leaf into the tree; `spare` becomes its parent unless the leaf is the first.
static void attach(tree *t, int32_t leaf, int32_t spare)
{
  if (t->count == 0) {
    t->root = leaf;
    t->nodes[leaf].parent = NO_SLOT;
    return;
  }
  int32_t sibling = best_sibling(t, &t->nodes[leaf].box);
  put_in_place_of(t, spare, sibling, t->nodes[sibling].parent);
  t->nodes[spare].child[0] = sibling;
  t->nodes[spare].child[1] = leaf;
  t->nodes[spare].height = t->nodes[sibling].height; // of this place before
  t->nodes[sibling].parent = spare;
  t->nodes[leaf].parent = spare;
  rebalance_upwards(t, spare);
}

// Unlinks a leaf; returns its former parent, which is free now, or NO_SLOT.
static int32_t detach(tree *t, int32_t leaf)
{
  int32_t parent = t->nodes[leaf].parent;
  if (parent != NO_SLOT) {
    int32_t top = t->nodes[parent].parent;
    put_in_place_of(t, sibling_of(t, leaf), parent, top);
    rebalance_upwards(t, top);
  }
  return parent;
}

bool tree_insert(heap *h, tree *t, world_aabb box, uint64_t category, int32_t item, int32_t *leaf)
{
  int32_t live = node_count(t);
  if (!make_room(h, t, live + 2)) {
    return false;
  }
  int32_t added = take_node(t, live);
  int32_t spare = t->count > 0 ? take_node(t, live + 1) : NO_SLOT;
  t->nodes[added] = (tree_node){
      .box = box, .child = {NO_SLOT, NO_SLOT}, .height = 0, .item = item, .category = category};
  if (spare != NO_SLOT) {
    t->nodes[spare] = (tree_node){.item = NO_SLOT};
  }
  attach(t, added, spare);
  ++t->count;
  *leaf = added;
  return true;
}

void tree_remove(tree *t, int32_t leaf)
{
  int32_t spare = detach(t, leaf);
  --t->count;
  if (spare != NO_SLOT) {
    give_node(t, spare);
  }
  give_node(t, leaf);
}

static void reinsert(tree *t, int32_t leaf, world_aabb box)
{
  int32_t spare = detach(t, leaf);
  t->nodes[leaf].box = box;
  --t->count;
  attach(t, leaf, spare);
  ++t->count;
}

void tree_move(tree *t, int32_t leaf, world_aabb box)
{
  reinsert(t, leaf, box);
}

void tree_move_lazily(tree *t, int32_t leaf, world_aabb box)
{
  if (!aabbs_overlap(&t->nodes[leaf].box, &box)) {
    tree_refit(t, NULL);
    tree_move(t, leaf, box);
    return;
  }
  t->nodes[leaf].box = box;
  for (int32_t at = t->nodes[leaf].parent; at != NO_SLOT && !t->nodes[at].needs_refit;
       at = t->nodes[at].parent) {
    t->nodes[at].needs_refit = true;
  }
}

// Bottom up, along the marked nodes of a subtree. With most = 0 no height changes, so balance is
// kept.
static void refit_subtree(tree *t, int32_t top)
{
  int32_t at = top, end = t->nodes[top].parent;
  while (at != end && t->nodes[top].needs_refit) {
    tree_node *n = &t->nodes[at];
    if (t->nodes[n->child[0]].needs_refit) {
      at = n->child[0];
    } else if (t->nodes[n->child[1]].needs_refit) {
      at = n->child[1];
    } else {
      n->needs_refit = false;
      rebalance(t, at, 0);
      at = n->parent;
    }
  }
}

#define MAX_SUBTREES 128
#define MIN_SUBTREE_HEIGHT 4 // lower ones are not worth a task

typedef struct refit_task {
  tree *tree;
  int32_t top[MAX_SUBTREES];
  int count;
} refit_task;

static void refit_subtrees(int first, int last, void *context)
{
  refit_task *task = context;
  for (int i = first; i < last; ++i) {
    refit_subtree(task->tree, task->top[i]);
  }
}

// Splits the marked part of the tree below its root, level by level.
static void split_marked(refit_task *task)
{
  const tree *t = task->tree;
  bool was_split = true;
  while (was_split && 2 * task->count <= MAX_SUBTREES) {
    int count = task->count;
    was_split = false;
    for (int i = 0; i < count; ++i) {
      const tree_node *n = &t->nodes[task->top[i]];
      bool marked[2] = {t->nodes[n->child[0]].needs_refit, t->nodes[n->child[1]].needs_refit};
      if (n->height <= MIN_SUBTREE_HEIGHT || !(marked[0] || marked[1])) {
        continue;
      }
      task->top[i] = n->child[marked[0] ? 0 : 1];
      if (marked[0] && marked[1]) {
        task->top[task->count++] = n->child[1];
      }
      was_split = true;
    }
  }
}

// A rotation alters only nodes below the one that is refitted, so disjoint subtrees can be refitted
// in any order, or at once.
void tree_refit(tree *t, task_pool *tasks)
{
  if (t->count == 0 || !t->nodes[t->root].needs_refit) {
    return;
  }
  if (task_team(tasks) > 1) {
    refit_task task = {.tree = t, .top = {t->root}, .count = 1};
    split_marked(&task);
    task_run(tasks, refit_subtrees, task.count, 1, &task);
  }
  refit_subtree(t, t->root);
}

void tree_set_category(tree *t, int32_t leaf, uint64_t category)
{
  t->nodes[leaf].category = category;
  for (int32_t at = t->nodes[leaf].parent; at != NO_SLOT; at = t->nodes[at].parent) {
    refit(t, at);
  }
}

void tree_release(heap *h, tree *t)
{
  heap_free(h, t->nodes, (size_t)t->capacity * sizeof *t->nodes);
  *t = (tree){0};
}

bool tree_reserve(heap *h, tree *t, int32_t leaves)
{
  while (t->capacity < 2 * leaves) {
    if (!make_room(h, t, t->capacity + 1)) {
      return false;
    }
  }
  return true;
}

void tree_clear(tree *t)
{
  *t = (tree){.nodes = t->nodes, .capacity = t->capacity};
}

double tree_cost(const tree *t)
{
  double sum = 0.0, root = t->count > 0 ? half_area(&t->nodes[t->root].box) : 0.0;
  for (int32_t i = 0; i < t->used; ++i) {
    if (t->nodes[i].height > 0) {
      sum += half_area(&t->nodes[i].box);
    }
  }
  return root > 0.0 ? sum / root : 0.0;
}

void tree_optimize(tree *t, int32_t budget)
{
  for (int32_t i = 0; i < budget && i < t->used; ++i) {
    t->cursor = t->cursor + 1 < t->used ? t->cursor + 1 : 0;
    if (is_leaf(&t->nodes[t->cursor])) {
      reinsert(t, t->cursor, t->nodes[t->cursor].box);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Queries

void tree_query(const tree *t, world_aabb box, tree_visit_fn *visit, void *context)
{
  int32_t stack[MAX_HEIGHT + 1];
  int depth = 0;
  if (t->count > 0) {
    stack[depth++] = t->root;
  }
  while (depth > 0) {
    const tree_node *n = &t->nodes[stack[--depth]];
    if (!aabbs_overlap(&n->box, &box)) {
      continue;
    }
    if (!is_leaf(n)) {
      stack[depth++] = n->child[1];
      stack[depth++] = n->child[0];
    } else if (!visit(n->item, context)) {
      return;
    }
  }
}

// Distance of a box in the query's measure; infinity: not reached.
typedef double measure_fn(const world_aabb *box, const void *from);

typedef struct pending {
  int32_t node;
  double distance;
} pending;

// Visits leaves up to max_distance, nearer boxes first.
static void visit_by_distance(const tree *t, measure_fn *measure, const void *from,
                              float max_distance, tree_cast_fn *visit, void *context)
{
  pending stack[MAX_HEIGHT + 1];
  int depth = 0;
  if (t->count > 0) {
    stack[depth++] = (pending){t->root, measure(&t->nodes[t->root].box, from)};
  }
  while (depth > 0 && max_distance >= 0.0f) {
    pending p = stack[--depth];
    const tree_node *n = &t->nodes[p.node];
    if (p.distance > (double)max_distance) {
      continue;
    }
    if (is_leaf(n)) {
      float new_distance = visit(n->item, max_distance, context);
      max_distance = new_distance < max_distance ? new_distance : max_distance;
      continue;
    }
    pending child[2];
    for (int i = 0; i < 2; ++i) {
      child[i] = (pending){n->child[i], measure(&t->nodes[n->child[i]].box, from)};
    }
    int near = child[1].distance < child[0].distance;
    for (int i = 1; i >= 0; --i) {
      stack[depth] = child[near ^ i];
      depth += stack[depth].distance <= (double)max_distance;
    }
  }
}

// Slab test with boxes grown by `half`: instead of growing every box, the origin is shifted, ahead
// by `half` for the lower sides and back by `half` for the upper ones.
typedef struct slab_ray {
  double ahead[3], behind[3];
  double inverse[3];
} slab_ray;

// Fraction of the displacement at which the ray enters the grown box.
static double fraction_to(const world_aabb *box, const void *from)
{
  const slab_ray *r = from;
  double lower[3] = {box->lower.x, box->lower.y, box->lower.z};
  double upper[3] = {box->upper.x, box->upper.y, box->upper.z};
  double first = 0.0, last = HUGE_VAL;
  for (int i = 0; i < 3; ++i) {
    double a = (lower[i] - r->ahead[i]) * r->inverse[i];
    double b = (upper[i] - r->behind[i]) * r->inverse[i];
    first = larger(first, smaller(a, b));
    last = smaller(last, larger(a, b));
  }
  return first <= last ? first : HUGE_VAL;
}

void tree_cast(const tree *t, tn_pos from, tn_vec3 displacement, tn_vec3 half, float max_fraction,
               tree_cast_fn *visit, void *context)
{
  slab_ray ray = {
      .ahead = {from.x + (double)half.x, from.y + (double)half.y, from.z + (double)half.z},
      .behind = {from.x - (double)half.x, from.y - (double)half.y, from.z - (double)half.z}};
  double step[3] = {(double)displacement.x, (double)displacement.y, (double)displacement.z};
  for (int i = 0; i < 3; ++i) {
    // For a zero component a huge finite value: a box beside the ray is never reached, and a zero
    // difference times it is zero, not NaN.
    ray.inverse[i] = step[i] == 0.0 ? 1e300 : 1.0 / step[i];
  }
  visit_by_distance(t, fraction_to, &ray, max_fraction, visit, context);
}

static double outside(double p, double lower, double upper)
{
  return larger(larger(lower - p, p - upper), 0.0);
}

static double distance_to(const world_aabb *box, const void *from)
{
  const tn_pos *p = from;
  double x = outside(p->x, box->lower.x, box->upper.x);
  double y = outside(p->y, box->lower.y, box->upper.y);
  double z = outside(p->z, box->lower.z, box->upper.z);
  return sqrt(x * x + y * y + z * z);
}

void tree_nearest(const tree *t, tn_pos point, float max_distance, tree_cast_fn *visit,
                  void *context)
{
  visit_by_distance(t, distance_to, &point, max_distance, visit, context);
}

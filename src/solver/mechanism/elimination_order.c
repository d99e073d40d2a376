// Finds the mechanisms (connected joints and couplings) and the order of elimination of their
// nodes: bodies between few rows first, then leaves, then the nodes of loops by least weighted
// degree. From the order follow the blocks of the matrix. Ball trees get their own order besides.
//
// A link is a joint (its slot) or a coupling (~slot). A coupling waits for all of its bodies: its
// row may have almost all of its inverse mass from one of them, and a pivot without that would be
// little more than the regularization.
#include "base/heap.h"
#include "data/bodies.h"
#include "solver/joint/joint_params.h"
#include "solver/mechanism/mechanism_build.h"

#include <string.h>

// Graph of one mechanism during elimination: bodies are nodes 0 to body_count - 1, links follow.
typedef struct elimination_graph {
  mechanism_set *set;
  const mechanism_inputs *in;
  int32_t body_count, count;
  int32_t *id;     // by node: body slot or link
  int32_t *first;  // by node: its neighbours in the arena, sorted by number
  int32_t *length; // by node: number of neighbours in the list
  int32_t *weight; // by node: rows
  int32_t *degree; // by node: neighbours that are not eliminated
  // ready: may be eliminated, a joint only after one of its bodies, a coupling after all of them
  bool *eliminated, *ready;
  const int32_t *node; // by body slot, as in mechanism_builder
  int32_t *order;      // nodes in the order of elimination
  int32_t *position;   // inverse of order
  int32_t done;
  int32_t *arena;
  int32_t used, capacity;
  int64_t fill; // sum of squares of neighbours at elimination
} elimination_graph;

// Scratch memory of a build.
typedef struct mechanism_builder {
  mechanism_set *set;
  const mechanism_inputs *in;
  int32_t *root;            // union-find over body slots
  int32_t *mechanism_links; // links, grouped by mechanism
  int32_t *node;            // by body slot: its node, or NO_SLOT
  int32_t link_count;
  int32_t most_nodes; // of all links and their bodies
  int32_t *memory;    // arrays of elimination_graph
  int32_t *arena;
  int32_t arena_capacity;
} mechanism_builder;

// Joints move only awake dynamic bodies.
static bool is_node(const mechanism_inputs *in, int32_t slot)
{
  return in->bodies[slot].type == TN_BODY_DYNAMIC && !in->bodies[slot].asleep;
}

// Bodies of a link, by slot; returns their number.
static int32_t link_bodies(const mechanism_inputs *in, int32_t link, const int32_t **bodies)
{
  if (link >= 0) {
    *bodies = in->joints[link].slot;
    return 2;
  }
  *bodies = in->couplings[~link].side_body;
  return in->couplings[~link].side_count;
}

// First body of a link that is a node.
static int32_t first_node_body(const mechanism_inputs *in, int32_t link)
{
  const int32_t *bodies;
  int32_t count = link_bodies(in, link, &bodies), i = 0;
  while (i + 1 < count && !is_node(in, bodies[i])) {
    ++i;
  }
  return bodies[i];
}

static int32_t find_root(int32_t *root, int32_t i)
{
  while (root[i] != i) {
    root[i] = root[root[i]];
    i = root[i];
  }
  return i;
}

// ---------------------------------------------------------------------------------------------
// Order

static int32_t *arena_take(elimination_graph *o, int32_t count)
{
  if (o->used + count > o->capacity && !heap_reserve(o->in->heap, (void **)&o->arena, &o->capacity,
                                                     o->used + count, sizeof *o->arena)) {
    return NULL;
  }
  int32_t *at = o->arena + o->used;
  o->used += count;
  return at;
}

// Removes eliminated neighbours from a node's list.
static void drop_eliminated(elimination_graph *o, int32_t node)
{
  int32_t *list = o->arena + o->first[node];
  int32_t kept = 0;
  for (int32_t i = 0; i < o->length[node]; ++i) {
    if (!o->eliminated[list[i]]) {
      list[kept++] = list[i];
    }
  }
  o->length[node] = kept;
}

// Whether a link may be eliminated once a body of it has been.
static bool becomes_ready(const elimination_graph *o, int32_t node)
{
  const int32_t *bodies;
  int32_t count = o->id[node] < 0 ? link_bodies(o->in, o->id[node], &bodies) : 0;
  for (int32_t i = 0; i < count; ++i) {
    if (is_node(o->in, bodies[i]) && !o->eliminated[o->node[bodies[i]]]) {
      return false;
    }
  }
  return true;
}

static void eliminate(elimination_graph *o, int32_t node)
{
  drop_eliminated(o, node);
  o->eliminated[node] = true;
  o->position[node] = o->done;
  o->order[o->done++] = node;
  o->fill += (int64_t)o->length[node] * o->length[node];
  for (int32_t i = 0; i < o->length[node]; ++i) {
    int32_t other = o->arena[o->first[node] + i];
    o->degree[other] -= 1;
    o->ready[other] = o->ready[other] || (node < o->body_count && becomes_ready(o, other));
  }
}

// Eliminates nodes with at most one neighbour until none is left: all of a tree.
static void eliminate_leaves(elimination_graph *o)
{
  int32_t *queue = o->order + o->count; // the second third is free
  int32_t head = 0, tail = 0;
  for (int32_t i = 0; i < o->count; ++i) {
    if (o->ready[i] && o->degree[i] <= 1) {
      queue[tail++] = i;
    }
  }
  while (head < tail) {
    int32_t node = queue[head++];
    if (o->eliminated[node]) {
      continue;
    }
    eliminate(o, node);
    for (int32_t i = 0; i < o->length[node]; ++i) {
      int32_t other = o->arena[o->first[node] + i];
      if (o->ready[other] && o->degree[other] <= 1) {
        queue[tail++] = other;
      }
    }
  }
}

// Adds the neighbours of an eliminated node to those of `other`: a merge of sorted lists.
static bool add_fill(elimination_graph *o, int32_t node, int32_t other)
{
  drop_eliminated(o, other);
  int32_t room = o->length[node] + o->length[other];
  int32_t first = o->used;
  int32_t *to = arena_take(o, room);
  if (!to) {
    return false;
  }
  const int32_t *a = o->arena + o->first[node], *a_end = a + o->length[node];
  const int32_t *b = o->arena + o->first[other], *b_end = b + o->length[other];
  int32_t count = 0;
  while (a < a_end || b < b_end) {
    int32_t next = b == b_end || (a < a_end && *a <= *b) ? *a : *b;
    a += a < a_end && *a == next;
    b += b < b_end && *b == next;
    if (next != other) {
      to[count++] = next;
    }
  }
  o->used = first + count;
  o->first[other] = first;
  o->length[other] = o->degree[other] = count;
  return true;
}

static int32_t weighted_degree(const elimination_graph *o, int32_t node)
{
  int32_t sum = 0;
  for (int32_t i = 0; i < o->length[node]; ++i) {
    int32_t other = o->arena[o->first[node] + i];
    sum += o->eliminated[other] ? 0 : o->weight[other];
  }
  return sum;
}

typedef enum order_result { ORDER_DONE, ORDER_FULL, ORDER_NO_MEMORY } order_result;

// Bodies whose joints have at most BODY_ROWS rows, as in a chain of ball joints, go first: their
// inverse mass is known, and the joints that remain have smaller blocks than bodies.
static order_result eliminate_light_bodies(elimination_graph *o)
{
  for (int32_t i = 0; i < o->body_count; ++i) {
    if (o->degree[i] < 2 || weighted_degree(o, i) > BODY_ROWS) {
      continue;
    }
    eliminate(o, i);
    for (int32_t k = 0; k < o->length[i]; ++k) {
      if (!add_fill(o, i, o->arena[o->first[i] + k])) {
        return ORDER_NO_MEMORY;
      }
    }
  }
  return ORDER_DONE;
}

// Orders what is left, the nodes on loops, by least weighted degree.
static order_result order_loops(elimination_graph *o)
{
  int32_t *left = o->order + o->count;
  int32_t *degree = left + o->count;
  int32_t count = 0;
  for (int32_t i = 0; i < o->count; ++i) {
    if (!o->eliminated[i]) {
      drop_eliminated(o, i);
      degree[i] = weighted_degree(o, i);
      left[count++] = i;
    }
  }
  if (count > TUNING_MAX_LOOP_NODES) {
    return ORDER_FULL;
  }
  while (count > 0) {
    int32_t best = NO_SLOT;
    for (int32_t i = 0; i < count; ++i) {
      int32_t node = left[i];
      if (o->ready[node] && (best == NO_SLOT || degree[node] < degree[left[best]])) {
        best = i;
      }
    }
    int32_t node = left[best];
    memmove(left + best, left + best + 1, (size_t)(count - best - 1) * sizeof *left);
    count -= 1;
    eliminate(o, node);
    if (o->fill > (int64_t)TUNING_FILL_PER_NODE * o->count + TUNING_FILL_ALLOWANCE) {
      return ORDER_FULL;
    }
    for (int32_t i = 0; i < o->length[node]; ++i) {
      int32_t other = o->arena[o->first[node] + i];
      if (!add_fill(o, node, other)) {
        return ORDER_NO_MEMORY;
      }
      degree[other] = weighted_degree(o, other);
    }
  }
  return ORDER_DONE;
}

// ---------------------------------------------------------------------------------------------
// From the order to blocks

static void sort_by_position(int32_t *list, int32_t count, const int32_t *position)
{
  for (int32_t i = 1; i < count; ++i) {
    int32_t node = list[i];
    int32_t k = i;
    for (; k > 0 && position[list[k - 1]] > position[node]; --k) {
      list[k] = list[k - 1];
    }
    list[k] = node;
  }
}

static int32_t capacity_of(const direct_node *nodes, int32_t i)
{
  return nodes[i].capacity;
}

// Block between two nodes. It always exists: fill is part of the graph.
static direct_block *find_block(const mechanism_set *set, int32_t below, int32_t node)
{
  const direct_node *n = &set->nodes[node];
  int32_t i = 0;
  while (i + 1 < n->count && set->blocks[n->first + i].node != below) {
    ++i;
  }
  return &set->blocks[n->first + i];
}

static bool reserve_mechanism(const elimination_graph *o)
{
  mechanism_set *set = o->set;
  int64_t blocks = 0, targets = 0;
  for (int32_t i = 0; i < o->count; ++i) {
    blocks += o->length[i];
    targets += (int64_t)o->length[i] * (o->length[i] + 1) / 2;
  }
  if (blocks + targets + set->block_count + set->target_count > INT32_MAX / 64) {
    return false;
  }
  int32_t joint_count = 0, coupling_count = 0, side_count = 0;
  for (int32_t i = o->body_count; i < o->count; ++i) {
    bool joins = o->id[i] >= 0;
    joint_count += joins;
    coupling_count += !joins;
    side_count += joins ? 0 : o->in->couplings[~o->id[i]].side_count;
  }
  return heap_reserve(o->in->heap, (void **)&set->list, &set->capacity, set->count + 1,
                      sizeof *set->list) &&
         heap_reserve(o->in->heap, (void **)&set->nodes, &set->node_capacity,
                      set->node_count + o->count, sizeof *set->nodes) &&
         heap_reserve(o->in->heap, (void **)&set->blocks, &set->block_capacity,
                      set->block_count + (int32_t)blocks, sizeof *set->blocks) &&
         heap_reserve(o->in->heap, (void **)&set->targets, &set->target_capacity,
                      set->target_count + (int32_t)targets, sizeof *set->targets) &&
         heap_reserve(o->in->heap, (void **)&set->joints, &set->joint_capacity,
                      set->joint_count + joint_count, sizeof *set->joints) &&
         heap_reserve(o->in->heap, (void **)&set->couplings, &set->coupling_capacity,
                      set->coupling_count + coupling_count, sizeof *set->couplings) &&
         heap_reserve(o->in->heap, (void **)&set->coupling_sides, &set->coupling_side_capacity,
                      set->coupling_side_count + side_count, sizeof *set->coupling_sides) &&
         heap_reserve(o->in->heap, (void **)&set->axes, &set->axis_capacity,
                      set->axis_count + TN_JOINT_AXIS_COUNT * joint_count, sizeof *set->axes);
}

static void add_joint(const elimination_graph *o, direct_node *node, int32_t slot)
{
  mechanism_set *set = o->set;
  joint *j = &o->in->joints[slot];
  j->direct = set->joint_count++;
  direct_joint *d = &set->joints[j->direct];
  memset(d, 0, sizeof *d);
  d->joint = slot;
  d->type = joint_type(j);
  joint_params(j, d->params);
  d->axis_features = j->axis_features;
  d->joint_row_capacity = (int16_t)direct_row_capacity(d->type, d->params, j->axis_features);
  direct_add_axes(set, d);
  d->ball = NO_SLOT;
  d->first_joint_row = set->joint_row_count;
  set->joint_row_count += d->joint_row_capacity;
  d->node = (int32_t)(node - set->nodes);
  node->index = j->direct;
  node->capacity = d->joint_row_capacity;
  for (int side = 0; side < 2; ++side) {
    d->body[side] = j->slot[side];
    d->body_node[side] = NO_SLOT;
    memcpy(&d->state[side], j->state[side], sizeof d->state[side]);
  }
}

static void add_coupling(const elimination_graph *o, direct_node *node, int32_t slot)
{
  mechanism_set *set = o->set;
  coupling *k = &o->in->couplings[slot];
  k->direct = set->coupling_count++;
  direct_coupling *d = &set->couplings[k->direct];
  memset(d, 0, sizeof *d);
  d->coupling = slot;
  d->node = (int32_t)(node - set->nodes);
  d->first_joint_row = set->joint_row_count;
  set->joint_row_count += COUPLING_PARTS;
  node->index = k->direct;
  node->capacity = COUPLING_PARTS;
  d->first_side = set->coupling_side_count;
  d->side_count = k->side_count;
  for (int32_t i = 0; i < k->side_count; ++i) {
    coupling_side side = {k->side_body[i], NO_SLOT, 0};
    set->coupling_sides[set->coupling_side_count++] = side;
  }
}

static void add_nodes(elimination_graph *o)
{
  mechanism_set *set = o->set;
  int32_t base = set->node_count;
  for (int32_t i = 0; i < o->count; ++i) {
    direct_node *node = &set->nodes[set->node_count++];
    int32_t from = o->order[i];
    memset(node, 0, sizeof *node);
    node->is_joint = from >= o->body_count;
    node->first_row = set->row_count;
    if (node->is_joint && o->id[from] >= 0) {
      add_joint(o, node, o->id[from]);
    } else if (node->is_joint) {
      add_coupling(o, node, ~o->id[from]);
    } else {
      node->index = o->id[from];
      node->rows = node->capacity = BODY_ROWS;
      node->is_leaf = true;
    }
    set->row_count += node->capacity;
    sort_by_position(o->arena + o->first[from], o->length[from], o->position);
  }
  for (int32_t i = 0; i < o->count; ++i) {
    direct_node *node = &set->nodes[base + i];
    int32_t from = o->order[i];
    node->diagonal = set->value_count;
    set->value_count += node->is_leaf ? LEAF_VALUES : padded(node->capacity) * node->capacity;
    node->first = set->block_count;
    node->count = o->length[from];
    for (int32_t k = 0; k < node->count; ++k) {
      int32_t below = base + o->position[o->arena[o->first[from] + k]];
      direct_block block = {below, set->value_count, true};
      set->blocks[set->block_count++] = block;
      set->value_count += padded(capacity_of(set->nodes, below)) * padded(node->capacity);
      set->nodes[below].is_leaf = false;
    }
  }
}

// Offsets that the elimination of each node subtracts from; returns the scratch that its columns
// need.
static int32_t add_targets(mechanism_set *set, int32_t first_node)
{
  int32_t room = 0;
  for (int32_t i = first_node; i < set->node_count; ++i) {
    direct_node *node = &set->nodes[i];
    const direct_block *below = &set->blocks[node->first];
    int32_t column = 0;
    node->first_target = set->target_count;
    for (int32_t p = 0; p < node->count; ++p) {
      column += padded(capacity_of(set->nodes, below[p].node)) * node->capacity;
      for (int32_t q = 0; q <= p; ++q) {
        set->targets[set->target_count++] = p == q
                                                ? set->nodes[below[p].node].diagonal
                                                : find_block(set, below[p].node, below[q].node)->at;
      }
    }
    room = column > room ? column : room;
  }
  return room;
}

// Node of a link's body, and the offset of the Jacobian block between the two.
static int32_t connect(const mechanism_builder *p, const elimination_graph *o, mechanism *m,
                       int32_t node, int32_t slot, int32_t *offset)
{
  if (!is_node(p->in, slot)) {
    m->anchored = true;
    return NO_SLOT;
  }
  int32_t body_node = m->first_node + o->position[p->node[slot]];
  direct_block *block =
      body_node < node ? find_block(p->set, node, body_node) : find_block(p->set, body_node, node);
  *offset = block->at;
  block->fills = false;
  return body_node;
}

static void connect_links(const mechanism_builder *p, const elimination_graph *o, mechanism *m)
{
  mechanism_set *set = p->set;
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    direct_joint *j = &set->joints[i];
    for (int side = 0; side < 2; ++side) {
      j->body_node[side] = connect(p, o, m, j->node, j->body[side], &j->jacobian_offset[side]);
    }
  }
  for (int32_t i = m->first_coupling; i < m->last_coupling; ++i) {
    const direct_coupling *d = &set->couplings[i];
    for (int32_t k = d->first_side; k < d->first_side + d->side_count; ++k) {
      coupling_side *side = &set->coupling_sides[k];
      side->node = connect(p, o, m, d->node, side->body, &side->jacobian_offset);
    }
  }
}

static void add_mechanism(const mechanism_builder *p, elimination_graph *o)
{
  mechanism_set *set = p->set;
  mechanism *m = &set->list[set->count++];
  memset(m, 0, sizeof *m);
  m->first_node = set->node_count;
  m->first_joint = set->joint_count;
  m->first_coupling = set->coupling_count;
  m->first_value = set->value_count;
  m->first_ball = NO_SLOT;
  m->batch = NO_SLOT;
  m->own_factor = true;
  int32_t first_row = set->row_count;
  add_nodes(o);
  m->last_node = set->node_count;
  m->last_joint = set->joint_count;
  m->last_coupling = set->coupling_count;
  m->rows = set->row_count - first_row;
  m->scratch = set->value_count;
  set->value_count += add_targets(set, m->first_node);
  m->end_value = set->value_count;
  connect_links(p, o, m);
  m->has_loops = m->last_joint - m->first_joint > o->body_count - !m->anchored;
}

// ---------------------------------------------------------------------------------------------
// Trees of ball joints

// A rigid ball joint without sleeping bodies.
static bool is_rigid_ball(const mechanism_inputs *in, int32_t link)
{
  if (link < 0) {
    return false;
  }
  const joint *j = &in->joints[link];
  for (int side = 0; side < 2; ++side) {
    if (in->bodies[j->slot[side]].type == TN_BODY_DYNAMIC && !is_node(in, j->slot[side])) {
      return false;
    }
  }
  return joint_type(j) == TYPE_POINT && j->def.compliance == 0.0f;
}

// A connected graph is a tree if it has one edge less than nodes.
static bool is_ball_tree(const elimination_graph *o)
{
  int32_t edges = 0;
  for (int32_t i = 0; i < o->count; ++i) {
    bool fits = i < o->body_count ? o->length[i] <= TUNING_BALL_TREE_DEGREE
                                  : is_rigid_ball(o->in, o->id[i]);
    if (!fits) {
      return false;
    }
    edges += i < o->body_count ? 0 : o->length[i];
  }
  return edges == o->count - 1;
}

// Number of a joint's bodies that have other joints left.
static int32_t shared_ends(const elimination_graph *o, int32_t node)
{
  int32_t count = 0;
  for (int32_t i = 0; i < o->length[node]; ++i) {
    count += o->degree[o->arena[o->first[node] + i]] > 1;
  }
  return count;
}

// Orders joints from the leaves inwards: a joint is ready when at most one of its bodies has other
// joints. Bodies follow in the order in which joints name them.
static void order_ball_tree(elimination_graph *o)
{
  int32_t head = 0, tail = 0;
  int32_t *queue = o->order;
  for (int32_t i = o->body_count; i < o->count; ++i) {
    o->ready[i] = shared_ends(o, i) <= 1;
    if (o->ready[i]) {
      queue[tail++] = i;
    }
  }
  int32_t joint_count = o->count - o->body_count;
  int32_t *bodies = o->order + joint_count;
  memset(o->ready, 0, (size_t)o->body_count * sizeof *o->ready);
  while (head < tail) {
    int32_t node = queue[head];
    o->position[node] = head++;
    o->eliminated[node] = true;
    for (int32_t i = 0; i < o->length[node]; ++i) {
      int32_t at_body = o->arena[o->first[node] + i];
      if (!o->ready[at_body]) {
        o->ready[at_body] = true;
        o->position[at_body] = o->done;
        bodies[o->done++] = at_body;
      }
      o->degree[at_body] -= 1;
      for (int32_t k = 0; k < o->length[at_body] && o->degree[at_body] == 1; ++k) {
        int32_t other = o->arena[o->first[at_body] + k];
        if (!o->eliminated[other] && !o->ready[other] && shared_ends(o, other) <= 1) {
          o->ready[other] = true;
          queue[tail++] = other;
        }
      }
    }
  }
}

static int32_t side_of(const mechanism_inputs *in, int32_t joint_slot, int32_t body_slot)
{
  return in->joints[joint_slot].slot[0] == body_slot ? 0 : 1;
}

// Links a joint to the joints that are left at its upper body when it is eliminated.
static void add_links(elimination_graph *o, int32_t node, int32_t first_link, ball_joint *p)
{
  mechanism_set *set = o->set;
  p->first = set->link_count - first_link;
  for (int32_t i = 0; i < o->length[node]; ++i) {
    int32_t at_body = o->arena[o->first[node] + i];
    int32_t *others = o->arena + o->first[at_body];
    sort_by_position(others, o->length[at_body], o->position);
    for (int32_t k = 0; k < o->length[at_body]; ++k) {
      if (o->position[others[k]] > o->position[node]) {
        ball_link *link = &set->links[set->link_count++];
        memset(link, 0, sizeof *link);
        link->below = o->position[others[k]];
        link->side = side_of(o->in, o->id[others[k]], o->id[at_body]);
        p->upper = side_of(o->in, o->id[node], o->id[at_body]);
        p->count += 1;
      }
    }
  }
}

static void add_ball(elimination_graph *o, mechanism *m, int32_t node)
{
  mechanism_set *set = o->set;
  direct_joint *d = &set->joints[o->in->joints[o->id[node]].direct];
  int32_t at = o->position[node];
  ball_joint *p = &set->balls[m->first_ball + at];
  ball_block *block = &set->ball_blocks[(m->first_ball + at) / BLOCK_WIDTH];
  block->a[at % BLOCK_WIDTH] = d->body[0];
  block->b[at % BLOCK_WIDTH] = d->body[1];
  d->ball = m->first_ball + at;
  for (int32_t i = 0; i < o->length[node]; ++i) {
    int32_t at_body = o->arena[o->first[node] + i];
    ball_body *b = &set->ball_bodies[m->first_ball_body + o->position[at_body]];
    b->joint[b->count++] = 2 * at + side_of(o->in, o->id[node], o->id[at_body]);
  }
  add_links(o, node, m->first_link, p);
  block->upper[at % BLOCK_WIDTH] = (float)p->upper;
}

// Adds the ball tree of a mechanism, besides its nodes: a solve may need either.
static void add_ball_tree(elimination_graph *o, mechanism *m)
{
  mechanism_set *set = o->set;
  int32_t joint_count = o->count - o->body_count;
  int32_t places = (joint_count + BLOCK_WIDTH - 1) / BLOCK_WIDTH * BLOCK_WIDTH;
  m->first_ball = set->ball_count;
  m->first_link = set->link_count;
  m->first_ball_body = set->ball_body_count;
  m->ball_body_count = o->body_count;
  memset(set->balls + set->ball_count, 0, (size_t)places * sizeof *set->balls);
  memset(set->ball_blocks + set->ball_count / BLOCK_WIDTH, 0,
         (size_t)(places / BLOCK_WIDTH) * sizeof *set->ball_blocks);
  set->ball_count += places;
  for (int32_t i = 0; i < o->body_count; ++i) {
    ball_body b = {.slot = o->id[o->order[joint_count + i]]};
    set->ball_bodies[set->ball_body_count++] = b;
  }
  for (int32_t i = 0; i < joint_count; ++i) {
    add_ball(o, m, o->order[i]);
  }
}

static bool reserve_ball_tree(const elimination_graph *o)
{
  mechanism_set *set = o->set;
  int32_t joint_count = o->count - o->body_count;
  int32_t places = set->ball_count + joint_count + BLOCK_WIDTH;
  int32_t links = set->link_count;
  for (int32_t i = 0; i < o->body_count; ++i) {
    links += o->length[i] * (o->length[i] - 1) / 2;
  }
  return heap_reserve(o->in->heap, (void **)&set->balls, &set->ball_capacity, places,
                      sizeof *set->balls) &&
         heap_reserve(o->in->heap, (void **)&set->ball_blocks, &set->ball_block_capacity,
                      places / BLOCK_WIDTH, sizeof *set->ball_blocks) &&
         heap_reserve(o->in->heap, (void **)&set->ball_bodies, &set->ball_body_capacity,
                      set->ball_body_count + o->body_count, sizeof *set->ball_bodies) &&
         heap_reserve(o->in->heap, (void **)&set->links, &set->link_capacity, links,
                      sizeof *set->links);
}

// ---------------------------------------------------------------------------------------------
// Finding mechanisms

// Nodes of a link's bodies, in the order in which links name them.
static void add_bodies(mechanism_builder *p, int32_t link, elimination_graph *o)
{
  const int32_t *bodies;
  int32_t count = link_bodies(p->in, link, &bodies);
  for (int32_t i = 0; i < count; ++i) {
    if (is_node(p->in, bodies[i])) {
      if (p->node[bodies[i]] == NO_SLOT) {
        p->node[bodies[i]] = o->count;
        o->length[o->count] = 0;
        o->id[o->count++] = bodies[i];
      }
      o->length[p->node[bodies[i]]] += 1;
    }
  }
}

static int32_t link_weight(const mechanism_inputs *in, int32_t link)
{
  if (link < 0) {
    return 1;
  }
  RowParams params[2];
  joint_params(&in->joints[link], params);
  return direct_typical_rows(joint_type(&in->joints[link]), params, in->joints[link].axis_features);
}

static void sort_ascending(int32_t *list, int32_t count)
{
  for (int32_t i = 1; i < count; ++i) {
    int32_t number = list[i], k = i;
    for (; k > 0 && list[k - 1] > number; --k) {
      list[k] = list[k - 1];
    }
    list[k] = number;
  }
}

// Adds the node of a link and its edges; returns the end of its neighbours in the arena.
static int32_t add_link(const mechanism_builder *p, int32_t link, int32_t at, elimination_graph *o)
{
  const int32_t *bodies;
  int32_t node = o->count++, count = link_bodies(p->in, link, &bodies);
  o->id[node] = link;
  o->weight[node] = link_weight(p->in, link);
  o->first[node] = at;
  o->length[node] = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (is_node(p->in, bodies[i])) {
      int32_t other = p->node[bodies[i]];
      o->arena[at + o->length[node]++] = other;
      o->arena[o->first[other] + o->degree[other]++] = node;
    }
  }
  sort_ascending(o->arena + at, o->length[node]);
  o->degree[node] = o->length[node];
  return at + o->length[node];
}

// Builds the graph: links in order, bodies in the order in which links name them.
static bool build_graph(mechanism_builder *p, const int32_t *links, int32_t link_count,
                        elimination_graph *o)
{
  ptrdiff_t most = p->most_nodes;
  int32_t *memory = p->memory;
  o->node = p->node;
  o->id = memory;
  o->first = memory + most;
  o->length = memory + 2 * most;
  o->weight = memory + 3 * most;
  o->degree = memory + 4 * most;
  o->position = memory + 5 * most;
  o->order = memory + 6 * most; // and two lists of that length
  o->eliminated = (bool *)(memory + 9 * most);
  o->ready = o->eliminated + most;
  int32_t edges = 0;
  for (int32_t i = 0; i < link_count; ++i) {
    const int32_t *bodies;
    edges += link_bodies(p->in, links[i], &bodies);
    add_bodies(p, links[i], o);
  }
  o->body_count = o->count;
  memset(o->eliminated, 0, (size_t)(o->count + link_count) * sizeof(bool));
  memset(o->ready, 0, (size_t)(o->count + link_count) * sizeof(bool));
  if (!arena_take(o, 2 * edges)) {
    return false;
  }
  int32_t at = 0;
  for (int32_t i = 0; i < o->body_count; ++i) {
    o->first[i] = at;
    at += o->length[i];
    o->degree[i] = 0;
    o->weight[i] = BODY_ROWS;
    o->ready[i] = true;
  }
  for (int32_t i = 0; i < link_count; ++i) {
    at = add_link(p, links[i], at, o);
  }
  return true;
}

// Orders and adds a mechanism, or counts its links as skipped if it would fill the matrix.
static bool build_nodes(mechanism_builder *p, elimination_graph *o, int32_t link_count)
{
  order_result result = eliminate_light_bodies(o);
  if (result == ORDER_DONE) {
    eliminate_leaves(o);
    result = order_loops(o);
  }
  if (result == ORDER_FULL) {
    p->set->skipped += link_count;
  }
  bool ok = result != ORDER_NO_MEMORY;
  if (result == ORDER_DONE) {
    ok = reserve_mechanism(o);
    if (ok) {
      add_mechanism(p, o);
    }
  }
  return ok;
}

static void clear_node_map(mechanism_builder *p, const elimination_graph *o)
{
  for (int32_t i = 0; i < o->body_count; ++i) {
    p->node[o->id[i]] = NO_SLOT;
  }
}

static bool build_mechanism(mechanism_builder *p, const int32_t *links, int32_t link_count)
{
  mechanism_set *set = p->set;
  int32_t before = set->count;
  elimination_graph o = {
      .set = p->set, .in = p->in, .arena = p->arena, .capacity = p->arena_capacity};
  bool ok = build_graph(p, links, link_count, &o);
  bool fits = ok && is_ball_tree(&o);
  ok = ok && build_nodes(p, &o, link_count);
  clear_node_map(p, &o);
  if (ok && fits && set->count > before) {
    elimination_graph again = {
        .set = p->set, .in = p->in, .arena = o.arena, .capacity = o.capacity};
    ok = build_graph(p, links, link_count, &again) && reserve_ball_tree(&again);
    if (ok) {
      order_ball_tree(&again);
      add_ball_tree(&again, &set->list[before]);
    }
    clear_node_map(p, &again);
    o = again;
  }
  p->arena = o.arena;
  p->arena_capacity = o.capacity;
  return ok;
}

// Unites the bodies of every link.
static void unite_bodies(mechanism_builder *p, const int32_t *solved)
{
  const mechanism_inputs *in = p->in;
  for (int32_t i = 0; i < p->link_count; ++i) {
    const int32_t *bodies;
    int32_t count = link_bodies(in, solved[i], &bodies);
    int32_t a = find_root(p->root, first_node_body(in, solved[i]));
    for (int32_t k = 0; k < count; ++k) {
      if (is_node(in, bodies[k])) {
        int32_t b = find_root(p->root, bodies[k]);
        p->root[a > b ? a : b] = a > b ? b : a;
        a = a > b ? b : a;
      }
    }
  }
}

// Groups links by mechanism, in the order of the mechanisms' first links.
static void group_links(mechanism_builder *p, const int32_t *solved)
{
  const mechanism_inputs *in = p->in;
  for (int32_t i = 0; i < in->body_count; ++i) {
    p->root[i] = i;
    p->node[i] = NO_SLOT;
  }
  unite_bodies(p, solved);
  // First counts by root, then positions, encoded as -position - 2; `node` serves as the table.
  int32_t next = 0;
  int32_t *table = p->node;
  for (int32_t round = 0; round < 2; ++round) {
    for (int32_t i = 0; i < p->link_count; ++i) {
      int32_t root = find_root(p->root, first_node_body(in, solved[i]));
      if (round == 0) {
        table[root] = table[root] == NO_SLOT ? 1 : table[root] + 1;
      } else {
        if (table[root] > 0) { // first link of its mechanism
          int32_t count = table[root];
          table[root] = -next - 2;
          next += count;
        }
        p->mechanism_links[-table[root] - 2] = solved[i];
        table[root] -= 1;
      }
    }
  }
  for (int32_t i = 0; i < in->body_count; ++i) {
    table[i] = NO_SLOT;
  }
}

static int32_t root_of(mechanism_builder *p, int32_t link)
{
  return find_root(p->root, first_node_body(p->in, link));
}

// Zero for bodies that ball trees do not move: nothing else writes there.
static bool reserve_inertia(const mechanism_builder *p)
{
  mechanism_set *set = p->set;
  int32_t count = set->ball_count > 0 ? p->in->body_count : 0;
  if (!heap_reserve(p->in->heap, (void **)&set->augmented_inertia, &set->augmented_inertia_capacity,
                    count, sizeof *set->augmented_inertia)) {
    return false;
  }
  if (count > 0) {
    memset(set->augmented_inertia, 0, (size_t)count * sizeof *set->augmented_inertia);
  }
  return true;
}

static bool build_all(mechanism_builder *p)
{
  for (int32_t i = 0, last; i < p->link_count; i = last) {
    int32_t root = root_of(p, p->mechanism_links[i]);
    for (last = i + 1; last < p->link_count && root_of(p, p->mechanism_links[last]) == root;
         ++last) {
    }
    if (!build_mechanism(p, p->mechanism_links + i, last - i)) {
      return false;
    }
  }
  mechanism_set *set = p->set;
  return batches_build(set, p->in->heap, p->in->threads) &&
         heap_reserve(p->in->heap, (void **)&set->coupling_jacobians,
                      &set->coupling_jacobian_capacity, set->coupling_side_count,
                      sizeof *set->coupling_jacobians) &&
         heap_reserve(p->in->heap, (void **)&set->joint_rows, &set->joint_row_capacity,
                      set->joint_row_count, sizeof *set->joint_rows) &&
         heap_reserve(p->in->heap, (void **)&set->active_rows, &set->active_row_capacity,
                      set->joint_row_count, sizeof *set->active_rows) &&
         heap_reserve(p->in->heap, (void **)&set->jacobians, &set->jacobian_capacity,
                      set->jacobian_count, sizeof *set->jacobians) &&
         heap_reserve(p->in->heap, (void **)&set->values, &set->value_capacity, set->value_count,
                      sizeof *set->values) &&
         heap_reserve(p->in->heap, (void **)&set->vectors, &set->vector_capacity,
                      2 * set->row_count, sizeof *set->vectors) &&
         heap_reserve(p->in->heap, (void **)&set->solutions, &set->solution_capacity,
                      set->row_count, sizeof *set->solutions) &&
         reserve_inertia(p);
}

bool mechanisms_build(mechanism_set *set, const mechanism_inputs *in, const int32_t *solved,
                      int32_t count)
{
  set->count = set->node_count = set->block_count = set->target_count = 0;
  set->joint_count = set->axis_count = set->joint_row_count = set->value_count = set->row_count =
      set->skipped = 0;
  set->work_count = set->batch_count = set->coupling_count = set->coupling_side_count = 0;
  set->jacobian_block_count = set->jacobian_count = set->ball_count = set->link_count =
      set->ball_body_count = 0;
  if (count == 0) {
    return true;
  }
  mechanism_builder p = {.set = set, .in = in, .link_count = count};
  for (int32_t i = 0; i < count; ++i) {
    const int32_t *ends;
    p.most_nodes += 1 + link_bodies(in, solved[i], &ends);
  }
  size_t bodies = (size_t)in->body_count * sizeof(int32_t);
  size_t members = (size_t)count * sizeof(int32_t);
  size_t memory = (size_t)p.most_nodes * (9 * sizeof(int32_t) + 2 * sizeof(bool));
  p.root = heap_alloc(in->heap, bodies);
  p.node = heap_alloc(in->heap, bodies);
  p.mechanism_links = heap_alloc(in->heap, members);
  p.memory = heap_alloc(in->heap, memory);
  bool ok = p.root && p.node && p.mechanism_links && p.memory;
  if (ok) {
    group_links(&p, solved);
    ok = build_all(&p);
  }
  heap_free(in->heap, p.root, bodies);
  heap_free(in->heap, p.node, bodies);
  heap_free(in->heap, p.mechanism_links, members);
  heap_free(in->heap, p.memory, memory);
  heap_free(in->heap, p.arena, (size_t)p.arena_capacity * sizeof *p.arena);
  return ok;
}

void mechanisms_release(mechanism_set *set, heap *h)
{
  heap_free(h, set->list, (size_t)set->capacity * sizeof *set->list);
  heap_free(h, set->nodes, (size_t)set->node_capacity * sizeof *set->nodes);
  heap_free(h, set->blocks, (size_t)set->block_capacity * sizeof *set->blocks);
  heap_free(h, set->targets, (size_t)set->target_capacity * sizeof *set->targets);
  heap_free(h, set->joints, (size_t)set->joint_capacity * sizeof *set->joints);
  heap_free(h, set->couplings, (size_t)set->coupling_capacity * sizeof *set->couplings);
  heap_free(h, set->coupling_sides,
            (size_t)set->coupling_side_capacity * sizeof *set->coupling_sides);
  heap_free(h, set->coupling_jacobians,
            (size_t)set->coupling_jacobian_capacity * sizeof *set->coupling_jacobians);
  heap_free(h, set->axes, (size_t)set->axis_capacity * sizeof *set->axes);
  heap_free(h, set->joint_rows, (size_t)set->joint_row_capacity * sizeof *set->joint_rows);
  heap_free(h, set->active_rows, (size_t)set->active_row_capacity * sizeof *set->active_rows);
  heap_free(h, set->jacobian_blocks,
            (size_t)set->jacobian_block_capacity * sizeof *set->jacobian_blocks);
  heap_free(h, set->jacobians, (size_t)set->jacobian_capacity * sizeof *set->jacobians);
  heap_free(h, set->values, (size_t)set->value_capacity * sizeof *set->values);
  heap_free(h, set->vectors, (size_t)set->vector_capacity * sizeof *set->vectors);
  heap_free(h, set->solutions, (size_t)set->solution_capacity * sizeof *set->solutions);
  heap_free(h, set->balls, (size_t)set->ball_capacity * sizeof *set->balls);
  heap_free(h, set->ball_blocks, (size_t)set->ball_block_capacity * sizeof *set->ball_blocks);
  heap_free(h, set->ball_bodies, (size_t)set->ball_body_capacity * sizeof *set->ball_bodies);
  heap_free(h, set->links, (size_t)set->link_capacity * sizeof *set->links);
  heap_free(h, set->augmented_inertia,
            (size_t)set->augmented_inertia_capacity * sizeof *set->augmented_inertia);
  heap_free(h, set->warm_contacts, (size_t)set->warm_contact_capacity * sizeof *set->warm_contacts);
  batches_release(set, h);
}

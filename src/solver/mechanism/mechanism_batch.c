// Batches of mechanisms with equal topology: Jacobians, factorization and solution run with one
// mechanism in each lane. Rows and active sets are each member's own; see mechanism_batch.h for how
// they are merged. Results have the same bits as those of a mechanism solved alone.
#include "solver/mechanism/mechanism_batch.h"

#include "base/heap.h"
#include "solver/mechanism/mechanism_build.h"
#include "solver/mechanism/solve_state.h"

#include <stdalign.h>
#include <string.h>

#if !defined(TN_SMALL)
#include <stdatomic.h>
#endif

// ---------------------------------------------------------------------------------------------
// Blocks of joints

// Adds blocks of up to eight joints of one type. In a batch, each joint of all `count` members
// comes in turn.
static void add_rows(mechanism_set *set, mechanism *const *lane_mechanisms, int count)
{
  int32_t first = set->jacobian_block_count;
  for (int type = 0; type < TYPE_COUNT; ++type) {
    jacobian_block *block = NULL;
    for (int32_t i = 0;
         i < (lane_mechanisms[0]->last_joint - lane_mechanisms[0]->first_joint) * count; ++i) {
      direct_joint *j = &set->joints[lane_mechanisms[i % count]->first_joint + i / count];
      if ((int)j->type != type) {
        continue;
      }
      if (!block || block->count == BLOCK_WIDTH) {
        block = &set->jacobian_blocks[set->jacobian_block_count++];
        memset(block, 0, sizeof *block);
        block->type = j->type;
        block->first_jacobian = set->jacobian_count;
        block->batch_row = count > 1 ? set->batch_jacobian_count : NO_SLOT;
      }
      if (count > 1 && i % count == 0) {
        set->batch_joints[set->batch_joint_count + i / count].first_batch_jacobian =
            set->batch_jacobian_count;
        set->batch_jacobian_count += jacobian_row_count(j->type);
      }
      j->first_jacobian = set->jacobian_count;
      set->jacobian_count += jacobian_row_count(j->type);
      j->jacobian_lane = (set->jacobian_block_count - 1) * BLOCK_WIDTH + block->count;
      block->a[block->count] = j->body[0];
      block->b[block->count] = j->body[1];
      block->count += 1;
    }
  }
  for (int k = 0; k < count; ++k) {
    lane_mechanisms[k]->first_jacobian_block = first;
    lane_mechanisms[k]->last_jacobian_block = set->jacobian_block_count;
  }
}

static bool reserve_rows(mechanism_set *set, heap *h)
{
  int32_t most = set->joint_count / BLOCK_WIDTH + TYPE_COUNT * set->count;
  return heap_reserve(h, (void **)&set->jacobian_blocks, &set->jacobian_block_capacity, most,
                      sizeof *set->jacobian_blocks);
}

static bool needs_solve(const direct_context *c, mechanism *m, needs_pass_fn *needs_pass)
{
  return needs_pass(m, c->pass) && !mechanism_coasts(c, m);
}

#if defined(TN_SMALL)

void batches_begin_step(mechanism_set *set)
{
  (void)set;
}

bool batches_build(mechanism_set *set, heap *h, int32_t threads)
{
  (void)threads; // a small build has no batches
  if (!reserve_rows(set, h)) {
    return false;
  }
  for (int32_t i = 0; i < set->count; ++i) {
    mechanism *m = &set->list[i];
    add_rows(set, &m, 1);
  }
  set->work_count = set->count;
  return true;
}

void batches_release(mechanism_set *set, heap *h)
{
  (void)set;
  (void)h;
}

void mechanisms_solve(const direct_context *c, int32_t item, needs_pass_fn *needs_pass)
{
  if (needs_solve(c, &c->set->list[item], needs_pass)) {
    mechanism_solve(c, &c->set->list[item]);
  }
}

#else

struct scratch_lock {
  alignas(64) atomic_bool taken;
};

// ---------------------------------------------------------------------------------------------
// Equal topology

static bool can_batch(const mechanism *m)
{
  return RULE(mechanism_batches) && m->first_ball < 0 && m->first_coupling == m->last_coupling &&
         m->last_node - m->first_node <= TUNING_BATCH_MAX_NODES;
}

static uint32_t mix(uint32_t hash, int32_t number)
{
  return (hash ^ (uint32_t)number) * 16777619u;
}

static uint32_t topology_hash(const mechanism_set *set, const mechanism *m)
{
  uint32_t hash = mix(mix(2166136261u, m->last_node - m->first_node), m->rows);
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &set->joints[i];
    hash = mix(mix(hash, (int32_t)j->type), j->node - m->first_node);
  }
  return hash;
}

static bool same_nodes(const mechanism_set *set, const mechanism *a, const mechanism *b)
{
  for (int32_t i = 0; i < a->last_node - a->first_node; ++i) {
    const direct_node *p = &set->nodes[a->first_node + i], *q = &set->nodes[b->first_node + i];
    if (p->is_joint != q->is_joint || p->is_leaf != q->is_leaf || p->capacity != q->capacity ||
        p->count != q->count || p->diagonal - a->first_value != q->diagonal - b->first_value) {
      return false;
    }
    for (int32_t k = 0; k < p->count; ++k) {
      const direct_block *x = &set->blocks[p->first + k], *y = &set->blocks[q->first + k];
      if (x->node - a->first_node != y->node - b->first_node || x->fills != y->fills ||
          x->at - a->first_value != y->at - b->first_value) {
        return false;
      }
    }
  }
  return true;
}

static bool same_joints(const mechanism_set *set, const mechanism *a, const mechanism *b)
{
  for (int32_t i = 0; i < a->last_joint - a->first_joint; ++i) {
    const direct_joint *p = &set->joints[a->first_joint + i], *q = &set->joints[b->first_joint + i];
    bool same = p->type == q->type && p->node - a->first_node == q->node - b->first_node;
    for (int side = 0; side < 2 && same; ++side) {
      same = p->body_node[side] < 0 || q->body_node[side] < 0
                 ? p->body_node[side] == q->body_node[side]
                 : p->body_node[side] - a->first_node == q->body_node[side] - b->first_node &&
                       p->jacobian_offset[side] - a->first_value ==
                           q->jacobian_offset[side] - b->first_value;
    }
    if (!same) {
      return false;
    }
  }
  return true;
}

static bool same_topology(const mechanism_set *set, const mechanism *a, const mechanism *b)
{
  return a->last_node - a->first_node == b->last_node - b->first_node &&
         a->last_joint - a->first_joint == b->last_joint - b->first_joint && a->rows == b->rows &&
         same_nodes(set, a, b) && same_joints(set, a, b);
}

// ---------------------------------------------------------------------------------------------
// Building batches

static bool reserve_batch(mechanism_set *set, heap *h, const mechanism *m)
{
  int32_t joints = m->last_joint - m->first_joint, jacobian_rows = 0;
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    jacobian_rows += jacobian_row_count(set->joints[i].type);
  }
  return heap_reserve(h, (void **)&set->batches, &set->batch_capacity, set->batch_count + 1,
                      sizeof *set->batches) &&
         heap_reserve(h, (void **)&set->batch_nodes, &set->batch_node_capacity,
                      set->batch_node_count + m->last_node - m->first_node,
                      sizeof *set->batch_nodes) &&
         heap_reserve(h, (void **)&set->batch_joints, &set->batch_joint_capacity,
                      set->batch_joint_count + joints, sizeof *set->batch_joints) &&
         heap_reserve(h, (void **)&set->batch_rows, &set->batch_row_capacity,
                      set->batch_row_count + m->rows, sizeof *set->batch_rows) &&
         heap_reserve(h, (void **)&set->batch_jacobian, &set->batch_jacobian_capacity,
                      set->batch_jacobian_count + jacobian_rows, sizeof *set->batch_jacobian) &&
         heap_reserve(h, (void **)&set->batch_values, &set->batch_value_capacity,
                      set->batch_value_count + m->end_value - m->first_value,
                      sizeof *set->batch_values) &&
         heap_reserve(h, (void **)&set->batch_vectors, &set->batch_vector_capacity,
                      set->batch_vector_count + 3 * m->rows, sizeof *set->batch_vectors);
}

static void add_batch_nodes(mechanism_set *set, const mechanism *m)
{
  int32_t first_row = set->nodes[m->first_node].first_row;
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    direct_node *node = &set->batch_nodes[set->batch_node_count++];
    *node = set->nodes[i];
    node->first_row -= first_row;
    node->diagonal -= m->first_value;
    node->index -= node->is_joint ? m->first_joint : 0;
  }
}

static void add_batch_joints(mechanism_set *set, mechanism *const *lane_mechanisms)
{
  const mechanism *m = lane_mechanisms[0];
  for (int32_t i = 0; i < m->last_joint - m->first_joint; ++i) {
    batch_joint *to = &set->batch_joints[set->batch_joint_count++];
    const direct_joint *j = &set->joints[m->first_joint + i];
    to->type = j->type;
    to->node = j->node - m->first_node;
    to->capacity = set->nodes[j->node].capacity;
    to->first_row = set->batch_row_count;
    set->batch_row_count += to->capacity;
    for (int side = 0; side < 2; ++side) {
      to->body_node[side] = j->body_node[side] < 0 ? NO_SLOT : j->body_node[side] - m->first_node;
      to->jacobian_offset[side] = j->jacobian_offset[side] - m->first_value;
    }
    for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
      const direct_joint *own = &set->joints[lane_mechanisms[lane]->first_joint + i];
      to->first_joint_row[lane] = own->first_joint_row;
      to->body[0][lane] = own->body[0];
      to->body[1][lane] = own->body[1];
    }
  }
}

static bool add_batch(mechanism_set *set, heap *h, const int32_t *lane_mechanism)
{
  const mechanism *m = &set->list[lane_mechanism[0]];
  if (!reserve_batch(set, h, m)) {
    return false;
  }
  mechanism *lane_mechanisms[BATCH_WIDTH];
  mechanism_batch *t = &set->batches[set->batch_count];
  memset(t, 0, sizeof *t);
  for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
    t->lane_mechanism[lane] = lane_mechanism[lane];
    lane_mechanisms[lane] = &set->list[lane_mechanism[lane]];
    lane_mechanisms[lane]->batch = set->batch_count;
  }
  set->batch_count += 1;
  add_rows(set, lane_mechanisms, BATCH_WIDTH);
  t->first_node = set->batch_node_count;
  t->first_joint = set->batch_joint_count;
  t->first_value = set->batch_value_count;
  t->first_vector = set->batch_vector_count;
  add_batch_nodes(set, m);
  add_batch_joints(set, lane_mechanisms);
  t->last_node = set->batch_node_count;
  t->last_joint = set->batch_joint_count;
  set->batch_value_count += m->end_value - m->first_value;
  set->batch_vector_count += 3 * m->rows;
  set->work[set->work_count++] = ~(set->batch_count - 1);
  return true;
}

// Mechanisms of equal topology that wait for more: an open-addressing hash table, its size a power
// of two.
typedef struct pending_batch {
  int32_t lane_mechanism[BATCH_WIDTH];
  int32_t count;
} pending_batch;

static bool add_to_pending(mechanism_set *set, heap *h, pending_batch *table, uint32_t size,
                           int32_t i)
{
  const mechanism *m = &set->list[i];
  uint32_t at = topology_hash(set, m) & (size - 1);
  while (table[at].count > 0 && !same_topology(set, &set->list[table[at].lane_mechanism[0]], m)) {
    at = (at + 1) & (size - 1);
  }
  pending_batch *w = &table[at];
  // An entry is never emptied: later mechanisms are compared with its first member.
  w->lane_mechanism[w->count % BATCH_WIDTH] = i;
  w->count += 1;
  return w->count % BATCH_WIDTH != 0 || add_batch(set, h, w->lane_mechanism);
}

static bool form_batches(mechanism_set *set, heap *h)
{
  uint32_t size = 16;
  while (size < 2 * (uint32_t)set->count) {
    size *= 2;
  }
  pending_batch *table = heap_alloc(h, size * sizeof *table);
  bool ok = table;
  for (int32_t i = 0; i < set->count && ok; ++i) {
    ok = !can_batch(&set->list[i]) || add_to_pending(set, h, table, size, i);
  }
  heap_free(h, table, size * sizeof *table);
  return ok;
}

// Scratch matrices, one for each thread. A batch that finds none free uses its own.
static bool reserve_scratch(mechanism_set *set, heap *h, int32_t threads)
{
  set->batch_scratch_size = 0;
  for (int32_t i = 0; i < set->batch_count; ++i) {
    const mechanism *m = &set->list[set->batches[i].lane_mechanism[0]];
    int32_t size = m->end_value - m->first_value;
    set->batch_scratch_size = size > set->batch_scratch_size ? size : set->batch_scratch_size;
  }
  set->batch_scratch_count = set->batch_count > 0 ? threads : 0;
  return heap_reserve(h, (void **)&set->batch_scratch, &set->batch_scratch_capacity,
                      set->batch_scratch_count * set->batch_scratch_size,
                      sizeof *set->batch_scratch) &&
         heap_reserve(h, (void **)&set->scratch_locks, &set->scratch_lock_capacity,
                      set->batch_scratch_count, sizeof *set->scratch_locks);
}

bool batches_build(mechanism_set *set, heap *h, int32_t threads)
{
  set->batch_node_count = set->batch_joint_count = set->batch_row_count = 0;
  set->batch_jacobian_count = set->batch_value_count = set->batch_vector_count = 0;
  if (!heap_reserve(h, (void **)&set->work, &set->work_capacity, set->count, sizeof *set->work) ||
      !reserve_rows(set, h) || (set->count >= BATCH_WIDTH * threads && !form_batches(set, h))) {
    return false;
  }
  for (int32_t i = 0; i < set->count; ++i) {
    mechanism *m = &set->list[i];
    if (m->batch < 0) {
      add_rows(set, &m, 1);
      set->work[set->work_count++] = i;
    }
  }
  return reserve_scratch(set, h, threads);
}

// Whether the union of all members' rows fits: definitions may have changed since the build.
static bool rows_fit(const mechanism_set *set, const mechanism_batch *t, const batch_joint *j,
                     int32_t at)
{
  RowParams all[2];
  uint32_t axes = 0;
  memset(all, 0, sizeof all);
  for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
    const direct_joint *own = &set->joints[set->list[t->lane_mechanism[lane]].first_joint + at];
    axes |= own->axis_features;
    for (int k = 0; k < 2; ++k) {
      const RowParams *p = &own->params[k];
      all[k].alpha = r_max(all[k].alpha, p->alpha);
      all[k].alpha_limit = r_max(all[k].alpha_limit, p->alpha_limit);
    }
  }
  return direct_row_capacity(j->type, all, axes) <= j->capacity;
}

void batches_begin_step(mechanism_set *set)
{
  for (int32_t i = 0; i < set->count; ++i) {
    set->list[i].reuses_factors = set->list[i].may_touch;
  }
  for (int32_t i = 0; i < set->warm_contact_count; ++i) {
    for (int side = 0; side < 2; ++side) {
      if (set->warm_contacts[i].mechanism[side] != NO_SLOT) {
        set->list[set->warm_contacts[i].mechanism[side]].reuses_factors = true;
      }
    }
  }
  for (int32_t i = 0; i < set->batch_count; ++i) {
    mechanism_batch *t = &set->batches[i];
    t->dissolved = false;
    for (int32_t k = t->first_joint; k < t->last_joint && !t->dissolved; ++k) {
      t->dissolved = !rows_fit(set, t, &set->batch_joints[k], k - t->first_joint);
    }
  }
}

void batches_release(mechanism_set *set, heap *h)
{
  heap_free(h, set->work, (size_t)set->work_capacity * sizeof *set->work);
  heap_free(h, set->batches, (size_t)set->batch_capacity * sizeof *set->batches);
  heap_free(h, set->batch_nodes, (size_t)set->batch_node_capacity * sizeof *set->batch_nodes);
  heap_free(h, set->batch_joints, (size_t)set->batch_joint_capacity * sizeof *set->batch_joints);
  heap_free(h, set->batch_rows, (size_t)set->batch_row_capacity * sizeof *set->batch_rows);
  heap_free(h, set->batch_jacobian,
            (size_t)set->batch_jacobian_capacity * sizeof *set->batch_jacobian);
  heap_free(h, set->batch_values, (size_t)set->batch_value_capacity * sizeof *set->batch_values);
  heap_free(h, set->batch_scratch,
            (size_t)set->batch_scratch_capacity * sizeof *set->batch_scratch);
  heap_free(h, set->scratch_locks, (size_t)set->scratch_lock_capacity * sizeof *set->scratch_locks);
  heap_free(h, set->batch_vectors, (size_t)set->batch_vector_capacity * sizeof *set->batch_vectors);
}

// ---------------------------------------------------------------------------------------------
// Rows of all members

// batch_row.source of a row by its slot; see row_head_of() and add_axis_row() for the slots.
static uint8_t source_of(JointType type, int slot)
{
  int block = slot / ROW_SLOTS, first = 3 * block, k = slot % ROW_SLOTS;
  if (k < FIRST_AXIS_SLOT) {
    return (uint8_t)(first + k / 2);
  }
  int at = k - FIRST_AXIS_SLOT;
  bool ball = block && angular_kind(type).ball_axes;
  return (uint8_t)(ball ? ANGULAR_AXIS_ROW - at % 3 : first + at / 3);
}

// ---------------------------------------------------------------------------------------------
// Solving

// A batch's solve under way.
typedef struct batch_solve {
  const direct_context *context;
  mechanism_batch *batch;
  mechanism *lane_mechanism[BATCH_WIDTH];
  solve_state solve[BATCH_WIDTH];
  batch_f64 *values;
} batch_solve;

// NOLINTBEGIN(bugprone-macro-parentheses): a name
#define FOR_LANES(lane, lanes)                                                                     \
  for (int lane = 0; lane < BATCH_WIDTH; ++lane)                                                   \
    if ((lanes) >> lane & 1)
// NOLINTEND(bugprone-macro-parentheses)

static int count_lanes(unsigned lanes)
{
  return (int)((lanes & 1) + (lanes >> 1 & 1) + (lanes >> 2 & 1) + (lanes >> 3 & 1));
}

// The system with everything that does not depend on the pass.
static batch_system system_of(const batch_solve *ts)
{
  const mechanism_set *set = ts->context->set;
  const mechanism_batch *t = ts->batch;
  const mechanism *m = ts->lane_mechanism[0];
  batch_system s = {0};
  s.nodes = set->batch_nodes + t->first_node;
  s.blocks = set->blocks;
  s.targets = set->targets;
  s.joints = set->batch_joints + t->first_joint;
  s.rows = set->batch_rows;
  s.jacobians = (const batch_jacobian *)set->batch_jacobian;
  s.bodies = ts->context->data->state;
  s.values = ts->values;
  s.scratch = ts->values + (m->scratch - m->first_value);
  s.x = set->batch_vectors + t->first_vector;
  s.v = s.x + 2 * m->rows;
  s.node_count = t->last_node - t->first_node;
  s.joint_count = t->last_joint - t->first_joint;
  s.base_node = m->first_node;
  s.base_value = m->first_value;
  for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
    const mechanism *own = ts->lane_mechanism[lane];
    int32_t first_row = set->nodes[own->first_node].first_row;
    s.lane_x[lane] = set->solutions + first_row;
    s.lane_v[lane] = set->vectors + first_row;
  }
  return s;
}

// Active rows of one joint in all members.
typedef struct merged_rows {
  uint32_t has[BATCH_WIDTH];                        // bit mask of active slots
  joint_row *joint_row[BATCH_WIDTH][2 * ROW_SLOTS]; // by slot
  unsigned gives; // bit mask of lanes with inactive rows that are not at their bound yet
} merged_rows;

// Reads the rows of one lane. Lists them in `active_rows`, if not NULL, for solve_is_factored().
// Returns the number of active rows.
static int read_lane_rows(merged_rows *of, int lane, joint_row *l, int count,
                          active_row *active_rows)
{
  uint32_t has = 0;
  int rows = 0;
  bool gives = false;
  for (const joint_row *end = l + count; l < end; ++l) {
    if (l->active) {
      has |= 1u << l->slot;
      of->joint_row[lane][l->slot] = l;
      if (active_rows) {
        active_rows[rows] = (active_row){l->j, row_compliance(l)};
      }
      rows += 1;
    } else {
      gives = gives || row_bound(l) != l->lambda;
    }
  }
  of->has[lane] = has;
  of->gives |= (unsigned)gives << lane;
  return rows;
}

// Union of all lanes' active rows, in slot order. Returns whether the Jacobian rows or lanes differ
// from those of the factored matrix.
static bool merge_joint_rows(const batch_joint *j, const merged_rows *of, joint_row *any_row,
                             batch_row *row, direct_node *node)
{
  uint32_t left = of->has[0] | of->has[1] | of->has[2] | of->has[3];
  int count = 0;
  bool changed = false;
  for (; left != 0; left &= left - 1, ++row, ++count) {
    int slot = __builtin_ctz(left);
    uint8_t source = source_of(j->type, slot), lanes = 0;
    for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
      unsigned holds = of->has[lane] >> slot & 1;
      lanes |= (uint8_t)(holds << lane);
      row->joint_row[lane] = holds ? of->joint_row[lane][slot] : any_row;
    }
    changed = changed || row->source != source || row->lanes != lanes;
    row->source = source;
    row->lanes = lanes;
  }
  changed = changed || node->rows != count;
  node->rows = (int16_t)count;
  return changed;
}

// Merges the rows of all joints over the lanes that have a matrix; returns whether they have
// changed. Lanes in `refactor` record their active rows.
static bool merge_rows(const batch_solve *ts, const batch_system *s, unsigned refactor,
                       unsigned *gives)
{
  const mechanism_set *set = ts->context->set;
  merged_rows of;
  of.gives = 0;
  bool changed = false;
  for (int32_t i = 0; i < s->joint_count; ++i) {
    const batch_joint *j = &s->joints[i];
    for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
      of.has[lane] = 0;
    }
    FOR_LANES(lane, s->factored_lanes)
    {
      const direct_joint *own = &set->joints[ts->lane_mechanism[lane]->first_joint + i];
      bool notes = refactor >> lane & 1;
      int rows =
          read_lane_rows(&of, lane, &set->joint_rows[own->first_joint_row], own->joint_row_count,
                         notes ? &set->active_rows[own->first_joint_row] : NULL);
      if (notes) {
        set->nodes[own->node].rows = (int16_t)rows;
      }
    }
    changed |= merge_joint_rows(j, &of, &set->joint_rows[j->first_joint_row[0]],
                                &s->rows[j->first_row], &s->nodes[j->node]);
  }
  *gives = of.gives;
  return changed;
}

// Masses of all lanes. Lanes without a matrix get those of one that has: any valid ones do.
static void assemble_masses(const batch_solve *ts, const batch_system *s)
{
  const mechanism_set *set = ts->context->set;
  int from[BATCH_WIDTH];
  for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
    from[lane] = s->factored_lanes >> lane & 1 ? lane : __builtin_ctz(s->factored_lanes);
  }
  for (int32_t i = 0; i < s->node_count; ++i) {
    batch_f64 *to = s->values + s->nodes[i].diagonal;
    double mass[BATCH_WIDTH][MASS_VALUES];
    if (s->nodes[i].is_joint) {
      continue;
    }
    for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
      direct_node_mass(ts->context, &set->nodes[ts->lane_mechanism[from[lane]]->first_node + i],
                       mass[lane]);
    }
    for (int k = 0; k < MASS_VALUES; ++k) {
      to[k] = (batch_f64){mass[0][k], mass[1][k], mass[2][k], mass[3][k]};
    }
  }
}

static void record_added_inertia(const mechanism_set *set, const mechanism *m)
{
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    set->nodes[i].factored_inertia = set->nodes[i].added_inertia;
  }
}

// Impulses of inactive rows, as right-hand sides of bodies.
static bool add_bound_impulses(const batch_solve *ts, unsigned solve_lanes, unsigned gives)
{
  FOR_LANES(lane, gives != 0 ? solve_lanes : 0)
  {
    solve_add_bound_impulses(&ts->solve[lane]);
  }
  return gives != 0;
}

// Solves the given lanes. If one needs a new matrix all lanes are factored again: the factors of
// the others come out the same.
static void factor_and_solve_batch(batch_solve *ts, unsigned solve_lanes)
{
  const direct_context *c = ts->context;
  batch_system s = system_of(ts);
  unsigned refactor = 0, gives = solve_lanes;
  FOR_LANES(lane, solve_lanes)
  {
    const solve_state *own = &ts->solve[lane];
    refactor |=
        own->refactor && (own->mechanism->own_factor || !solve_is_factored(own)) ? 1u << lane : 0;
  }
  for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
    mechanism *m = ts->lane_mechanism[lane];
    bool needs_pass = solve_lanes >> lane & 1, keeps = !m->own_factor && m->factor_pose == c->pose;
    s.factored_lanes |= (uint8_t)((needs_pass || keeps) << lane);
    s.bias_lanes |=
        (uint8_t)((needs_pass && c->pass == DIRECT_RESOLVE && !m->split_impulse) << lane);
    if (needs_pass) {
      m->factor_pose = c->pose;
      m->own_factor = false;
    }
  }
  s.solve_lanes = (uint8_t)solve_lanes;
  s.resolve = c->pass == DIRECT_RESOLVE;
  s.refactor = refactor != 0;
  if (s.refactor || !s.resolve) {
    s.refactor |= merge_rows(ts, &s, refactor, &gives);
  }
  FOR_LANES(lane, refactor)
  {
    record_added_inertia(c->set, ts->lane_mechanism[lane]);
  }
  if (s.refactor) {
    assemble_masses(ts, &s);
  }
  s.has_body_rhs = add_bound_impulses(ts, solve_lanes, gives & solve_lanes);
  c->direct->solve_batch(&s);
}

static void solve_unbatched(batch_solve *ts, unsigned lanes, int round)
{
  FOR_LANES(lane, lanes)
  {
    solve_rounds(&ts->solve[lane], round);
  }
}

// Rounds of solve and update of the active set, until those of all lanes are final. Lanes whose
// factors are their own, or too few for a batch, finish alone.
static void solve_all(batch_solve *ts, unsigned left)
{
  for (int round = 0; left != 0; ++round) {
    unsigned refactor = 0, own = 0;
    FOR_LANES(lane, left)
    {
      refactor |= (unsigned)ts->solve[lane].refactor << lane;
      own |= (unsigned)(!ts->solve[lane].refactor && ts->lane_mechanism[lane]->own_factor) << lane;
    }
    own |= count_lanes(left & ~own) < TUNING_BATCH_MIN_LANES ? refactor : 0;
    solve_unbatched(ts, own, round);
    left &= ~own;
    if (left != 0) {
      factor_and_solve_batch(ts, left);
    }
    FOR_LANES(lane, left)
    {
      left &= ~((unsigned)solve_update_active_set(&ts->solve[lane], round) << lane);
    }
  }
}

static void evaluate_batch_jacobians(const batch_solve *ts)
{
  int32_t now = ts->context->pose;
  bool evaluated = true;
  for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
    evaluated = evaluated && ts->lane_mechanism[lane]->jacobian_pose == now;
  }
  if (!evaluated) {
    direct_evaluate_jacobians(ts->context, ts->lane_mechanism[0]);
  }
  for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
    ts->lane_mechanism[lane]->jacobian_pose = now;
  }
}

// Index of a scratch matrix, or -1 if none is free or the factors must stay.
static int32_t acquire_scratch(const batch_solve *ts)
{
  const mechanism_set *set = ts->context->set;
  for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
    if (ts->lane_mechanism[lane]->reuses_factors) {
      return -1;
    }
  }
  for (int32_t i = 0; i < set->batch_scratch_count; ++i) {
    if (!atomic_exchange_explicit(&set->scratch_locks[i].taken, true, memory_order_acquire)) {
      return i;
    }
  }
  return -1;
}

static void release_scratch(const batch_solve *ts, int32_t room)
{
  if (room >= 0) {
    for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
      ts->lane_mechanism[lane]->factor_pose = NO_SLOT;
    }
    atomic_store_explicit(&ts->context->set->scratch_locks[room].taken, false,
                          memory_order_release);
  }
}

static void solve_batch(const direct_context *c, mechanism_batch *t, needs_pass_fn *needs_pass)
{
  batch_solve ts = {.context = c, .batch = t};
  unsigned lanes = 0;
  for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
    ts.lane_mechanism[lane] = &c->set->list[t->lane_mechanism[lane]];
    lanes |= (unsigned)needs_solve(c, ts.lane_mechanism[lane], needs_pass) << lane;
  }
  if (lanes == 0) {
    return;
  }
  if (c->pass != DIRECT_RESOLVE) {
    evaluate_batch_jacobians(&ts);
  }
  FOR_LANES(lane, lanes)
  {
    ts.solve[lane] = solve_begin(c, ts.lane_mechanism[lane]);
    lanes &= ~((unsigned)ts.lane_mechanism[lane]->coasts << lane);
  }
  if (lanes == 0) {
    return;
  }
  int32_t room = acquire_scratch(&ts);
  ts.values = room < 0 ? c->set->batch_values + t->first_value
                       : c->set->batch_scratch + (ptrdiff_t)room * c->set->batch_scratch_size;
  solve_follow_drift(ts.solve, lanes);
  for (unsigned left = lanes; left != 0; left = solve_follow_drift(ts.solve, left)) {
    solve_all(&ts, left);
  }
  unsigned left = lanes;
  for (int i = 0; i < TUNING_PLAY_ROUNDS && left != 0; ++i) {
    FOR_LANES(lane, left)
    {
      left &= ~((unsigned)!solve_forgive_contradictions(&ts.solve[lane]) << lane);
    }
    solve_all(&ts, left);
  }
  release_scratch(&ts, room);
  FOR_LANES(lane, lanes)
  {
    solve_end(&ts.solve[lane]);
  }
}

static void solve_one_by_one(const direct_context *c, const mechanism_batch *t,
                             needs_pass_fn *needs_pass)
{
  for (int lane = 0; lane < BATCH_WIDTH; ++lane) {
    mechanism *m = &c->set->list[t->lane_mechanism[lane]];
    if (needs_solve(c, m, needs_pass)) {
      mechanism_solve(c, m);
    }
  }
}

void mechanisms_solve(const direct_context *c, int32_t item, needs_pass_fn *needs_pass)
{
  int32_t work = c->set->work[item];
  if (work < 0 && c->set->batches[~work].dissolved) {
    solve_one_by_one(c, &c->set->batches[~work], needs_pass);
  } else if (work < 0) {
    solve_batch(c, &c->set->batches[~work], needs_pass);
  } else if (needs_solve(c, &c->set->list[work], needs_pass)) {
    mechanism_solve(c, &c->set->list[work]);
  }
}

#endif

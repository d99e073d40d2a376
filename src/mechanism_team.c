// Mechanisms that are equal but for their numbers form teams: their joints' rows are stated side by
// side, and their matrices factored and solved, one in each lane. What differs from member to
// member, laws and which of them hold, is each one's own; see team_store.h for how they get along.
#include "mechanism_solve.h"
#include "world.h"

#include <stdalign.h>
#include <string.h>

#if !defined(TN_SMALL)
#include <stdatomic.h>
#endif

// ---------------------------------------------------------------------------------------------
// Blocks of rows

// Blocks of eight joints of one type; of a team each joint of all members after the other.
static void add_rows(mechanism_set *set, mechanism *const *members, int count)
{
  int32_t first = set->rows_count;
  for (int type = 0; type < TYPE_COUNT; ++type) {
    rows_block *block = NULL;
    for (int32_t i = 0; i < (members[0]->last_joint - members[0]->first_joint) * count; ++i) {
      direct_joint *j = &set->joints[members[i % count]->first_joint + i / count];
      if ((int)j->type != type) {
        continue;
      }
      if (!block || block->count == BLOCK_WIDTH) {
        block = &set->rows_blocks[set->rows_count++];
        memset(block, 0, sizeof *block);
        block->type = j->type;
        block->first_row = set->stated_count;
        block->team_row = count > 1 ? set->team_stated_count : NO_SLOT;
      }
      if (count > 1 && i % count == 0) {
        set->team_joints[set->team_joint_count + i / count].first_stated = set->team_stated_count;
        set->team_stated_count += stated_rows(j->type);
      }
      j->first_row = set->stated_count;
      set->stated_count += stated_rows(j->type);
      j->place = (set->rows_count - 1) * BLOCK_WIDTH + block->count;
      block->a[block->count] = j->body[0];
      block->b[block->count] = j->body[1];
      block->count += 1;
    }
  }
  for (int k = 0; k < count; ++k) {
    members[k]->first_rows = first;
    members[k]->last_rows = set->rows_count;
  }
}

static bool reserve_rows(tn_world *world)
{
  mechanism_set *set = &world->mechanisms;
  int32_t most = set->joint_count / BLOCK_WIDTH + TYPE_COUNT * set->count;
  return memory_reserve(world, (void **)&set->rows_blocks, &set->rows_capacity, most,
                        sizeof *set->rows_blocks);
}

#if defined(TN_SMALL)

void teams_begin_step(tn_world *world)
{
  (void)world;
}

bool teams_build(tn_world *world)
{
  mechanism_set *set = &world->mechanisms;
  if (!reserve_rows(world)) {
    return false;
  }
  for (int32_t i = 0; i < set->count; ++i) {
    mechanism *m = &set->list[i];
    add_rows(set, &m, 1);
  }
  set->work_count = set->count;
  return true;
}

void teams_release(tn_world *world)
{
  (void)world;
}

void mechanisms_solve(const direct_context *c, int32_t item, takes_part_fn *takes_part)
{
  if (takes_part(&c->set->list[item], c->pass)) {
    mechanism_solve(c, &c->set->list[item]);
  }
}

#else

struct team_lock {
  alignas(64) atomic_bool taken;
};

// ---------------------------------------------------------------------------------------------
// Who is equal

static const int32_t MOST_NODES = 200; // larger ones fill their lanes, and caches, by themselves

static bool is_small(const mechanism *m)
{
  return m->first_point < 0 && m->last_node - m->first_node <= MOST_NODES;
}

static uint32_t mix(uint32_t hash, int32_t number)
{
  return (hash ^ (uint32_t)number) * 16777619u;
}

static uint32_t hash_of(const mechanism_set *set, const mechanism *m)
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
    if (p->is_joint != q->is_joint || p->bare != q->bare || p->capacity != q->capacity ||
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
      same = p->at[side] < 0 || q->at[side] < 0
                 ? p->at[side] == q->at[side]
                 : p->at[side] - a->first_node == q->at[side] - b->first_node &&
                       p->entry[side] - a->first_value == q->entry[side] - b->first_value;
    }
    if (!same) {
      return false;
    }
  }
  return true;
}

static bool are_equal(const mechanism_set *set, const mechanism *a, const mechanism *b)
{
  return a->last_node - a->first_node == b->last_node - b->first_node &&
         a->last_joint - a->first_joint == b->last_joint - b->first_joint && a->rows == b->rows &&
         same_nodes(set, a, b) && same_joints(set, a, b);
}

// ---------------------------------------------------------------------------------------------
// Teams

static bool reserve_team(tn_world *world, const mechanism *m)
{
  mechanism_set *set = &world->mechanisms;
  int32_t joints = m->last_joint - m->first_joint, stated = 0;
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    stated += stated_rows(set->joints[i].type);
  }
  return memory_reserve(world, (void **)&set->teams, &set->team_capacity, set->team_count + 1,
                        sizeof *set->teams) &&
         memory_reserve(world, (void **)&set->team_nodes, &set->team_node_capacity,
                        set->team_node_count + m->last_node - m->first_node,
                        sizeof *set->team_nodes) &&
         memory_reserve(world, (void **)&set->team_joints, &set->team_joint_capacity,
                        set->team_joint_count + joints, sizeof *set->team_joints) &&
         memory_reserve(world, (void **)&set->team_rows, &set->team_row_capacity,
                        set->team_row_count + m->rows, sizeof *set->team_rows) &&
         memory_reserve(world, (void **)&set->team_stated, &set->team_stated_capacity,
                        set->team_stated_count + stated, sizeof *set->team_stated) &&
         memory_reserve(world, (void **)&set->team_values, &set->team_value_capacity,
                        set->team_value_count + m->end_value - m->first_value,
                        sizeof *set->team_values) &&
         memory_reserve(world, (void **)&set->team_vectors, &set->team_vector_capacity,
                        set->team_vector_count + 3 * m->rows, sizeof *set->team_vectors);
}

static void add_team_nodes(mechanism_set *set, const mechanism *m)
{
  int32_t first_row = set->nodes[m->first_node].first_row;
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    direct_node *node = &set->team_nodes[set->team_node_count++];
    *node = set->nodes[i];
    node->first_row -= first_row;
    node->diagonal -= m->first_value;
    node->index -= node->is_joint ? m->first_joint : 0;
  }
}

static void add_team_joints(mechanism_set *set, mechanism *const *members)
{
  const mechanism *m = members[0];
  for (int32_t i = 0; i < m->last_joint - m->first_joint; ++i) {
    team_joint *to = &set->team_joints[set->team_joint_count++];
    const direct_joint *j = &set->joints[m->first_joint + i];
    to->type = j->type;
    to->node = j->node - m->first_node;
    to->capacity = set->nodes[j->node].capacity;
    to->first_row = set->team_row_count;
    set->team_row_count += to->capacity;
    for (int side = 0; side < 2; ++side) {
      to->at[side] = j->at[side] < 0 ? NO_SLOT : j->at[side] - m->first_node;
      to->entry[side] = j->entry[side] - m->first_value;
    }
    for (int lane = 0; lane < TEAM; ++lane) {
      const direct_joint *own = &set->joints[members[lane]->first_joint + i];
      to->first_law[lane] = own->first_law;
      to->body[0][lane] = own->body[0];
      to->body[1][lane] = own->body[1];
    }
  }
}

static bool add_team(tn_world *world, const int32_t *member)
{
  mechanism_set *set = &world->mechanisms;
  const mechanism *m = &set->list[member[0]];
  if (!reserve_team(world, m)) {
    return false;
  }
  mechanism *members[TEAM];
  mechanism_team *t = &set->teams[set->team_count];
  memset(t, 0, sizeof *t);
  for (int lane = 0; lane < TEAM; ++lane) {
    t->member[lane] = member[lane];
    members[lane] = &set->list[member[lane]];
    members[lane]->team = set->team_count;
  }
  set->team_count += 1;
  add_rows(set, members, TEAM);
  t->first_node = set->team_node_count;
  t->first_joint = set->team_joint_count;
  t->first_value = set->team_value_count;
  t->first_vector = set->team_vector_count;
  add_team_nodes(set, m);
  add_team_joints(set, members);
  t->last_node = set->team_node_count;
  t->last_joint = set->team_joint_count;
  set->team_value_count += m->end_value - m->first_value;
  set->team_vector_count += 3 * m->rows;
  set->work[set->work_count++] = ~(set->team_count - 1);
  return true;
}

// Equals that wait for enough others, in lists by hash; a table of these, of a power of two.
typedef struct waiting {
  int32_t member[TEAM];
  int32_t count;
} waiting;

static bool seat(tn_world *world, waiting *table, uint32_t size, int32_t i)
{
  mechanism_set *set = &world->mechanisms;
  const mechanism *m = &set->list[i];
  uint32_t at = hash_of(set, m) & (size - 1);
  while (table[at].count > 0 && !are_equal(set, &set->list[table[at].member[0]], m)) {
    at = (at + 1) & (size - 1);
  }
  waiting *w = &table[at];
  // A place stays taken, for its first member is whom others are compared with.
  w->member[w->count % TEAM] = i;
  w->count += 1;
  return w->count % TEAM != 0 || add_team(world, w->member);
}

static bool seat_all(tn_world *world)
{
  mechanism_set *set = &world->mechanisms;
  uint32_t size = 16;
  while (size < 2 * (uint32_t)set->count) {
    size *= 2;
  }
  waiting *table = memory_take(world, size * sizeof *table);
  bool ok = table;
  for (int32_t i = 0; i < set->count && ok; ++i) {
    ok = !is_small(&set->list[i]) || seat(world, table, size, i);
  }
  memory_give(world, table, size * sizeof *table);
  return ok;
}

// One for each thread; where there are more, some keep to their team's own.
static bool reserve_rooms(tn_world *world)
{
  mechanism_set *set = &world->mechanisms;
  set->team_room_size = 0;
  for (int32_t i = 0; i < set->team_count; ++i) {
    const mechanism *m = &set->list[set->teams[i].member[0]];
    int32_t size = m->end_value - m->first_value;
    set->team_room_size = size > set->team_room_size ? size : set->team_room_size;
  }
  set->team_room_count = set->team_count > 0 ? world->threads : 0;
  return memory_reserve(world, (void **)&set->team_rooms, &set->team_room_capacity,
                        set->team_room_count * set->team_room_size, sizeof *set->team_rooms) &&
         memory_reserve(world, (void **)&set->team_locks, &set->team_lock_capacity,
                        set->team_room_count, sizeof *set->team_locks);
}

bool teams_build(tn_world *world)
{
  mechanism_set *set = &world->mechanisms;
  set->team_node_count = set->team_joint_count = set->team_row_count = 0;
  set->team_stated_count = set->team_value_count = set->team_vector_count = 0;
  if (!memory_reserve(world, (void **)&set->work, &set->work_capacity, set->count,
                      sizeof *set->work) ||
      !reserve_rows(world) || (set->count >= TEAM * world->threads && !seat_all(world))) {
    return false;
  }
  for (int32_t i = 0; i < set->count; ++i) {
    mechanism *m = &set->list[i];
    if (m->team < 0) {
      add_rows(set, &m, 1);
      set->work[set->work_count++] = i;
    }
  }
  return reserve_rooms(world);
}

// Whether there is room for the laws of all, whichever of them come: definitions may have changed.
static bool fits(const mechanism_set *set, const mechanism_team *t, const team_joint *j, int32_t at)
{
  RowParams all[2];
  memset(all, 0, sizeof all);
  for (int lane = 0; lane < TEAM; ++lane) {
    const direct_joint *own = &set->joints[set->list[t->member[lane]].first_joint + at];
    for (int k = 0; k < 2; ++k) {
      const RowParams *p = &own->params[k];
      all[k].alpha = r_max(all[k].alpha, p->alpha);
      all[k].alpha_limit = r_max(all[k].alpha_limit, p->alpha_limit);
      all[k].drive.mode = r_max(all[k].drive.mode, p->drive.mode);
      all[k].damping = r_max(all[k].damping, p->damping);
      all[k].friction = r_max(all[k].friction, p->friction);
    }
  }
  return direct_law_capacity(j->type, all) <= j->capacity;
}

void teams_begin_step(tn_world *world)
{
  const mechanism_set *set = &world->mechanisms;
  for (int32_t i = 0; i < set->count; ++i) {
    set->list[i].recalled = set->list[i].meets;
  }
  for (int32_t i = 0; i < set->guess_count; ++i) {
    for (int side = 0; side < 2; ++side) {
      if (set->guesses[i].mechanism[side] != NO_SLOT) {
        set->list[set->guesses[i].mechanism[side]].recalled = true;
      }
    }
  }
  for (int32_t i = 0; i < set->team_count; ++i) {
    mechanism_team *t = &set->teams[i];
    t->split = false;
    for (int32_t k = t->first_joint; k < t->last_joint && !t->split; ++k) {
      t->split = !fits(set, t, &set->team_joints[k], k - t->first_joint);
    }
  }
}

void teams_release(tn_world *world)
{
  mechanism_set *set = &world->mechanisms;
  memory_give(world, set->work, (size_t)set->work_capacity * sizeof *set->work);
  memory_give(world, set->teams, (size_t)set->team_capacity * sizeof *set->teams);
  memory_give(world, set->team_nodes, (size_t)set->team_node_capacity * sizeof *set->team_nodes);
  memory_give(world, set->team_joints, (size_t)set->team_joint_capacity * sizeof *set->team_joints);
  memory_give(world, set->team_rows, (size_t)set->team_row_capacity * sizeof *set->team_rows);
  memory_give(world, set->team_stated,
              (size_t)set->team_stated_capacity * sizeof *set->team_stated);
  memory_give(world, set->team_values, (size_t)set->team_value_capacity * sizeof *set->team_values);
  memory_give(world, set->team_rooms, (size_t)set->team_room_capacity * sizeof *set->team_rooms);
  memory_give(world, set->team_locks, (size_t)set->team_lock_capacity * sizeof *set->team_locks);
  memory_give(world, set->team_vectors,
              (size_t)set->team_vector_capacity * sizeof *set->team_vectors);
}

// ---------------------------------------------------------------------------------------------
// Rows of all members

// Where a law's row is among those that its joint has stated.
static uint8_t source_of(JointType type, int slot)
{
  int block = slot / LAW_SLOTS, first = 3 * block, k = slot % LAW_SLOTS;
  if (k < 6) {
    return (uint8_t)(first + k / 2);
  }
  bool vector = (block ? angular_kind(type) : linear_kind(type)).vector_resist;
  if (k == 6 || !vector) {
    return (uint8_t)first;
  }
  int axis = (k - 7) % 3;
  return (uint8_t)(block ? TURNS_ROW - axis : stated_rows(type) - 3 + axis);
}

// ---------------------------------------------------------------------------------------------
// Solving

typedef struct team_solve {
  const direct_context *context;
  mechanism_team *team;
  mechanism *member[TEAM];
  solve solve[TEAM];
  lanes2 *values;
} team_solve;

// NOLINTBEGIN(bugprone-macro-parentheses): a name
#define FOR_LANES(lane, lanes)                                                                     \
  for (int lane = 0; lane < TEAM; ++lane)                                                          \
    if ((lanes) >> lane & 1)
// NOLINTEND(bugprone-macro-parentheses)

static int count_lanes(unsigned lanes)
{
  return (int)((lanes & 1) + (lanes >> 1 & 1) + (lanes >> 2 & 1) + (lanes >> 3 & 1));
}

static team_system system_of(const team_solve *ts)
{
  const mechanism_set *set = ts->context->set;
  const mechanism_team *t = ts->team;
  const mechanism *m = ts->member[0];
  team_system s = {0};
  s.nodes = set->team_nodes + t->first_node;
  s.blocks = set->blocks;
  s.targets = set->targets;
  s.joints = set->team_joints + t->first_joint;
  s.rows = set->team_rows;
  s.stated = (const team_stated *)set->team_stated;
  s.bodies = ts->context->data->state;
  s.values = ts->values;
  s.scratch = ts->values + (m->scratch - m->first_value);
  s.x = set->team_vectors + t->first_vector;
  s.v = s.x + 2 * m->rows;
  s.node_count = t->last_node - t->first_node;
  s.joint_count = t->last_joint - t->first_joint;
  s.base_node = m->first_node;
  s.base_value = m->first_value;
  for (int lane = 0; lane < TEAM; ++lane) {
    const mechanism *own = ts->member[lane];
    int32_t first_row = set->nodes[own->first_node].first_row;
    s.own_x[lane] = set->solutions + first_row;
    s.own_v[lane] = set->vectors + first_row;
  }
  return s;
}

// What members have of one joint.
typedef struct joining {
  uint32_t has[TEAM];            // slots of laws that hold
  law *law[TEAM][2 * LAW_SLOTS]; // by slot
  unsigned gives;                // lanes with laws at bounds that have yet to give their impulse
} joining;

// Reads one lane's laws, and notes those that its matrix is to have if that is new; returns how
// many hold.
static int join_lane(joining *of, int lane, law *l, int count, held_row *held)
{
  uint32_t has = 0;
  int rows = 0;
  bool gives = false;
  for (const law *end = l + count; l < end; ++l) {
    if (l->active) {
      has |= 1u << l->slot;
      of->law[lane][l->slot] = l;
      if (held) {
        held[rows] = (held_row){l->j, law_softness(l)};
      }
      rows += 1;
    } else {
      gives = gives || law_bound(l) != l->lambda;
    }
  }
  of->has[lane] = has;
  of->gives |= (unsigned)gives << lane;
  return rows;
}

// The rows that any lane has of a joint, in the order that each has them in; false if they are
// those of the matrix, whichever laws these have become.
static bool join_rows(const team_joint *j, const joining *of, law *any_law, team_row *row,
                      direct_node *node)
{
  uint32_t left = of->has[0] | of->has[1] | of->has[2] | of->has[3];
  int count = 0;
  bool changed = false;
  for (; left != 0; left &= left - 1, ++row, ++count) {
    int slot = __builtin_ctz(left);
    uint8_t source = source_of(j->type, slot), lanes = 0;
    for (int lane = 0; lane < TEAM; ++lane) {
      unsigned holds = of->has[lane] >> slot & 1;
      lanes |= (uint8_t)(holds << lane);
      row->law[lane] = holds ? of->law[lane][slot] : any_law;
    }
    changed = changed || row->source != source || row->lanes != lanes;
    row->source = source;
    row->lanes = lanes;
  }
  changed = changed || node->rows != count;
  node->rows = (int16_t)count;
  return changed;
}

// The matrix has the rows of all lanes that are kept; false if they are the ones it has already.
static bool join_all(const team_solve *ts, const team_system *s, unsigned fresh, unsigned *gives)
{
  const mechanism_set *set = ts->context->set;
  joining of;
  of.gives = 0;
  bool changed = false;
  for (int32_t i = 0; i < s->joint_count; ++i) {
    const team_joint *j = &s->joints[i];
    for (int lane = 0; lane < TEAM; ++lane) {
      of.has[lane] = 0;
    }
    FOR_LANES(lane, s->kept)
    {
      const direct_joint *own = &set->joints[ts->member[lane]->first_joint + i];
      bool notes = fresh >> lane & 1;
      int rows = join_lane(&of, lane, &set->laws[own->first_law], own->law_count,
                           notes ? &set->held[own->first_law] : NULL);
      if (notes) {
        set->nodes[own->node].rows = (int16_t)rows;
      }
    }
    changed |=
        join_rows(j, &of, &set->laws[j->first_law[0]], &s->rows[j->first_row], &s->nodes[j->node]);
  }
  *gives = of.gives;
  return changed;
}

// Lanes that keep no matrix have the masses of one that does.
static void put_masses(const team_solve *ts, const team_system *s)
{
  const mechanism_set *set = ts->context->set;
  int from[TEAM];
  for (int lane = 0; lane < TEAM; ++lane) {
    from[lane] = s->kept >> lane & 1 ? lane : __builtin_ctz(s->kept);
  }
  for (int32_t i = 0; i < s->node_count; ++i) {
    lanes2 *to = s->values + s->nodes[i].diagonal;
    double mass[TEAM][MASS_VALUES];
    if (s->nodes[i].is_joint) {
      continue;
    }
    for (int lane = 0; lane < TEAM; ++lane) {
      direct_mass(ts->context, &set->nodes[ts->member[from[lane]]->first_node + i], mass[lane]);
    }
    for (int k = 0; k < MASS_VALUES; ++k) {
      to[k] = (lanes2){mass[0][k], mass[1][k], mass[2][k], mass[3][k]};
    }
  }
}

static void note_resistance(const mechanism_set *set, const mechanism *m)
{
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    set->nodes[i].resisting = set->nodes[i].resistance;
  }
}

// Impulses of laws at their bounds, to bodies.
static bool give_all(const team_solve *ts, unsigned asked, unsigned gives)
{
  FOR_LANES(lane, gives != 0 ? asked : 0)
  {
    solve_gives(&ts->solve[lane]);
  }
  return gives != 0;
}

// Solutions of lanes that are asked for them. A matrix that is not the one asked for makes all new:
// those of others come out as they are.
static void answer_team(team_solve *ts, unsigned asked)
{
  const direct_context *c = ts->context;
  team_system s = system_of(ts);
  unsigned fresh = 0, gives = asked;
  FOR_LANES(lane, asked)
  {
    const solve *own = &ts->solve[lane];
    fresh |= own->fresh && (own->mechanism->alone || !solve_is_held(own)) ? 1u << lane : 0;
  }
  for (int lane = 0; lane < TEAM; ++lane) {
    mechanism *m = ts->member[lane];
    bool takes_part = asked >> lane & 1, keeps = !m->alone && m->factored == c->pose;
    s.kept |= (uint8_t)((takes_part || keeps) << lane);
    s.whole |= (uint8_t)((takes_part && c->pass == DIRECT_AGAIN && !m->apart) << lane);
    if (takes_part) {
      m->factored = c->pose;
      m->alone = false;
    }
  }
  s.asked = (uint8_t)asked;
  s.again = c->pass == DIRECT_AGAIN;
  s.fresh = fresh != 0;
  if (s.fresh || !s.again) {
    s.fresh |= join_all(ts, &s, fresh, &gives);
  }
  FOR_LANES(lane, fresh)
  {
    note_resistance(c->set, ts->member[lane]);
  }
  if (s.fresh) {
    put_masses(ts, &s);
  }
  s.given = give_all(ts, asked, gives & asked);
  c->direct->solve_team(&s);
}

static void go_alone(team_solve *ts, unsigned lanes, int round)
{
  FOR_LANES(lane, lanes)
  {
    solve_rounds(&ts->solve[lane], round);
  }
}

// Few that need a new matrix are faster alone.
static const int LEAST_LANES = 2;

static void solve_all(team_solve *ts, unsigned left)
{
  for (int round = 0; left != 0; ++round) {
    unsigned fresh = 0, own = 0;
    FOR_LANES(lane, left)
    {
      fresh |= (unsigned)ts->solve[lane].fresh << lane;
      own |= (unsigned)(!ts->solve[lane].fresh && ts->member[lane]->alone) << lane;
    }
    own |= count_lanes(left & ~own) < LEAST_LANES ? fresh : 0;
    go_alone(ts, own, round);
    left &= ~own;
    if (left != 0) {
      answer_team(ts, left);
    }
    FOR_LANES(lane, left)
    {
      left &= ~((unsigned)solve_concludes(&ts->solve[lane], round) << lane);
    }
  }
}

static void state_together(const team_solve *ts)
{
  int32_t now = ts->context->pose;
  bool stated = true;
  for (int lane = 0; lane < TEAM; ++lane) {
    stated = stated && ts->member[lane]->stated == now;
  }
  if (!stated) {
    direct_state(ts->context, ts->member[0]);
  }
  for (int lane = 0; lane < TEAM; ++lane) {
    ts->member[lane]->stated = now;
  }
}

// A room, or -1: none is free, or its matrix is to stay.
static int32_t enter_room(const team_solve *ts)
{
  const mechanism_set *set = ts->context->set;
  for (int lane = 0; lane < TEAM; ++lane) {
    if (ts->member[lane]->recalled) {
      return -1;
    }
  }
  for (int32_t i = 0; i < set->team_room_count; ++i) {
    if (!atomic_exchange_explicit(&set->team_locks[i].taken, true, memory_order_acquire)) {
      return i;
    }
  }
  return -1;
}

static void leave_room(const team_solve *ts, int32_t room)
{
  if (room >= 0) {
    for (int lane = 0; lane < TEAM; ++lane) {
      ts->member[lane]->factored = NO_SLOT;
    }
    atomic_store_explicit(&ts->context->set->team_locks[room].taken, false, memory_order_release);
  }
}

static void solve_team(const direct_context *c, mechanism_team *t, takes_part_fn *takes_part)
{
  team_solve ts = {.context = c, .team = t};
  unsigned lanes = 0;
  for (int lane = 0; lane < TEAM; ++lane) {
    ts.member[lane] = &c->set->list[t->member[lane]];
    lanes |= (unsigned)takes_part(ts.member[lane], c->pass) << lane;
  }
  if (lanes == 0) {
    return;
  }
  if (c->pass != DIRECT_AGAIN) {
    state_together(&ts);
  }
  FOR_LANES(lane, lanes)
  {
    ts.solve[lane] = solve_begin(c, ts.member[lane]);
  }
  int32_t room = enter_room(&ts);
  ts.values = room < 0 ? c->set->team_values + t->first_value
                       : c->set->team_rooms + (ptrdiff_t)room * c->set->team_room_size;
  solve_all(&ts, lanes);
  leave_room(&ts, room);
  FOR_LANES(lane, lanes)
  {
    solve_end(&ts.solve[lane]);
  }
}

static void solve_members(const direct_context *c, const mechanism_team *t,
                          takes_part_fn *takes_part)
{
  for (int lane = 0; lane < TEAM; ++lane) {
    mechanism *m = &c->set->list[t->member[lane]];
    if (takes_part(m, c->pass)) {
      mechanism_solve(c, m);
    }
  }
}

void mechanisms_solve(const direct_context *c, int32_t item, takes_part_fn *takes_part)
{
  int32_t work = c->set->work[item];
  if (work < 0 && c->set->teams[~work].split) {
    solve_members(c, &c->set->teams[~work], takes_part);
  } else if (work < 0) {
    solve_team(c, &c->set->teams[~work], takes_part);
  } else if (takes_part(&c->set->list[work], c->pass)) {
    mechanism_solve(c, &c->set->list[work]);
  }
}

#endif

// The rows of joints that are solved directly, at their bodies' pose. Compiled once for each lane
// width.
#include "direct_store.h"
#include "gather.h"

#define DIRECT_STATE PASTE(direct_state_, TN_LANES)

// What is large when it is there more than once.
#if defined(__OPTIMIZE_SIZE__)
#define ONCE static __attribute__((noinline))
#define UNROLL
#else
#define ONCE KERNEL
#define UNROLL _Pragma("GCC unroll 72")
#endif

typedef struct bodies {
  Body a, b;
} bodies;

ONCE void take_fields(float (*from)[BLOCK_WIDTH], int lane, R *to, int count)
{
  UNROLL
  for (int i = 0; i < count; ++i) {
    to[i] = load_field(from[i], lane);
  }
}

ONCE void load_body(const solver_data *data, const int32_t *index, Body *body)
{
  Gather g = {index, NULL};
  load_pose(data, g, body);
  load_inertia(data, g, body);
  body->dq = seen_turn(body->dq);
}

// Rows as they come out of lanes: n and weight, how they turn A and x, how they turn B and mass.
#define ROW_FIELDS 12
#define BLOCK_FIELDS (3 * ROW_FIELDS)
typedef struct row_fields {
  alignas(32) float field[2 * BLOCK_FIELDS];
} row_fields;

ONCE void set_row(R *to, V n, R weight, V turn_a, R x, V turn_b, R mass)
{
  R row[ROW_FIELDS] = {n.x,      n.y, n.z,      weight,   turn_a.x, turn_a.y,
                       turn_a.z, x,   turn_b.x, turn_b.y, turn_b.z, mass};
  UNROLL
  for (int i = 0; i < ROW_FIELDS; ++i) {
    to[i] = row[i];
  }
}

// Three numbers, and a fourth that the next ones overwrite.
ONCE void widen(double *to, const float *from, float sign)
{
#if defined(__AVX__)
  __m128 part = _mm_mul_ps(_mm_load_ps(from), _mm_set1_ps(sign));
  _mm256_storeu_pd(to, _mm256_cvtps_pd(part));
#else
  to[0] = (double)(sign * from[0]);
  to[1] = (double)(sign * from[1]);
  to[2] = (double)(sign * from[2]);
#endif
}

INLINE void widen_row(stated_row *row, const float *from)
{
  double *to = (double *)row;
  widen(to, from, -1.0f);
  widen(to + 3, from + 4, 1.0f);
  widen(to + 6, from, 1.0f);
  widen(to + 9, from + 8, 1.0f);
  row->weight = from[3];
  row->x = from[7];
  row->axis_weight = from[11];
}

KERNEL R weight_along(S k, V n)
{
  return v_dot(n, s_mul(k, n));
}

// Along n at levers.
KERNEL void set_linear(R *to, V n, R weight, Levers levers, R x, R mass)
{
  set_row(to, n, weight, v_cross(n, levers.a), x, v_cross(levers.b, n), mass);
}

KERNEL void state_linear(JointType type, const JointStart *start, const bodies *of, Rows *rows,
                         R *to)
{
  BlockKind kind = linear_kind(type);
  linear_rows(type, start, &of->a, &of->b, rows);
  S k = linear_inverse_mass(&of->a, &of->b, rows->levers.a, rows->levers.b);
  UNROLL
  for (int i = 0; i < kind.rows; ++i) {
    V n = axis_of(kind, rows, i);
    R weight = kind.world_axes ? s_diagonal(k, i) : weight_along(k, n);
    set_linear(to + i * ROW_FIELDS, n, weight, rows->levers, rows->x[i], s_diagonal(k, i));
  }
}

// For friction and damping in all directions.
KERNEL void state_axes(Levers levers, R *to)
{
  BlockKind world = {.world_axes = 1};
  UNROLL
  for (int i = 0; i < 3; ++i) {
    R none = splat(0.0f);
    set_linear(to + i * ROW_FIELDS, axis_of(world, NULL, i), none, levers, none, none);
  }
}

KERNEL void state_angular(JointType type, const JointStart *start, const RowParams *params,
                          const bodies *of, R *to)
{
  BlockKind kind = angular_kind(type);
  Rows rows;
  angular_rows(type, start, params, &of->a, &of->b, &rows);
  S k = angular_inverse_mass(&of->a, &of->b);
  UNROLL
  for (int i = 0; i < 3; ++i) {
    V n = i < kind.rows ? axis_of(kind, &rows, i) : v_zero();
    R weight = kind.world_axes ? s_diagonal(k, i) : weight_along(k, n);
    R x = i < kind.rows ? rows.x[i] : splat(0.0f);
    set_row(to + i * ROW_FIELDS, v_zero(), weight, v_make(-n.x, -n.y, -n.z), x, n,
            s_diagonal(k, i));
  }
}

// Levers that turn: of what stands still they may be as long as the world.
KERNEL R turning_levers(const bodies *of, Levers l)
{
  return pick(of->a.im > 0.0f, v_length(l.a), splat(0.0f)) +
         pick(of->b.im > 0.0f, v_length(l.b), splat(0.0f));
}

// Rows of lanes to joints, `each` from the next.
ONCE void keep_rows(stated_row *row, int each, int count, int kept, R *rows)
{
  row_fields fields[TN_LANES];
  float *to[TN_LANES];
  UNROLL
  for (int k = 0; k < 2 * BLOCK_FIELDS; k += 8) {
    for (int i = 0; i < TN_LANES; ++i) {
      // cppcheck-suppress [uninitvar, legacyUninitvar] ; a place, to be written to
      to[i] = fields[i].field + k;
    }
    store8(to, rows + k);
  }
  for (int i = 0; i < count && i < TN_LANES; ++i) {
    for (int k = 0; k < kept; ++k) {
      widen_row(row + i * each + k, fields[i].field + k * ROW_FIELDS);
    }
  }
}

#if defined(TN_SMALL)
#define keep_team(team, lane, each, count, kept, rows) (void)(team)
#else
typedef float team_reals __attribute__((vector_size(4 * TEAM)));

// One number of TEAM joints, from a lane on, as doubles.
INLINE void keep_number(lanes2 *to, const R *from, int lane)
{
#if TN_LANES == 1
  (*to)[lane % TEAM] = (double)*from;
#else
  team_reals part;
  memcpy(&part, (const float *)from + lane, sizeof part);
  *to = __builtin_convertvector(part, lanes2);
#endif
}

INLINE void keep_team_row(lanes2 *to, const R *row, int lane)
{
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) {
    R back = -row[i];
    keep_number(to + i, &back, lane);
    keep_number(to + 3 + i, row + 4 + i, lane);
    keep_number(to + 6 + i, row + i, lane);
    keep_number(to + 9 + i, row + 8 + i, lane);
  }
}

// Rows as they are in lanes.
KERNEL void keep_team(team_stated *team, int lane, int each, int count, int kept, const R *rows)
{
  for (int i = 0; team && i < count && i < TN_LANES; i += TEAM) {
    int part = TN_LANES == 1 ? lane : i;
    for (int k = 0; k < kept; ++k) {
      keep_team_row(team[(lane + i) / TEAM * each + k], rows + k * ROW_FIELDS, part);
    }
  }
}
#endif

// `count` joints from a lane on.
KERNEL void state_lanes(const solver_data *data, JointType type, rows_block *block, int lane,
                        int count, stated_row *row, team_stated *team)
{
  bodies of;
  load_body(data, block->a + lane, &of.a);
  load_body(data, block->b + lane, &of.b);
  JointStart start;
  take_fields(block->start, lane, (R *)&start, (int)FIELDS(start));
  RowParams params;
  take_fields(block->lo, lane, params.lo, 3);
  take_fields(block->hi, lane, params.hi, 3);
  take_fields(block->middle, lane, params.middle, 3);
  Rows rows;
  R to[2 * BLOCK_FIELDS];
  UNROLL
  for (int i = 0; i < 2 * BLOCK_FIELDS; ++i) {
    to[i] = splat(0.0f);
  }
  state_linear(type, &start, &of, &rows, to);
  store_field(block->size, lane, turning_levers(&of, rows.levers));
  int kept = 3, each = stated_rows(type);
  if (angular_kind(type).rows > 0) {
    state_angular(type, &start, &params, &of, to + BLOCK_FIELDS);
    kept = 6;
  }
  keep_team(team, lane, each, count, kept, to);
  keep_rows(row, each, count, kept, to);
  if (linear_kind(type).vector_resist) {
    state_axes(rows.levers, to);
    keep_team(team ? team + each - 3 : NULL, lane, each, count, 3, to);
    keep_rows(row + each - 3, each, count, 3, to);
  }
}

void DIRECT_STATE(const solver_data *data, rows_block *block, stated_row *rows, team_stated *team)
{
  for (int lane = 0; lane < block->count; lane += TN_LANES) {
    int count = block->count - lane;
    stated_row *row = rows + lane * stated_rows(block->type);
    switch (block->type) {
#if !defined(__OPTIMIZE_SIZE__)
    case TYPE_HINGE: // those that occur most, with their type known to the compiler
      state_lanes(data, TYPE_HINGE, block, lane, count, row, team);
      break;
    case TYPE_BALL:
      state_lanes(data, TYPE_BALL, block, lane, count, row, team);
      break;
#endif
    default:
      state_lanes(data, block->type, block, lane, count, row, team);
      break;
    }
  }
}

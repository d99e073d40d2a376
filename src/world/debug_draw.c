// Debug drawing: the world as lines, points and text, through the user's callbacks.
#include "collide/surface.h"
#include "data/ids.h"
#include "data/world.h"
#include "detect/detection.h"
#include "kernel/ranges.h"
#include "solver/joint/coupling_value.h"
#include "solver/solver.h"

#include <math.h>

#define CIRCLE_LINES 24   // of a full circle
#define AXIS_LENGTH 0.2f  // m
#define ARC_RADIUS 0.3f   // m
#define PLANE_HALF_SIZE 5 // m

// RGBA, 8 bits each.
static const uint32_t static_color = 0x8a9499ff, kinematic_color = 0x4c8be0ff,
                      dynamic_color = 0xf2c14eff, asleep_color = 0x8c7a4aff,
                      sensor_color = 0x6fcf7fff, touching_color = 0xff4040ff,
                      near_color = 0xffa040ff, force_color = 0xff60c0ff, joint_color = 0xc0c0ffff,
                      broken_color = 0x705050ff, limit_color = 0x60e0e0ff, leaf_color = 0x507050ff,
                      inner_color = 0x304030ff, island_color = 0xb070ffff, soft_color = 0x70c8e8ff,
                      serial_color = 0x909090ff, direct_color = 0x303030ff;
static const uint32_t axis_color[3] = {0xe04040ff, 0x40c040ff, 0x4060e0ff};

static const tn_vec3 axes[3] = {{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}};

tn_debug_draw tn_default_debug_draw(void)
{
  tn_debug_draw draw = {
      .shapes = true, .joints = true, .sleep = true, .softs = true, .force_scale = 0.01f};
  return draw;
}

// ---------------------------------------------------------------------------------------------
// Pen: draws in a local frame

typedef struct pen {
  const tn_debug_draw *draw;
  world_pose frame;
  uint32_t color;
} pen;

static tn_pos to_world(const pen *p, tn_vec3 v)
{
  tn_pos local = tn_p3((double)v.x, (double)v.y, (double)v.z);
  return pos_add(p->frame.p, dquat_rotate(p->frame.q, local));
}

static void world_line(const tn_debug_draw *draw, tn_pos a, tn_pos b, uint32_t color)
{
  if (draw->line) {
    draw->line(a, b, color, draw->context);
  }
}

static void world_point(const tn_debug_draw *draw, tn_pos at, float pixels, uint32_t color)
{
  if (draw->point) {
    draw->point(at, pixels, color, draw->context);
  }
}

static void line(const pen *p, tn_vec3 a, tn_vec3 b)
{
  world_line(p->draw, to_world(p, a), to_world(p, b), p->color);
}

static void line_of_surface(tn_vec3 a, tn_vec3 b, void *context)
{
  line(context, a, b);
}

// Point of an ellipse: center + cos(angle) u + sin(angle) v.
static tn_vec3 arc_point(tn_vec3 center, tn_vec3 u, tn_vec3 v, float angle)
{
  return tn_add(center, tn_add(tn_scale(tn_cos(angle), u), tn_scale(tn_sin(angle), v)));
}

static void arc(const pen *p, tn_vec3 center, tn_vec3 u, tn_vec3 v, float from, float to)
{
  int count = 1 + (int)(fabsf(to - from) / (2.0f * TN_PI) * CIRCLE_LINES - 0.01f);
  tn_vec3 last = arc_point(center, u, v, from);
  for (int i = 1; i <= count; ++i) {
    tn_vec3 next = arc_point(center, u, v, from + (to - from) * (float)i / (float)count);
    line(p, last, next);
    last = next;
  }
}

static void circle(const pen *p, tn_vec3 center, tn_vec3 u, tn_vec3 v)
{
  arc(p, center, u, v, 0.0f, 2.0f * TN_PI);
}

static void box_edges(const pen *p, tn_vec3 lower, tn_vec3 upper)
{
  for (int axis = 0; axis < 3; ++axis) {
    for (int corner = 0; corner < 4; ++corner) {
      float a[3], b[3], lo[3] = {lower.x, lower.y, lower.z}, hi[3] = {upper.x, upper.y, upper.z};
      int other = (axis + 1) % 3, third = (axis + 2) % 3;
      a[axis] = lo[axis];
      b[axis] = hi[axis];
      a[other] = b[other] = corner & 1 ? hi[other] : lo[other];
      a[third] = b[third] = corner & 2 ? hi[third] : lo[third];
      line(p, tn_v3(a[0], a[1], a[2]), tn_v3(b[0], b[1], b[2]));
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Shapes

static void draw_sphere(const pen *p, float radius)
{
  tn_vec3 center = {0.0f, 0.0f, 0.0f};
  for (int i = 0; i < 3; ++i) {
    circle(p, center, tn_scale(radius, axes[i]), tn_scale(radius, axes[(i + 1) % 3]));
  }
}

static void disc_edge(const pen *p, float radius, float y)
{
  circle(p, tn_v3(0.0f, y, 0.0f), tn_v3(radius, 0.0f, 0.0f), tn_v3(0.0f, 0.0f, radius));
}

// Four lines between two circles about the y axis.
static void draw_side(const pen *p, float bottom_radius, float top_radius, float half_length)
{
  for (int i = 0; i < 4; ++i) {
    float x = i == 0 ? 1.0f : i == 1 ? -1.0f : 0.0f, z = i == 2 ? 1.0f : i == 3 ? -1.0f : 0.0f;
    line(p, tn_v3(x * bottom_radius, -half_length, z * bottom_radius),
         tn_v3(x * top_radius, half_length, z * top_radius));
  }
}

static void draw_capsule(const pen *p, float radius, float half_length)
{
  draw_side(p, radius, radius, half_length);
  for (int i = -1; i <= 1; i += 2) {
    float end = (float)i;
    tn_vec3 center = {0.0f, end * half_length, 0.0f}, out = {0.0f, end * radius, 0.0f};
    disc_edge(p, radius, end * half_length);
    arc(p, center, tn_v3(radius, 0.0f, 0.0f), out, 0.0f, TN_PI);
    arc(p, center, tn_v3(0.0f, 0.0f, radius), out, 0.0f, TN_PI);
  }
}

static void draw_cylinder(const pen *p, float radius, float half_length)
{
  disc_edge(p, radius, -half_length);
  disc_edge(p, radius, half_length);
  draw_side(p, radius, radius, half_length);
}

static void draw_cone(const pen *p, float radius, float half_length)
{
  disc_edge(p, radius, -half_length);
  draw_side(p, radius, 0.0f, half_length);
}

static void draw_hull(const pen *p, const convex_hull *c)
{
  for (int i = 0; i < c->edge_count; ++i) {
    const convex_hull_edge *e = &c->edges[i];
    if (i < (int)e->twin) {
      line(p, c->vertices[e->origin], c->vertices[c->edges[e->twin].origin]);
    }
  }
}

// A square part of the plane, as a grid of 1 m.
static void draw_plane(const pen *p)
{
  float end = (float)PLANE_HALF_SIZE;
  for (int i = -PLANE_HALF_SIZE; i <= PLANE_HALF_SIZE; ++i) {
    float at = (float)i;
    line(p, tn_v3(at, 0.0f, -end), tn_v3(at, 0.0f, end));
    line(p, tn_v3(-end, 0.0f, at), tn_v3(end, 0.0f, at));
  }
}

// The centre line, and circles around it.
static void draw_wire(const pen *p, const wire *w, float radius)
{
  const int pieces = 8;
  int count = pieces * wire_segment_count(w);
  tn_vec3 last = wire_point(w, 0.0f);
  for (int i = 1; i <= count; ++i) {
    tn_vec3 next = wire_point(w, (float)i / (float)pieces), along = tn_sub(next, last);
    line(p, last, next);
    if (tn_dot(along, along) > 0.0f) {
      tn_quat turn = tn_quat_x_to(along);
      circle(p, last, tn_scale(radius, tn_rotate(turn, axes[1])),
             tn_scale(radius, tn_rotate(turn, axes[2])));
    }
    last = next;
  }
}

static void draw_geometry(pen *p, const geometry *g)
{
  switch (g->kind) {
  case TN_SHAPE_SPHERE:
    draw_sphere(p, g->radius);
    break;
  case TN_SHAPE_CAPSULE:
    draw_capsule(p, g->radius, g->half_length);
    break;
  case TN_SHAPE_BOX:
    box_edges(p, tn_scale(-1.0f, g->half_extents), g->half_extents);
    break;
  case TN_SHAPE_CYLINDER:
    draw_cylinder(p, g->radius, g->half_length);
    break;
  case TN_SHAPE_CONE:
    draw_cone(p, g->radius, g->half_length);
    break;
  case TN_SHAPE_HULL:
    draw_hull(p, g->hull);
    break;
  case TN_SHAPE_PLANE:
    draw_plane(p);
    break;
  case TN_SHAPE_MESH:
    mesh_edges(g->mesh, line_of_surface, p);
    break;
  case TN_SHAPE_HEIGHT_FIELD:
    height_field_edges(g->field, line_of_surface, p);
    break;
  case TN_SHAPE_WIRE:
    draw_wire(p, g->wire, g->radius);
    break;
  default:
    break;
  }
}

static bool is_asleep(const tn_world *world, int32_t slot)
{
  return world->bodies[slot].type == TN_BODY_DYNAMIC &&
         !tn_body_is_awake(world, body_id_at(world, slot));
}

static uint32_t shape_color(const tn_world *world, const shape *s)
{
  if (s->def.sensor) {
    return sensor_color;
  }
  switch (world->bodies[s->body].type) {
  case TN_BODY_STATIC:
    return static_color;
  case TN_BODY_KINEMATIC:
    return kinematic_color;
  default:
    return is_asleep(world, s->body) ? asleep_color : dynamic_color;
  }
}

static void draw_shapes(const tn_world *world, const tn_debug_draw *draw)
{
  for (int32_t i = 0; i < world->shape_pool.used; ++i) {
    const shape *s = &world->shapes[i];
    if (s->alive) {
      pen p = {draw, shape_world_pose(world, s), shape_color(world, s)};
      draw_geometry(&p, &s->geometry);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Boxes of the trees

static void draw_tree(const tree *t, const tn_debug_draw *draw)
{
  for (int32_t i = 0; i < t->used; ++i) {
    const tree_node *n = &t->nodes[i];
    if (n->height < 0 || !is_finite_pos(n->box.lower) || !is_finite_pos(n->box.upper)) {
      continue;
    }
    pen p = {draw, {n->box.lower, {0.0, 0.0, 0.0, 1.0}}, n->height == 0 ? leaf_color : inner_color};
    box_edges(&p, tn_v3(0.0f, 0.0f, 0.0f), tn_between_points(n->box.lower, n->box.upper));
  }
}

// ---------------------------------------------------------------------------------------------
// Joints

typedef struct joint_view {
  pen a, b; // at the joint's frames
  const joint *joint;
} joint_view;

static world_pose frame_of(const tn_world *world, const joint *j, int side)
{
  const body *b = &world->bodies[j->slot[side]];
  world_pose frame = {pos_add(b->center, dquat_rotate(b->rotation, j->frame_point[side])),
                      dquat_mul(b->rotation, j->frame_rotation[side])};
  return frame;
}

static void draw_frame(const pen *p)
{
  for (int i = 0; i < 3; ++i) {
    pen colored = *p;
    colored.color = axis_color[i];
    line(&colored, tn_v3(0.0f, 0.0f, 0.0f), tn_scale(AXIS_LENGTH, axes[i]));
  }
}

static void draw_links(const tn_world *world, const joint_view *v)
{
  const pen *ends[2] = {&v->a, &v->b};
  for (int side = 0; side < 2; ++side) {
    int32_t slot = v->joint->slot[side];
    if (slot != WORLD_SLOT) {
      world_line(v->a.draw, world->bodies[slot].center, ends[side]->frame.p, v->a.color);
    }
    world_point(v->a.draw, ends[side]->frame.p, 5.0f, v->a.color);
  }
  world_line(v->a.draw, v->a.frame.p, v->b.frame.p, v->a.color);
  draw_frame(&v->a);
  draw_frame(&v->b);
}

static bool is_open_range(tn_range r)
{
  return r.hi > r.lo;
}

// About one axis of the frame, zero at the next axis; a full circle if there is no limit.
static void draw_angular_range(const pen *p, int axis, tn_range range)
{
  tn_vec3 zero = {0.0f, 0.0f, 0.0f};
  tn_vec3 u = tn_scale(ARC_RADIUS, axes[(axis + 1) % 3]);
  tn_vec3 v = tn_scale(ARC_RADIUS, axes[(axis + 2) % 3]);
  if (!is_open_range(range)) {
    return;
  }
  if (range.hi - range.lo >= 2.0f * TN_PI) {
    circle(p, zero, u, v);
    return;
  }
  arc(p, zero, u, v, range.lo, range.hi);
  line(p, zero, arc_point(zero, u, v, range.lo));
  line(p, zero, arc_point(zero, u, v, range.hi));
}

static void draw_linear_range(const pen *p, int axis, tn_range range)
{
  if (is_open_range(range) && isfinite(range.lo) && isfinite(range.hi)) {
    line(p, tn_scale(range.lo, axes[axis]), tn_scale(range.hi, axes[axis]));
    world_point(p->draw, to_world(p, tn_scale(range.lo, axes[axis])), 4.0f, p->color);
    world_point(p->draw, to_world(p, tn_scale(range.hi, axes[axis])), 4.0f, p->color);
  }
}

static void draw_swing_cone(const pen *p, float swing)
{
  if (!(swing < TN_PI)) {
    return;
  }
  tn_vec3 center = tn_scale(ARC_RADIUS * tn_cos(swing), axes[0]);
  tn_vec3 u = tn_scale(ARC_RADIUS * tn_sin(swing), axes[1]);
  tn_vec3 v = tn_scale(ARC_RADIUS * tn_sin(swing), axes[2]);
  circle(p, center, u, v);
  for (int i = 0; i < 8; ++i) {
    line(p, tn_v3(0.0f, 0.0f, 0.0f), arc_point(center, u, v, TN_PI * 0.25f * (float)i));
  }
}

// From A's anchor towards B's.
static void draw_length_range(const pen *p, tn_pos other, tn_range range)
{
  tn_vec3 delta = tn_between_points(p->frame.p, other);
  float length = tn_length(delta);
  if (length > 0.0f) {
    pen along = *p;
    along.frame.q = dquat_from(tn_quat_x_to(delta));
    draw_linear_range(&along, 0, range);
  }
}

static void draw_limits(const joint_view *v)
{
  pen p = v->a, moving = v->b;
  p.color = moving.color = limit_color;
  const tn_joint_def *def = &v->joint->def;
  switch (def->kind) {
  case TN_JOINT_DISTANCE:
    draw_length_range(&p, v->b.frame.p, def->linear[0]);
    break;
  case TN_JOINT_BALL:
    draw_swing_cone(&p, def->swing);
    draw_angular_range(&p, 0, def->angular[0]);
    break;
  case TN_JOINT_UNIVERSAL:
    draw_angular_range(&p, 0, def->angular[0]);
    draw_angular_range(&moving, 1, def->angular[1]);
    break;
  case TN_JOINT_HINGE:
    draw_angular_range(&p, 0, def->angular[0]);
    break;
  case TN_JOINT_PRISMATIC:
    draw_linear_range(&p, 0, def->linear[0]);
    break;
  case TN_JOINT_CYLINDER:
    draw_linear_range(&p, 0, def->linear[0]);
    draw_angular_range(&p, 0, def->angular[0]);
    break;
  case TN_JOINT_GENERIC:
    for (int i = 0; i < 3; ++i) {
      draw_linear_range(&p, i, def->linear[i]);
      draw_angular_range(&p, i, def->angular[i]);
    }
    break;
  default:
    break;
  }
}

// Arrow; its head has a fifth of the length.
static void draw_force(const tn_debug_draw *draw, tn_pos at, tn_vec3 force)
{
  tn_vec3 shaft = tn_scale(draw->force_scale, force);
  float length = tn_length(shaft);
  if (!(length > 0.0f) || !isfinite(length)) {
    return;
  }
  pen p = {draw, {at, dquat_from(tn_quat_x_to(shaft))}, force_color};
  tn_vec3 tip = {length, 0.0f, 0.0f};
  line(&p, tn_v3(0.0f, 0.0f, 0.0f), tip);
  line(&p, tip, tn_v3(0.8f * length, 0.1f * length, 0.0f));
  line(&p, tip, tn_v3(0.8f * length, -0.1f * length, 0.0f));
}

static void draw_joints(const tn_world *world, const tn_debug_draw *draw)
{
  for (int32_t i = 0; i < world->joint_pool.used; ++i) {
    const joint *j = &world->joints[i];
    if (!j->alive) {
      continue;
    }
    uint32_t color = j->broken || !j->def.enabled ? broken_color : joint_color;
    joint_view v = {{draw, frame_of(world, j, 0), color}, {draw, frame_of(world, j, 1), color}, j};
    if (draw->joints) {
      draw_links(world, &v);
    }
    if (draw->limits) {
      draw_limits(&v);
    }
    if (draw->forces) {
      draw_force(draw, v.b.frame.p, j->force);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Graph colouring: a line for each constraint of the last step, in its solver colour

// Hues a golden angle apart, so that consecutive colours differ most.
static uint32_t graph_color(int color)
{
  if (color == MAX_COLORS) {
    return serial_color;
  }
  int hue = color * 590 % 1536; // of six sectors of 256 steps
  uint32_t up = (uint32_t)hue & 255, down = 255 - up;
  const uint32_t parts[6][3] = {{255, up, 0},   {down, 255, 0}, {0, 255, up},
                                {0, down, 255}, {up, 0, 255},   {255, 0, down}};
  const uint32_t *rgb = parts[hue >> 8];
  return rgb[0] << 24 | rgb[1] << 16 | rgb[2] << 8 | 255;
}

static int color_of_block(const coloring *c, int32_t block)
{
  for (int i = 0; i < c->count; ++i) {
    if (block >= c->color[i].first && block < c->color[i].last) {
      return i;
    }
  }
  return MAX_COLORS;
}

// A line between the centres of dynamic bodies; for other bodies it ends at the constraint.
static void draw_constraint(const tn_world *world, const tn_debug_draw *draw, const int32_t slot[2],
                            tn_pos at, uint32_t color)
{
  tn_pos ends[2];
  for (int i = 0; i < 2; ++i) {
    const body *b = &world->bodies[slot[i]];
    ends[i] = b->type == TN_BODY_DYNAMIC ? b->center : at;
  }
  world_line(draw, ends[0], ends[1], color);
}

// Paths: taut segments in the colour of joints, others in that of broken ones.
static void draw_couplings(const tn_world *world, const tn_debug_draw *draw)
{
  for (int32_t i = 0; i < world->coupling_pool.used; ++i) {
    const coupling *k = &world->couplings[i];
    uint32_t color = k->force != 0.0f ? joint_color : broken_color;
    path_part parts[TN_COUPLING_POINTS];
    path_corner corners[PATH_CORNERS];
    coupling_inputs in = {world->bodies, world->joints, NULL};
    int count = k->alive && draw->line
                    ? path_corners(parts, coupling_path_parts(k, &in, parts), corners)
                    : 0;
    for (int n = 1; n < count; ++n) {
      if (corners[n].factor > 0.0) {
        draw->line(corners[n - 1].at, corners[n].at, color, draw->context);
      }
    }
  }
}

static void draw_joint_colors(const tn_world *world, const tn_debug_draw *draw)
{
  for (int32_t i = 0; i < world->joint_pool.used; ++i) {
    const joint *j = &world->joints[i];
    bool direct = j->direct != NO_SLOT;
    if (j->alive &&
        (direct || (j->block >= 0 && j->block < world->solver->joint_graph.block_count))) {
      int color = direct ? 0 : color_of_block(&world->solver->joint_graph.coloring, j->block);
      draw_constraint(world, draw, j->slot, frame_of(world, j, 0).p,
                      direct ? direct_color : graph_color(color));
    }
  }
}

// A contact of the last step may have been removed since.
static void draw_contact_color(const tn_world *world, const tn_debug_draw *draw, int32_t at,
                               uint32_t color)
{
  const contact *c = &world->contacts[at];
  if (c->alive) {
    const shape *a = &world->shapes[c->shape[0]], *b = &world->shapes[c->shape[1]];
    world_pose frame = shape_world_pose(world, a);
    tn_vec3 point = tn_rotate(dquat_round(frame.q), c->manifold.points[0].a);
    int32_t slot[2] = {a->body, b->body};
    draw_constraint(world, draw, slot, tn_offset(frame.p, point), color);
  }
}

static void draw_blocks(const tn_world *world, const tn_debug_draw *draw, const coloring *c,
                        const block_content *contents, int32_t count)
{
  for (int32_t i = 0; i < count * BLOCK_WIDTH; ++i) {
    int32_t at = contents[i / BLOCK_WIDTH].contact[i % BLOCK_WIDTH];
    if (at != NO_SLOT) {
      draw_contact_color(world, draw, at, graph_color(color_of_block(c, i / BLOCK_WIDTH)));
    }
  }
}

static void draw_contact_colors(const tn_world *world, const tn_debug_draw *draw)
{
  const contact_graph *g = &world->solver->contact_graph;
  if (g->block_count == 0) {
    return;
  }
  draw_blocks(world, draw, &g->coloring, g->contents, g->shared_block_count);
  for (int32_t i = 0; i < groups_count(&world->solver->groups); ++i) {
    const solver_group *group = &world->solver->groups.list[i];
    draw_blocks(world, draw, &group->coloring, g->contents + group->first,
                group->coloring.overflow.last);
  }
}

static void draw_edge_colors(const tn_world *world, const tn_debug_draw *draw)
{
  const soft_graph *g = &world->solver->soft_graph;
  for (int color = 0; !world->soft_layout_stale && color <= MAX_COLORS; ++color) {
    bool overflow = color == MAX_COLORS;
    if (!overflow && color >= g->color_count[SOFT_EDGE]) {
      continue;
    }
    color_range range = overflow ? g->overflow[SOFT_EDGE] : g->color[SOFT_EDGE][color];
    for (int32_t i = range.first * BLOCK_WIDTH; i < range.last * BLOCK_WIDTH; ++i) {
      soft_source from = g->sources[SOFT_EDGE][i];
      if (from.soft != NO_SLOT) {
        const soft *s = &world->softs[from.soft];
        const int32_t *v = s->list[SOFT_EDGE].members + 2 * (size_t)from.index;
        world_line(draw, s->particles[v[0]].at, s->particles[v[1]].at, graph_color(color));
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Contacts, islands, sleep

static void draw_contact(const tn_debug_draw *draw, const tn_contact *c)
{
  for (int i = 0; i < c->count; ++i) {
    const tn_contact_point *point = &c->points[i];
    uint32_t color = point->gap <= 0.0f ? touching_color : near_color;
    if (draw->contacts) {
      world_point(draw, point->position, 6.0f, color);
      tn_vec3 normal = tn_scale(0.5f * AXIS_LENGTH, c->normal);
      world_line(draw, point->position, tn_offset(point->position, normal), color);
    }
    if (draw->forces) {
      draw_force(draw, point->position, tn_scale(point->normal_force, c->normal));
      draw_force(draw, point->position, tn_scale(1.0f / (float)c->count, c->friction_force));
    }
  }
}

static void draw_bond(const tn_world *world, const tn_debug_draw *draw, int32_t a, int32_t b)
{
  if (world->bodies[a].type == TN_BODY_DYNAMIC && world->bodies[b].type == TN_BODY_DYNAMIC) {
    world_line(draw, world->bodies[a].center, world->bodies[b].center, island_color);
  }
}

static int32_t slot_of(const tn_world *world, tn_body_id id)
{
  const body *b = TN_IS_NULL(id) ? NULL : body_find(world, id, "tn_world_draw");
  return b ? body_slot(world, b) : WORLD_SLOT;
}

// Uses the allocator directly: the world is const, so heap.bytes cannot count this memory.
static void draw_contacts(const tn_world *world, const tn_debug_draw *draw)
{
  int count = tn_world_contacts(world, NULL, 0);
  if (count <= 0) {
    return;
  }
  const tn_allocator *memory = &world->heap.allocator;
  size_t size = (size_t)count * sizeof(tn_contact);
  tn_contact *contacts = memory->alloc(size, 64, memory->context);
  if (!contacts) {
    report(&world->log, TN_LOG_WARNING, "tn_world_draw: no memory for %d contacts", count);
    return;
  }
  tn_world_contacts(world, contacts, count);
  for (int i = 0; i < count; ++i) {
    draw_contact(draw, &contacts[i]);
    if (draw->islands) {
      draw_bond(world, draw, slot_of(world, contacts[i].body_a),
                slot_of(world, contacts[i].body_b));
    }
  }
  memory->release(contacts, size, memory->context);
}

// Islands show as bodies connected by lines.
static void draw_joint_bonds(const tn_world *world, const tn_debug_draw *draw)
{
  for (int32_t i = 0; i < world->joint_pool.used; ++i) {
    const joint *j = &world->joints[i];
    if (j->alive && !j->broken && j->def.enabled) {
      draw_bond(world, draw, j->slot[0], j->slot[1]);
    }
  }
}

static void draw_sleep(const tn_world *world, const tn_debug_draw *draw)
{
  for (int32_t i = WORLD_SLOT + 1; draw->text && i < world->body_pool.used; ++i) {
    if (world->bodies[i].alive && is_asleep(world, i)) {
      draw->text(world->bodies[i].center, "z", asleep_color, draw->context);
    }
  }
}

// Edges, or triangle sides if there are no edges, or particles if there is neither. Pinned
// particles are always drawn.
static void draw_soft(const soft *s, const tn_debug_draw *draw)
{
  uint32_t color = s->asleep ? asleep_color : soft_color;
  const soft_row_list *edges = &s->list[SOFT_EDGE];
  for (int32_t i = 0; i < edges->count; ++i) {
    const int32_t *v = edges->members + 2 * (size_t)i;
    world_line(draw, s->particles[v[0]].at, s->particles[v[1]].at, color);
  }
  for (int32_t i = 0; i < 3 * s->triangle_count && edges->count == 0; ++i) {
    int32_t next = i % 3 == 2 ? i - 2 : i + 1;
    world_line(draw, s->particles[s->triangles[i]].at, s->particles[s->triangles[next]].at, color);
  }
  for (int32_t i = 0; i < s->particle_count; ++i) {
    if (s->particles[i].pinned || edges->count + s->triangle_count == 0) {
      world_point(draw, s->particles[i].at, 5.0f, s->particles[i].pinned ? static_color : color);
    }
  }
}

static void draw_softs(const tn_world *world, const tn_debug_draw *draw)
{
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    if (world->softs[i].alive) {
      draw_soft(&world->softs[i], draw);
    }
  }
  for (int32_t i = 0; i < world->soft_contact_count && draw->contacts; ++i) {
    const soft_contact *t = &world->soft_contacts[i];
    if (t->gap < 0.001f) {
      world_point(draw, world->softs[t->soft].particles[t->particle[0]].at, 3.0f, touching_color);
    }
  }
}

void tn_world_draw(const tn_world *world, const tn_debug_draw *draw)
{
  if (!world) {
    return;
  }
  if (!draw || !isfinite(draw->force_scale)) {
    report(&world->log, TN_LOG_ERROR, "tn_world_draw: %s",
           draw ? "force_scale is not finite" : "draw is null");
    return;
  }
  if (draw->shapes) {
    draw_shapes(world, draw);
  }
  if (draw->boxes) {
    draw_tree(&world->detection->static_tree, draw);
    draw_tree(&world->detection->moving_tree, draw);
  }
  if (draw->joints || draw->limits || draw->forces) {
    draw_joints(world, draw);
    if (draw->joints) {
      draw_couplings(world, draw);
    }
  }
  if (draw->contacts || draw->forces || draw->islands) {
    draw_contacts(world, draw);
  }
  if (draw->islands) {
    draw_joint_bonds(world, draw);
  }
  if (draw->colors) {
    draw_joint_colors(world, draw);
    draw_contact_colors(world, draw);
    draw_edge_colors(world, draw);
  }
  if (draw->sleep) {
    draw_sleep(world, draw);
  }
  if (draw->softs) {
    draw_softs(world, draw);
  }
}

#include "engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const peer_engine *const engines[] = {
#ifdef TENON_PEER_BULLET
    &peer_bullet,
#endif
#ifdef TENON_PEER_ODE
    &peer_ode,
#endif
    NULL};

struct peer {
  const peer_engine *engine;
  void *own; // data of the engine
  peer_scene scene;
  char omissions[128];
};

int peer_count(void)
{
  return (int)(sizeof engines / sizeof engines[0]) - 1;
}

const char *peer_name(int index)
{
  const peer_engine *engine = index >= 0 && index < peer_count() ? engines[index] : NULL;
  return engine ? engine->name : NULL;
}

static const peer_engine *find_engine(const char *name)
{
  for (int i = 0; i < peer_count(); ++i) {
    if (strcmp(engines[i]->name, name) == 0) {
      return engines[i];
    }
  }
  return NULL;
}

const char *peer_describe(const char *name)
{
  const peer_engine *engine = find_engine(name);
  return engine ? engine->description : NULL;
}

void peer_say(peer_text *to, const char *text)
{
  if (to->size > 0) {
    snprintf(to->text, to->size, "%s", text);
  }
}

static bool refuse(peer_text *why, const char *text)
{
  peer_say(why, text);
  return false;
}

// ---------------------------------------------------------------------------------------------
// Functions for engines

peer_surface peer_surface_of(const tn_material *a, const tn_material *b)
{
  tn_material m = tn_materials_combine(a, b);
  return (peer_surface){m.dynamic_friction, m.restitution, m.rolling_friction, m.spinning_friction};
}

bool peer_shapes_collide(const tn_shape_def *a, const tn_shape_def *b)
{
  return tn_filters_collide(&a->filter, &b->filter);
}

// v + w t + q x t with t = 2 q x v.
void peer_rotate(const double q[4], const double v[3], double out[3])
{
  const double t[3] = {2.0 * (q[1] * v[2] - q[2] * v[1]), 2.0 * (q[2] * v[0] - q[0] * v[2]),
                       2.0 * (q[0] * v[1] - q[1] * v[0])};
  const double r[3] = {v[0] + q[3] * t[0] + (q[1] * t[2] - q[2] * t[1]),
                       v[1] + q[3] * t[1] + (q[2] * t[0] - q[0] * t[2]),
                       v[2] + q[3] * t[2] + (q[0] * t[1] - q[1] * t[0])};
  memcpy(out, r, sizeof r);
}

static void normalize(double q[4])
{
  double scale = 1.0 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int i = 0; i < 4; ++i) {
    q[i] *= scale;
  }
}

peer_pose peer_pose_mul(const peer_pose *a, const peer_pose *b)
{
  const double *p = a->q, *q = b->q;
  peer_pose out = {.q = {p[3] * q[0] + p[0] * q[3] + p[1] * q[2] - p[2] * q[1],
                         p[3] * q[1] - p[0] * q[2] + p[1] * q[3] + p[2] * q[0],
                         p[3] * q[2] + p[0] * q[1] - p[1] * q[0] + p[2] * q[3],
                         p[3] * q[3] - p[0] * q[0] - p[1] * q[1] - p[2] * q[2]}};
  normalize(out.q);
  peer_rotate(a->q, b->p, out.p);
  for (int i = 0; i < 3; ++i) {
    out.p[i] += a->p[i];
  }
  return out;
}

static peer_pose inverse(const peer_pose *a)
{
  peer_pose out = {.q = {-a->q[0], -a->q[1], -a->q[2], a->q[3]}};
  peer_rotate(out.q, a->p, out.p);
  for (int i = 0; i < 3; ++i) {
    out.p[i] = -out.p[i];
  }
  return out;
}

static peer_pose pose_of(tn_transform t)
{
  peer_pose out = {{t.p.x, t.p.y, t.p.z},
                   {(double)t.q.x, (double)t.q.y, (double)t.q.z, (double)t.q.w}};
  normalize(out.q);
  return out;
}

// ---------------------------------------------------------------------------------------------
// Bodies and shapes

// A body whose axes are already principal keeps them: engines are faster with shapes that are not
// rotated in the inertia frame.
static void take_mass(tn_mass from, peer_body *to)
{
  const tn_sym3 *i = &from.inertia;
  float off = fabsf(i->xy) + fabsf(i->xz) + fabsf(i->yz);
  tn_principal_axes axes = {{(double)i->xx, (double)i->yy, (double)i->zz}, {0.0, 0.0, 0.0, 1.0}};
  if (off > 1e-6f * (i->xx + i->yy + i->zz)) {
    axes = tn_mass_principal_axes(from);
  }
  const double center[3] = {(double)from.center.x, (double)from.center.y, (double)from.center.z};
  memcpy(to->mass_frame.p, center, sizeof center);
  memcpy(to->mass_frame.q, axes.rotation, sizeof axes.rotation);
  memcpy(to->moments, axes.moments, sizeof to->moments);
  to->mass = (double)from.mass;
}

static bool take_hull(const tn_world *world, tn_geometry_id id, peer_hull *to)
{
  int corners = tn_hull_indices(world, id, NULL, 0);
  to->point_count = tn_hull_vertices(world, id, NULL, 0);
  to->plane_count = tn_hull_faces(world, id, NULL, 0);
  to->points = calloc((size_t)to->point_count, sizeof *to->points);
  to->planes = calloc(4 * (size_t)to->plane_count, sizeof *to->planes);
  to->polygons = calloc((size_t)to->plane_count + (size_t)corners, sizeof *to->polygons);
  tn_hull_face *faces = calloc((size_t)to->plane_count, sizeof *faces);
  int *indices = calloc((size_t)corners, sizeof *indices);
  bool ok = to->points && to->planes && to->polygons && faces && indices;
  if (ok) {
    tn_hull_vertices(world, id, to->points, to->point_count);
    tn_hull_faces(world, id, faces, to->plane_count);
    tn_hull_indices(world, id, indices, corners);
  }
  unsigned int *next = to->polygons;
  for (int i = 0; ok && i < to->plane_count; ++i) {
    const tn_hull_face *f = &faces[i];
    const double plane[4] = {(double)f->normal.x, (double)f->normal.y, (double)f->normal.z,
                             (double)f->offset};
    memcpy(&to->planes[4 * i], plane, sizeof plane);
    *next++ = (unsigned int)f->count;
    for (int k = 0; k < f->count; ++k) {
      *next++ = (unsigned int)indices[f->first + k];
    }
  }
  free(faces);
  free(indices);
  return ok;
}

static bool take_shape(const tn_world *world, const tn_shape_def *from, const peer_pose *mass_frame,
                       peer_shape *to, peer_text *why)
{
  const tn_material *m = &from->material;
  if (tn_length(m->surface_velocity) > 0.0f || m->compliance > 0.0f) {
    return refuse(why, "a surface has a velocity or compliance");
  }
  if (from->kind > TN_SHAPE_PLANE) {
    return refuse(why, "a shape is a mesh, a height field or a wire");
  }
  to->def = *from;
  peer_pose local =
      pose_of((tn_transform){tn_offset(tn_p3(0.0, 0.0, 0.0), from->position), from->rotation});
  peer_pose back = inverse(mass_frame);
  to->at = peer_pose_mul(&back, &local);
  if (from->kind == TN_SHAPE_HULL && !take_hull(world, from->geometry, &to->hull)) {
    return refuse(why, "out of memory");
  }
  return true;
}

static bool take_shapes(const tn_world *world, tn_body_id body, peer_scene *scene, peer_body *to,
                        peer_text *why)
{
  int count = tn_body_shapes(world, body, NULL, 0);
  tn_shape_id *ids = calloc((size_t)count + 1, sizeof *ids);
  to->shapes = calloc((size_t)count + 1, sizeof *to->shapes);
  bool ok = (ids && to->shapes) || refuse(why, "out of memory");
  if (ok) {
    tn_body_shapes(world, body, ids, count);
  }
  tn_filter usual = tn_default_shape_def(TN_SHAPE_SPHERE).filter;
  for (int i = 0; ok && i < count; ++i) {
    tn_shape_def def = tn_shape_get_def(world, ids[i]);
    if (def.sensor) {
      continue;
    }
    ok = take_shape(world, &def, &to->mass_frame, &to->shapes[to->shape_count++], why);
    const tn_filter *f = &def.filter;
    scene->has_filters = scene->has_filters || f->category != usual.category ||
                         f->mask != usual.mask || f->group != usual.group;
  }
  free(ids);
  return ok;
}

// In double, where tn_body_transform() rounds the rotation.
static peer_pose precise_pose(const tn_world *world, tn_body_id id)
{
  double n[TN_POSE_NUMBERS] = {0};
  peer_pose out;
  tn_bodies_read_poses(world, &id, 1, TN_DOUBLE, n, 0);
  memcpy(out.p, n, sizeof out.p);
  memcpy(out.q, n + 3, sizeof out.q);
  normalize(out.q);
  return out;
}

// A null id is the world.
static bool take_body(const tn_world *world, tn_body_id id, peer_scene *scene, peer_text *why)
{
  peer_body *to = &scene->bodies[scene->body_count++];
  const peer_pose none = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 1.0}};
  to->id = id;
  to->pose = to->mass_frame = none;
  tn_body_type type = TN_IS_NULL(id) ? TN_BODY_STATIC : tn_body_get_type(world, id);
  to->dynamic = type == TN_BODY_DYNAMIC;
  if (type == TN_BODY_KINEMATIC) {
    return refuse(why, "a body is kinematic");
  }
  if (to->dynamic) {
    take_mass(tn_body_mass(world, id), to);
    to->velocity = tn_body_velocity(world, id);
    to->angular_velocity = tn_body_angular_velocity(world, id);
    to->gravity_scale = tn_body_gravity_scale(world, id);
    to->linear_damping = tn_body_linear_damping(world, id);
    to->angular_damping = tn_body_angular_damping(world, id);
  }
  if (!TN_IS_NULL(id)) {
    peer_pose own = precise_pose(world, id);
    to->pose = peer_pose_mul(&own, &to->mass_frame);
  }
  return take_shapes(world, id, scene, to, why);
}

// ---------------------------------------------------------------------------------------------
// Joints

// Bodies are in the order of their ids' indices; that of the world is 0.
static int index_of(const peer_scene *scene, tn_body_id id)
{
  for (int i = 0, count = scene->body_count; i < count;) {
    int middle = i + (count - i) / 2;
    if (scene->bodies[middle].id.index == id.index) {
      return middle;
    }
    if (scene->bodies[middle].id.index < id.index) {
      i = middle + 1;
    } else {
      count = middle;
    }
  }
  return -1;
}

static const char *reason_against(const tn_joint_def *d)
{
  if (d->compliance > 0.0f || d->angular_compliance > 0.0f || d->limit_compliance > 0.0f ||
      d->angular_limit_compliance > 0.0f) {
    return "a joint is a spring";
  }
  for (int i = 0; i < TN_JOINT_AXIS_COUNT; ++i) {
    const tn_axis *a = &d->axis[i];
    if (a->drive.stiffness > 0.0f || a->drive.damping > 0.0f || a->drive.force != 0.0f ||
        a->stiffness > 0.0f || a->armature > 0.0f) {
      return "a joint is driven";
    }
    if (a->damping > 0.0f) {
      return "a joint is damped";
    }
  }
  return d->break_force < INFINITY || d->break_torque < INFINITY ? "a joint may break" : NULL;
}

static bool take_joint(const tn_world *world, tn_joint_id id, peer_scene *scene, peer_text *why)
{
  tn_joint_def def = tn_joint_get_def(world, id);
  if (!def.enabled) {
    return true;
  }
  const char *reason = reason_against(&def);
  if (reason) {
    return refuse(why, reason);
  }
  peer_joint *to = &scene->joints[scene->joint_count++];
  to->def = def;
  tn_joint_state state = tn_joint_get_state(world, id);
  to->angle = (double)state.angle.x;
  to->error = (double)state.elongation;
  for (int side = 0; side < 2; ++side) {
    tn_body_id body = side ? def.body_b : def.body_a;
    to->body[side] = TN_IS_NULL(body) ? -1 : index_of(scene, body);
    to->frame[side] = pose_of(side ? def.frame_b : def.frame_a);
    if (to->body[side] >= 0) {
      peer_pose back = inverse(&scene->bodies[to->body[side]].mass_frame);
      to->frame[side] = peer_pose_mul(&back, &to->frame[side]);
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Scenes

static void free_scene(peer_scene *scene)
{
  for (int i = 0; i < scene->body_count; ++i) {
    peer_body *b = &scene->bodies[i];
    for (int k = 0; k < b->shape_count; ++k) {
      free(b->shapes[k].hull.points);
      free(b->shapes[k].hull.planes);
      free(b->shapes[k].hull.polygons);
    }
    free(b->shapes);
  }
  free(scene->bodies);
  free(scene->joints);
}

static bool take_bodies(const tn_world *world, peer_scene *scene, peer_text *why)
{
  const tn_body_id ground = {0, 0, 0};
  int count = tn_world_bodies(world, NULL, 0);
  tn_body_id *ids = calloc((size_t)count + 1, sizeof *ids);
  scene->bodies = calloc((size_t)count + 1, sizeof *scene->bodies);
  bool ok = (ids && scene->bodies) || refuse(why, "out of memory");
  if (ok && tn_body_shapes(world, ground, NULL, 0) > 0) {
    ok = take_body(world, ground, scene, why);
  }
  if (ok) {
    tn_world_bodies(world, ids, count);
  }
  for (int i = 0; ok && i < count; ++i) {
    ok = take_body(world, ids[i], scene, why);
  }
  free(ids);
  return ok;
}

static bool take_joints(const tn_world *world, peer_scene *scene, peer_text *why)
{
  int count = tn_world_joints(world, NULL, 0);
  tn_joint_id *ids = calloc((size_t)count + 1, sizeof *ids);
  scene->joints = calloc((size_t)count + 1, sizeof *scene->joints);
  bool ok = (ids && scene->joints) || refuse(why, "out of memory");
  if (ok) {
    tn_world_joints(world, ids, count);
  }
  for (int i = 0; ok && i < count; ++i) {
    ok = take_joint(world, ids[i], scene, why);
  }
  free(ids);
  return ok;
}

static bool take_scene(const tn_world *world, peer_scene *scene, peer_text *why)
{
  if (tn_world_softs(world, NULL, 0) > 0) {
    return refuse(why, "there are soft bodies");
  }
  scene->gravity = tn_world_gravity(world);
  return take_bodies(world, scene, why) && take_joints(world, scene, why);
}

peer *peer_create(const char *name, const tn_world *world, peer_settings settings, char *why,
                  size_t size)
{
  peer_text told = {why, size};
  const peer_engine *engine = find_engine(name);
  if (!engine || !world || settings.substeps < 1 || settings.iterations < 0) {
    peer_say(&told, engine ? "bad settings" : "no such engine");
    return NULL;
  }
  peer *p = calloc(1, sizeof *p);
  if (!p) {
    peer_say(&told, "out of memory");
    return NULL;
  }
  p->engine = engine;
  peer_text omitted = {p->omissions, sizeof p->omissions};
  if (take_scene(world, &p->scene, &told)) {
    p->own = engine->create(&p->scene, settings, &told, &omitted);
  }
  if (!p->own) {
    peer_destroy(p);
    return NULL;
  }
  return p;
}

void peer_destroy(peer *p)
{
  if (p) {
    if (p->own) {
      p->engine->destroy(p->own);
    }
    free_scene(&p->scene);
    free(p);
  }
}

void peer_step(peer *p, float dt)
{
  p->engine->step(p->own, (double)dt);
}

const char *peer_omissions(const peer *p)
{
  return p->omissions;
}

int peer_contact_points(const peer *p)
{
  return p->engine->contact_points(p->own);
}

// ---------------------------------------------------------------------------------------------
// Reading back

static peer_state state_of(const peer *p, int index)
{
  peer_pose at;
  double v[3], w[3];
  p->engine->read(p->own, index, &at, v, w);
  peer_pose back = inverse(&p->scene.bodies[index].mass_frame);
  peer_pose own = peer_pose_mul(&at, &back);
  peer_state state;
  state.pose.p = tn_p3(own.p[0], own.p[1], own.p[2]);
  state.pose.q = (tn_quat){(float)own.q[0], (float)own.q[1], (float)own.q[2], (float)own.q[3]};
  state.velocity = tn_v3((float)v[0], (float)v[1], (float)v[2]);
  state.angular_velocity = tn_v3((float)w[0], (float)w[1], (float)w[2]);
  return state;
}

peer_state peer_read(const peer *p, tn_body_id id)
{
  int index = index_of(&p->scene, id);
  peer_state none = {0};
  return index < 0 ? none : state_of(p, index);
}

bool peer_show(const peer *p, tn_world *world)
{
  for (int i = 0; i < p->scene.body_count; ++i) {
    if (p->scene.bodies[i].dynamic) {
      tn_body_id id = p->scene.bodies[i].id;
      peer_state s = state_of(p, i);
      if (!tn_body_set_transform(world, id, s.pose) ||
          !tn_body_set_velocity(world, id, s.velocity) ||
          !tn_body_set_angular_velocity(world, id, s.angular_velocity)) {
        return false;
      }
    }
  }
  return tn_world_update_contacts(world);
}

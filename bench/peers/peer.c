#include "engine.h"

#include "data/world.h"

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
  peer_surface s = {0};
  tn_material rolling[2] = {*a, *b};
  float unused;
  materials_combine(a, b, &unused, &s.friction, &s.restitution);
  for (int i = 0; i < 2; ++i) { // combined like friction
    rolling[i].static_friction = rolling[i].rolling_friction;
    rolling[i].dynamic_friction = rolling[i].spinning_friction;
  }
  materials_combine(&rolling[0], &rolling[1], &s.rolling, &unused, &unused);
  for (int i = 0; i < 2; ++i) {
    rolling[i].static_friction = rolling[i].spinning_friction;
  }
  materials_combine(&rolling[0], &rolling[1], &s.spinning, &unused, &unused);
  return s;
}

bool peer_shapes_collide(const tn_shape_def *a, const tn_shape_def *b)
{
  return filters_should_collide(&a->filter, &b->filter);
}

static dquat as_quat(const double q[4])
{
  return (dquat){q[0], q[1], q[2], q[3]};
}

static tn_pos as_pos(const double p[3])
{
  return tn_p3(p[0], p[1], p[2]);
}

static peer_pose make_pose(tn_pos p, dquat q)
{
  return (peer_pose){{p.x, p.y, p.z}, {q.x, q.y, q.z, q.w}};
}

peer_pose peer_pose_mul(const peer_pose *a, const peer_pose *b)
{
  tn_pos p = pos_add(as_pos(a->p), dquat_rotate(as_quat(a->q), as_pos(b->p)));
  return make_pose(p, dquat_normalize(dquat_mul(as_quat(a->q), as_quat(b->q))));
}

void peer_rotate(const double q[4], const double v[3], double out[3])
{
  tn_pos r = dquat_rotate(as_quat(q), as_pos(v));
  out[0] = r.x, out[1] = r.y, out[2] = r.z;
}

static peer_pose inverse(const peer_pose *a)
{
  dquat q = dquat_conjugate(as_quat(a->q));
  tn_pos p = dquat_rotate(q, as_pos(a->p));
  return make_pose(tn_p3(-p.x, -p.y, -p.z), q);
}

static peer_pose pose_of(tn_transform t)
{
  return make_pose(t.p, dquat_normalize(dquat_from(t.q)));
}

// ---------------------------------------------------------------------------------------------
// Bodies and shapes

// A body whose axes are already principal keeps them: engines are faster with shapes that are not
// rotated in the inertia frame.
static void take_mass(const body *from, peer_body *to)
{
  const tn_sym3 *i = &from->mass.inertia;
  float off = fabsf(i->xy) + fabsf(i->xz) + fabsf(i->yz);
  bool principal = off <= 1e-6f * (i->xx + i->yy + i->zz);
  dquat none = {0.0, 0.0, 0.0, 1.0};
  to->mass_frame = make_pose(from->local_center, principal ? none : from->local_principal);
  to->mass = (double)from->mass.mass;
  const double diagonal[3] = {(double)i->xx, (double)i->yy, (double)i->zz};
  memcpy(to->moments, principal ? diagonal : from->moments, sizeof to->moments);
}

static bool take_hull(const convex_hull *from, peer_hull *to)
{
  to->point_count = from->vertex_count;
  to->plane_count = from->face_count;
  to->points = calloc((size_t)from->vertex_count, sizeof *to->points);
  to->planes = calloc(4 * (size_t)from->face_count, sizeof *to->planes);
  to->polygons = calloc((size_t)from->face_count + (size_t)from->edge_count, sizeof *to->polygons);
  if (!to->points || !to->planes || !to->polygons) {
    return false;
  }
  memcpy(to->points, from->vertices, (size_t)from->vertex_count * sizeof *to->points);
  unsigned int *next = to->polygons;
  for (int i = 0; i < from->face_count; ++i) {
    const convex_hull_face *face = &from->faces[i];
    const double plane[4] = {(double)face->normal.x, (double)face->normal.y, (double)face->normal.z,
                             (double)face->offset};
    memcpy(&to->planes[4 * i], plane, sizeof plane);
    *next++ = face->edge_count;
    for (int k = 0; k < face->edge_count; ++k) {
      *next++ = from->edges[face->first_edge + k].origin;
    }
  }
  return true;
}

static bool take_shape(const shape *from, const peer_pose *mass_frame, peer_shape *to,
                       peer_text *why)
{
  const tn_material *m = &from->def.material;
  if (tn_length(m->surface_velocity) > 0.0f || m->compliance > 0.0f) {
    return refuse(why, "a surface has a velocity or compliance");
  }
  if (from->def.kind > TN_SHAPE_PLANE) {
    return refuse(why, "a shape is a mesh, a height field or a wire");
  }
  to->def = from->def;
  peer_pose local = pose_of(
      (tn_transform){tn_offset(tn_p3(0.0, 0.0, 0.0), from->def.position), from->def.rotation});
  peer_pose back = inverse(mass_frame);
  to->at = peer_pose_mul(&back, &local);
  if (from->def.kind == TN_SHAPE_HULL && !take_hull(from->geometry.hull, &to->hull)) {
    return refuse(why, "out of memory");
  }
  return true;
}

static bool take_shapes(const tn_world *world, const body *from, peer_scene *scene, peer_body *to,
                        peer_text *why)
{
  int count = 0;
  for (int32_t i = from->first_shape; i != NO_SLOT; i = world->shapes[i].next) {
    count += !world->shapes[i].def.sensor;
  }
  to->shapes = calloc((size_t)count + 1, sizeof *to->shapes);
  if (!to->shapes) {
    return refuse(why, "out of memory");
  }
  tn_filter usual = tn_default_shape_def(TN_SHAPE_SPHERE).filter;
  for (int32_t i = from->first_shape; i != NO_SLOT; i = world->shapes[i].next) {
    const shape *s = &world->shapes[i];
    if (s->def.sensor) {
      continue;
    }
    if (!take_shape(s, &to->mass_frame, &to->shapes[to->shape_count++], why)) {
      return false;
    }
    const tn_filter *f = &s->def.filter;
    scene->has_filters = scene->has_filters || f->category != usual.category ||
                         f->mask != usual.mask || f->group != usual.group;
  }
  return true;
}

static bool take_body(const tn_world *world, int32_t slot, peer_scene *scene, peer_text *why)
{
  const body *b = &world->bodies[slot];
  peer_body *to = &scene->bodies[scene->body_count++];
  to->slot = slot;
  to->dynamic = b->type == TN_BODY_DYNAMIC;
  if (b->type == TN_BODY_KINEMATIC) {
    return refuse(why, "a body is kinematic");
  }
  const peer_pose none = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 1.0}};
  to->mass_frame = none;
  if (to->dynamic) {
    take_mass(b, to);
  }
  // From the poses in double precision, which tn_body_transform rounds.
  dquat q = dquat_mul(b->rotation, dquat_conjugate(b->local_principal));
  tn_pos p = pos_sub(b->center, dquat_rotate(q, b->local_center));
  peer_pose own = make_pose(p, dquat_normalize(q));
  to->pose = slot == WORLD_SLOT ? none : peer_pose_mul(&own, &to->mass_frame);
  if (to->dynamic) {
    tn_body_id id = body_id_at(world, slot);
    to->velocity = tn_body_velocity(world, id);
    to->angular_velocity = tn_body_angular_velocity(world, id);
    to->gravity_scale = b->gravity_scale;
    to->linear_damping = b->linear_damping;
    to->angular_damping = b->angular_damping;
  }
  return take_shapes(world, b, scene, to, why);
}

// ---------------------------------------------------------------------------------------------
// Joints

static int index_of(const peer_scene *scene, int32_t slot)
{
  for (int i = 0, count = scene->body_count; i < count;) {
    int middle = i + (count - i) / 2;
    if (scene->bodies[middle].slot == slot) {
      return middle;
    }
    if (scene->bodies[middle].slot < slot) {
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
  if (d->linear_drive.mode != TN_DRIVE_OFF || d->angular_drive.mode != TN_DRIVE_OFF) {
    return "a joint is driven";
  }
  if (d->linear_damping > 0.0f || d->angular_damping > 0.0f) {
    return "a joint is damped";
  }
  return d->break_force < INFINITY || d->break_torque < INFINITY ? "a joint may break" : NULL;
}

static bool take_joint(const tn_world *world, const joint *from, int32_t slot, peer_scene *scene,
                       peer_text *why)
{
  const char *reason = reason_against(&from->def);
  if (reason) {
    return refuse(why, reason);
  }
  peer_joint *to = &scene->joints[scene->joint_count++];
  to->def = from->def;
  tn_joint_state state = tn_joint_get_state(world, joint_id_at(world, slot));
  to->angle = (double)state.angle.x;
  to->error = (double)state.elongation;
  for (int side = 0; side < 2; ++side) {
    peer_pose frame = pose_of(side ? from->def.frame_b : from->def.frame_a);
    to->body[side] = from->slot[side] == WORLD_SLOT ? -1 : index_of(scene, from->slot[side]);
    to->frame[side] = frame;
    if (to->body[side] >= 0) {
      peer_pose back = inverse(&scene->bodies[to->body[side]].mass_frame);
      to->frame[side] = peer_pose_mul(&back, &frame);
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

static bool take_scene(const tn_world *world, peer_scene *scene, peer_text *why)
{
  if (world->soft_pool.count > 0) {
    return refuse(why, "there are soft bodies");
  }
  scene->gravity = world->gravity;
  scene->bodies = calloc((size_t)world->body_pool.used, sizeof *scene->bodies);
  scene->joints = calloc((size_t)world->joint_pool.used + 1, sizeof *scene->joints);
  if (!scene->bodies || !scene->joints) {
    return refuse(why, "out of memory");
  }
  for (int32_t i = 0; i < world->body_pool.used; ++i) {
    bool counts =
        i == WORLD_SLOT ? world->bodies[i].first_shape != NO_SLOT : world->bodies[i].alive;
    if (counts && !take_body(world, i, scene, why)) {
      return false;
    }
  }
  for (int32_t i = 0; i < world->joint_pool.used; ++i) {
    const joint *j = &world->joints[i];
    if (j->alive && j->def.enabled && !take_joint(world, j, i, scene, why)) {
      return false;
    }
  }
  return true;
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
  state.pose.p = as_pos(own.p);
  state.pose.q = dquat_round(as_quat(own.q));
  state.velocity = tn_v3((float)v[0], (float)v[1], (float)v[2]);
  state.angular_velocity = tn_v3((float)w[0], (float)w[1], (float)w[2]);
  return state;
}

peer_state peer_read(const peer *p, tn_body_id id)
{
  int index = index_of(&p->scene, (int32_t)id.index);
  peer_state none = {0};
  return index < 0 ? none : state_of(p, index);
}

bool peer_show(const peer *p, tn_world *world)
{
  for (int i = 0; i < p->scene.body_count; ++i) {
    if (p->scene.bodies[i].dynamic) {
      tn_body_id id = body_id_at(world, p->scene.bodies[i].slot);
      peer_state s = state_of(p, i);
      if (!tn_body_set_transform(world, id, s.pose) ||
          !tn_body_set_velocity(world, id, s.velocity) ||
          !tn_body_set_angular_velocity(world, id, s.angular_velocity)) {
        return false;
      }
    }
  }
  const float moment = 1e-6f; // s, negligible motion
  return awake_list_update(world) && broad_phase_update(world, moment) &&
         narrow_phase_update(world, moment);
}

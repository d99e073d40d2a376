// Motion of a soft body as a rigid one: damping that spares it, and momenta that are kept where
// positions are solved.
#include "world.h"

#include <string.h>

static tn_pos cross(tn_pos a, tn_pos b)
{
  return tn_p3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static tn_pos wide(tn_vec3 v)
{
  return tn_p3((double)v.x, (double)v.y, (double)v.z);
}

static tn_pos times(double s, tn_pos a)
{
  return tn_p3(s * a.x, s * a.y, s * a.z);
}

// Pins decide about the motion of what they hold.
static double weight_of(const soft_particle *p)
{
  return (double)p->mass * (p->pinned ? 1e6 : 1.0);
}

typedef struct rigid_motion {
  double mass, inertia[6];
  tn_pos center, p, l; // l: about the centre
} rigid_motion;

// Sums about the first particle in one go, then about the centre. Momenta take less than all.
static inline rigid_motion sum_motion(const soft *s, bool turns)
{
  rigid_motion r = {0};
  tn_pos origin = s->particles[0].at, first = {0}, square = {0}, mixed = {0};
  for (int32_t i = 0; i < s->particle_count; ++i) {
    const soft_particle *p = &s->particles[i];
    double mass = weight_of(p);
    tn_pos x = pos_sub(p->at, origin), mx = times(mass, x), v = wide(p->v);
    r.mass += mass;
    first = pos_add(first, mx);
    r.p = pos_add(r.p, times(mass, v));
    r.l = pos_add(r.l, cross(mx, v));
    if (turns) {
      square = pos_add(square, tn_p3(mx.x * x.x, mx.y * x.y, mx.z * x.z));
      mixed = pos_add(mixed, tn_p3(mx.x * x.y, mx.x * x.z, mx.y * x.z));
    }
  }
  tn_pos c = times(1.0 / r.mass, first);
  square = pos_sub(square, tn_p3(first.x * c.x, first.y * c.y, first.z * c.z));
  mixed = pos_sub(mixed, tn_p3(first.x * c.y, first.x * c.z, first.y * c.z));
  r.inertia[0] = square.y + square.z;
  r.inertia[1] = square.x + square.z;
  r.inertia[2] = square.x + square.y;
  r.inertia[3] = -mixed.x;
  r.inertia[4] = -mixed.y;
  r.inertia[5] = -mixed.z;
  r.l = pos_sub(r.l, cross(c, r.p));
  r.center = pos_add(origin, c);
  return r;
}

static rigid_motion motion_of(const soft *s)
{
  return sum_motion(s, true);
}

// v <- kept (v + share (rigid - v)): what is not the motion of a rigid body fades, and momenta stay
// as they are; linear damping takes from both.
static void damp_soft(soft *s, float dt)
{
  rigid_motion r = motion_of(s);
  tn_pos v = times(1.0 / r.mass, r.p), w = solve_inertia(r.inertia, r.l);
  double share = 1.0 - (double)tn_exp(-s->damping * dt);
  double kept = (double)tn_exp(-s->linear_damping * dt);
  for (int32_t i = 0; i < s->particle_count; ++i) {
    soft_particle *p = &s->particles[i];
    tn_pos rigid = pos_add(v, cross(w, pos_sub(p->at, r.center))), u = wide(p->v);
    u = times(kept, pos_add(u, times(share, pos_sub(rigid, u))));
    p->v = p->pinned ? p->v : tn_v3((float)u.x, (float)u.y, (float)u.z);
  }
}

void soft_damp(tn_world *world, float dt)
{
  for (int32_t i = 0; i < world->soft_list.used; ++i) {
    soft *s = &world->softs[i];
    if (s->alive && s->first > 0 && (s->damping > 0.0f || s->linear_damping > 0.0f)) {
      damp_soft(s, dt);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Dahl and Bargteil, Global momentum preservation for position-based dynamics, Algorithm 2: momenta
// are tracked by what acts from outside, and after a step velocities are set right by the motion of
// a rigid body. Where impulses are solved there is nothing to set right.

static bool is_tracked(const tn_world *world, const soft *s)
{
  return world->method != TN_METHOD_TENON && s->alive && s->first > 0 && s->keep_momentum &&
         s->pin_count == 0;
}

// What gravity and forces will do until the step ends.
void soft_track_begin(tn_world *world, float dt)
{
  for (int32_t i = 0; i < world->soft_list.used; ++i) {
    soft *s = &world->softs[i];
    if (!is_tracked(world, s)) {
      continue;
    }
    rigid_motion r = sum_motion(s, false);
    s->linear = pos_add(r.p, times((double)(dt * s->gravity_scale) * r.mass, wide(world->gravity)));
    s->angular = r.l;
    for (int32_t k = 0; k < s->particle_count; ++k) {
      tn_vec3 force = s->particles[k].force;
      if (force.x == 0.0f && force.y == 0.0f && force.z == 0.0f) {
        continue;
      }
      tn_pos impulse = times((double)dt, wide(force));
      s->linear = pos_add(s->linear, impulse);
      s->angular = pos_add(s->angular, cross(pos_sub(s->particles[k].at, r.center), impulse));
    }
  }
}

// The impulse of a whole step acts by the lever of its middle: by that of its end, what tumbles
// over the ground gains energy.
static void add_impulse(soft *s, const rigid_motion *r, const soft_particle *p, double weight,
                        tn_pos impulse, float dt)
{
  tn_pos part = times(weight, impulse);
  tn_pos way = times(0.5 * (double)dt, pos_sub(wide(p->v), times(1.0 / r->mass, r->p)));
  s->linear = pos_add(s->linear, part);
  s->angular = pos_add(s->angular, cross(pos_sub(pos_sub(p->at, r->center), way), part));
}

static void add_touches(tn_world *world, int32_t slot, const rigid_motion *r, float dt)
{
  soft *s = &world->softs[slot];
  for (int32_t i = 0; i < world->touch_count; ++i) {
    const soft_contact *t = &world->touches[i];
    if (t->soft == t->other || (t->soft != slot && t->other != slot)) {
      continue; // an inner force, or another's
    }
    tn_pos impulse = times((double)dt, wide(t->force));
    const soft_particle *p = world->softs[t->soft].particles;
    if (touch_is_mutual(t)) { // both act at one place
      add_impulse(s, r, &p[t->particle[0]], t->soft == slot ? 1.0 : -1.0, impulse, dt);
      continue;
    }
    for (int k = 0; k < TOUCH_PARTICLES && t->particle[k] != NO_SLOT; ++k) {
      add_impulse(s, r, &p[t->particle[k]], (double)t->weight[k], impulse, dt);
    }
  }
}

static void set_right(soft *s, const rigid_motion *r)
{
  tn_pos w = solve_inertia(r->inertia, pos_sub(s->angular, r->l));
  tn_pos v = times(1.0 / r->mass, pos_sub(s->linear, r->p)), center = r->center;
  for (int32_t i = 0; i < s->particle_count; ++i) {
    soft_particle *p = &s->particles[i];
    tn_pos u = pos_add(v, cross(w, pos_sub(p->at, center)));
    p->v = tn_add(p->v, tn_v3((float)u.x, (float)u.y, (float)u.z));
  }
}

void soft_track_end(tn_world *world, float dt)
{
  for (int32_t i = 0; i < world->soft_list.used; ++i) {
    soft *s = &world->softs[i];
    if (!is_tracked(world, s)) {
      continue;
    }
    rigid_motion r = motion_of(s);
    add_touches(world, i, &r, dt);
    for (int32_t k = 0; k < world->attachment_list.used; ++k) {
      const attachment *a = &world->attachments[k];
      if (a->alive && a->soft == i) {
        add_impulse(s, &r, &s->particles[a->def.particle], 1.0, times((double)dt, wide(a->force)),
                    dt);
      }
    }
    set_right(s, &r);
  }
}

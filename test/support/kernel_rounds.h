// Runs the kernels on random pairs of bodies and random tetrahedra and hashes the results, in C and
// CUDA alike: hashes must be equal on all devices.
#ifndef TENON_TEST_KERNEL_ROUNDS_H
#define TENON_TEST_KERNEL_ROUNDS_H

#include "kernel/axes.h"
#include "kernel/contact.h"
#include "kernel/contact_geometry.h"
#include "kernel/integrate.h"
#include "kernel/joint.h"
#include "kernel/soft.h"

#define ROUND_ITEMS 4096
#define ROUND_SUBSTEPS 20

typedef struct Random {
  uint32_t state;
} Random;

KERNEL float random_between(Random *random, float lo, float hi)
{
  random->state = random->state * 1664525u + 1013904223u;
  return lo + (hi - lo) * ((float)(random->state >> 8) * (1.0f / 16777216.0f));
}

KERNEL V random_vector(Random *random, float size)
{
  V v;
  v.x = random_between(random, -size, size);
  v.y = random_between(random, -size, size);
  v.z = random_between(random, -size, size);
  return v;
}

KERNEL Q random_rotation(Random *random, float size)
{
  V v = random_vector(random, size);
  return q_normalize(q_make(v, random_between(random, 0.2f, 1.0f)));
}

// ---------------------------------------------------------------------------------------------
// Hash of all numbers of a round. NaN bits differ between machines, so NaNs are counted instead.

typedef struct Remains {
  uint32_t hash, nans;
} Remains;

KERNEL void remember(Remains *remains, R x)
{
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if (x != x) {
    bits = 0;
    ++remains->nans;
  }
  remains->hash = (remains->hash ^ bits) * 16777619u;
}

KERNEL void remember_vector(Remains *remains, V v)
{
  remember(remains, v.x);
  remember(remains, v.y);
  remember(remains, v.z);
}

KERNEL void remember_body(Remains *remains, const Body *body)
{
  remember_vector(remains, body->v);
  remember_vector(remains, body->w);
  remember_vector(remains, body->dx);
  remember_vector(remains, q_vector(body->dq));
  remember(remains, body->dq.w);
}

// ---------------------------------------------------------------------------------------------
// Bodies: free flight, one joint, one face contact

KERNEL Body random_body(Random *random, AngularState *spin)
{
  Body body;
  body.v = random_vector(random, 3.0f);
  body.w = random_vector(random, 5.0f);
  body.im = random_between(random, 0.1f, 10.0f);
  spin->inverse.x = random_between(random, 4.0f, 6.0f);
  spin->inverse.y = random_between(random, 2.0f, 4.0f);
  spin->inverse.z = random_between(random, 1.0f, 2.0f);
  spin->inertia = v_make(1.0f / spin->inverse.x, 1.0f / spin->inverse.y, 1.0f / spin->inverse.z);
  spin->start = random_rotation(random, 1.0f);
  spin->momentum = v_zero();
  spin->last = v_zero();
  body.ii = s_rotated_diagonal(spin->start, spin->inverse);
  body.dx = v_zero();
  body.dq = q_make(v_zero(), splat(1.0f));
  return body;
}

typedef struct Joint {
  JointType type;
  JointStart start;
  RowParams params[2];
  RowState state[2];
  Axes axes[2];
  AxesState axes_state[2];
} Joint;

// A spring, a drive with finite stiffness, friction and armature.
KERNEL AxisParams random_axis(Random *random)
{
  AxisParams p;
  memset(&p, 0, sizeof p);
  p.mode = splat(MODE_SOFT);
  p.k = random_between(random, 0.0f, 1e3f);
  p.d = random_between(random, 0.0f, 10.0f);
  p.target = random_between(random, -0.1f, 0.1f);
  p.lo = splat(-50.0f);
  p.hi = splat(50.0f);
  p.effort = splat(40.0f);
  p.spring = random_between(random, 0.0f, 100.0f);
  p.damping = random_between(random, 0.0f, 1.0f);
  p.friction = random_between(random, 0.0f, 1.0f);
  p.armature = random_between(random, 0.0f, 0.1f);
  return p;
}

KERNEL Joint random_joint(Random *random, JointType type)
{
  Joint joint;
  memset(&joint, 0, sizeof joint);
  joint.type = type;
  joint.start.ra = random_vector(random, 1.0f);
  joint.start.rb = random_vector(random, 1.0f);
  joint.start.gap = random_vector(random, 0.1f);
  joint.start.frame = random_rotation(random, 1.0f);
  joint.start.relative = random_rotation(random, 0.2f);
  for (int angular = 0; angular < 2; ++angular) {
    RowParams *params = &joint.params[angular];
    for (int i = 0; i < 3; ++i) {
      params->lo[i] = random_between(random, -0.2f, 0.0f);
      params->hi[i] = random_between(random, 0.0f, 0.2f);
    }
    params->alpha = random_between(random, 0.0f, 1e-4f);
    for (int i = 0; i < 3; ++i) {
      joint.axes[angular].params[i] = random_axis(random);
    }
  }
  return joint;
}

KERNEL void solve_joint_block(int angular, const Pass *pass, Joint *joint, Body *a, Body *b)
{
  BlockKind kind = angular ? angular_kind(joint->type) : linear_kind(joint->type);
  if (kind.rows == 0) {
    return;
  }
  const RowParams *params = &joint->params[angular];
  Rows rows;
  memset(&rows, 0, sizeof rows);
  if (angular) {
    angular_rows(joint->type, &joint->start, params, a, b, &rows);
    rows.k = angular_inverse_mass(a, b);
  } else {
    linear_rows(joint->type, &joint->start, a, b, &rows);
    rows.k = linear_inverse_mass(a, b, rows.levers.a, rows.levers.b);
  }
  rows.k_mean = mean_inverse_mass(rows.k);
  rows.k_rows = row_inverse_masses(kind, &rows);
  rows.factor = factorize(kind, params, rows.k_rows, params->alpha * pass->inv_h2);
  V u = v_zero();
  V p = v_zero();
  if (has_free_axis(kind)) {
    solve_axes(kind, pass, &joint->axes[angular], &rows, angular, &joint->axes_state[angular], &u,
               &p);
    solve_axis_positions(kind, pass, &joint->axes[angular], &rows, angular,
                         &joint->axes_state[angular], &u, &p);
  }
  solve_positions(kind, pass, params, &rows, angular, &joint->state[angular], &u, &p);
  if (angular) {
    apply_angular(a, b, p, pass->form, pass->h);
  } else {
    apply_linear(a, b, rows.levers.a, rows.levers.b, p, pass->form, pass->h);
  }
}

typedef struct Face {
  FlatStart start;
  ContactParams params;
  ContactState state;
  ContactGeometry geom;
  R used[CONTACT_POINTS];
} Face;

KERNEL Face random_face(Random *random)
{
  Face face;
  memset(&face, 0, sizeof face);
  face.params.mu_static = random_between(random, 0.3f, 1.0f);
  face.params.mu_dynamic = 0.9f * face.params.mu_static;
  face.params.rolling = random_between(random, 0.0f, 0.01f);
  face.params.deep_gap = splat(0.01f);
  face.params.kept_gap = splat(0.001f);
  face.params.max_push_speed = splat(1.0f);
  face.params.has_anchor = splat(1.0f);
  face.geom.n = q_axis_x(random_rotation(random, 1.0f));
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    face.used[i] = splat(i < 3 || random_between(random, 0.0f, 1.0f) < 0.8f);
    face.geom.ra[i] = random_vector(random, 0.5f);
    face.geom.rb[i] = random_vector(random, 0.5f);
    face.start.gap[i] = random_between(random, -0.02f, 0.02f);
  }
  return face;
}

KERNEL void solve_face(float h, int relaxing, Face *face, Body *a, Body *b)
{
  update_flat_geometry(CONTACT_POINTS, &face->start, &face->params, a, b, &face->geom);
  ContactMass mass;
  compute_contact_mass(CONTACT_POINTS, face->used, face->state.lambda, &face->geom, splat(0.0f), a,
                       b, &mass);
  ContactPass pass = {splat(h), splat(1.0f / h), splat(1.0f / h), splat(h * h), relaxing, 1,
                      0,        splat(0.0f)};
  FrictionOffset anchor_offset = {face->state.offset, face->state.angle};
  ContactRhs rhs = build_rhs(CONTACT_POINTS, face->used, &pass, &face->params, &face->geom, &mass,
                             &face->state, a, b);
  solve_normals(CONTACT_POINTS, &rhs, &pass, &face->params, &face->geom, &mass, &face->state, a, b);
  solve_friction(CONTACT_POINTS, face->used, &pass, &face->params, &face->geom, &mass,
                 &anchor_offset, &face->state, a, b);
  if (relaxing) {
    update_preload(CONTACT_POINTS, mass.share, splat(h), &face->state);
    decay_contact_impulses(CONTACT_POINTS, &face->params, &mass, splat(h), &face->state);
  }
}

KERNEL void round_of_bodies(Random *random, JointType type, float h, Remains *remains)
{
  AngularState spin_a, spin_b;
  Body a = random_body(random, &spin_a);
  Body b = random_body(random, &spin_b);
  Joint joint = random_joint(random, type);
  Face face = random_face(random);
  Pass pass;
  memset(&pass, 0, sizeof pass);
  pass.h = splat(h);
  pass.inv_h = splat(1.0f / h);
  pass.inv_h2 = splat(1.0f / (h * h));
  pass.form = FORM_POSITION;
  for (int i = 0; i < ROUND_SUBSTEPS; ++i) {
    kick(&a, v_make(splat(0.0f), splat(-10.0f), splat(0.0f)), v_zero(), splat(h));
    solve_face(h, 0, &face, &a, &b);
    drift(&a, &spin_a, splat(1.0f), splat(h));
    drift(&b, &spin_b, splat(1.0f), splat(h));
    solve_face(h, 1, &face, &a, &b);
    solve_joint_block(1, &pass, &joint, &a, &b);
    solve_joint_block(0, &pass, &joint, &a, &b);
  }
  remember_body(remains, &a);
  remember_body(remains, &b);
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    remember(remains, face.state.lambda[i]);
  }
}

// ---------------------------------------------------------------------------------------------
// Particles: every constraint of four particles

typedef struct Tet {
  Particle p[4];
  V d[3];
  EdgeParams edge;
  EdgeState edge_state;
  DihedralParams dihedral;
  VolumeParams volume;
  SoftRowState dihedral_state, volume_state;
  CorotatedParams tet;
  CorotatedState tet_state;
  NeoHookeanParams neo;
  NeoHookeanState neo_state;
} Tet;

KERNEL Tet random_tet(Random *random)
{
  Tet tet;
  memset(&tet, 0, sizeof tet);
  for (int i = 0; i < 4; ++i) {
    tet.p[i].v = random_vector(random, 2.0f);
    tet.p[i].w = random_between(random, 1.0f, 20.0f);
    tet.p[i].constraint_count = splat(1.0f);
  }
  for (int i = 0; i < 3; ++i) {
    R one[3] = {splat(i == 0), splat(i == 1), splat(i == 2)};
    V axis = v_make(one[0], one[1], one[2]);
    tet.d[i] = v_add(axis, random_vector(random, 0.2f));
    tet.tet.b[i] = tet.neo.b[i] = axis;
  }
  tet.edge.rest = splat(1.0f);
  tet.edge.compliance = random_between(random, 0.0f, 1e-4f);
  tet.dihedral.rest = random_between(random, -0.5f, 0.5f);
  tet.dihedral.compliance = tet.volume.compliance = splat(1e-3f);
  tet.volume.rest = splat(1.0f / 6.0f);
  tet.volume.lower_bound_only = splat(1.0f);
  tet.tet.shear = tet.neo.shear = random_between(random, 1e-4f, 1e-2f);
  tet.tet.bulk = tet.neo.bulk = random_between(random, 1e-4f, 1e-2f);
  tet.neo.rest = splat(1.5f);
  tet.tet_state.q = q_make(v_zero(), splat(1.0f));
  return tet;
}

KERNEL void substep_tet(const SoftPass *pass, Tet *t)
{
  solve_edge(pass, t->p, t->d, &t->edge, &t->edge_state);
  solve_dihedral(pass, t->p, t->d, &t->dihedral, &t->dihedral_state);
  solve_volume(pass, t->p, t->d, &t->volume, &t->volume_state);
  solve_corotated(pass, t->p, t->d, &t->tet, &t->tet_state);
  solve_neo_hookean(pass, t->p, t->d, &t->neo, &t->neo_state);
  for (int i = 1; i < 4; ++i) {
    t->d[i - 1] = v_add(t->d[i - 1], v_scale(pass->h, v_sub(t->p[i].v, t->p[0].v)));
  }
}

KERNEL void round_of_particles(Random *random, float h, Remains *remains)
{
  Tet tet = random_tet(random);
  SoftPass pass = {splat(h), splat(1.0f / h), splat(1.0f / (h * h)), FORM_VELOCITY};
  for (int i = 0; i < ROUND_SUBSTEPS; ++i) {
    substep_tet(&pass, &tet);
  }
  for (int i = 0; i < 4; ++i) {
    remember_vector(remains, tet.p[i].v);
  }
  remember(remains, tet.tet_state.pressure);
}

// Cycles through all joint types.
KERNEL Remains round_of(uint32_t item)
{
  Random random = {item * 2654435761u + 1u};
  Remains remains = {2166136261u, 0};
  round_of_bodies(&random, (JointType)(item % TYPE_COUNT), 1.0f / 1200.0f, &remains);
  round_of_particles(&random, 1.0f / 1200.0f, &remains);
  return remains;
}

#endif

// From what a file says to what a model is: meshes, masses, numbers of joints.
#include "mesh.h"
#include "pairs.h"
#include "solids.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------
// Meshes

static bool is_mass_of_geoms(const tn_model *model, const model_body *body)
{
  const model_rules *rules = &model->rules;
  return rules->always_from_geoms || (!body->has_inertial && !rules->never_from_geoms);
}

// Meshes that are for the eye alone are not read.
static bool needs_mesh(const tn_model *model, const model_geom *g)
{
  return g->mesh >= 0 && (model_geom_collides(g) || g->type != MODEL_MESH ||
                          is_mass_of_geoms(model, &model->bodies.items[g->body]));
}

static void load_meshes(reader *r)
{
  tn_model *model = r->model;
  for (int i = 0; i < model->geoms.count && !r->failed; ++i) {
    model_geom *g = &model->geoms.items[i];
    if (!needs_mesh(model, g)) {
      g->left_out = g->mesh >= 0;
      if (g->mesh >= 0) {
        mesh_check(r, &model->meshes.items[g->mesh]);
      }
      continue;
    }
    model_mesh *mesh = &model->meshes.items[g->mesh];
    if (!mesh->used && !mesh->missing && *mesh->path) {
      mesh_load(r, mesh);
    }
    mesh->used = true;
    g->left_out = mesh->missing;
  }
}

// ---------------------------------------------------------------------------------------------
// Masses

static model_mass placed(model_mass mass, dpose pose)
{
  model_mass out = {mass.mass, dpose_apply(pose, mass.center), dsym_rotate(pose.q, mass.inertia)};
  return out;
}

static void weigh_geom(tn_model *model, model_geom *g)
{
  model_mass mass = {0.0, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}};
  if (g->left_out || (g->has_mass && g->mass == 0.0)) {
    g->solid = mass;
    return;
  }
  if (g->type != MODEL_MESH) {
    mass = solid_of_unit_density(model, g);
  } else {
    const model_mesh *mesh = &model->meshes.items[g->mesh];
    model_mesh_inertia how = g->shell ? MODEL_INERTIA_SHELL : mesh->inertia;
    if (!mesh_mass(mesh, how, &model->memory, &mass)) {
      model_note_add(model, TN_IMPORT_APPROXIMATED, g->at, "mesh '%.100s' has no volume: no mass",
                     mesh->name);
    }
  }
  double factor = g->has_mass ? (mass.mass > 0.0 ? g->mass / mass.mass : 0.0) : g->density;
  mass.mass *= factor;
  mass.inertia = dsym_scale(factor, mass.inertia);
  g->solid = placed(mass, g->pose);
}

static model_mass sum_of_geoms(const tn_model *model, const model_body *body)
{
  model_mass sum = {0.0, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}};
  const model_geom *geoms = model->geoms.items + body->first_geom;
  for (int pass = 0; pass < 2; ++pass) { // the centre, then the inertia about it
    for (int i = 0; i < body->geom_count; ++i) {
      const model_geom *g = &geoms[i];
      if (g->group < model->rules.group_first || g->group > model->rules.group_last) {
        continue;
      }
      if (pass == 0) {
        sum.mass += g->solid.mass;
        sum.center = dvec_add(sum.center, dvec_scale(g->solid.mass, g->solid.center));
      } else {
        dvec arm = dvec_sub(g->solid.center, sum.center);
        sum.inertia =
            dsym_add(sum.inertia, dsym_add(g->solid.inertia, dsym_point(g->solid.mass, arm)));
      }
    }
    if (pass == 0 && sum.mass > 0.0) {
      sum.center = dvec_scale(1.0 / sum.mass, sum.center);
    }
  }
  return sum;
}

// Raises the principal moments; exact for diagonal inertia, as files with bounds have it.
static void bound_mass(const model_rules *rules, model_mass *mass)
{
  mass->mass = fmax(mass->mass, rules->bound_mass);
  mass->inertia.xx = fmax(mass->inertia.xx, rules->bound_inertia);
  mass->inertia.yy = fmax(mass->inertia.yy, rules->bound_inertia);
  mass->inertia.zz = fmax(mass->inertia.zz, rules->bound_inertia);
}

static void weigh_bodies(tn_model *model)
{
  double total = 0.0;
  for (int i = 1; i < model->bodies.count; ++i) {
    model_body *body = &model->bodies.items[i];
    if (is_mass_of_geoms(model, body)) {
      model_mass mass = sum_of_geoms(model, body);
      if (mass.mass > 0.0 || !body->has_inertial) {
        body->mass = mass;
      }
    }
    bound_mass(&model->rules, &body->mass);
    dsym *s = &body->mass.inertia;
    bool possible = s->xx + s->yy >= s->zz && s->xx + s->zz >= s->yy && s->yy + s->zz >= s->xx;
    if (!possible && model->rules.balance_inertia) {
      s->xx = s->yy = s->zz = (s->xx + s->yy + s->zz) / 3.0;
    }
    total += body->mass.mass;
  }
  double scale = model->rules.total_mass > 0.0 && total > 0.0 ? model->rules.total_mass / total : 1;
  for (int i = 1; i < model->bodies.count; ++i) {
    model_mass *mass = &model->bodies.items[i].mass;
    mass->mass *= scale;
    mass->inertia = dsym_scale(scale, mass->inertia);
  }
}

// ---------------------------------------------------------------------------------------------
// Joints and keyframes

static void number_joints(tn_model *model)
{
  for (int i = 0; i < model->joints.count; ++i) {
    model_joint *j = &model->joints.items[i];
    j->qpos = model->qpos_count;
    j->dof = model->dof_count;
    model->qpos_count += model_joint_qpos_count(j->type);
    model->dof_count += model_joint_dof_count(j->type);
  }
}

static bool check_keys(reader *r)
{
  tn_model *model = r->model;
  int mocaps = 0, states = 0;
  bool known = true;
  for (int i = 0; i < model->bodies.count; ++i) {
    mocaps += model->bodies.items[i].mocap;
  }
  for (int i = 0; i < model->actuators.count; ++i) {
    states += model->actuators.items[i].dynamics != MODEL_DYN_NONE;
    known = known && !model->actuators.items[i].has_own_states;
  }
  for (int i = 0; i < model->keys.count; ++i) {
    model_key *k = &model->keys.items[i];
    if (!known && k->act_count) {
      model_note_add(model, TN_IMPORT_IGNORED, k->at, "<key> act: an actuator is not known");
      k->act = NULL;
      k->act_count = 0;
    }
    const struct {
      const char *name;
      int given, wanted;
    } lists[] = {{"qpos", k->qpos_count, model->qpos_count},
                 {"qvel", k->qvel_count, model->dof_count},
                 {"ctrl", k->ctrl_count, model->actuators.count},
                 {"act", k->act_count, states},
                 {"mpos", k->mpos_count, 3 * mocaps},
                 {"mquat", k->mquat_count, 4 * mocaps}};
    for (size_t n = 0; n < sizeof lists / sizeof lists[0]; ++n) {
      if (lists[n].given && lists[n].given != lists[n].wanted) {
        return import_fail(r, k->at, "%s of this keyframe has %d numbers, the model needs %d",
                           lists[n].name, lists[n].given, lists[n].wanted);
      }
    }
  }
  return true;
}

static bool check_links(reader *r)
{
  for (int i = 0; i < r->model->links.count; ++i) {
    const model_link *l = &r->model->links.items[i];
    if (l->linear[0] > l->linear[1] || l->angular[0] > l->angular[1] || l->swing < 0.0) {
      return import_fail(r, l->at, "a range of joint '%.60s' is reversed", l->name);
    }
  }
  return true;
}

static bool check_bodies(reader *r)
{
  const tn_model *model = r->model;
  for (int i = 0; i < model->bodies.count; ++i) {
    const model_body *b = &model->bodies.items[i];
    for (int k = 1; k < b->joint_count; ++k) {
      if (model->joints.items[b->first_joint + k].type == MODEL_FREE) {
        return import_fail(r, b->at, "a free joint must be the only joint of its body");
      }
    }
    if (b->joint_count > 6) {
      return import_fail(r, b->at, "more than 6 joints on one body");
    }
    const double most = 1e30; // in the range of float, also where some are added
    const model_mass *m = &b->mass;
    if (!(m->mass <= most) ||
        !(m->inertia.xx <= most && m->inertia.yy <= most && m->inertia.zz <= most)) {
      return import_fail(r, b->at, "mass or inertia of this body is beyond %g", most);
    }
  }
  return true;
}

bool model_complete(reader *r)
{
  tn_model *model = r->model;
  pairs_assign(model);
  load_meshes(r);
  if (r->failed || !solids_fit(r)) {
    return false;
  }
  for (int i = 0; i < model->geoms.count; ++i) {
    weigh_geom(model, &model->geoms.items[i]);
  }
  weigh_bodies(model);
  number_joints(model);
  if (!check_bodies(r) || !check_links(r) || !check_keys(r)) {
    return false;
  }
  place start = {model->path, 0};
  return !model->memory.failed || import_fail(r, start, "not enough memory");
}

#include "model.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Notes

enum { MAX_NOTES = 1000 };

void model_note_add(tn_model *model, tn_import_fate fate, place at, const char *format, ...)
{
  char text[400];
  va_list arguments;
  if (model->is_noted) {
    return;
  }
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  for (int i = 0; i < model->notes.count; ++i) {
    model_note *n = &model->notes.items[i];
    if (n->fate == fate && strcmp(n->text, text) == 0) {
      n->count += 1;
      return;
    }
  }
  if (model->notes.count >= MAX_NOTES) { // of a file that is made of nonsense
    model->notes.items[MAX_NOTES - 1].count += 1;
    return;
  }
  model_note *n = LIST_ADD(&model->memory, &model->notes);
  if (n) {
    *n = (model_note){fate, memory_text(&model->memory, text, strlen(text)), at, 1};
  }
}

// ---------------------------------------------------------------------------------------------
// Names

#define FIND(list)                                                                                 \
  for (int i = 0; i < (list).count; ++i) {                                                         \
    if ((list).items[i].name[0] && strcmp((list).items[i].name, name) == 0) {                      \
      return i;                                                                                    \
    }                                                                                              \
  }                                                                                                \
  return -1

int model_find_body(const tn_model *model, const char *name)
{
  FIND(model->bodies);
}

int model_find_joint(const tn_model *model, const char *name)
{
  FIND(model->joints);
}

int model_find_geom(const tn_model *model, const char *name)
{
  FIND(model->geoms);
}

int model_find_site(const tn_model *model, const char *name)
{
  FIND(model->sites);
}

int model_find_mesh(const tn_model *model, const char *name)
{
  FIND(model->meshes);
}

int model_find_tendon(const tn_model *model, const char *name)
{
  FIND(model->tendons);
}

int model_find_actuator(const tn_model *model, const char *name)
{
  FIND(model->actuators);
}

// ---------------------------------------------------------------------------------------------
// Positions of joints

int model_joint_qpos_count(model_joint_type type)
{
  static const int counts[] = {1, 1, 4, 7, 3};
  return counts[type];
}

int model_joint_dof_count(model_joint_type type)
{
  static const int counts[] = {1, 1, 3, 6, 3};
  return counts[type];
}

void model_reference(const tn_model *model, double *qpos)
{
  for (int i = 0; i < model->joints.count; ++i) {
    const model_joint *j = &model->joints.items[i];
    const dpose *pose = &model->bodies.items[j->body].pose;
    double *q = qpos + j->qpos;
    if (j->type == MODEL_FREE) {
      double values[7] = {pose->p.x, pose->p.y, pose->p.z, pose->q.w,
                          pose->q.x, pose->q.y, pose->q.z};
      memcpy(q, values, sizeof values);
    } else if (j->type == MODEL_BALL) {
      q[0] = 1.0;
      q[1] = q[2] = q[3] = 0.0;
    } else if (j->type == MODEL_PLANAR) {
      q[0] = q[1] = q[2] = 0.0;
    } else {
      q[0] = j->ref;
    }
  }
}

// Two directions across an axis, for the slides of a planar joint.
static void across(dvec axis, dvec *u, dvec *v)
{
  drot q = drot_from_to(dvec_of(0.0, 0.0, 1.0), axis);
  *u = drot_apply(q, dvec_of(1.0, 0.0, 0.0));
  *v = drot_apply(q, dvec_of(0.0, 1.0, 0.0));
}

// Turns a pose by `turn`, in its own frame, about a point of its own frame.
static dpose turned(dpose pose, dvec point, drot turn)
{
  dvec anchor = dpose_apply(pose, point);
  drot q = drot_normalize(drot_mul(pose.q, turn));
  dpose out = {dvec_sub(anchor, drot_apply(q, point)), q};
  return out;
}

static dpose moved(dpose pose, const model_joint *j, const double *q)
{
  dvec u, v;
  switch (j->type) {
  case MODEL_FREE:
    pose.p = dvec_of(q[0], q[1], q[2]);
    pose.q = drot_normalize((drot){q[3], q[4], q[5], q[6]});
    return pose;
  case MODEL_BALL:
    return turned(pose, j->pos, drot_normalize((drot){q[0], q[1], q[2], q[3]}));
  case MODEL_SLIDE:
    pose.p = dvec_add(pose.p, drot_apply(pose.q, dvec_scale(q[0] - j->ref, j->axis)));
    return pose;
  case MODEL_PLANAR:
    across(j->axis, &u, &v);
    pose.p =
        dvec_add(pose.p, drot_apply(pose.q, dvec_add(dvec_scale(q[0], u), dvec_scale(q[1], v))));
    return turned(pose, j->pos, drot_axis_angle(j->axis, q[2]));
  default:
    return turned(pose, j->pos, drot_axis_angle(j->axis, q[0] - j->ref));
  }
}

// The pose that a keyframe states of a mocap body.
static dpose mocap_pose(const model_key *key, int mocap, dpose pose)
{
  const double *p = key && key->mpos ? key->mpos + (ptrdiff_t)3 * mocap : NULL;
  const double *q = key && key->mquat ? key->mquat + (ptrdiff_t)4 * mocap : NULL;
  pose.p = p ? dvec_of(p[0], p[1], p[2]) : pose.p;
  pose.q = q ? (drot){q[0], q[1], q[2], q[3]} : pose.q;
  return pose;
}

void model_kinematics(const tn_model *model, const model_key *key, dpose *poses, dpose *after)
{
  const double *qpos = key ? key->qpos : NULL;
  int mocaps = 0;
  for (int i = 0; i < model->bodies.count; ++i) {
    const model_body *body = &model->bodies.items[i];
    dpose pose = body->parent < 0 ? body->pose : dpose_mul(poses[body->parent], body->pose);
    pose = body->mocap ? mocap_pose(key, mocaps++, pose) : pose;
    for (int k = 0; k < body->joint_count; ++k) {
      const model_joint *j = &model->joints.items[body->first_joint + k];
      if (qpos) {
        pose = moved(pose, j, qpos + j->qpos);
      }
      if (after) {
        after[body->first_joint + k] = pose;
      }
    }
    pose.q = drot_normalize(pose.q);
    poses[i] = pose;
  }
}

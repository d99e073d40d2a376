// <flag> of MJCF: parts of the physics that a file switches off.
#include "mjcf.h"

static const char *const flag_names[MJCF_FLAG_COUNT] = {
    [MJCF_CONSTRAINT] = "constraint",
    [MJCF_EQUALITY] = "equality",
    [MJCF_FRICTIONLOSS] = "frictionloss",
    [MJCF_LIMIT] = "limit",
    [MJCF_CONTACT] = "contact",
    [MJCF_PASSIVE] = "passive",
    [MJCF_SPRING] = "spring",
    [MJCF_DAMPER] = "damper",
    [MJCF_GRAVITY] = "gravity",
    [MJCF_CLAMP] = "clampctrl",
    [MJCF_ACTUATION] = "actuation",
    [MJCF_FILTER_PARENT] = "filterparent",
};

void mjcf_read_flags(mjcf *m, const xml_node *option)
{
  static const char *const words[] = {"disable", "enable", NULL};
  for (xml_node *node = option->first; node; node = node->next) {
    if (!xml_is(node, "flag")) {
      continue;
    }
    node->used = true;
    for (int i = 0; i < MJCF_FLAG_COUNT; ++i) {
      int value;
      if (xml_word(m->r, node, flag_names[i], words, &value)) {
        m->off[i] = value == 0;
      }
    }
  }
}

static void change_joints(mjcf *m)
{
  bool constraint = m->off[MJCF_CONSTRAINT], passive = m->off[MJCF_PASSIVE];
  for (int i = 0; i < m->model->joints.count; ++i) {
    model_joint *j = &m->model->joints.items[i];
    if (constraint || m->off[MJCF_LIMIT]) {
      j->limited = false;
    }
    if (constraint || m->off[MJCF_FRICTIONLOSS]) {
      j->frictionloss = 0.0;
    }
    if (passive || m->off[MJCF_SPRING]) {
      j->stiffness = j->spring_time = 0.0;
    }
    if (passive || m->off[MJCF_DAMPER]) {
      j->damping = 0.0;
    }
  }
}

static void change_tendons(mjcf *m)
{
  bool constraint = m->off[MJCF_CONSTRAINT], passive = m->off[MJCF_PASSIVE];
  for (int i = 0; i < m->model->tendons.count; ++i) {
    model_tendon *t = &m->model->tendons.items[i];
    if (constraint || m->off[MJCF_LIMIT]) {
      t->limited = false;
    }
    if (constraint || m->off[MJCF_FRICTIONLOSS]) {
      t->frictionloss = 0.0;
    }
    if (passive || m->off[MJCF_SPRING]) {
      t->stiffness = 0.0;
    }
    if (passive || m->off[MJCF_DAMPER]) {
      t->damping = 0.0;
    }
  }
}

void mjcf_apply_flags(mjcf *m)
{
  tn_model *model = m->model;
  bool constraint = m->off[MJCF_CONSTRAINT];
  change_joints(m);
  change_tendons(m);
  for (int i = 0; i < model->equalities.count; ++i) {
    model->equalities.items[i].active &= !constraint && !m->off[MJCF_EQUALITY];
  }
  if (constraint || m->off[MJCF_CONTACT]) {
    model->pairs.count = 0;
    for (int i = 0; i < model->geoms.count; ++i) {
      model->geoms.items[i].contype = model->geoms.items[i].conaffinity = 0;
    }
  }
  for (int i = 0; i < model->actuators.count; ++i) {
    model->actuators.items[i].control_limited &= !m->off[MJCF_CLAMP];
    model->actuators.items[i].supported &= !m->off[MJCF_ACTUATION];
  }
  if (m->off[MJCF_GRAVITY]) {
    model->option.gravity = dvec_of(0.0, 0.0, 0.0);
  }
  model->option.parents_collide = m->off[MJCF_FILTER_PARENT];
}

// Checks of public arguments. They return the reason for a refusal, or null.
#ifndef TENON_WORLD_CHECKS_H
#define TENON_WORLD_CHECKS_H

#include "data/geometries.h"

#include <tenon/tenon.h>

bool is_method(tn_method method);
const char *counts_problem(int substeps, int iterations);
bool is_play(float x);
bool is_sleep_setting(float x); // of a speed, m/s, or a time, s
// As the mass of a dynamic body.
const char *mass_problem(const tn_mass *mass);
const char *material_error(const tn_material *m);
// Checks the counts against source_size.
const char *geometry_problem(const shared_geometry *g);
// Checks what does not depend on the world.
const char *shape_def_problem(const tn_shape_def *def);
// Checks what does not depend on the bodies.
const char *joint_def_problem(const tn_joint_def *def);
const char *joint_axis_problem(tn_joint_kind kind, int axis, const tn_axis *a);
// Checks what does not depend on joints and bodies.
const char *coupling_def_problem(const tn_coupling_def *def);
// Checks what does not depend on the world.
const char *attachment_def_problem(const tn_attachment_def *def);

#endif

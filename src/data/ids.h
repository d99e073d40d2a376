// Ids and slots. `..._find` functions return null and log the reason, with `caller`, if the id is
// not valid.
#ifndef TENON_DATA_IDS_H
#define TENON_DATA_IDS_H

#include "data/bodies.h"
#include "data/couplings.h"
#include "data/joints.h"
#include "data/shapes.h"
#include "data/softs.h"

#include <tenon/tenon.h>

body *body_find(const tn_world *world, tn_body_id id, const char *caller);
attachment *attachment_find(const tn_world *world, tn_attachment_id id, const char *caller);
shape *shape_find(const tn_world *world, tn_shape_id id, const char *caller);
joint *joint_find(const tn_world *world, tn_joint_id id, const char *caller);
coupling *coupling_find(const tn_world *world, tn_coupling_id id, const char *caller);
soft *soft_find(const tn_world *world, tn_soft_id id, const char *caller);

int32_t body_slot(const tn_world *world, const body *b);
tn_body_id body_id_at(const tn_world *world, int32_t slot);
tn_body_id body_id_of(const tn_world *world, int32_t slot); // null for the static world
tn_attachment_id attachment_id_at(const tn_world *world, int32_t slot);
tn_shape_id shape_id_at(const tn_world *world, int32_t slot);
tn_joint_id joint_id_at(const tn_world *world, int32_t slot);
tn_coupling_id coupling_id_at(const tn_world *world, int32_t slot);
tn_soft_id soft_id_at(const tn_world *world, int32_t slot);

#endif

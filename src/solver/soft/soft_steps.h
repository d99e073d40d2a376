// The stages of a step of soft bodies, in the order of the files of this folder.
#ifndef TENON_SOLVER_SOFT_SOFT_STEPS_H
#define TENON_SOLVER_SOFT_SOFT_STEPS_H

#include "solver/soft/soft_graph.h"

#include <tenon/tenon.h>

// soft_layout.c
bool soft_graph_build(tn_world *world);
void soft_graph_invalidate(tn_world *world);
void soft_graph_release(tn_world *world);
void soft_pack(tn_world *world);
void soft_forget_rows(tn_world *world, int32_t slot);
bool soft_unpack(tn_world *world); // false if a soft body was lost
// The same for velocities that damping left out of range.
bool soft_stop_bad_velocities(tn_world *world);

// soft_chains.c
void soft_solve_chains(tn_world *world, float h, bool relaxing);
void soft_solve_chain_positions(tn_world *world, float h);
void soft_solve_pressure(tn_world *world, float h, soft_stage stage);
// Caps the stiffness that the substeps cannot resolve.
void soft_limit_stiffness(tn_world *world, float dt);
// Angular velocity of a body with this inertia (xx yy zz xy xz yz) and angular momentum.
tn_pos solve_inertia(const double *inertia, tn_pos momentum);

// soft_momentum.c
void soft_damp(tn_world *world, float dt);
void soft_restore_momentum(tn_world *world, float dt);

// soft_coloring.c
typedef soft_coloring_node soft_coloring_node_fn(const tn_world *world, int32_t index);
bool soft_coloring_build(tn_world *world, soft_coloring *links, int32_t count,
                         soft_coloring_node_fn *of);
void soft_coloring_release(tn_world *world, soft_coloring *links);

// soft_clusters.c
// solver/soft/soft_clusters.c; soft_fit_rotation: world/soft_measure.c
void soft_solve_clusters(tn_world *world, float h, soft_stage stage);
double soft_cluster_energy(const soft *s, int32_t index);
// Fits the cluster's rotation to its parts; returns their deviation, relative to their size.
double soft_cluster_error(const soft *s, soft_cluster *cluster, const cluster_part *parts);

void soft_init_clusters(soft *s, const tn_soft_def *def);
void soft_reset_clusters(soft *s, tn_quat turn); // rotation `turn`, no impulses

// soft_unfold.c, soft_plastic.c, soft_tear.c
void soft_unfold_update(tn_world *world, float dt);
bool soft_unfold_pack(tn_world *world);
void soft_apply_plasticity(tn_world *world, float dt);
void soft_tear(tn_world *world, float dt);

// soft_contact_layout.c
bool soft_contacts_pack(tn_world *world);
void soft_contacts_unpack(tn_world *world, float dt);
void soft_contact_layout_release(tn_world *world);

// attachment_layout.c
bool attachments_pack(tn_world *world, float scale);
void attachments_unpack(tn_world *world, float dt);
bool attachment_is_active(const tn_world *world, const attachment *a);
tn_pos attachment_lever(const tn_world *world, const attachment *a);
// From the body's point to the particle, m.
tn_pos attachment_delta_at_start(const tn_world *world, const attachment *a, tn_pos lever);

#endif

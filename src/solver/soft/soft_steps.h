// The stages of a step of soft bodies, in the order of the files of this folder.
#ifndef TENON_SOLVER_SOFT_SOFT_STEPS_H
#define TENON_SOLVER_SOFT_SOFT_STEPS_H

#include "solver/soft/soft_system.h"

// soft_layout.c
bool soft_graph_build(const soft_system *system);
// Empties the graph and sets `stale`, a layout_stale.
void soft_graph_invalidate(soft_graph *g, bool *stale);
void soft_graph_release(heap *h, soft_graph *g);

// soft_pack.c
void soft_pack(const soft_system *system);
// Copies the state of all constraints back to their bodies after each step. The blocks can then be
// rebuilt at any time, and snapshots and hashes read the bodies only.
void soft_unpack_rows(const soft_system *system);
// Copies the particles back. Where one would leave the range of positions the body keeps its
// positions of the step's start and stops: soft_has_left() then, until the next check.
void soft_unpack(const soft_system *system);
bool soft_has_left(const soft_system *system, int32_t slot);
// Stops a body if damping left a velocity out of range, as soft_check_velocities() has found, and
// returns false.
void soft_check_velocities(const soft_system *system);
bool soft_stop_bad_velocities(const soft_system *system, int32_t slot);
// Whether v^2 + dx^2 of all particles is at most this, which it is not if it is NaN.
bool soft_states_are_within(const soft_system *system, float largest_square);
// Resets rotations to identity and impulses to zero, for a body that became non-finite. The graph
// must then be invalidated.
void soft_forget_rows(soft *s);

// soft_chains.c
void soft_solve_chains(const soft_system *system, float h, bool relaxing);
void soft_solve_chain_positions(const soft_system *system, float h);
void soft_solve_pressure(const soft_system *system, float h, soft_stage stage);
// Caps the stiffness that the substeps cannot resolve.
void soft_limit_stiffness(const soft_system *system, float dt);
// Angular velocity of a body with this inertia (xx yy zz xy xz yz) and angular momentum.
tn_pos solve_inertia(const double *inertia, tn_pos momentum);

// soft_momentum.c
void soft_damp(const soft_system *system, float dt);
void soft_restore_momentum(const soft_system *system, float dt);

// soft_coloring.c
typedef soft_coloring_node soft_coloring_node_fn(const soft_system *system, int32_t index);
bool soft_coloring_build(const soft_system *system, soft_coloring *links, int32_t count,
                         soft_coloring_node_fn *of);
void soft_coloring_release(heap *h, soft_coloring *links);

// soft_clusters.c
void soft_solve_clusters(const soft_system *system, float h, soft_stage stage);
double soft_cluster_energy(const soft *s, int32_t index);
// Fits the cluster's rotation to its parts; returns their deviation, relative to their size.
double soft_cluster_error(const soft *s, soft_cluster *cluster, const cluster_part *parts);

void soft_init_clusters(soft *s, const tn_soft_def *def);
void soft_reset_clusters(soft *s, tn_quat turn); // rotation `turn`, no impulses

// soft_unfold.c, soft_plastic.c, soft_tear.c
void soft_unfold_update(const soft_system *system, float dt);
bool soft_unfold_pack(const soft_system *system);
void soft_apply_plasticity(const soft_system *system, float dt);
// False if a tear has to wait for the next step, because there is no memory.
bool soft_tear(const soft_system *system, float dt);

// soft_contact_layout.c
bool soft_contacts_pack(const soft_system *system);
void soft_contacts_unpack(const soft_system *system, float dt);
void soft_contact_layout_release(heap *h, soft_data *data, soft_coloring *links);

// attachment_layout.c
bool attachments_pack(const soft_system *system, float scale);
void attachments_unpack(const soft_system *system, float dt);
// `softs` and `bodies`: by slot.
bool attachment_is_active(const soft *softs, const attachment *a);
tn_pos attachment_lever(const body *bodies, const attachment *a);
// From the body's point to the particle, m.
tn_pos attachment_delta_at_start(const soft *softs, const body *bodies, const attachment *a,
                                 tn_pos lever);

#endif

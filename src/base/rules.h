// Switches of the solver's extra rules, for ablation studies: docs/solver.md lists the rules.
//
// RULE(name) is the constant true in an ordinary build, and the compiler removes the test. In a
// build with -DTENON_RULES=ON the environment variable TENON_RULES_OFF holds the names of the rules
// to switch off, separated by commas, or @file: the name of a file that holds them.
#ifndef TENON_BASE_RULES_H
#define TENON_BASE_RULES_H

#include <stdbool.h>

// clang-format off

// Contacts, friction, the integrator.
#define RULES_OF_CONTACTS(X) \
  X(contact_warm_start)    \
  X(contact_decay)         \
  X(gradual_push)          \
  X(preload)               \
  X(preload_rescale)       \
  X(heavy_load_decay)      \
  X(two_point_load)        \
  X(settling_passes)       \
  X(load_estimate)         \
  X(inertia_scaling)       \
  X(mass_scaling)          \
  X(block_manifold)        \
  X(block_refinement)      \
  X(contact_relax)         \
  X(near_gap)              \
  X(kept_gap)              \
  X(decay_restored)        \
  X(push_cap)              \
  X(crowded_push)          \
  X(tilt_bias)             \
  X(friction_anchor)       \
  X(jointed_anchor)        \
  X(anchor_kept)           \
  X(friction_at_load)      \
  X(slip_by_relax)         \
  X(face_friction)         \
  X(rolling_ahead)         \
  X(random_colors)         \
  X(curvature_bias)        \
  X(turning_arms)          \
  X(half_kick)             \
  X(supported_kick)        \
  RULES_OF_IMPACTS(X)      \
  RULES_OF_DETECTION(X)

#define RULES_OF_IMPACTS(X) \
  X(impact_corners)        \
  X(impact_alone)          \
  X(impact_free_flight)    \
  X(impact_spinning)       \
  X(restitution_threshold) \
  X(bounce_without_touch)

#define RULES_OF_DETECTION(X) \
  X(speculative_margin)    \
  X(continuous)            \
  X(continuous_path)       \
  X(sweep)                 \
  X(ghosts)                \
  X(manifold_reuse)        \
  X(fixed_normal)          \
  X(axis_hysteresis)       \
  X(point_hysteresis)      \
  X(face_slack)

// Rows of joints, and joints that are solved by Gauss-Seidel.
#define RULES_OF_JOINTS(X) \
  X(joint_warm_start)      \
  X(joint_push_cap)        \
  X(limited_row_keep)      \
  X(spring_load)           \
  X(locked_rows_first)     \
  X(limit_fade)            \
  X(half_turn_blend)

// clang-format on

// Mechanisms.
#define RULES_OF_MECHANISMS(X)                                                                     \
  X(mechanism_curved_drift)                                                                        \
  X(mechanism_bent_rates)                                                                          \
  X(mechanism_split_impulse)                                                                       \
  X(mechanism_correction_energy)                                                                   \
  X(mechanism_split_active_set)                                                                    \
  X(mechanism_split_momentum)                                                                      \
  X(mechanism_split_work)                                                                          \
  X(mechanism_closing)                                                                             \
  X(mechanism_split_set_aside)                                                                     \
  X(mechanism_refinement)                                                                          \
  X(mechanism_load_inertia)                                                                        \
  X(mechanism_correction_inertia)                                                                  \
  X(mechanism_inertia_spares_springs)                                                              \
  X(mechanism_inertia_energy)                                                                      \
  X(mechanism_inertia_momentum)                                                                    \
  X(mechanism_rigid_motion)                                                                        \
  X(mechanism_infeasible)                                                                          \
  X(mechanism_regularization)                                                                      \
  X(mechanism_play)                                                                                \
  X(mechanism_light_links)                                                                         \
  X(mechanism_tree_regularization)                                                                 \
  X(mechanism_deadband)                                                                            \
  X(mechanism_active_set_rounds)                                                                   \
  X(mechanism_limit_switches)                                                                      \
  X(mechanism_stiff_springs)                                                                       \
  X(mechanism_spring_impulse)                                                                      \
  X(mechanism_spring_row)                                                                          \
  X(mechanism_spring_prediction)                                                                   \
  X(mechanism_servo_approach)                                                                      \
  X(mechanism_lagged_friction)                                                                     \
  X(mechanism_contact_warm_start)                                                                  \
  X(mechanism_ball_trees)                                                                          \
  X(mechanism_coasting)                                                                            \
  X(mechanism_batches)

// Soft bodies.
#define RULES_OF_SOFT_BODIES(X)                                                                    \
  X(soft_warm_start)                                                                               \
  X(soft_edge_tension)                                                                             \
  X(soft_edge_rate)                                                                                \
  X(soft_relax)                                                                                    \
  X(soft_shear_torque)                                                                             \
  X(soft_neo_block)                                                                                \
  X(soft_neo_stability)                                                                            \
  X(soft_min_volume)                                                                               \
  X(soft_unfold)                                                                                   \
  X(soft_pinned_mass)                                                                              \
  X(soft_supported_kick)                                                                           \
  X(soft_speed_limit)                                                                              \
  X(soft_momentum)                                                                                 \
  X(soft_momentum_lever)                                                                           \
  X(soft_rope_direct)                                                                              \
  X(soft_rope_body_mass)                                                                           \
  X(soft_rope_stiffness)                                                                           \
  X(soft_rope_momentum)                                                                            \
  X(soft_attachment_springs)                                                                       \
  X(soft_attachment_relax)                                                                         \
  X(soft_attachment_reversed)                                                                      \
  X(soft_attachment_sums)                                                                          \
  X(soft_rigid_triangle)                                                                           \
  X(soft_contact_beta)                                                                             \
  X(soft_contact_push)                                                                             \
  X(soft_triangle_radius)                                                                          \
  X(soft_triangle_corner)                                                                          \
  X(soft_face_contacts)                                                                            \
  X(soft_edge_contacts)                                                                            \
  X(soft_self_rest)

#define RULES(X)                                                                                   \
  RULES_OF_CONTACTS(X) RULES_OF_JOINTS(X) RULES_OF_MECHANISMS(X) RULES_OF_SOFT_BODIES(X)

#if defined(TENON_RULES)

#define RULE_ENUM(name) RULE_##name,
typedef enum rule { RULES(RULE_ENUM) RULE_COUNT } rule;
#undef RULE_ENUM

// Read before main(); the last entry makes an empty list possible.
extern bool rule_is_off[RULE_COUNT + 1];
#define RULE(name) (!rule_is_off[RULE_##name])

#else

#define RULE(name) true

#endif

#endif

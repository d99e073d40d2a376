// Tuned constants of soft bodies, soft contacts and attachments, and the ranges that definitions
// accept. docs/solver.md has the rules that use them.
//
// Each has its unit, how it scales with the substep h, mass and size, and the test or scene that
// needs it. "Relative" numbers have no unit and do not scale; "absolute" ones do not scale with the
// objects.
#ifndef TENON_KERNEL_SOFT_TUNING_H
#define TENON_KERNEL_SOFT_TUNING_H

// ---------------------------------------------------------------------------------------------
// Warm start, correction

// Warm start of edges, corotated and shape matched elements and clusters: share of the last
// substep's impulses. Per substep, whatever h; position methods have none.
// Needed by: soft_cube_bears_a_hundred_times_its_weight, cloth_hangs_still.
#define TUNING_SOFT_WARM_START 0.5f
// Rate at which length errors of rigid edges are removed, 1/s; at most the whole error per substep,
// which it is up to 12 substeps at 60 Hz. The correction adds energy and the decay of the warm
// start takes it: faster, slack cloth trembles.
// Needed by: cloth_hangs_still, folded_cloth_lies_in_a_heap.
#define TUNING_EDGE_CORRECTION_RATE 720.0f
// Speed limit of particles, m/s, absolute, equal to the default limit of bodies. Keeps free torn
// pieces within the range of positions. Needed by: stays_finite.
#define TUNING_PARTICLE_MAX_SPEED 1000.0f
// Compliance of a row that does not act, and the least that counts as such: no bulk row (Poisson's
// ratio 0, elements that unfold), springs in the relax pass of a rope.
#define SOFT_ROW_OFF 1e30f
#define SOFT_ROW_OFF_FROM 1e29f
// No bound of an impulse, N s.
#define SOFT_UNBOUNDED_IMPULSE 1e30f

// ---------------------------------------------------------------------------------------------
// Solids

// Factor on the mass of pinned particles when an element or cluster is matched: its goal follows
// the pins. Relative. Needed by: tyre_rolls.
#define TUNING_PINNED_MASS_FACTOR 1e4f
// The same for the rigid motion that damping spares: that of a pinned body is the one of its pins.
#define TUNING_PINNED_DAMPING_MASS_FACTOR 1e6
// Largest omega^2 h^2 of Neo-Hookean elements, relative. Their rows leave out how the gradients
// turn with the shape (geometric stiffness), which makes long substeps unstable: regular grids
// start to vibrate at 3.5 (Poisson's ratio 0.45) to 5.4 (Poisson's ratio 0). Stiffer ones are
// softened, with a warning. Needed by: neo_hookean_warns_of_too_few_substeps.
#define TUNING_NEO_HOOKEAN_STABILITY 3.0f
// Volume over rest volume below which the one-sided volume row of a shape matched tetrahedron acts.
// Needed by: recovers_from_any_state.
#define TUNING_SHAPE_MATCH_MIN_VOLUME 0.5f
// Least thickness of a cluster's box besides two particle radii, m, absolute: flat clusters have a
// stiffness too.
#define TUNING_CLUSTER_MIN_THICKNESS 1e-6
// Bound of a step of the rotation's fit, relative to the turn: keeps it finite on mirrored or
// random shapes. Needed by: recovers_from_any_state.
#define TUNING_ROTATION_STEP_RIDGE 1e-3f
// Rounds in which rigid motion is removed from impulses: the second removes what rounding leaves,
// which would add up over thousands of substeps. Needed by: spinning_cube_keeps_its_momenta.
#define TUNING_RIGID_REMOVAL_ROUNDS 2
// Ridges that keep inertias of particles in a line or of thin bodies invertible, relative to the
// trace: in float, and of solve_inertia() in double.
#define TUNING_INERTIA_RIDGE_FLOAT 1e-6
#define TUNING_INERTIA_RIDGE_DOUBLE 1e-9
// Least determinant of a 3 x 3 block that is inverted, after scaling to unit trace.
#define TUNING_BLOCK_MIN_DETERMINANT 1e-18f
// Blocks of particles that are summed in float before their sum is added in double.
#define TUNING_FLOAT_SUM_BLOCKS 32

// Guards of divisions and directions without length: m; m^2; |F|; any other quantity.
#define TUNING_SOFT_MIN_LENGTH 1e-20f
#define TUNING_SOFT_MIN_SQUARED_LENGTH 1e-20f
#define TUNING_SOFT_MIN_STRETCH 1e-20f
#define TUNING_SOFT_TINY 1e-30f

// ---------------------------------------------------------------------------------------------
// Plasticity, measures

// Refinements of an element's rotation before its strain is taken. Needed by: dent_stays.
#define TUNING_PLASTIC_ROTATION_ITERATIONS 4
// Least determinant of an element's second moment, relative to its trace cubed; a flatter one does
// not flow.
#define TUNING_PLASTIC_MIN_DETERMINANT 1e-12
// Newton steps of a cube root of a number near 1.
#define TUNING_CUBE_ROOT_ITERATIONS 40
// Polar decomposition for energies: least determinant relative to the size cubed, steps of Higham's
// iteration, refinements of the rotation. Needed by: energy_follows_the_law.
#define TUNING_POLAR_MIN_DETERMINANT 1e-9
#define TUNING_POLAR_ITERATIONS 10
#define TUNING_ROTATION_ITERATIONS 20

// ---------------------------------------------------------------------------------------------
// Ropes

// Transverse stiffness of a loaded rope that a substep resolves, as h^2 k w; the excess is made
// implicit. Relative. Needed by: rope_carries_a_thousand_times_its_weight.
#define TUNING_ROPE_STIFFNESS_RESOLVED 0.5
// Least pivot of a rope's elimination, relative to the inverse mass of its row: a rope that is taut
// between two pins has one redundant row.
#define TUNING_ROPE_MIN_PIVOT 1e-9

// ---------------------------------------------------------------------------------------------
// Unfolding of inverted elements. Times are absolute. Needed by: recovers_from_any_state.

#define TUNING_INVERTED_VOLUME 0.05  // volume over rest volume below which an element is inverted
#define TUNING_UNFOLD_DELAY 0.25f    // s, time to unfold by itself
#define TUNING_UNFOLD_RING_TIME 0.1f // s between rings of neighbours that the cluster takes in
#define TUNING_UNFOLD_TIMEOUT 4.0f   // s, gives up: an obstacle may hold the element inverted
#define TUNING_UNFOLD_DONE 0.02      // rms error over cluster size at which the cluster is released
#define TUNING_UNFOLD_SOFTENING 1e6f // factor on the compliance of the elements in the cluster
// Elements tested per step: one of so many parts of all, at least the count.
#define TUNING_UNFOLD_SCAN_PARTS 16
#define TUNING_UNFOLD_SCAN_COUNT 64

// ---------------------------------------------------------------------------------------------
// Tearing

// Tears per body and step, the most strained first; a rope tears once.
// Needed by: cloth_tears_in_two.
#define TUNING_MAX_TEARS 4
// A particle with more elements is not split.
#define TUNING_MAX_STAR_ELEMENTS 256
// Less than the scalar product of any two edges of a body, m^2.
#define TUNING_NO_DIRECTION (-1e30)

// ---------------------------------------------------------------------------------------------
// Soft contacts: solver

// Share of a penetration between soft bodies, and in self collision, that is removed per substep.
// Per substep, whatever h; against rigid bodies it is TUNING_CONTACT_DECAY.
// Needed by: cloth_lies_on_itself, cubes_that_collide_keep_both_momenta.
#define TUNING_SOFT_SOFT_BETA 0.2f
// Largest speed out of a penetration, m/s, absolute. Needed by: overlap_is_left_gently.
#define TUNING_SOFT_CONTACT_PUSH_SPEED 1.0f
// Gap, m, absolute: a smaller one supports and wakes, and a contact without force has ended only
// above it. Needed by: touches_and_parts, sleeps_and_wakes_with_what_it_carries.
#define TUNING_SOFT_TOUCH_GAP 0.001f
// Distance from the core below which a round contact keeps its normal, m, absolute.
#define TUNING_SOFT_CONTACT_MIN_LENGTH 1e-9f
// Least inverse mass of a triangle's corner relative to the lightest one: a pinned corner is so
// much heavier, not infinitely. Needed by: block_lies_within_a_triangle.
#define TUNING_PINNED_CORNER_SHARE 1e-6f

// ---------------------------------------------------------------------------------------------
// Soft contacts: detection

// Candidates are kept as far as the relative motion of so many steps reaches, and so many times
// what gravity does in a step, g dt^2. Needed by: particle_rebounds.
#define TUNING_SOFT_MOTION_MARGIN 1.5f
#define TUNING_SOFT_GRAVITY_MARGIN 2.0f
// Margin between soft bodies, relative to their contact distance.
#define TUNING_SOFT_SOFT_MARGIN 0.25f
// Contact distance of triangles and shapes, relative to the particle radius. On a round body the
// faces of a smooth skin are closer than its corners; at the same distance the contacts would
// alternate between faces and corners. Needed by: cloth_stays_on_a_ball.
#define TUNING_SOFT_TRIANGLE_RADIUS_SHARE 0.5f
// A triangle must be closer to a shape than its corners by this, relative to the particle radius;
// else the particles' own contacts suffice. Needed by: spike_does_not_pass_between_particles.
#define TUNING_SOFT_CORNER_TOLERANCE 0.1f
// Cell of the hash grid, in largest radii: twice the contact distance. Pairs that approach from
// further away in a step are missed. Cell numbers wrap around at the second number.
#define TUNING_SOFT_GRID_CELL 4.0
#define TUNING_SOFT_GRID_WRAP 1e9
// Candidates per particle; further ones are dropped.
#define TUNING_SOFT_MAX_NEIGHBOURS 64
// Particles of one body that are closer at rest than this, relative to the contact distance, never
// collide: constraints keep them apart. Needed by: cloth_lies_on_itself.
#define TUNING_SELF_REST_FACTOR 1.05f
// Face contacts of a particle besides the nearest feature; the first ones count.
// Needed by: a_soft_ball_does_not_pass_a_coarse_face.
#define TUNING_SOFT_MAX_FACES 4
// Weights at which the closest point counts as a corner, and as within a face.
#define TUNING_SOFT_CORNER_WEIGHT 0.999f
#define TUNING_SOFT_FACE_WEIGHT 1e-4f
// Triangles whose distances differ by less, relative and m, share a feature.
#define TUNING_SOFT_SAME_DISTANCE_SHARE 1e-4f
#define TUNING_SOFT_SAME_DISTANCE 1e-6f
// Nearer than this, m, absolute, the triangle's normal is taken.
#define TUNING_SOFT_MIN_DIRECTION 1e-6f
// Edges between flatter triangles (26 degrees) do not collide. Needed by:
// bars_that_cross_do_not_pass.
#define TUNING_SOFT_SHARP_COSINE 0.9f
// Least cosine of contact normal and edge normal of a closed body.
#define TUNING_SOFT_FACING_COSINE 0.3f
// Squared sine of the angle between edges; more parallel ones (5.7 degrees) are left to particles.
#define TUNING_SOFT_CROSSING_SINE2 0.01f
// Share of an edge at each end that is left to particles.
#define TUNING_SOFT_EDGE_END 0.001f
// Guards the sum of two unit normals.
#define TUNING_SOFT_MIN_NORMAL_SUM 1e-6f

// ---------------------------------------------------------------------------------------------
// Ranges that definitions accept; include/tenon/types.h documents them

#define SOFT_MAX_VERTICES 10000000 // also most triangles of a mesh generator, and clusters
#define SOFT_MAX_ELEMENTS 50000000 // of a kind
#define SOFT_MIN_CLUSTER_SIZE 4    // particles
#define SOFT_MAX_COMPLIANCE 1e12f
#define SOFT_MAX_BENDING_STIFFNESS 1e12f // N m
#define SOFT_MIN_YOUNGS_MODULUS 1e-3f    // Pa
#define SOFT_MAX_YOUNGS_MODULUS 1e12f
#define SOFT_MAX_POISSON_RATIO 0.49f
#define SOFT_MAX_PRESSURE 1000.0f // target volume over rest volume
#define SOFT_MIN_MASS 1e-12f      // kg
#define SOFT_MAX_MASS 1e12f
#define SOFT_MAX_DAMPING 1e6f // 1/s, or s
#define SOFT_MAX_GRAVITY_SCALE 1e6f
#define SOFT_MAX_RADIUS 1e6f // m
#define SOFT_MAX_TETHER 1e9f // m
// Least volume of a tetrahedron relative to its longest edge cubed: below it the sign is rounding.
#define SOFT_MIN_TET_VOLUME 1e-6

#endif

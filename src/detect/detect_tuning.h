// Every tuned constant of the broad phase, the narrow phase and continuous collision.
//
// L is the bounding radius of the smaller shape of a pair, dt the step in s. Lengths scale with L,
// so that detection does not depend on the size of things; nothing here depends on mass.
#ifndef TENON_DETECT_DETECT_TUNING_H
#define TENON_DETECT_DETECT_TUNING_H

// ---------------------------------------------------------------------------------------------
// Contacts of a pair

// Gap up to which shapes get a contact:
//
//   margin = 0.02 L + min(closing distance of the step, 0.5 L)
//
// The second term makes contacts speculative; without the cap fast shapes get contacts with
// everything around them. Motion beyond the cap needs continuous collision detection.
// Needed by: every stack (0.02); the cap by test_contacts.c.
#define TUNING_CONTACT_MARGIN 0.02f
#define TUNING_CONTACT_MARGIN_CAP 0.5f
// Of shapes with restitution the second term has no cap and this factor: an impact may turn a body
// so that another of its points strikes within the step, faster than any point moved before. Needed
// by: elastic_bodies_keep_their_energy.
#define TUNING_BOUNCE_SPEED_GAIN 2.0f
// Gap beyond the contact margin up to which separated pairs are measured, relative to L: the larger
// the bound, the longer a pair is skipped. No physics.
#define TUNING_SEPARATION_MARGIN 0.1f
// Relative motion up to which a manifold is kept, relative to L, and rad. Manifolds found anew
// would change their features by rounding. Needed by: pyramid_stands_at_4_substeps.
#define TUNING_MANIFOLD_REUSE_LENGTH 1e-3f
#define TUNING_MANIFOLD_REUSE_ANGLE 1e-3f
// Distance within which a new point continues an old one, relative to L.
#define TUNING_CONTACT_MATCH_RADIUS 0.14f
// Least cosine between the normals of manifolds that continue each other.
#define TUNING_CONTACT_MATCH_COSINE 0.9f
// Motion in a step, relative to the sum of the radii, below which a round contact keeps its normal:
// the error of the gap is half the square of it, relative to the radii. Costs less, no physics.
#define TUNING_FIXED_NORMAL_MOTION 2.5e-3f
// Part of a body's path in a step by which the span of a wire is longer at both ends.
#define TUNING_WIRE_SPAN_MARGIN 0.2f
// Capsules whose axes enclose less than this, sine squared, may touch along a line and go to the
// scalar path; above COLLIDE_PARALLEL_SINE2, whose threshold decides there.
#define TUNING_PARALLEL_CAPSULES 1.5f
// Distance of axes that meet, relative to radii and distance of the centres.
#define TUNING_MEETING_AXES 1e-6f

// ---------------------------------------------------------------------------------------------
// Continuous collision, for motion in a step beyond the inner radius of a shape

// Impacts that a path is traced through, per step and shape.
// Needed by: nothing_leaves_a_closed_box.
#define TUNING_CCD_MAX_IMPACTS 8
// Sliding velocity that a solid ball loses when it begins to roll: a law, 1 - 5/7.
#define TUNING_CCD_ROLLING_LOSS (2.0f / 7.0f)
// m/s, floor of a divisor.
#define TUNING_CCD_MIN_SLIDE 1e-30f
// The sweep at the end of a step (sweep.c): depth of a crossing, relative to the inner radius of
// the body's shape. Below 1 the centre stays on the near side, and contacts push it out there.
#define TUNING_SWEEP_CORE 0.5f
// Relative to that depth: overlap that a stopped body is left with; accuracy of the depth; by how
// much shapes that overlap more at the start may sink in.
#define TUNING_SWEEP_SLOP 0.1f
#define TUNING_SWEEP_BAND 0.1f
#define TUNING_SWEEP_SINK 0.02f
#define TUNING_SWEEP_DEEP_SINK 1e-3f // beyond the depth of a crossing
// Distances per pair; the last lower bound of the time counts when they are spent.
#define TUNING_SWEEP_ITERATIONS 128
// Accuracy of the time of a stop: 2^-12 of the motion.
#define TUNING_SWEEP_BISECTIONS 12
// Sweeps over the points of a body's stops, until none approaches.
#define TUNING_SWEEP_IMPACTS 16
// Parts of a body's motion in a step: up to a stop, or a turn of 1 rad. Then it stays where it is.
#define TUNING_SWEEP_PARTS 32

// ---------------------------------------------------------------------------------------------
// Ghost contacts (ghost_contacts.c)

// Overlap, and distance from the carrying plane, up to which a plane separates a shape from another
// one; relative to L. Larger than what bodies at rest sink in.
// Needed by: test_ghosts.c.
#define TUNING_GHOST_SLOP 5e-3f
// Cosine of normals that are the same; below which a contact is steep, and does not carry.
#define TUNING_GHOST_COSINE 0.9999f
#define TUNING_GHOST_STEEP_COSINE 0.7f
// Approach in a step, relative to L, from which other contacts count as obstacles: what rests on
// several facets keeps them all.
#define TUNING_GHOST_MOTION 1e-3f

// ---------------------------------------------------------------------------------------------
// Broad phase

// Fat margin of a box in the tree, relative to the shape's bounding radius, and its sweep: k of
// Mueller et al. 2020, sec. 3.5, times dt and the velocity. No physics, if at least 1.
#define TUNING_BOX_MARGIN 0.05f
#define TUNING_BOX_SWEEP 2.0
// Part of the margin that must be left in a box.
#define TUNING_BOX_MIN_SLACK 0.4f
// A box is made anew if its sweep is more than this times the sweep and margin it needs now.
// Needed by: what_slows_down_has_fewer_pairs.
#define TUNING_BOX_OVERSIZE 2.0f
// Upper bounds of a point's motion over the sine of half the angle of a rotation: the chord is 2 r
// sine; the rest is a margin for rounding, and for arcs of separated pairs.
#define TUNING_CHORD_BOUND 2.1
#define TUNING_BOX_CHORD_BOUND 2.2f
#define TUNING_ARC_BOUND 3.2f
// Pairs with deep overlap that a shape may have. At most twelve equal spheres touch one sphere, and
// no load presses solid bodies as deep as TUNING_DEEP_OVERLAP, of the sum of the inner radii.
// Needed by: test_crowd.c.
#define TUNING_MAX_DEEP_PAIRS 32
#define TUNING_DEEP_OVERLAP 0.1f
// Pace of tree optimisation: least number of steps for a round over the whole tree, and leaves to
// be reinserted for each leaf that has moved. No physics.
#define TUNING_TREE_STEPS 64
#define TUNING_TREE_REINSERTS 4

#endif

// Every tuned constant of contacts, friction, impacts, joints by Gauss-Seidel, sleeping and the
// integrator. docs/solver.md derives the method and lists the rules these constants belong to.
//
// Each entry says the unit, how it scales, and which test needs it. h is the substep in s, g the
// gravity in m/s^2, L the bounding radius of the smaller shape of a pair. "Per substep" means that
// the value does not change with h; "g h" that the length or speed follows what gravity does in a
// substep, so that it vanishes with h. Nothing here depends on mass: impulses are compared with
// impulses, and inverse masses with inverse masses.
#ifndef TENON_KERNEL_TUNING_H
#define TENON_KERNEL_TUNING_H

// ---------------------------------------------------------------------------------------------
// Contacts: normals

// beta: decay of contact impulses per substep, and equally the share of a penetration that a
// substep removes. Dimensionless, independent of h. Position bias feeds energy and decay takes it:
// with unequal shares stacks rock. Friction anchors pull back by the same share.
// Needed by: tower_of_50_does_not_drift, seabra_fig_6_pyramid_does_not_drift_or_sink.
#define TUNING_CONTACT_DECAY 0.05f
// Decay of the uneven part of a manifold's impulses where its load exceeds
// TUNING_CONTACT_HEAVY_LOAD times the body's weight: contacts become stiffer against tilting, which
// towers under heavy loads need (1000 kg on nine cubes of 1 kg). Lighter loads keep the full decay,
// which damps better. Per substep; the load is a multiple of the weight's velocity g h.
// Needed by: heavy_load_stands_at_8_substeps, heavy_load_sags_less_than_a_millimetre.
#define TUNING_CONTACT_DECAY_UNEVEN (0.75f * TUNING_CONTACT_DECAY)
#define TUNING_CONTACT_HEAVY_LOAD 300.0f
// Time constant of the preload, s, independent of h. A faster one follows the slow waves of high
// stacks and feeds them.
// Needed by: tower_of_20_stands_at_4_substeps, pyramid_stands_at_4_substeps.
#define TUNING_CONTACT_PRELOAD_TIME 6.0f
// Age from which a contact counts as settled, s: its preload is then a usable estimate of its load.
// One with an estimated load has this age from the start.
#define TUNING_CONTACT_SETTLING_TIME 0.33f
// A new stack has no impulses to warm start from: it sinks until its preloads are known, and
// friction then holds it there. While more than one contact in TUNING_CONTACT_UNSETTLED_PART is
// unsettled, a substep makes 1 + TUNING_CONTACT_SETTLING_PASSES / substeps passes over contacts.
// Needed by: pyramid_of_5050_stands_at_4_substeps.
#define TUNING_CONTACT_SETTLING_PASSES 12
#define TUNING_CONTACT_UNSETTLED_PART 2
// Regularization of the normal matrix of three or four points, relative to its mean diagonal: four
// points of a face are redundant and share its load evenly. One refinement undoes it.
// Needed by: tower_of_100_stands.
#define TUNING_CONTACT_RIDGE 0.01f
// The same for two points, relative to the trace: points that coincide, or that act on bodies that
// cannot rotate, make the matrix singular.
#define TUNING_CONTACT_RIDGE_TWO_POINTS 1e-4f
// Of a face in which a point would pull: most rounds of a sweep of projected Gauss-Seidel and a
// direct solution for the points that push. With sweeps alone a face that bears its load near a
// corner is soft; most faces need one round. Needed by: random_towers_stand.
#define TUNING_CONTACT_ROUNDS 4
// Gap below which a point counts as nearly closed, times g h^2, and the share of such a gap that
// must stay open in a substep. The relax pass skips open points: points that close at once would
// alternate between open and closed.
// Needed by: seabra_fig_6_pyramid_does_not_drift_or_sink.
#define TUNING_CONTACT_NEAR_GAP 2.0f
#define TUNING_CONTACT_NEAR_KEPT 0.5f
// Penetration beyond what loads cause, relative to L. Deeper points do not get back the impulse
// lost to decay, or overlapping bodies would be launched.
// Needed by: ground_bears_the_pile, bodies_created_inside_each_other_come_apart.
#define TUNING_CONTACT_DEEP_GAP 0.08f
// Relative to the deep gap, for bodies with joints: gap up to which a loaded open point closes only
// by the share TUNING_CONTACT_DECAY per substep. Faster closing is unstable there.
// Needed by: light_limbs_in_a_pile_are_still.
#define TUNING_CONTACT_KEPT_GAP 0.1f
// Gap at which two bodies count as supporting each other, relative to L.
#define TUNING_SUPPORT_GAP 1e-3f

// Turn of a body in a step, rad, from which the lever arms of its flat contacts follow it. With
// those of the start of the step an impulse acts beside the point that it is to stop, and adds
// energy. Needed by: tumbling_plates_gain_nothing.
#define TUNING_CONTACT_TURN 0.25f

// ---------------------------------------------------------------------------------------------
// Contacts: overlaps

// Largest speed at which an overlap is removed, m/s; and in a crowd, where the speeds of successive
// layers add up. Independent of h and size.
// Needed by: buried_bodies_rise_gently, seabra_fig_9_pyramid_overlapping_*.
#define TUNING_CONTACT_PUSH_SPEED 1.0f
#define TUNING_CONTACT_PUSH_SPEED_CROWDED 0.05f
// Penetration from which a body counts as driven into another, and parts at the full push speed,
// relative to L. Needed by: capsules_driven_into_each_other_come_out.
#define TUNING_CONTACT_OVERLAP 0.03f
// Bodies created overlapping count as such until their penetration is less than this, relative
// to L.
#define TUNING_CONTACT_INITIAL_OVERLAP 0.005f
// Mean bias of a face from which its deeper side leaves faster, times the push speed.
// Needed by: seabra_fig_9_pyramid_overlapping_by_four_tenths_comes_apart_gently.
#define TUNING_TILT_BIAS_START 2.0f

// ---------------------------------------------------------------------------------------------
// Contacts: friction, order, events

// How far a friction patch without load may move and keep its anchor, times g h^2.
// Needed by: seabra_fig_6_pyramid_does_not_drift_or_sink.
#define TUNING_ANCHOR_KEEP 8.0f
// Places of a face's friction: its corners and the middles of its sides, at these distances from
// its middle, times its mean radius. Largest friction per slip speed of such a place, relative to
// the mass that slides. Needed by: spinning_boxes_slide_by_coulomb_over_their_face.
#define TUNING_FACE_CORNER_RADIUS 1.4f
#define TUNING_FACE_SIDE_RADIUS 0.6f
#define TUNING_FACE_STICK 100.0f
// Coupling of sliding and twist in the limit of a face's friction, dimensionless. A face slides
// where the impulse that stops it exceeds the limit by a factor and its slip exceeds g h;
// otherwise the impulse is scaled back: stacks under heavy blows collapse if their faces slide
// before they must.
#define TUNING_FACE_COUPLING 0.2f
#define TUNING_FACE_FAST 2.0f
// Regularization of the rolling rows, relative to the angular inverse mass: a body that sticks at
// one point may have no inverse mass left for rolling.
#define TUNING_ROLLING_RIDGE 1e-6f
// A contact takes one of this many lowest free colours, by a hash. A power of two.
// Needed by: seabra_fig_6_pyramid_does_not_drift_or_sink.
#define TUNING_COLOR_CHOICES 4
// Slowest approach that raises a hit event, m/s, and times g h: slower ones are those of bodies
// that come to rest on each other.
#define TUNING_HIT_EVENT_SPEED 0.1f
#define TUNING_HIT_EVENT_GRAVITY 4.0f

// ---------------------------------------------------------------------------------------------
// Loads of faces

// Factor of the moments of inertia: TUNING_INERTIA_SCALE P h^2 / sqrt(m I), with the load P in N,
// and its largest value. Dimensionless; the factor falls with h^2.
// Needed by: pyramid_of_5050_stands_at_4_substeps.
#define TUNING_INERTIA_SCALE 4000.0f
#define TUNING_INERTIA_SCALE_MAX 100.0f
// Squeezed bodies are heavier for impulses (load_estimate.c): with c = TUNING_MASS_SCALE the factor
// of their mass is (c d)^2, d = F h^2 / sqrt(m I) the way that the load F moves them in a substep,
// relative to their radius of gyration; at most 1 / c of the mass that weighs as much as F, and
// TUNING_MASS_SCALE_WAY d. 1 / c of unbalanced impulses counts as load. Dimensionless; the factor
// falls with h^4.
// Needed by: light_boxes_bear_heavy_ones.
#define TUNING_MASS_SCALE 64.0f
#define TUNING_MASS_SCALE_WAY 1024.0f
// Loaded points from which a manifold counts as a face.
#define TUNING_FACE_MIN_POINTS 3
// Faces that get an estimated load: cosine of the normal with the vertical, and the largest
// penetration of a point, relative to L. Needed by: heavy_load_stands_at_8_substeps.
#define TUNING_LOAD_UPRIGHT_COSINE 0.9f
#define TUNING_LOAD_MAX_PENETRATION 0.02f

// ---------------------------------------------------------------------------------------------
// Impacts

// Slowest approach that bounces: times g h, and m/s where there is no gravity.
// Needed by: ball_rebounds_to_its_height; without a threshold a ball at rest would tremble.
#define TUNING_RESTITUTION_THRESHOLD 2.0f
#define TUNING_IMPACT_MIN_SPEED 0.01f
// Most impacts of a contact per substep.
#define TUNING_IMPACT_EVENTS 64
// Error of a point's velocity, times the slowest approach that bounces, up to which the passes over
// contacts may stop it.
#define TUNING_IMPACT_LEVER_ERROR 0.5f
// A predicted impact happens if it is due within this time, times h.
#define TUNING_IMPACT_TIME_TOLERANCE 0.01f
// Least part of a substep that is left after an impact, times h: gaps are divided by it.
#define TUNING_IMPACT_MIN_TIME_LEFT 1e-3f

// ---------------------------------------------------------------------------------------------
// Joints by Gauss-Seidel

// Warm start of rigid rows: share of the last impulse, per substep. Rigid rows remove their whole
// error in a substep; with that, a larger share gains energy.
#define TUNING_JOINT_WARM_START 0.2f
// Greatest share of its impulse that a rigid row keeps per substep while its bias is limited.
#define TUNING_LIMITED_ROW_KEEP 0.4f
// Share of a motor's impulse that is kept per substep: it may push against a limit for ever.
#define TUNING_MOTOR_KEEP 0.9f
// Largest velocity change per substep that removes a joint's position error, divided by h, m/s^2
// and rad/s^2: the velocity change it takes to bear a load is proportional to h as well.
#define TUNING_JOINT_MAX_PUSH 8400.0f
#define TUNING_JOINT_MAX_TURN 6000.0f
// Sweeps over the locked rows of a joint before its drives, limits and friction.
#define TUNING_JOINT_LOCKED_SWEEPS 2
// Time constant of the load that a stiff spring is warm started with, s.
#define TUNING_SPRING_LOAD_TIME 1.0f
// A pivot below this share of its diagonal is rounding: the row is redundant.
#define TUNING_MIN_PIVOT 1e-6f
// Stands for an unlimited force or torque, N or N m: finite in products with h.
#define TUNING_MAX_FORCE 1e30f
// Largest finite stiffness and damping of a drive: finite in products. N/m, N s/m.
#define TUNING_MAX_STIFFNESS 1e24f
// Warm start of the rows of soft bodies and of attachments: share of the last impulse, per substep.
#define TUNING_SOFT_WARM_START 0.5f

// ---------------------------------------------------------------------------------------------
// Angles of joints

// Sine of the angle to a singular direction below which what exceeds a limit fades (30 degrees).
// Needed by: test_limits.c, test_energy.c.
#define TUNING_LIMIT_FADE_SINE 0.5f
// From here to half a turn an asymmetric range of a generic joint blends into a symmetric one, rad.
#define TUNING_HALF_TURN_BLEND 2.9f
// Squared sine below which the gradient of a universal joint's angle does not grow (2.9 degrees).
#define TUNING_MIN_ANGLE_SINE2 0.0025f
// Largest length of the gradient of a twist; unbounded where the axes are opposite.
#define TUNING_TWIST_MAX_GRADIENT 20.0f
// Below this rotation, rad, series replace quotients; they agree to rounding.
#define TUNING_SERIES_ANGLE 0.1f

// Largest turn of the principal axes about the angular momentum that is resolved, rad per substep:
// a sum of absolute components, up to 1.7 times the angle. Independent of h. Needed by:
// extremes_are_bounded.
#define TUNING_MAX_PRECESSION 1.0f
// Ratio of the differences of moments below which a body is symmetric up to rounding, and turns
// exactly at any rate.
#define TUNING_SYMMETRIC_TOP 1e-6f

// ---------------------------------------------------------------------------------------------
// Curved contacts

// Cores closer than this, m, keep the last normal.
#define TUNING_MIN_CORE_DISTANCE 1e-9f
// Squared sine of the angle below which segments count as parallel.
#define TUNING_PARALLEL_SINE2 1e-6f
// Sine of its tilt below which a rim lies flat and a fixed side is its deepest place.
#define TUNING_FLAT_RIM_SINE 1e-4f
// Newton steps for the closest point of a wire, per substep; the least curvature of a step,
// relative to the squared slope; how far a body may pass the ends of a span, in its parameter.
// Needed by: fig_14_marbles_follow_loop_and_coil.
#define TUNING_WIRE_NEWTON_STEPS 3
#define TUNING_WIRE_NEWTON_FLOOR 0.25f
#define TUNING_WIRE_SPAN_OVERRUN 0.25f
// Least 1 - distance * curvature in the curvature bias of a wire.
#define TUNING_WIRE_MIN_ROOM 0.1f

// ---------------------------------------------------------------------------------------------
// Integrator and sleeping

// Bound of the fastest point of a body at rest, times sqrt(g R), with R its largest distance from
// the centre, and the share of it that counts without contacts and joints.
// Needed by: rest_is_relative_to_size_and_gravity.
#define TUNING_SLEEP_SPEED 0.0032f
#define TUNING_SLEEP_FREE_SHARE 0.01f
// Time at rest before an island falls asleep, s; at least, and times sqrt(R / g): what swings
// slowly is slow for long at the ends of its swing.
#define TUNING_SLEEP_TIME 0.5f
#define TUNING_SLEEP_SWING 1.57f
// Gravity that counts for rest where there is less, m/s^2.
#define TUNING_SLEEP_MIN_GRAVITY 1.0f

// ---------------------------------------------------------------------------------------------
// Floors against division by zero and subnormal numbers. No physics as long as they are small.

#define TUNING_TINY 1e-25f           // impulses below are zero, N s and N m s
#define TUNING_TINY_MOTION 1e-15f    // velocities, m/s and rad/s, and rotations below are zero
#define TUNING_TINY_AXES 1e-8f       // those of axes, which turn vectors: less than their rounding
#define TUNING_MIN_DIVISOR 1e-30f    // of a quotient whose numerator is smaller still
#define TUNING_MIN_LENGTH 1e-12f     // m, of a vector that is to be normalized
#define TUNING_MIN_SINE 1e-6f        // of an axis that is to be normalized
#define TUNING_MIN_SWING_SINE 1e-12f // the same where the sine is exact near zero
#define TUNING_MIN_ANGLE 1e-20f      // rad, of a rotation with an axis
#define TUNING_OPPOSITE_COSINE 0.999999 // of directions that count as opposite
// Squared length of a quaternion that is accepted as a rotation, 0.9^2 to 1.1^2.
#define TUNING_UNIT_QUAT_MIN2 0.81f
#define TUNING_UNIT_QUAT_MAX2 1.21f

#endif

// Tuned constants of mechanisms and of inverse kinematics. docs/solver.md has the rules that use
// them.
//
// Each has its unit, how it scales with the substep h, mass and size, and the test or scene that
// needs it. "Relative" numbers have no unit and do not scale.
#ifndef TENON_SOLVER_MECHANISM_MECHANISM_TUNING_H
#define TENON_SOLVER_MECHANISM_MECHANISM_TUNING_H

// ---------------------------------------------------------------------------------------------
// The matrix

// Regularization: compliance of every row, relative to its inverse mass. Redundant rows, as those
// of a four-bar linkage with hinges, share their load by it. As a compliance it shrinks with h^2.
// Below 1e-7 redundant rows meet rounding; 2e-3 lets masses of 1 to 1e6 part.
// Needed by: four_bar_with_redundant_hinges_holds, bennett_linkage_holds.
#define TUNING_ROW_REGULARIZATION 1e-5

// Its largest value, relative to the least inverse mass of a body of the mechanism: rows of a light
// link carry what hangs on it, and a share of the link's own inverse mass would let that sink. More
// moves joints of loaded light links off their place, less leaves rounding to redundant rows.
// Needed by: links_of_no_mass_act_as_one_joint.
#define TUNING_LIGHT_LINK_REGULARIZATION 1e-3

// The same of couplings. A gear of 1 : 100 carries a hundred times the load of one shaft in terms
// of the other, and 1e-5 lets its speeds part by 5e-4. Couplings are eliminated after their bodies,
// so that rounding of redundant ones stays below 1e-12. Needed by: gears_turn_at_any_ratio,
// redundant_couplings_share_their_load.
#define TUNING_COUPLING_REGULARIZATION 1e-8

// The same of ball trees while inertia is added, relative to the inverse mass with that inertia.
// With TUNING_ROW_REGULARIZATION a chain of 100 links under 100 times the mass of one gains 2 % of
// its energy in 10 s at 4 substeps, with this it loses 0.5 %.
#define TUNING_REGULARIZATION_ADDED_INERTIA 1e-4

// Pivots that rounding has made zero or of the wrong sign: the least pivot taken as it is, the
// share of its magnitude that replaces a wrong one, and the least replacement. Pivots are masses,
// kg or kg m^2, or inverse masses; the share is relative, the others only keep divisions finite.
#define TUNING_PIVOT_MIN 1e-299
#define TUNING_PIVOT_FLOOR 1e-13
#define TUNING_PIVOT_REPLACEMENT 1e-300

// ---------------------------------------------------------------------------------------------
// Elimination order

// Joint graphs that would fill the matrix, large dense nets, are left to Gauss-Seidel
// (TN_STEP_ITERATIVE). Fill is the sum of squares of the neighbours of each node at its
// elimination, in blocks; its limit is TUNING_FILL_PER_NODE * nodes + TUNING_FILL_ALLOWANCE.
// Time and memory only grow with it. Needed by: dense_net_is_iterated_and_says_so.
#define TUNING_FILL_PER_NODE 600
#define TUNING_FILL_ALLOWANCE 20000
// Most nodes on loops, for the ordering takes quadratic time.
#define TUNING_MAX_LOOP_NODES 12000
// Most ball joints at a body of a ball tree: the number of links grows with its square.
#define TUNING_BALL_TREE_DEGREE 6

// ---------------------------------------------------------------------------------------------
// Active set

// Most rounds of a solve. Too few leave limits that pull, which gain energy: with two rounds most
// random graphs of the test `stress` explode.
#define TUNING_ACTIVE_SET_ROUNDS 20
// How often a row may enter or leave the active set in one solve. Angular and soft limits and stiff
// springs get more tries: limbs rest on angular limits, springs press on soft ones, and a stiff
// spring left at its bound would pull with its whole length. Linear limits, as of nets of cables,
// have many valid active sets, and few tries suffice.
// Needed by: springs_that_contradict_each_other_gain_nothing, pile_of_ragdolls_comes_to_rest.
#define TUNING_ROW_SWITCHES 3
#define TUNING_LIMIT_SWITCHES 10
// How far an impulse may exceed its bound before the row is deactivated, relative: rounding.
#define TUNING_BOUND_SLACK 1e-9
// Residual velocity below which a row at its bound is not activated, m/s or rad/s: rounding.
// Absolute.
#define TUNING_ACTIVATION_SPEED 1e-9
// A drive or friction whose last impulse was within this share of its limit begins saturated.
#define TUNING_SATURATION_SLACK 1e-6
// No bound, N s or N m s.
#define UNBOUNDED_IMPULSE 1e300

// ---------------------------------------------------------------------------------------------
// Position errors

// Deadband of position errors, relative to the lever arms, or rad. An overconstrained structure
// would answer rounding with forces beyond any load.
// Needed by: four_bar_with_redundant_hinges_holds, bennett_linkage_holds.
#define TUNING_ERROR_DEADBAND 1e-8

// Default of tn_world_set_play(): how much contradiction of errors redundant rows give up, relative
// to the lever arms, or rad. Arms that should be equal differ by it and turn. Needed by:
// unequal_arms_turn.
#define TUNING_PLAY 1e-4f
// Solves at most, each of which gives up most of what is left, and what is worth one: more than the
// rounding of anchors to float.
#define TUNING_PLAY_ROUNDS 3
#define TUNING_PLAY_LEAST 1e-8

// Error of a rigid row after a drift that is removed from the positions at once, relative to the
// lever arms, or rad. Less is done for nothing, more leaves it to the next substep, which spreads
// it over the mechanism. Needed by: joints_of_ragdolls_that_fall_far_stay_closed.
#define TUNING_OPEN_JOINT 0.002

// A correction stays in the velocities if joints close no faster than the first, m/s or rad/s, and
// bodies move no faster than the second, m/s. Faster ones become split impulses. Fast bodies make
// larger errors in a substep, so the limits grow with the speed of the fastest: by the share, and
// by all of it. As errors, they grow with h.
// Needed by: fig_8_pendula_keep_their_energy, graphs_that_have_gained_before_do_not.
#define TUNING_MAX_ERROR_RATE 10.0
#define TUNING_MAX_ERROR_RATE_SHARE 0.25
#define TUNING_MAX_CORRECTION_SPEED 3.0
// Guards the divisions by speeds of a correction, m/s.
#define TUNING_MIN_CORRECTION_SPEED 1e-30

// Turn of a body in a substep, rad, from which rigid rows follow the curvature of the drift, and
// from which the substep does not resolve the motion. With h they reach faster motion. The first
// saves time: slower joints lag, a pendulum at 11 rad/s is off by 1e-4 of its angle at 20 substeps
// if it is 0.01; at 0.02 the ring of 50 gains 1 % of its energy in 20 s when it crosses that turn.
// Needed by: passive_swings_keep_their_energy.
#define TUNING_CURVED_TURN_MIN 0.003
#define TUNING_CURVED_TURN_MAX 1.0
// Stiffest spring beside which they do, h^2 k times the inverse mass of its bodies by themselves:
// ten substeps for a radian of its swing. Needed by: soft_springs_swing_as_without_lag.
#define TUNING_CURVED_STIFFNESS 0.01
// Most solves for the curvature, and the change of it that is not worth another one; relative, of
// sums of squares over inverse masses. What is missing lags and gains energy: at 1e-4 a net of 10 x
// 10 bodies gains 10 % in 10 s. Rounds converge while each change is below the share of the last
// one, or below what is accepted; otherwise rows do without. Needed by: net_of_balls_holds.
#define TUNING_CURVATURE_ROUNDS 8
#define TUNING_CURVATURE_TOLERANCE 1e-6
#define TUNING_CURVATURE_SHRINKS 0.9
#define TUNING_CURVATURE_ACCEPTED 1e-3
// Rounding of the coordinates that c is the difference of, relative to lever arms or in rad: no
// more of it can be found.
#define TUNING_CURVATURE_ROUNDING 1e-7

// Turn of a body in a substep, rad, from which axes take their rates at the middle of the drift,
// and from which the substep does not resolve the motion. The first saves time: without it a rate
// is off by half of that turn. Needed by: rates_are_those_of_the_middle.
#define TUNING_BENT_TURN_MIN 1e-3
#define TUNING_BENT_TURN_MAX 0.5

// Energy gain tolerated in a solve: 0.5 m v^2 of each body with this speed, m/s, and this share of
// its kinetic energy.
// Needed by: fig_8_pendula_keep_their_energy; for added inertia: ragdolls_that_fall_far_stay_whole.
#define TUNING_ENERGY_TOLERANCE_SPEED 0.1
#define TUNING_ENERGY_TOLERANCE_SHARE 1e-2

// Joints are infeasible, and contradict each other, if the correction leaves more than this share
// of the square of their error (0.8 of the error), and the error over h is faster than this speed,
// m/s or rad/s. Needed by: unsolvable_chain_shares_its_error_and_rests.
#define TUNING_INFEASIBLE_SQUARE_SHARE 0.64
#define TUNING_INFEASIBLE_SPEED 1.0

// ---------------------------------------------------------------------------------------------
// Geometric stiffness

// Geometric stiffness K that a substep resolves without added inertia, as h^2 K / I. Beyond it
// light links under load swing faster than the substep can follow. Relative; with h it vanishes.
// Needed by: mobiles_hold_whatever_their_size, seabra_fig_4_chains_hold_at_few_substeps.
#define TUNING_STIFFNESS_RESOLVED 2.0
// Rounds of the split pass in the first substep, for the added inertia depends on the impulses that
// it changes. Needed by: contradicting_joints_come_to_rest.
#define TUNING_ADDED_INERTIA_ROUNDS 2

// ---------------------------------------------------------------------------------------------
// Springs, friction, damping

// Unexplained length of a stiff spring, relative to the lever arms or rad, that is worth a row of
// its own. Without it a rope of springs takes 1.7 times as long.
#define TUNING_MIN_STIFF_STRAIN 1e-4
// Least predicted lengthening of stiff springs, relative to the squared length; less is rounding.
// Needed by: springs_that_have_gained_before_do_not.
#define TUNING_MIN_PREDICTED_SHARE 1e-5
// Step of lagged friction per substep, relative to the impulse that would stop two free bodies.
// Needed by: pile_of_ragdolls_comes_to_rest, free_hand_stays_where_friction_holds_it.
#define TUNING_LAGGED_FRICTION_GAIN 1.0
// h^2 k w up to which a spring's force is taken at the middle of the substep, and from which on at
// its end; dimensionless. Needed by: springs_keep_their_energy (below the first), and
// servo_of_any_stiffness_settles (above the second).
#define TUNING_RESOLVED_STIFFNESS 0.25
#define TUNING_RIGID_STIFFNESS 1.0
// (h d w)^2 from which on the same is done for damping; dimensionless. Less makes damping of light
// links with a heavy load too weak, more lets rates alternate. Needed by:
// damping_acts_on_what_moves.
#define TUNING_UNRESOLVED_DAMPING 200.0

// ---------------------------------------------------------------------------------------------
// Warm starts of contacts

// From this swing on, rad, a ball joint may pass half a turn within a substep: limits of its twist
// look for that. The other keeps a quotient finite. Needed by: limited_twists_pass_half_a_turn.
#define TUNING_TWIST_PASSING_SWING 2.1f
#define TUNING_TWIST_MIN_COSINE2 1e-6

// A warm start is excessive if its points separate faster than this, m/s, plus g h, which gravity
// adds in a substep. Needed by: dropped_ragdolls_hold_together_and_gain_nothing.
#define TUNING_WARM_START_SEPARATION_SPEED 0.1

// ---------------------------------------------------------------------------------------------
// Coasting: speed only

// A mechanism coasts while rates between its bodies and turns are below the first, m/s or rad/s,
// and its joints are open by less than the second, relative to the lever arms, or rad. A solve
// closes them when they open further. Absolute. Test: coasting.
#define TUNING_COASTING_SPEED 1e-5f
#define TUNING_COASTING_ERROR 1e-6

// ---------------------------------------------------------------------------------------------
// Batches: speed only, same bits

// Larger mechanisms fill lanes and caches by themselves; in nodes.
#define TUNING_BATCH_MAX_NODES 200
// Fewer lanes that need a new matrix are faster alone.
#define TUNING_BATCH_MIN_LANES 2

// ---------------------------------------------------------------------------------------------
// Inverse kinematics

#define TUNING_IK_STEP (1.0f / 60.0f) // s, length of the step that an iteration takes
// Iterations without the target at the end, so that the joints close.
#define TUNING_IK_CLOSING_ITERATIONS 10
#define TUNING_IK_MIN_EXTENT 1e-6 // m, least extent of a mechanism
// Longest distance to the intermediate target, relative to the mechanism's extent: joints could not
// follow a larger one.
#define TUNING_IK_STEP_SHARE 0.05
// Compliance of the target relative to h^2 / m of its body: at the beginning, its factors after an
// improvement and after a failure, its range, and the one that lets the target go.
#define TUNING_IK_SOFTNESS 1.0f
#define TUNING_IK_STIFFER 0.5f
#define TUNING_IK_SOFTER 4.0f
#define TUNING_IK_SOFTNESS_MIN 1e-3f
#define TUNING_IK_SOFTNESS_MAX 1e4f
#define TUNING_IK_SOFTNESS_RELEASED 1e12f

// Closing the loops of an articulation, by Newton's method: the most iterations, the largest change
// of a coordinate in one (m or rad), the regularization relative to the largest element (loops hold
// redundant rows), and the error that counts as closed, relative to the mechanism's size and in
// rad: four-bars whose frames are rounded to float contradict themselves by less. Test:
// articulation.
#define TUNING_LOOP_ITERATIONS 60
#define TUNING_LOOP_STEP 0.3
#define TUNING_LOOP_REGULARIZATION 1e-11
#define TUNING_LOOP_TOLERANCE 1e-4

#endif

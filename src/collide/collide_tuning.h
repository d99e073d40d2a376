// Every tolerance and iteration count of the geometry of two shapes.
//
// Lengths are relative, as each entry says: to the scale of the Minkowski difference in double
// code, else to the smaller shape. So geometry does not depend on the unit of length; nothing here
// depends on time or mass. Tests: collide, surfaces, wires, hull, query.
#ifndef TENON_COLLIDE_COLLIDE_TUNING_H
#define TENON_COLLIDE_COLLIDE_TUNING_H

// ---------------------------------------------------------------------------------------------
// GJK, EPA, casts: fuzz_distances, degenerate_pairs

#define COLLIDE_GJK_ITERATIONS 64
// Distance, relative to the scale, below which cores count as overlapping; decrease of the squared
// distance, relative to it, below which the iteration ends.
#define COLLIDE_GJK_TOUCHING 1e-9
#define COLLIDE_GJK_PROGRESS 1e-13
// Distance, relative to the scale, below which a result without a positive lower bound is not
// trusted: rounding decides its direction, so EPA takes over.
#define COLLIDE_GJK_UNPROVEN 1e-5
// Depth, relative to the scale, from which a pair keeps no start: of several ways out of about
// equal length the start would decide.
#define COLLIDE_START_DEPTH 0.02
// Squared sine of a tetrahedron without an inside.
#define COLLIDE_GJK_FLAT_SINE2 1e-20
#define COLLIDE_EPA_VERTICES 128
// Relative to the scale: height above a face from which a point sees it; difference of upper and
// lower bound at which the iteration ends, and its term relative to the depth.
#define COLLIDE_EPA_VISIBLE 1e-11
#define COLLIDE_EPA_TOLERANCE 2e-8
#define COLLIDE_EPA_DEPTH_TOLERANCE 1e-6
// Sine of the angle between two edges below which a face is a sliver without a reliable normal.
#define COLLIDE_EPA_SLIVER 1e-7
// Relative to the scale: least distance of the points of the first tetrahedron.
#define COLLIDE_EPA_DEGENERATE 1e-9
// Relative: a foot beyond the height of a profile is on its corner.
#define COLLIDE_PROFILE_CORNER 1e-15
#define COLLIDE_CAST_ITERATIONS 64
// Relative to both bounding radii: rounding error of a distance in float. Shapes that overlap by
// less only touch, and may separate or slide along each other.
// Needed by: what_lies_on_something_may_slide_and_rise.
#define COLLIDE_CAST_TOLERANCE 1e-6f

// ---------------------------------------------------------------------------------------------
// Convex manifolds

// Rounding error of a separation, relative to the sum of the half extents, or to scale and radii.
#define COLLIDE_BOX_ROUNDING 5e-7f
#define COLLIDE_CONVEX_ROUNDING 3e-7f
// Squared sine of edges that are too parallel for an axis (0.57 degrees).
#define COLLIDE_BOX_PARALLEL_SINE2 1e-4f
// Hysteresis: lead of another axis or face, relative to the separation; where the directions are
// nearly parallel also relative to the smallest half extent. Round, separated shapes have an exact
// direction. Needed by: features_stay, every stack.
#define COLLIDE_AXIS_LEAD 0.05f
#define COLLIDE_AXIS_LEAD_ROUND 2e-4f
#define COLLIDE_AXIS_PARALLEL_COSINE 0.99f
#define COLLIDE_AXIS_PARALLEL_LEAD 5e-4f
#define COLLIDE_FACE_PARALLEL_LEAD 1e-4f
// Outward shift of the sides of a reference face, relative to the smaller shape, so that flush
// points stay. Needed by: flush_boxes_are_pushed_up.
#define COLLIDE_FACE_SLACK 2e-4f
// Largest ratio of the clipped points' separation to that of the axis; beyond it the shortest line
// ends elsewhere, and the generic path decides.
#define COLLIDE_FACE_MISMATCH 1.01f
// Overshoot of an edge contact beyond its edges, relative to the smallest half extent.
#define COLLIDE_EDGE_OVERSHOOT 1e-3f
// Vertices of a hull's face and of its lowest edge that count as one, relative to the inner radius.
#define COLLIDE_SAME_VERTEX 1e-3f
// Cosine of 45 degrees: a face or a side, standing or lying.
#define COLLIDE_FACE_COSINE 0.70710678f
// Relative determinant of segments that are parallel for closest points.
#define COLLIDE_SEGMENTS_PARALLEL 1e-12
// Distance of cores, relative to the radii, below which a contact is flat instead of round.
#define COLLIDE_ROUND_MIN_DISTANCE 0.01f
// Nearly parallel segments get two points: squared sine (1.8 degrees); least overlap, relative to
// the shorter segment, and for capsules to the shorter half length; how far aside of each other
// the points may be, relative to the radii and to the size.
#define COLLIDE_PARALLEL_SINE2 1e-3f
#define COLLIDE_PARALLEL_OVERLAP 0.05f
#define COLLIDE_CAPSULE_OVERLAP 0.1f
#define COLLIDE_PARALLEL_ASIDE 0.03f
#define COLLIDE_PARALLEL_ASIDE_SIZE 1e-3f
// Edges found for a shortest line: error of the separation, relative to it and the radii; sideways
// error, relative to the height; the same for a round manifold.
#define COLLIDE_EDGE_MATCH 2e-4f
#define COLLIDE_EDGE_ASIDE 0.02f
#define COLLIDE_EDGE_ROUND 5e-4f
// Sine within which the side of a cylinder faces a direction, beyond it its rim (0.6 degrees).
#define COLLIDE_CYLINDER_SIDE_SINE 0.01f
// Added to x, so that the first point of a level rim does not spin by rounding.
#define COLLIDE_RIM_PREFERRED_X 1e-4f
// Capsules: squared sine of parallel axes; distance of crossing axes, relative to radii and
// distance of the centres.
#define COLLIDE_AXES_PARALLEL 1e-6f
#define COLLIDE_AXES_CROSSING 1e-6f
// Distance of a sphere's centre from a box, relative to its radius, that counts as inside.
#define COLLIDE_SPHERE_INSIDE 1e-5f
// Points about as deep as the deepest, relative to the spread of the points; ratio by which a later
// point must be better. Needed by: features_stay, reduction_keeps_the_deepest.
#define COLLIDE_EQUAL_DEPTH 1e-5f
#define COLLIDE_POINT_LEAD 1.001f

// Points on a surface that may bear load next, and are chosen before higher ones: height above the
// deepest, relative to the spread of the points, or to the size. Needed by: solids_rest_on_waves.
#define COLLIDE_NEAR_POINTS 1e-3f

// ---------------------------------------------------------------------------------------------
// Triangle surfaces; size is half the diagonal of the shape's AABB

// Sine of the dihedral angle up to which two neighbouring facets count as coplanar.
#define COLLIDE_COPLANAR_SINE 0.02f
// Sine up to which a contact normal may point into the region of a neighbouring facet, or along a
// wire; beyond it the contact is the neighbour's, and a ghost contact here.
// Needed by: flat_meshes_act_like_planes, straight_wires_are_capsules.
#define COLLIDE_INTERNAL_EDGE_SINE 1e-3f
// Bends of a surface: least tangent that counts, that of the angle of COLLIDE_OWN_NORMAL and a
// margin for COLLIDE_INTERNAL_EDGE_SINE; least cosine of a bend that is bounded (60 degrees).
#define COLLIDE_LEAST_BEND 0.05f
#define COLLIDE_BEND_MARGIN 0.005f
#define COLLIDE_BEND_COSINE 0.5f
// 1 - cosine of the angle to the facet normal up to which a contact is one with the face.
#define COLLIDE_FACE_NORMAL_TOLERANCE 5e-5f
// Facets around a vertex; further ones are ignored.
#define COLLIDE_VERTEX_RING 64
// Relative to the size: rounding of the distance to a plane.
#define COLLIDE_PLANE_ROUNDING 1e-6f
// Facets of one plane patch: squared difference of normals, and height relative to the size.
#define COLLIDE_PATCH_NORMAL2 1e-6f
#define COLLIDE_PATCH_HEIGHT 2e-5f
// A point lies on a triangle to this, relative to its coordinates and to the edge.
#define COLLIDE_ON_TRIANGLE 4e-6f
#define COLLIDE_ON_TRIANGLE_EDGE 1e-6f
// Relative to the size: up to here beyond a concave edge a point sunk into the neighbour counts.
#define COLLIDE_CONCAVE_OVERHANG 0.1f
// Relative to the edge: a contact point is at an edge or vertex.
#define COLLIDE_AT_EDGE 1e-4f
// Cosine above which a normal is the facet's own (2.6 degrees).
#define COLLIDE_OWN_NORMAL 0.999f
// Relative to the size: deeper than this the triangle itself must be met from the front.
#define COLLIDE_DEEP_FACE 0.02f
// Cosine below which the way out is sideways.
#define COLLIDE_SIDEWAYS_COSINE 0.7f
// Relative to the size: slack of AABB tests.
#define COLLIDE_AABB_SLACK 1e-5f
// Contacts of a pair that are the same: squared distances relative to the squared size and of unit
// normals; which of two is deeper, relative to the size.
#define COLLIDE_SAME_CONTACT2 4e-4f
#define COLLIDE_SAME_DEPTH 1e-4f
// Flat manifolds that become one: squared difference of normals (2.9 degrees), and distance of
// points that are one, relative to the size.
#define COLLIDE_MERGE_NORMAL2 2.5e-3f
#define COLLIDE_MERGE_POINT 1e-3f
// Squared area over the fourth power of the longest edge of a degenerate triangle.
#define COLLIDE_DEGENERATE_TRIANGLE 1e-12
// Slack of cell ranges, relative to the spacing and to the extent; of a ray's end and heights.
#define COLLIDE_CELL_SLACK 1e-5f
#define COLLIDE_CELL_ROUNDING 1e-6f
#define COLLIDE_RAY_END_SLACK 1.001f
#define COLLIDE_RAY_HEIGHT_SLACK 1e-6f
// Growth of the box of a sweep, relative to coordinates and displacement.
#define COLLIDE_SWEEP_SLACK 1e-6f

// ---------------------------------------------------------------------------------------------
// Wires: wire_closest_matches_sampling, wires_hold_spheres_and_capsules

// Pieces of a cubic at most, and for each radian that its direction turns.
#define COLLIDE_WIRE_PIECES 16
#define COLLIDE_WIRE_PIECES_PER_RADIAN 4.0f
// Growth of the box of a piece, relative to coordinates.
#define COLLIDE_WIRE_BOX_SLACK 2e-7f
// Roots of the slope of the squared distance: bisections; steps of Newton's method with a bracket,
// and the widths in the parameter at which it ends.
#define COLLIDE_WIRE_BISECTIONS 24
#define COLLIDE_WIRE_ROOT_ITERATIONS 60
#define COLLIDE_WIRE_ROOT_BRACKET 1e-14
#define COLLIDE_WIRE_ROOT_STEP 1e-13
// Split of a bracket off its middle: a root there could be lost between the halves.
#define COLLIDE_WIRE_SPLIT 0.515625
// Relative: pieces about as near as the nearest are searched too.
#define COLLIDE_WIRE_TIE 1e-6f
// Minimum against a segment: steps, width of the bracket, slope that counts as zero.
#define COLLIDE_WIRE_SEGMENT_ITERATIONS 50
#define COLLIDE_WIRE_SEGMENT_BRACKET 1e-10
#define COLLIDE_WIRE_SEGMENT_SLOPE 1e-300
// Distance from the axis, relative to coordinates, below which any perpendicular is the normal.
#define COLLIDE_WIRE_ON_AXIS 1e-14
// Chords of a piece at most, and their sagitta relative to the radius.
#define COLLIDE_WIRE_CHORDS 8
#define COLLIDE_WIRE_SAGITTA 0.02f
// A capsule that lies along a wire: squared cosine (8 degrees), cosine of normals on the same side,
// and how much higher its ends may be than its middle, relative to the radii.
// Needed by: wires_carry_what_lies_along.
#define COLLIDE_WIRE_ALONG_COSINE2 0.98
#define COLLIDE_WIRE_SAME_SIDE_COSINE 0.9f
#define COLLIDE_WIRE_ENDS_DEPTH 0.02f
// Part of the half length from which a contact is at the end of a chord.
#define COLLIDE_WIRE_CHORD_END 0.9999f
// Ratio of the radius in the AABB test of a chord.
#define COLLIDE_WIRE_CHORD_RADIUS 1.0001f
// Rays: bisections, steps, distance at the end and least step, relative to radius and length.
#define COLLIDE_WIRE_RAY_BISECTIONS 40
#define COLLIDE_WIRE_RAY_ITERATIONS 100
#define COLLIDE_WIRE_RAY_TOLERANCE 1e-6
#define COLLIDE_WIRE_RAY_STEP 0.1
// How far a fitted span goes on beyond what a body may pass, in the parameter of a cubic.
#define COLLIDE_WIRE_SPAN_SPARE 0.02f

// ---------------------------------------------------------------------------------------------
// Hulls and mass

// Float products that choose vertices: rounding error, relative to the sum of the magnitudes of the
// three terms (twice 2.5 units in the last place), and the range of that sum in which it holds.
// Needed by: furthest_vertices_are_exact.
#define COLLIDE_PRODUCT_ROUNDING 6e-7f
#define COLLIDE_PRODUCT_LEAST 1e-30f
#define COLLIDE_PRODUCT_MOST 1e30f
// Faces coplanar within this, relative to the extent of the points, are merged.
#define COLLIDE_HULL_FLATNESS 1e-5
// The inner radius is rounded down by this ratio.
#define COLLIDE_HULL_INNER_RADIUS 0.9999
// Sweeps of the Jacobi eigenvalue iteration.
#define COLLIDE_EIGENVALUE_SWEEPS 32
// Relative error of the triangle inequality of moments of inertia that is accepted.
#define COLLIDE_INERTIA_TOLERANCE 1e-4
// Largest component of a unit vector to which the x axis is perpendicular enough.
#define COLLIDE_PERPENDICULAR_X 0.6f

#endif

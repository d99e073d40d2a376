// Debug draw: number, position and colour of lines.
#include "support.h"

#include <string.h>

static const tn_pos center = {1e5, 20.0, -3e5};

#define MOST_LINES 4000

typedef struct drawing {
  tn_pos from[MOST_LINES], to[MOST_LINES];
  uint32_t color[MOST_LINES];
  int lines, points, texts;
} drawing;

static drawing paper;

static void take_line(tn_pos from, tn_pos to, uint32_t rgba, void *context)
{
  drawing *d = context;
  assert_in_range(d->lines, 0, MOST_LINES - 1);
  d->from[d->lines] = from;
  d->to[d->lines] = to;
  d->color[d->lines++] = rgba;
}

static void take_point(tn_pos at, float pixels, uint32_t rgba, void *context)
{
  (void)rgba;
  drawing *d = context;
  assert_true(pixels > 0.0f && isfinite(at.x) && isfinite(at.y) && isfinite(at.z));
  ++d->points;
}

static void take_text(tn_pos at, const char *text, uint32_t rgba, void *context)
{
  (void)at, (void)rgba;
  drawing *d = context;
  assert_non_null(text);
  ++d->texts;
}

// All options are off; the callbacks are set.
static tn_debug_draw on_paper(void)
{
  memset(&paper, 0, sizeof paper);
  tn_debug_draw draw = {take_line, take_point, take_text, .force_scale = 0.01f, .context = &paper};
  return draw;
}

static const drawing *draw_shapes(const tn_world *world)
{
  tn_debug_draw draw = on_paper();
  draw.shapes = true;
  tn_world_draw(world, &draw);
  return &paper;
}

// ---------------------------------------------------------------------------------------------
// Shapes

static tn_shape_id stand(tn_world *world, const tn_shape_def *def, tn_quat rotation)
{
  tn_body_def body = test_body_def();
  body.type = TN_BODY_STATIC;
  body.position = center;
  body.rotation = rotation;
  return tn_shape_create(world, tn_body_create(world, &body), def);
}

static tn_shape_def def_of(tn_world *world, tn_shape_kind kind)
{
  tn_vec3 corners[8];
  for (int i = 0; i < 8; ++i) {
    corners[i] = tn_v3(i & 1 ? 1.0f : -1.0f, i & 2 ? 0.5f : -0.5f, i & 4 ? 0.7f : -0.7f);
  }
  int triangles[6] = {0, 1, 2, 1, 3, 2};
  float heights[6] = {0.0f, 0.1f, 0.2f, 0.3f, 0.2f, 0.1f};
  tn_wire_point points[2] = {{{-1.0f, 0.0f, 0.0f}, {2.0f, 1.0f, 0.0f}},
                             {{1.0f, 0.0f, 0.0f}, {2.0f, -1.0f, 0.5f}}};
  tn_shape_def def = tn_default_shape_def(kind);
  def.radius = 0.3f;
  def.half_length = 0.8f;
  def.half_extents = tn_v3(0.2f, 0.4f, 0.6f);
  if (kind == TN_SHAPE_HULL) {
    def.geometry = tn_hull_create(world, corners, 8, 0);
  } else if (kind == TN_SHAPE_MESH) {
    def.geometry = tn_mesh_create(world, corners, 4, triangles, 2);
  } else if (kind == TN_SHAPE_HEIGHT_FIELD) {
    def.geometry = tn_height_field_create(world, heights, 3, 2, 1.0f, 1.0f);
  } else if (kind == TN_SHAPE_WIRE) {
    def.geometry = tn_wire_create(world, points, 2, false);
  }
  return def;
}

// Both ends and the middle of every line are inside or on the shape.
static void assert_inside(const tn_world *world, const drawing *d)
{
  for (int i = 0; i < d->lines; ++i) {
    for (int k = 0; k <= 2; ++k) {
      tn_pos p =
          tn_offset(d->from[i], tn_scale(0.5f * (float)k, tn_between_points(d->from[i], d->to[i])));
      tn_hit h = tn_world_closest_point(world, p, 1.0f, tn_default_query_filter());
      assert_true(h.hit);
      assert_below(h.distance, 2e-6);
    }
  }
}

// The lines touch every side of the shape's box.
static void assert_fills_box(const tn_world *world, tn_shape_id id, const drawing *d)
{
  tn_pos lower, upper, lo = d->from[0], hi = d->from[0];
  assert_true(tn_shape_box(world, id, &lower, &upper));
  for (int i = 0; i < 2 * d->lines; ++i) {
    tn_pos p = i & 1 ? d->from[i / 2] : d->to[i / 2];
    lo = tn_p3(fmin(lo.x, p.x), fmin(lo.y, p.y), fmin(lo.z, p.z));
    hi = tn_p3(fmax(hi.x, p.x), fmax(hi.y, p.y), fmax(hi.z, p.z));
  }
  assert_close(tn_length(tn_between_points(lower, lo)), 0.0, 0.1);
  assert_close(tn_length(tn_between_points(upper, hi)), 0.0, 0.1);
}

static void every_kind_of_shape_is_drawn_at_its_place(void **state)
{
  (void)state;
  uint32_t random = 3;
  // Circles have 24 lines, half circles 12; a height field's cells have a diagonal.
  const int lines[TN_SHAPE_KIND_COUNT] = {
      [TN_SHAPE_SPHERE] = 72,   [TN_SHAPE_CAPSULE] = 100, [TN_SHAPE_BOX] = 12,
      [TN_SHAPE_CYLINDER] = 52, [TN_SHAPE_CONE] = 28,     [TN_SHAPE_HULL] = 12,
      [TN_SHAPE_PLANE] = 22,    [TN_SHAPE_MESH] = 5,      [TN_SHAPE_HEIGHT_FIELD] = 9,
      [TN_SHAPE_WIRE] = 200,
  };
  for (int kind = 0; kind < TN_SHAPE_KIND_COUNT; ++kind) {
    tn_world *world = test_world(1, TN_METHOD_TENON);
    tn_shape_def def = def_of(world, (tn_shape_kind)kind);
    bool flat = kind == TN_SHAPE_PLANE;
    tn_shape_id id = stand(world, &def, flat ? tn_quat_identity() : test_rotation(&random));
    assert_false(TN_IS_NULL(id));
    const drawing *d = draw_shapes(world);
    assert_int_equal(d->lines, lines[kind]);
    assert_int_equal(d->points + d->texts, 0);
    assert_inside(world, d);
    if (kind < TN_SHAPE_PLANE && kind != TN_SHAPE_SPHERE) { // its circles are coarse
      assert_fills_box(world, id, d);
    }
    tn_world_destroy(world);
  }
}

static void colours_show_the_types_of_bodies(void **state)
{
  (void)state;
  tn_world *world = test_world(1, TN_METHOD_TENON);
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_BOX);
  uint32_t color[5];
  tn_body_type types[4] = {TN_BODY_STATIC, TN_BODY_KINEMATIC, TN_BODY_DYNAMIC, TN_BODY_STATIC};
  tn_body_id dynamic = test_no_body;
  for (int i = 0; i < 4; ++i) {
    def.sensor = i == 3;
    tn_body_id body = test_body(world, types[i], tn_p3(5.0 * i, 0.0, 0.0));
    dynamic = i == 2 ? body : dynamic;
    assert_false(TN_IS_NULL(tn_shape_create(world, body, &def)));
    const drawing *d = draw_shapes(world);
    assert_int_equal(d->lines, 12 * (i + 1));
    color[i] = d->color[12 * i];
  }
  assert_true(tn_body_set_awake(world, dynamic, false));
  color[4] = draw_shapes(world)->color[24];
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < i; ++k) {
      assert_true(color[i] != color[k]);
    }
  }
  tn_debug_draw draw = on_paper();
  draw.sleep = true;
  tn_world_draw(world, &draw);
  assert_int_equal(paper.texts, 1);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// The rest

static void boxes_are_those_of_the_broad_phase(void **state)
{
  (void)state;
  tn_world *world = test_world(1, TN_METHOD_TENON);
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_SPHERE);
  for (int i = 0; i < 5; ++i) {
    tn_shape_create(world, test_body(world, TN_BODY_STATIC, tn_p3(3.0 * i, 0.0, 0.0)), &def);
  }
  def = tn_default_shape_def(TN_SHAPE_PLANE); // has no box, nor its parent
  tn_shape_create(world, test_no_body, &def);
  tn_debug_draw draw = on_paper();
  draw.boxes = true;
  tn_world_draw(world, &draw);
  assert_int_equal(paper.lines % 12, 0);
  assert_in_range(paper.lines / 12, 5, 9);
  tn_world_destroy(world);
}

static double angle_between(tn_vec3 a, tn_vec3 b)
{
  return acos(fmax(-1.0, fmin(1.0, (double)(tn_dot(a, b) / (tn_length(a) * tn_length(b))))));
}

static void joints_show_frames_and_limits(void **state)
{
  (void)state;
  tn_world *world = test_world(1, TN_METHOD_TENON);
  tn_body_id rod = test_box(world, tn_p3(1.0, 0.0, 0.0), 1.0f, tn_v3(1.0f, 0.1f, 0.1f));
  tn_vec3 axis = {0.0f, 0.0f, 1.0f};
  tn_pos pivot = {0.0, 0.0, 0.0};
  tn_joint_def def = test_joint_def(world, TN_JOINT_HINGE, test_no_body, rod, pivot, axis);
  def.angular[0] = tn_between(-0.5f, 1.0f);
  tn_joint_id joint = tn_joint_create(world, &def);
  tn_debug_draw draw = on_paper();
  draw.joints = true;
  tn_world_draw(world, &draw);
  assert_int_equal(paper.lines, 8); // two frames, body to anchor, anchor to anchor
  assert_int_equal(paper.points, 2);
  draw = on_paper();
  draw.limits = true;
  tn_world_draw(world, &draw);
  // The last two lines go from the pivot to the ends of the arc; all are normal to the axis.
  assert_in_range(paper.lines, 6, 12);
  int last = paper.lines - 1;
  tn_vec3 lo = tn_between_points(pivot, paper.to[last - 1]);
  tn_vec3 hi = tn_between_points(pivot, paper.to[last]);
  assert_close(angle_between(lo, hi), 1.5, 1e-5);
  for (int i = 0; i <= last; ++i) {
    assert_close(paper.from[i].z, 0.0, 1e-6);
  }
  assert_true(tn_joint_destroy(world, joint));
  draw = on_paper();
  draw.joints = draw.limits = true;
  tn_world_draw(world, &draw);
  assert_int_equal(paper.lines, 0);
  tn_world_destroy(world);
}

static void every_kind_of_joint_can_be_drawn(void **state)
{
  (void)state;
  for (int kind = 0; kind < TN_JOINT_KIND_COUNT; ++kind) {
    tn_world *world = test_world(1, TN_METHOD_TENON);
    tn_body_id a = test_box(world, tn_p3(0.0, 0.0, 0.0), 1.0f, tn_v3(0.1f, 0.1f, 0.1f));
    tn_body_id b = test_box(world, tn_p3(1.0, 0.0, 0.0), 1.0f, tn_v3(0.1f, 0.1f, 0.1f));
    tn_joint_def def = test_joint_def(world, (tn_joint_kind)kind, a, b, tn_p3(0.5, 0.0, 0.0),
                                      tn_v3(1.0f, 1.0f, 0.0f));
    assert_false(TN_IS_NULL(tn_joint_create(world, &def)));
    tn_debug_draw draw = on_paper();
    draw.joints = draw.limits = draw.forces = draw.islands = true;
    tn_world_draw(world, &draw);
    assert_in_range(paper.lines, 9, 200);
    for (int i = 0; i < paper.lines; ++i) {
      assert_true(isfinite(paper.from[i].x + paper.from[i].y + paper.from[i].z));
      assert_true(isfinite(paper.to[i].x + paper.to[i].y + paper.to[i].z));
    }
    tn_world_destroy(world);
  }
}

// A box of 2 kg on the ground: a normal at each point, and forces that add up to its weight.
static void contacts_and_forces_are_drawn(void **state)
{
  (void)state;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_shape_def ground = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_shape_create(world, test_no_body, &ground);
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_BOX);
  tn_body_id box = test_box(world, tn_p3(0.0, 0.5, 0.0), 2.0f, tn_v3(0.5f, 0.5f, 0.5f));
  tn_shape_create(world, box, &def);
  test_run(world, 1.0f / 60.0f, 60);
  tn_debug_draw draw = on_paper();
  draw.contacts = true;
  tn_world_draw(world, &draw);
  assert_int_equal(paper.points, 4);
  assert_int_equal(paper.lines, 4);
  draw = on_paper();
  draw.forces = true;
  tn_world_draw(world, &draw);
  double up = 0.0;
  for (int i = 0; i < paper.lines; ++i) {
    bool shaft = fabs(paper.from[i].y) < 0.02; // lines of arrow heads begin at the tips
    up += shaft ? paper.to[i].y - paper.from[i].y : 0.0;
  }
  assert_close(up, 2.0 * 10.0 * 0.01, 0.01);
  tn_world_destroy(world);
}

static bool same_place(tn_pos a, tn_pos b)
{
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

// Constraints of one colour share no dynamic body and no particle. Lines end at the centres of
// bodies.
static void assert_colors_are_apart(const drawing *d)
{
  for (int i = 0; i < d->lines; ++i) {
    for (int k = 0; k < i; ++k) {
      assert_false(d->color[i] == d->color[k] &&
                   (same_place(d->from[i], d->from[k]) || same_place(d->from[i], d->to[k]) ||
                    same_place(d->to[i], d->from[k]) || same_place(d->to[i], d->to[k])));
    }
  }
}

static int colors_on_paper(const drawing *d)
{
  int count = 0;
  for (int i = 0; i < d->lines; ++i) {
    bool seen = false;
    for (int k = 0; k < i; ++k) {
      seen = seen || d->color[i] == d->color[k];
    }
    count += !seen;
  }
  return count;
}

// A wall of boxes with up to six neighbours each, and a chain of them.
static void constraints_show_the_colours_they_are_solved_in(void **state)
{
  (void)state;
  tn_world *world = test_world(4, TN_METHOD_XPBD);
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_shape_create(world, test_no_body, &def);
  def = tn_default_shape_def(TN_SHAPE_BOX);
  tn_body_id last = test_no_body;
  for (int i = 0; i < 36; ++i) {
    int layer = i / 6;
    tn_pos at = {i % 6 + 0.5 * (layer % 2), 0.5 + layer, 0.0};
    tn_body_id box = test_box(world, at, 1.0f, tn_v3(0.5f, 0.5f, 0.5f));
    tn_shape_create(world, box, &def);
    at.z = 5.0;
    tn_body_id bead = test_box(world, at, 1.0f, tn_v3(0.1f, 0.1f, 0.1f));
    tn_joint_def joint = test_joint_def(world, TN_JOINT_BALL, last, bead, at, tn_v3(1, 0, 0));
    tn_joint_create(world, &joint);
    last = bead;
  }
  tn_debug_draw draw = on_paper();
  draw.colors = true;
  tn_world_draw(world, &draw);
  assert_int_equal(paper.lines, 0); // nothing has been solved yet
  test_run(world, 1.0f / 60.0f, 3);
  draw = on_paper();
  draw.colors = true;
  tn_world_draw(world, &draw);
  int contacts = tn_world_contacts(world, NULL, 0);
  assert_true(contacts >= 50);
  assert_int_equal(paper.lines, contacts + 36);
  assert_in_range(colors_on_paper(&paper), 3, 20);
  assert_colors_are_apart(&paper);
  assert_true(tn_body_destroy(world, last)); // destroys its joint too
  draw = on_paper();
  draw.colors = true;
  tn_world_draw(world, &draw);
  assert_int_equal(paper.lines, contacts + 35);
  tn_world_destroy(world);
}

static void edges_of_a_cloth_show_their_colours(void **state)
{
  (void)state;
  tn_world *world = test_world(4, TN_METHOD_TENON);
  tn_soft_def def = tn_default_soft_def();
  assert_true(tn_soft_mesh_cloth(&def, 8, 8, 1.0f, 1.0f));
  assert_false(TN_IS_NULL(tn_soft_create(world, &def)));
  test_run(world, 1.0f / 60.0f, 1);
  tn_debug_draw draw = on_paper();
  draw.colors = true;
  tn_world_draw(world, &draw);
  assert_int_equal(paper.lines, def.edge_count);
  assert_colors_are_apart(&paper);
  tn_soft_mesh_free(&def);
  tn_world_destroy(world);
}

static void only_set_callbacks_are_called(void **state)
{
  (void)state;
  tn_world *world = test_world(1, TN_METHOD_TENON);
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_BOX);
  tn_shape_create(world, test_no_body, &def);
  tn_debug_draw draw = tn_default_debug_draw();
  assert_null(draw.line);
  draw.contacts = draw.forces = draw.limits = draw.boxes = draw.islands = true;
  tn_world_draw(world, &draw); // no callbacks set
  tn_world_draw(world, NULL);
  assert_message("tn_world_draw: draw is null");
  draw.force_scale = NAN;
  tn_world_draw(world, &draw);
  assert_message("force_scale");
  tn_world_draw(NULL, &draw);
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_of_shape_is_drawn_at_its_place),
      cmocka_unit_test(colours_show_the_types_of_bodies),
      cmocka_unit_test(boxes_are_those_of_the_broad_phase),
      cmocka_unit_test(joints_show_frames_and_limits),
      cmocka_unit_test(every_kind_of_joint_can_be_drawn),
      cmocka_unit_test(contacts_and_forces_are_drawn),
      cmocka_unit_test(constraints_show_the_colours_they_are_solved_in),
      cmocka_unit_test(edges_of_a_cloth_show_their_colours),
      cmocka_unit_test(only_set_callbacks_are_called),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

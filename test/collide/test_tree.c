// AABB trees against brute force over all boxes; their quality and height.
#include "data/world.h"
#include "detect/aabb_tree.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

#define MOST 2000

// The leaves of a tree, by item.
typedef struct forest {
  tn_world *world;
  tree tree;
  bool present[MOST];
  int32_t leaf[MOST];
  world_aabb box[MOST];
  uint64_t category[MOST];
  uint32_t random;
} forest;

static forest *make_forest(uint32_t seed)
{
  forest *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->world = test_world(1, TN_METHOD_TENON);
  f->random = seed;
  return f;
}

static void free_forest(forest *f)
{
  tree_release(&f->world->heap, &f->tree);
  tn_world_destroy(f->world);
  free(f);
}

static world_aabb box_at(tn_pos center, tn_vec3 half)
{
  world_aabb b = {tn_offset(center, tn_scale(-1.0f, half)), tn_offset(center, half)};
  return b;
}

// Separate statements: the order of evaluation of arguments is unspecified.
static tn_vec3 random_half(uint32_t *random, float size)
{
  float scale = test_random(random) < 0.05f ? 20.0f * size : size;
  float x = test_random(random), y = test_random(random), z = test_random(random);
  return tn_v3(scale * x, scale * y, scale * z);
}

static world_aabb random_box(uint32_t *random, float spread, float size)
{
  tn_vec3 center = test_vector(random, spread), half = random_half(random, size);
  return box_at(tn_offset(tn_p3(0.0, 0.0, 0.0), center), half);
}

static void insert(forest *f, int item, world_aabb box)
{
  f->present[item] = true;
  f->box[item] = box;
  f->category[item] = UINT64_C(1) << (item % 64);
  assert_true(tree_insert(&f->world->heap, &f->tree, box, f->category[item], item, &f->leaf[item]));
}

static void insert_random(forest *f, int count)
{
  for (int i = 0; i < count; ++i) {
    insert(f, i, random_box(&f->random, 10.0f, 0.5f));
  }
}

static void change_something(forest *f)
{
  int item = test_index(&f->random, MOST);
  if (!f->present[item]) {
    insert(f, item, random_box(&f->random, 10.0f, 0.5f));
  } else if (test_random(&f->random) < 0.4f) {
    tree_remove(&f->tree, f->leaf[item]);
    f->present[item] = false;
  } else if (test_random(&f->random) < 0.1f) {
    f->category[item] = UINT64_C(1) << test_index(&f->random, 64);
    tree_set_category(&f->tree, f->leaf[item], f->category[item]);
  } else {
    f->box[item] = random_box(&f->random, 10.0f, 0.5f);
    tree_move(&f->tree, f->leaf[item], f->box[item]);
  }
}

// ---------------------------------------------------------------------------------------------
// Invariants

static int larger_of(int a, int b)
{
  return a > b ? a : b;
}

// Returns the number of leaves below.
static int assert_node(const forest *f, int32_t node, int32_t parent)
{
  const tree_node *n = &f->tree.nodes[node];
  assert_int_equal(n->parent, parent);
  if (n->height == 0) {
    assert_true(f->present[n->item] && f->leaf[n->item] == node);
    assert_memory_equal(&n->box, &f->box[n->item], sizeof n->box);
    assert_true(n->category == f->category[n->item]);
    return 1;
  }
  const tree_node *a = &f->tree.nodes[n->child[0]], *b = &f->tree.nodes[n->child[1]];
  assert_int_equal(n->height, 1 + larger_of(a->height, b->height));
  assert_in_range(larger_of(a->height - b->height, b->height - a->height), 0, 12);
  assert_true(n->category == (a->category | b->category));
  assert_true(aabb_contains(&n->box, &a->box) && aabb_contains(&n->box, &b->box));
  return assert_node(f, n->child[0], node) + assert_node(f, n->child[1], node);
}

static void assert_sound(const forest *f)
{
  int expected = 0;
  for (int i = 0; i < MOST; ++i) {
    expected += f->present[i];
  }
  assert_int_equal(f->tree.count, expected);
  if (expected > 0) {
    assert_int_equal(assert_node(f, f->tree.root, NO_SLOT), expected);
  }
}

// ---------------------------------------------------------------------------------------------
// Queries, and the same by brute force

typedef struct found {
  int times[MOST];
  int count, stop_after;
} found;

static bool note(int32_t item, void *context)
{
  found *f = context;
  ++f->times[item];
  return ++f->count != f->stop_after;
}

static void assert_query(const forest *f, world_aabb box)
{
  found here;
  memset(&here, 0, sizeof here);
  tree_query(&f->tree, box, note, &here);
  for (int i = 0; i < MOST; ++i) {
    assert_int_equal(here.times[i], f->present[i] && aabbs_overlap(&f->box[i], &box));
  }
}

// Parameter at which a ray enters a box grown by `half`, by clipping; infinity if it misses.
static double clipped(const world_aabb *b, tn_pos from, tn_vec3 way, tn_vec3 half)
{
  double p[3] = {from.x, from.y, from.z}, w[3] = {(double)way.x, (double)way.y, (double)way.z};
  tn_pos lower = tn_offset(b->lower, tn_scale(-1.0f, half)), upper = tn_offset(b->upper, half);
  double lo[3] = {lower.x, lower.y, lower.z}, hi[3] = {upper.x, upper.y, upper.z};
  double first = 0.0, last = 1.0;
  for (int i = 0; i < 3; ++i) {
    if (w[i] == 0.0) {
      first = p[i] < lo[i] || p[i] > hi[i] ? 2.0 : first;
      continue;
    }
    double a = (lo[i] - p[i]) / w[i], c = (hi[i] - p[i]) / w[i];
    first = fmax(first, fmin(a, c));
    last = fmin(last, fmax(a, c));
  }
  return first <= last ? first : HUGE_VAL;
}

typedef struct cast_case {
  const forest *forest;
  tn_pos from;
  tn_vec3 way, half;
  found found;
  bool closest_only;
  float closest;
  int32_t item;
} cast_case;

static float note_cast(int32_t item, float max_fraction, void *context)
{
  cast_case *c = context;
  note(item, &c->found);
  float at = (float)clipped(&c->forest->box[item], c->from, c->way, c->half);
  if (at <= max_fraction && (at < c->closest || (at == c->closest && item < c->item))) {
    c->closest = at;
    c->item = item;
  }
  return c->closest_only ? c->closest : max_fraction;
}

static void assert_cast(const forest *f, cast_case *c)
{
  tree_cast(&f->tree, c->from, c->way, c->half, 1.0f, note_cast, c);
  float best = INFINITY;
  int32_t item = MOST;
  for (int i = 0; i < MOST; ++i) {
    double at = f->present[i] ? clipped(&f->box[i], c->from, c->way, c->half) : HUGE_VAL;
    if (!c->closest_only && fabs(at - 1.0) > 1e-9) { // at the end of the ray both answers are right
      assert_int_equal(c->found.times[i], at <= 1.0);
    }
    if ((float)at < best) {
      best = (float)at;
      item = i;
    }
  }
  assert_true(c->closest == best);
  assert_int_equal(c->item, item);
}

static void look_around(const forest *f, uint32_t *random)
{
  assert_query(f, random_box(random, 12.0f, 2.0f));
  for (int i = 0; i < 4; ++i) {
    cast_case c = {.forest = f, .closest = INFINITY, .item = MOST};
    c.from = tn_offset(tn_p3(0.0, 0.0, 0.0), test_vector(random, 15.0f));
    c.way = test_vector(random, 30.0f);
    c.way.x = i & 1 ? 0.0f : c.way.x; // parallel to the faces of boxes
    c.half = i & 1 ? random_half(random, 0.5f) : tn_v3(0.0f, 0.0f, 0.0f);
    c.closest_only = i & 2;
    assert_cast(f, &c);
  }
}

static void random_changes_keep_the_tree_valid_and_queries_exact(void **state)
{
  (void)state;
  forest *f = make_forest(7);
  for (int i = 0; i < 20000; ++i) {
    change_something(f);
    if (i % 97 == 0) {
      tree_optimize(&f->tree, 20);
    }
    if (i % 200 == 0) {
      assert_sound(f);
      look_around(f, &f->random);
    }
  }
  for (int i = 0; i < MOST; ++i) {
    if (f->present[i]) {
      tree_remove(&f->tree, f->leaf[i]);
      f->present[i] = false;
    }
    if (i % 50 == 0) {
      assert_sound(f);
    }
  }
  assert_int_equal(f->tree.count, 0);
  assert_query(f, random_box(&f->random, 1.0f, 100.0f));
  insert_random(f, 10);
  assert_sound(f);
  free_forest(f);
}

static void a_query_ends_when_its_callback_says_so(void **state)
{
  (void)state;
  forest *f = make_forest(3);
  insert_random(f, 100);
  found some;
  memset(&some, 0, sizeof some);
  some.stop_after = 7;
  tree_query(&f->tree, box_at(tn_p3(0.0, 0.0, 0.0), tn_v3(99.0f, 99.0f, 99.0f)), note, &some);
  assert_int_equal(some.count, 7);
  free_forest(f);
}

typedef struct nearest_case {
  const forest *forest;
  tn_pos point;
  int visits;
  float distance;
} nearest_case;

static double distance_from(const world_aabb *b, tn_pos p)
{
  double x = fmax(fmax(b->lower.x - p.x, p.x - b->upper.x), 0.0);
  double y = fmax(fmax(b->lower.y - p.y, p.y - b->upper.y), 0.0);
  double z = fmax(fmax(b->lower.z - p.z, p.z - b->upper.z), 0.0);
  return sqrt(x * x + y * y + z * z);
}

static float note_nearest(int32_t item, float max_distance, void *context)
{
  nearest_case *c = context;
  ++c->visits;
  c->distance = fminf(max_distance, (float)distance_from(&c->forest->box[item], c->point));
  return c->distance;
}

static void the_nearest_box_is_found_without_visiting_all(void **state)
{
  (void)state;
  forest *f = make_forest(11);
  insert_random(f, MOST);
  int visits = 0;
  for (int i = 0; i < 300; ++i) {
    nearest_case c = {.forest = f, .distance = INFINITY};
    c.point = tn_offset(tn_p3(0.0, 0.0, 0.0), test_vector(&f->random, 20.0f));
    tree_nearest(&f->tree, c.point, 1e6f, note_nearest, &c);
    double best = HUGE_VAL;
    for (int k = 0; k < MOST; ++k) {
      best = fmin(best, distance_from(&f->box[k], c.point));
    }
    assert_true(c.distance == (float)best);
    visits += c.visits;
  }
  assert_below(visits, 300 * 20);
  free_forest(f);
}

// ---------------------------------------------------------------------------------------------
// Quality

// Each box is as large as all before it together: the smallest surface area is a chain.
static world_aabb doubling_box(int i)
{
  double size = ldexp(1.0, i % 120);
  world_aabb b = {{size, 0.0, 0.0}, {2.0 * size, size, size}};
  return b;
}

static world_aabb row_box(int i)
{
  return box_at(tn_p3(i, 0.0, 0.0), tn_v3(0.5f, 0.5f, 0.5f));
}

static world_aabb same_box(int i)
{
  (void)i;
  return box_at(tn_p3(0.0, 0.0, 0.0), tn_v3(0.5f, 0.5f, 0.5f));
}

static world_aabb half_space(int i)
{
  world_aabb b = {{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, {HUGE_VAL, i, HUGE_VAL}};
  return b;
}

static void height_is_logarithmic_for_any_order_of_insertion(void **state)
{
  (void)state;
  static world_aabb (*const kinds[])(int) = {doubling_box, row_box, same_box, half_space};
  for (int k = 0; k < 4; ++k) {
    forest *f = make_forest(1);
    for (int i = 0; i < MOST; ++i) {
      insert(f, i, kinds[k](i));
    }
    assert_sound(f);
    assert_in_range(f->tree.nodes[f->tree.root].height, 11, 44); // log2 2000; tree.c
    tree_optimize(&f->tree, 2 * MOST);
    assert_sound(f);
    free_forest(f);
  }
}

// Ideal surface area of a tree of n unit boxes in a row that touch: recursive halving.
static double halved_row_cost(int n)
{
  double sum = 0.0;
  for (int size = 2; size <= n; size *= 2) {
    int count = n / size;
    sum += count * (2.0 * size + 1.0);
  }
  return sum / (2.0 * n + 1.0);
}

static void a_row_of_boxes_gives_nearly_the_ideal_tree(void **state)
{
  (void)state;
  forest *f = make_forest(1);
  for (int i = 0; i < 1024; ++i) {
    insert(f, i * 389 % 1024, row_box(i * 389 % 1024));
  }
  double ideal = halved_row_cost(1024), fresh = tree_cost(&f->tree);
  tree_optimize(&f->tree, 10 * f->tree.used);
  double improved = tree_cost(&f->tree);
  print_message("cost of a row of 1024: ideal %.2f, inserted %.2f, improved %.2f\n", ideal, fresh,
                improved);
  assert_below(fresh, 1.25 * ideal);
  assert_below(improved, 1.15 * ideal);
  free_forest(f);
}

static void quality_does_not_degrade_by_moves(void **state)
{
  (void)state;
  forest *f = make_forest(5);
  insert_random(f, MOST);
  double fresh = tree_cost(&f->tree);
  for (int i = 0; i < 50 * MOST; ++i) {
    int item = test_index(&f->random, MOST);
    f->box[item] = random_box(&f->random, 10.0f, 0.5f);
    tree_move(&f->tree, f->leaf[item], f->box[item]);
  }
  double worn = tree_cost(&f->tree);
  tree_optimize(&f->tree, 3 * f->tree.used);
  double improved = tree_cost(&f->tree);
  print_message("cost of %d boxes: inserted %.2f, moved 50 times %.2f, improved %.2f, height %d\n",
                MOST, fresh, worn, improved, f->tree.nodes[f->tree.root].height);
  assert_below(worn, 1.7 * fresh);
  assert_below(improved, 1.25 * fresh);
  free_forest(f);
}

// Quality of a tree newly built from the same boxes.
static double fresh_cost(const forest *f)
{
  forest *other = make_forest(1);
  for (int i = 0; i < MOST; ++i) {
    insert(other, i, f->box[i]);
  }
  double cost = tree_cost(&other->tree);
  free_forest(other);
  return cost;
}

// Each box moves in its own direction, about twice through all of the others; sometimes one jumps.
static void refitting_keeps_a_tree_valid_exact_and_good(void **state)
{
  (void)state;
  forest *f = make_forest(13);
  insert_random(f, MOST);
  tn_vec3 way[MOST];
  for (int i = 0; i < MOST; ++i) {
    way[i] = test_vector(&f->random, 0.2f);
  }
  double worst = 0.0;
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < MOST; ++i) {
      if (test_random(&f->random) < 0.3f) {
        world_aabb moved = {tn_offset(f->box[i].lower, way[i]), tn_offset(f->box[i].upper, way[i])};
        bool jumps = test_random(&f->random) < 0.001f;
        f->box[i] = jumps ? random_box(&f->random, 10.0f, 0.5f) : moved;
        tree_move_lazily(&f->tree, f->leaf[i], f->box[i]);
      }
    }
    tree_refit(&f->tree, NULL);
    assert_sound(f);
    tree_optimize(&f->tree, f->tree.used / 64);
    if (round % 20 == 19) {
      look_around(f, &f->random);
      worst = fmax(worst, tree_cost(&f->tree) / fresh_cost(f));
    }
  }
  print_message("shifted %d boxes: at most %.2f of the cost of a new tree\n", MOST, worst);
  assert_below(worst, 1.7); // as when boxes move one by one
  free_forest(f);
}

static void the_same_changes_give_the_same_tree(void **state)
{
  (void)state;
  forest *a = make_forest(9), *b = make_forest(9);
  for (int i = 0; i < 3000; ++i) {
    change_something(a);
    change_something(b);
    tree_optimize(&a->tree, 1);
    tree_optimize(&b->tree, 1);
  }
  assert_int_equal(a->tree.used, b->tree.used);
  for (int i = 0; i < a->tree.used; ++i) {
    const tree_node *m = &a->tree.nodes[i], *n = &b->tree.nodes[i];
    assert_true(m->parent == n->parent && m->height == n->height);
    assert_true(m->child[0] == n->child[0] && m->child[1] == n->child[1]);
  }
  free_forest(a);
  free_forest(b);
}

static void failed_allocations_change_nothing(void **state)
{
  (void)state;
  test_meter meter = {.until_failure = -1};
  tn_world_def def = test_world_def(1, TN_METHOD_TENON);
  def.allocator = test_metered(&meter);
  forest *f = make_forest(2);
  tn_world_destroy(f->world);
  f->world = tn_world_create(&def);
  size_t before = meter.bytes;
  insert_random(f, 32); // 63 of 64 nodes in use
  meter.until_failure = 0;
  int32_t leaf = NO_SLOT;
  assert_false(tree_insert(&f->world->heap, &f->tree, same_box(0), 1, 40, &leaf));
  assert_int_equal(leaf, NO_SLOT);
  assert_sound(f);
  meter.until_failure = -1;
  insert(f, 40, same_box(0));
  assert_sound(f);
  tree_release(&f->world->heap, &f->tree);
  assert_true(meter.bytes == before);
  free_forest(f);
  assert_true(meter.bytes == 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_changes_keep_the_tree_valid_and_queries_exact),
      cmocka_unit_test(a_query_ends_when_its_callback_says_so),
      cmocka_unit_test(the_nearest_box_is_found_without_visiting_all),
      cmocka_unit_test(height_is_logarithmic_for_any_order_of_insertion),
      cmocka_unit_test(a_row_of_boxes_gives_nearly_the_ideal_tree),
      cmocka_unit_test(quality_does_not_degrade_by_moves),
      cmocka_unit_test(refitting_keeps_a_tree_valid_exact_and_good),
      cmocka_unit_test(the_same_changes_give_the_same_tree),
      cmocka_unit_test(failed_allocations_change_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

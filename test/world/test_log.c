// Repeated messages of a world are counted, not printed.
#include "support.h"

#include <stdio.h>
#include <string.h>

typedef struct lines {
  int count;
  char last[400];
} lines;

static void take_line(tn_log_level level, const char *message, void *context)
{
  lines *l = context;
  assert_int_equal(level, TN_LOG_ERROR);
  l->count += 1;
  snprintf(l->last, sizeof l->last, "%s", message);
}

static tn_world *world_with(lines *l, bool log_repeats)
{
  tn_world_def def = tn_default_world_def();
  def.log = take_line;
  def.log_context = l;
  def.log_repeats = log_repeats;
  tn_world *world = tn_world_create(&def);
  assert_non_null(world);
  return world;
}

static bool ends_with(const char *text, const char *end)
{
  size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

static void a_message_comes_once_and_at_powers_of_ten(void **state)
{
  (void)state;
  lines l = {0};
  tn_world *world = world_with(&l, false);
  for (int i = 0; i <= 10000; ++i) {
    assert_false(tn_world_set_substeps(world, 0));
    int expected = 1 + (i >= 10) + (i >= 100) + (i >= 1000) + (i >= 10000);
    assert_int_equal(l.count, expected);
    if (i == 0) {
      assert_string_equal(l.last, "tn_world_set_substeps: substeps must be from 1 to 10000");
    } else if (i == 10) {
      assert_string_equal(l.last, "tn_world_set_substeps: substeps must be from 1 to 10000 "
                                  "(repeated 10 times)");
    }
  }
  assert_true(ends_with(l.last, "(repeated 10000 times)"));
  tn_world_destroy(world);
}

// Six messages in turn are all counted; after ten others a message is new again.
static void the_last_few_messages_are_remembered(void **state)
{
  (void)state;
  lines l = {0};
  tn_world *world = world_with(&l, false);
  for (int i = 0; i < 60; ++i) {
    tn_soft_id soft = {0};
    tn_body_id body = {0};
    switch (i % 6) {
    case 0:
      tn_world_set_substeps(world, 0);
      break;
    case 1:
      tn_world_set_iterations(world, 0);
      break;
    case 2:
      tn_soft_volume(world, soft);
      break;
    case 3:
      tn_body_mass(world, body);
      break;
    case 4:
      tn_body_position(world, body);
      break;
    default:
      tn_body_rotation(world, body);
      break;
    }
  }
  assert_int_equal(l.count, 6);
  tn_soft_def def = tn_default_soft_def();
  tn_soft_id soft;
  assert_true(tn_soft_mesh_rope(&def, 2, 1.0f));
  soft = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  for (int i = 0; i < 10; ++i) {
    tn_soft_position(world, soft, 1000 + i); // ten different messages
  }
  assert_int_equal(l.count, 16);
  tn_world_set_substeps(world, 0);
  assert_int_equal(l.count, 17);
  assert_false(ends_with(l.last, "times)"));
  tn_world_destroy(world);
}

static void worlds_count_for_themselves(void **state)
{
  (void)state;
  lines l[2] = {0};
  tn_world *a = world_with(&l[0], false), *b = world_with(&l[1], true);
  for (int i = 0; i < 5; ++i) {
    tn_world_set_substeps(a, 0);
    tn_world_set_substeps(b, 0);
  }
  assert_int_equal(l[0].count, 1);
  assert_int_equal(l[1].count, 5); // log_repeats
  tn_world_destroy(a);
  tn_world_destroy(b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_message_comes_once_and_at_powers_of_ten),
      cmocka_unit_test(the_last_few_messages_are_remembered),
      cmocka_unit_test(worlds_count_for_themselves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

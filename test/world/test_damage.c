// Snapshots with changed bytes and a corrected checksum. Each is either refused with a message that
// names the place, with the world unchanged, or gives a world that can be stepped, queried and
// destroyed. Under the address sanitizer this finds fields that are not checked.
//
// `test_damage FROM TO` runs a range of seeds.
#include "churn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES 400 // per seed
#define MOST_CHANGES 3

// Offsets in the header: its size, the size of the content, and the checksum.
#define AT_HEADER_SIZE 12
#define AT_SIZE 48
#define AT_CHECKSUM 56

static uint64_t hash(uint64_t h, const unsigned char *p, size_t size)
{
  for (size_t i = 0; i < size; ++i) {
    h = (h ^ p[i]) * 0x100000001b3ull;
  }
  return h;
}

static void mend_checksum(unsigned char *bytes, size_t size)
{
  uint32_t head;
  uint64_t content, sum;
  memcpy(&head, bytes + AT_HEADER_SIZE, sizeof head);
  memcpy(&content, bytes + AT_SIZE, sizeof content);
  if (head > size || content > size - head) {
    return; // truncated, which is checked first
  }
  memset(bytes + AT_CHECKSUM, 0, sizeof sum);
  sum = hash(hash(0xcbf29ce484222325ull, bytes, head), bytes + head, (size_t)content);
  memcpy(bytes + AT_CHECKSUM, &sum, sizeof sum);
}

// Half of the changes hit words that look like an index, a count or a flag: most other bytes are
// harmless numbers.
static void change(unsigned char *bytes, size_t size, uint32_t *random)
{
  const int32_t words[] = {-1, 0, 1, 2, 3, -2, -7, 60000, 0x7fffffff, INT32_MIN, 0x7fc00000};
  size_t at = (size_t)(test_random(random) * (float)(size / 4)) * 4;
  bool small = test_random(random) < 0.5f;
  for (int i = 0; i < 200 && small; ++i, at = (at + 4) % (size - 4)) {
    int32_t word;
    memcpy(&word, bytes + at, sizeof word);
    if (word >= -1 && word < 300 && word != 0) {
      break;
    }
  }
  at = at > size - 4 ? size - 4 : at;
  if (test_random(random) < 0.3f) {
    bytes[at] = (unsigned char)(bytes[at] ^ 1u << test_index(random, 8));
  } else {
    memcpy(bytes + at, &words[test_index(random, (int)(sizeof words / sizeof *words))], 4);
  }
}

static void take_apart(tn_world *world)
{
  tn_soft_id softs[8];
  tn_joint_id joints[16];
  tn_body_id bodies[32];
  int count = tn_world_softs(world, softs, 8);
  for (int i = 0; i < count && i < 8; ++i) {
    tn_soft_contact touches[8];
    tn_soft_contacts(world, softs[i], touches, 8);
    tn_soft_set_awake(world, softs[i], i % 2);
    tn_soft_destroy(world, softs[i]);
  }
  count = tn_world_joints(world, joints, 16);
  for (int i = 0; i < count && i < 16; i += 2) {
    tn_joint_get_state(world, joints[i]);
    tn_joint_destroy(world, joints[i]);
  }
  count = tn_world_bodies(world, bodies, 32);
  for (int i = 0; i < count && i < 32; ++i) {
    tn_body_set_awake(world, bodies[i], i % 2);
    tn_body_destroy(world, bodies[i]);
  }
}

// Returns whether the snapshot was accepted.
static bool try_bytes(tn_world *world, const unsigned char *bytes, size_t size)
{
  uint64_t before = tn_world_hash(world);
  test_forget_messages();
  if (!tn_world_restore(world, bytes, size)) {
    assert_message("tn_world_restore: ");
    assert_true(tn_world_hash(world) == before);
    return false;
  }
  if (tn_world_substeps(world) * tn_world_iterations(world) > 100) {
    tn_world_set_substeps(world, 4); // valid, but slow
    tn_world_set_iterations(world, 1);
  }
  tn_world_step(world, 1.0f / 60.0f);
  take_apart(world);
  tn_world_step(world, 1.0f / 60.0f);
  return true;
}

static void run_seed(uint32_t seed, int *accepted, int *refused)
{
  churn c = {0};
  c.world[c.count++] = test_world_with(2, TN_METHOD_TENON, 0, 1);
  churn_begin(&c, seed);
  for (int i = 0; i < 40 + (int)(seed % 60); ++i) {
    churn_step(&c);
  }
  size_t size = tn_world_save(c.world[0], NULL, 0);
  unsigned char *saved = malloc(size), *bytes = malloc(size);
  assert_true(saved && bytes);
  tn_world_save(c.world[0], saved, size);
  tn_world *world = test_world_with(2, TN_METHOD_TENON, 0, 1);
  uint32_t random = seed + 1;
  for (int i = 0; i < TRIES; ++i) {
    memcpy(bytes, saved, size);
    for (int k = test_index(&random, MOST_CHANGES); k >= 0; --k) {
      change(bytes, size, &random);
    }
    mend_checksum(bytes, size);
    *(try_bytes(world, bytes, size) ? accepted : refused) += 1;
  }
  // The original bytes are accepted, whatever the world went through.
  assert_true(tn_world_restore(world, saved, size));
  assert_true(tn_world_hash(world) == tn_world_hash(c.world[0]));
  tn_world_destroy(world);
  tn_world_destroy(c.world[0]);
  free(saved);
  free(bytes);
}

static void changed_bytes_are_refused_or_harmless(void **state)
{
  const uint32_t *range = *state;
  int accepted = 0, refused = 0;
  for (uint32_t seed = range[0]; seed < range[1]; ++seed) {
    run_seed(seed, &accepted, &refused);
  }
  // Both outcomes occur; otherwise the changes hit only harmless or only checked bytes.
  assert_true(accepted > 0 && refused > 0);
  print_message("%d accepted, %d refused\n", accepted, refused);
}

int main(int count, char **arguments)
{
  uint32_t range[2] = {0, 6};
  for (int i = 0; i < 2 && count > 2; ++i) {
    range[i] = (uint32_t)strtoul(arguments[1 + i], NULL, 10);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(changed_bytes_are_refused_or_harmless, range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

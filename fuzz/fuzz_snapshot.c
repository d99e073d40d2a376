// Snapshots with changed bytes and a corrected checksum: each is refused with a reason, or gives a
// world that can be stepped, queried, saved and destroyed.
//
// An input is not a snapshot but a list of changes to one of a few worlds, so that it survives
// changes of the layout: a byte chooses the world, then ten bytes a change: place (4), kind (2),
// word (4).
#include "churn.h"
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORLDS = 8, CHANGE_SIZE = 10, MOST_CHANGES = 16 };

// Offsets in the header: its size, the size of the content, and the checksum.
enum { AT_HEADER_SIZE = 12, AT_SIZE = 48, AT_CHECKSUM = 56 };

typedef struct saved {
  uint8_t *bytes;
  size_t size;
} saved;

static saved source(int which)
{
  static saved kept[WORLDS];
  saved *s = &kept[which];
  if (!s->bytes) {
    churn c = {0};
    c.world[c.count++] = test_world_with(2, TN_METHOD_TENON, 1, 1);
    churn_begin(&c, (uint32_t)(11 * which + 3));
    for (int i = 0; i < 10 + 12 * which; ++i) {
      churn_step(&c);
    }
    s->size = tn_world_save(c.world[0], NULL, 0);
    s->bytes = malloc(s->size);
    tn_world_save(c.world[0], s->bytes, s->bytes ? s->size : 0);
    tn_world_destroy(c.world[0]);
  }
  return *s;
}

static uint64_t hash(uint64_t h, const uint8_t *p, size_t size)
{
  for (size_t i = 0; i < size; ++i) {
    h = (h ^ p[i]) * 0x100000001b3ull;
  }
  return h;
}

static void mend_checksum(uint8_t *bytes, size_t size)
{
  uint32_t head;
  uint64_t content, sum;
  memcpy(&head, bytes + AT_HEADER_SIZE, sizeof head);
  memcpy(&content, bytes + AT_SIZE, sizeof content);
  if (head <= size && head >= AT_CHECKSUM + sizeof sum && content <= size - head) {
    memset(bytes + AT_CHECKSUM, 0, sizeof sum);
    sum = hash(hash(0xcbf29ce484222325ull, bytes, head), bytes + head, (size_t)content);
    memcpy(bytes + AT_CHECKSUM, &sum, sizeof sum);
  }
}

// Half of the changes move on to a word that looks like an index, a count or a flag.
static void change(uint8_t *bytes, size_t size, const uint8_t *how)
{
  uint32_t place, word;
  memcpy(&place, how, sizeof place);
  memcpy(&word, how + 6, sizeof word);
  size_t words = size / 4, at = place % words;
  for (int i = 0; i < 400 && (how[4] & 1); ++i, at = (at + 1) % words) {
    int32_t old;
    memcpy(&old, bytes + 4 * at, sizeof old);
    if (old >= -1 && old < 300 && old != 0) {
      break;
    }
  }
  switch (how[4] >> 1 & 3) {
  case 0:
    bytes[4 * at + (how[5] & 3)] ^= (uint8_t)word;
    break;
  case 1: { // a neighbouring number
    uint32_t old;
    memcpy(&old, bytes + 4 * at, sizeof old);
    old += how[5] - 128u;
    memcpy(bytes + 4 * at, &old, sizeof old);
    break;
  }
  default:
    memcpy(bytes + 4 * at, &word, sizeof word);
    break;
  }
}

static void read_out(tn_world *world)
{
  tn_contact contacts[8];
  tn_world_contacts(world, contacts, 8);
  tn_world_energy(world);
  tn_world_ray(world, tn_p3(0.0, 9.0, 0.0), tn_v3(0.0f, -20.0f, 0.0f), tn_default_query_filter());
  tn_soft_id softs[8];
  int count = tn_world_softs(world, softs, 8);
  for (int i = 0; i < count && i < 8; ++i) {
    tn_soft_contact touches[8];
    tn_soft_contacts(world, softs[i], touches, 8);
    tn_soft_energy(world, softs[i]);
    tn_soft_destroy(world, softs[i]);
  }
  tn_joint_id joints[16];
  count = tn_world_joints(world, joints, 16);
  for (int i = 0; i < count && i < 16; ++i) {
    tn_joint_get_state(world, joints[i]);
    tn_joint_set_enabled(world, joints[i], i % 2);
  }
  tn_body_id bodies[32];
  count = tn_world_bodies(world, bodies, 32);
  for (int i = 0; i < count && i < 32; i += 2) {
    tn_body_destroy(world, bodies[i]);
  }
}

static void try_bytes(const uint8_t *bytes, size_t size)
{
  static tn_world *world; // kept: creating one costs as much as the rest
  if (!world) {
    world = test_world_with(2, TN_METHOD_TENON, 1, 1);
  }
  test_forget_messages();
  uint64_t before = tn_world_hash(world);
  if (!tn_world_restore(world, bytes, size)) {
    if (test_messages.count < 1 || tn_world_hash(world) != before) {
      fuzz_fail("a snapshot is refused without a reason, or the world has changed");
    }
    return;
  }
  fuzz_run_world(world, 1);
  read_out(world);
  fuzz_run_world(world, 1);
  size_t needed = tn_world_save(world, NULL, 0);
  uint8_t *again = malloc(needed);
  if (again) {
    tn_world_save(world, again, needed);
    if (!tn_world_restore(world, again, needed)) {
      fprintf(stderr, "%s\n", test_last_message());
      fuzz_fail("a saved world is refused");
    }
  }
  free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size < 1 + CHANGE_SIZE) {
    return 0;
  }
  saved s = source(data[0] % WORLDS);
  uint8_t *bytes = malloc(s.size);
  if (bytes && s.bytes) {
    memcpy(bytes, s.bytes, s.size);
    for (size_t i = 1; i + CHANGE_SIZE <= size && i < 1 + CHANGE_SIZE * MOST_CHANGES;
         i += CHANGE_SIZE) {
      change(bytes, s.size, data + i);
    }
    mend_checksum(bytes, s.size);
    try_bytes(bytes, s.size);
  }
  free(bytes);
  return 0;
}

// Writes a recording of 40 steps for test_replay.sh. With STEP the recorded hash of that step is
// wrong; with STEP and a second number the file ends so many bytes early.
// usage: write_recording FILE [STEP [BYTES]]
#include "data/record_format.h"

#include <tenon/recorder.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 40, ROOM = 1 << 20 };

static void record(const char *path)
{
  tn_world_def def = tn_default_world_def();
  tn_world *world = tn_world_create(&def);
  tn_world_record_calls(world, path);
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX),
               plane = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_body_id none = {0};
  tn_shape_create(world, none, &plane);
  for (int i = 0; i < STEPS; ++i) {
    if (i < 5) {
      tn_body_def body = tn_default_body_def();
      body.position = tn_p3(0.1 * i, 0.5 + 1.1 * i, 0.0);
      tn_shape_create(world, tn_body_create(world, &body), &box);
    }
    tn_world_step(world, 1.0f / 60.0f);
  }
  tn_world_destroy(world);
}

static void damage(unsigned char *bytes, size_t size, int step)
{
  for (size_t at = RECORD_HEADER_SIZE; at + RECORD_HEAD <= size;) {
    uint32_t name, length;
    memcpy(&name, bytes + at, 4);
    memcpy(&length, bytes + at + 4, 4);
    if (name == record_name_hash(RECORD_RESULT) && step-- == 0) {
      bytes[at + RECORD_HEAD + 4] ^= 1;
    }
    at += RECORD_HEAD + length;
  }
}

int main(int argc, char **argv)
{
  static unsigned char bytes[ROOM];
  if (argc < 2) {
    return 1;
  }
  record(argv[1]);
  FILE *file = argc > 2 ? fopen(argv[1], "r+b") : NULL;
  if (file) {
    size_t size = fread(bytes, 1, ROOM, file);
    damage(bytes, size, atoi(argv[2]));
    size -= argc > 3 ? (size_t)atoi(argv[3]) : 0;
    fclose(file);
    file = fopen(argv[1], "wb");
    return !file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0;
  }
  return argc > 2;
}

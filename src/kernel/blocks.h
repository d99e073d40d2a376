// Blocks of BLOCK_WIDTH lanes, field by field. The block width does not depend on the lane width,
// so every lane width solves the same blocks in the same order.
#ifndef TENON_KERNEL_BLOCKS_H
#define TENON_KERNEL_BLOCKS_H

#include "kernel/lane.h"

#include <stddef.h>

#define BLOCK_WIDTH 8
#define FIELDS(type) (sizeof(type) / sizeof(R))

// Writes `count` floats to one lane of a block's fields; get_lane() reads them.
static inline void set_lane(float (*fields)[BLOCK_WIDTH], int lane, const void *values,
                            size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    fields[i][lane] = ((const float *)values)[i];
  }
}

static inline void get_lane(float (*fields)[BLOCK_WIDTH], int lane, void *values, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    ((float *)values)[i] = fields[i][lane];
  }
}

#endif

// Blocks of coloured constraints.
#include "solver/coloring.h"

int32_t lay_out_colors(coloring *c, int32_t first_block, int32_t *group, int types, int colors)
{
  int32_t next = first_block;
  c->count = 0;
  c->color[0] = (color_range){first_block, first_block};
  for (int color = 0; color <= colors; ++color) {
    color_range range = {next, next};
    bool overflow = color == colors;
    for (int type = 0; type < types; ++type) {
      int32_t *place = &group[color * types + type];
      int32_t count = *place;
      *place = next * BLOCK_WIDTH;
      next += overflow ? count : (count + BLOCK_WIDTH - 1) / BLOCK_WIDTH;
    }
    range.last = next;
    if (overflow) {
      c->overflow = range;
    } else {
      c->color[color] = range;
      c->count = range.last > range.first ? color + 1 : c->count;
    }
  }
  return next;
}

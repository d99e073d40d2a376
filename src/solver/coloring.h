// Graph colouring: constraints of one colour share no dynamic body and are solved in parallel.
#ifndef TENON_SOLVER_COLORING_H
#define TENON_SOLVER_COLORING_H

#include "base/task.h"
#include "kernel/blocks.h"

#include <stdint.h>

#define MAX_COLORS 64 // bits of a colour mask

typedef task_range color_range; // range of constraint blocks

// Graph colouring: constraints of one colour share no dynamic body and are solved in parallel.
// Blocks are sorted by colour, within a colour by constraint type.
typedef struct coloring {
  color_range color[MAX_COLORS]; // `count` of them, and the first one
  int32_t count;
  color_range overflow; // constraints that got no colour, one to a block, solved one after another
} coloring;

// Assigns blocks to every colour and type. On entry `group` holds the number of constraints for
// each of `colors` colours, `types` entries a colour, with one more colour for the overflow; on
// return the first place of each, block * BLOCK_WIDTH + lane. Blocks are taken from first_block on;
// returns the next free one.
int32_t lay_out_colors(coloring *c, int32_t first_block, int32_t *group, int types, int colors);

#endif

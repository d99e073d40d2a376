// Time spent in the stages of a step, with the clock of the user.
#include "data/profile.h"

#include "data/world.h"

void profile_begin(tn_world *world)
{
  world->profile = (tn_profile){0};
  world->stage_start = world->clock ? world->clock() : 0.0;
}

// Stores the time since the end of the last stage, s.
void profile_end_stage(tn_world *world, double *part)
{
  if (world->clock) {
    double now = world->clock();
    *part = now - world->stage_start;
    world->stage_start = now;
  }
}

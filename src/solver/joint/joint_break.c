// Joints that break under load, and their events.
#include "data/ids.h"
#include "data/world.h"
#include "solver/joint/joint_layout.h"

static void break_joint(tn_world *world, int32_t slot)
{
  joint *j = &world->joints[slot];
  j->broken = true;
  j->def.enabled = false;
  world->joint_layout_stale = true;
  tn_joint_break_event event = {joint_id_at(world, slot), j->force, j->torque, j->def.user_data};
  world->break_events[world->break_event_count++] = event;
}

void break_overloaded_joints(tn_world *world)
{
  for (int32_t slot = 0; slot < world->joint_pool.used; ++slot) {
    const joint *j = &world->joints[slot];
    if (j->alive && (j->block != NO_SLOT || j->direct != NO_SLOT) &&
        (tn_length(j->force) > j->def.break_force || tn_length(j->torque) > j->def.break_torque)) {
      break_joint(world, slot);
    }
  }
}

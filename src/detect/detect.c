// Detection of contacts, once a step: broad phase, soft contacts, narrow phase.
#include "detect/detect.h"

#include "data/profile.h"
#include "data/wake.h"
#include "data/world.h"
#include "detect/broad_phase.h"
#include "detect/soft_contacts.h"

bool narrow_phase_repeat(tn_world *world, float dt)
{
  do {
    if (!awake_list_update(world) || !narrow_phase_update(world, dt)) {
      return false;
    }
  } while (world->awake_list_stale);
  return true;
}

bool detect_contacts(tn_world *world, float dt)
{
  if (!awake_list_update(world) || !broad_phase_update(world, dt)) {
    return false;
  }
  profile_end_stage(world, &world->profile.pairs);
  if (!soft_contacts_find(world, dt)) {
    return false;
  }
  if (!narrow_phase_repeat(world, dt)) {
    return false;
  }
  profile_end_stage(world, &world->profile.manifolds);
  return true;
}

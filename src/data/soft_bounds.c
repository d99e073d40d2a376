// Bounding boxes of soft bodies.
#include "data/soft_bounds.h"

#include "data/world.h"

#include <math.h>

world_aabb empty_box(void)
{
  world_aabb box = {tn_p3(HUGE_VAL, HUGE_VAL, HUGE_VAL), tn_p3(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL)};
  return box;
}

void soft_set_box(soft *s, world_aabb box)
{
  double r = (double)s->radius;
  s->box.lower = tn_p3(box.lower.x - r, box.lower.y - r, box.lower.z - r);
  s->box.upper = tn_p3(box.upper.x + r, box.upper.y + r, box.upper.z + r);
  s->box_grown = false;
}

void soft_update_box(soft *s)
{
  world_aabb box = empty_box();
  for (int32_t i = 0; i < s->particle_count; ++i) {
    box_add_point(&box, s->particles[i].at);
  }
  soft_set_box(s, box);
}

// In constant time: the box keeps the particle's old position until soft_boxes_settle().
void soft_grow_box(soft *s, tn_pos at)
{
  double r = (double)s->radius;
  box_add_point(&s->box, tn_p3(at.x - r, at.y - r, at.z - r));
  box_add_point(&s->box, tn_p3(at.x + r, at.y + r, at.z + r));
  s->box_grown = true;
}

void soft_boxes_settle(tn_world *world)
{
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    if (world->softs[i].alive && world->softs[i].box_grown) {
      soft_update_box(&world->softs[i]);
    }
  }
}

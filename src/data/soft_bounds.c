// Bounding boxes of soft bodies.
#include "data/soft_bounds.h"

#include "data/world.h"

#include <math.h>

world_aabb empty_box(void)
{
  world_aabb box = {tn_p3(HUGE_VAL, HUGE_VAL, HUGE_VAL), tn_p3(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL)};
  return box;
}

void box_add_point(world_aabb *box, tn_pos p)
{
  box->lower = tn_p3(fmin(box->lower.x, p.x), fmin(box->lower.y, p.y), fmin(box->lower.z, p.z));
  box->upper = tn_p3(fmax(box->upper.x, p.x), fmax(box->upper.y, p.y), fmax(box->upper.z, p.z));
}

void soft_update_box(soft *s)
{
  tn_pos lower = s->particles[0].at, upper = lower;
  for (int32_t i = 1; i < s->particle_count; ++i) {
    tn_pos at = s->particles[i].at;
    lower = tn_p3(fmin(lower.x, at.x), fmin(lower.y, at.y), fmin(lower.z, at.z));
    upper = tn_p3(fmax(upper.x, at.x), fmax(upper.y, at.y), fmax(upper.z, at.z));
  }
  double r = (double)s->radius;
  s->box.lower = tn_p3(lower.x - r, lower.y - r, lower.z - r);
  s->box.upper = tn_p3(upper.x + r, upper.y + r, upper.z + r);
  s->box_grown = false;
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

// Contacts of shapes and of soft bodies as users read them, and the pair filter.
#include "data/ids.h"
#include "data/world.h"

static tn_contact contact_readout(const tn_world *world, const contact *c)
{
  const pair *p = &world->pairs[c->pair];
  const shape *a = &world->shapes[p->shape[0]];
  const shape *b = &world->shapes[p->shape[1]];
  world_pose at_a = shape_world_pose(world, a);
  world_pose at_b = shape_world_pose(world, b);
  tn_quat qa = dquat_round(at_a.q), qb = dquat_round(at_b.q);
  tn_contact out = {0};
  out.shape_a = shape_id_at(world, p->shape[0]);
  out.shape_b = shape_id_at(world, p->shape[1]);
  out.body_a = body_id_of(world, a->body);
  out.body_b = body_id_of(world, b->body);
  out.normal = tn_rotate(qa, c->manifold.normal);
  out.count = c->manifold.count;
  for (int i = 0; i < out.count; ++i) {
    const manifold_point *m = &c->manifold.points[i];
    tn_vec3 skin_a = tn_scale(c->manifold.radius_a, out.normal);
    tn_vec3 skin_b = tn_scale(-c->manifold.radius_b, out.normal);
    tn_pos on_a = tn_offset(at_a.p, tn_add(tn_rotate(qa, m->a), skin_a));
    tn_pos on_b = tn_offset(at_b.p, tn_add(tn_rotate(qb, m->b), skin_b));
    out.points[i].position = tn_offset(on_a, tn_scale(0.5f, tn_between_points(on_a, on_b)));
    out.points[i].gap = c->manifold.points[i].gap;
    out.points[i].normal_force = c->forces.force[i];
  }
  out.friction_force = c->forces.friction_force;
  out.friction_torque = c->forces.friction_torque;
  return out;
}

int tn_world_contacts(const tn_world *world, tn_contact *contacts, int capacity)
{
  int count = 0;
  for (int32_t i = 0; world && i < world->contact_pool.used; ++i) {
    if (world->contacts[i].alive) {
      if (contacts && count < capacity) {
        contacts[count] = contact_readout(world, &world->contacts[i]);
      }
      count += 1;
    }
  }
  return count;
}

int tn_body_contacts(const tn_world *world, tn_body_id id, tn_contact *contacts, int capacity)
{
  const body *b = body_find(world, id, "tn_body_contacts");
  int count = 0;
  for (int32_t k = b ? b->first_shape : NO_SLOT; k != NO_SLOT; k = world->shapes[k].next) {
    for (int32_t link = world->shapes[k].first_pair; link != NO_SLOT;
         link = world->pairs[link / 2].next[link % 2]) {
      for (int32_t c = world->pairs[link / 2].first_contact; c != NO_SLOT;
           c = world->contacts[c].next) {
        if (contacts && count < capacity) {
          contacts[count] = contact_readout(world, &world->contacts[c]);
        }
        count += 1;
      }
    }
  }
  return count;
}

bool tn_world_set_pair_filter(tn_world *world, tn_pair_filter_fn *filter, void *context)
{
  if (!world) {
    return false;
  }
  world->pair_filter = filter;
  world->pair_filter_context = context;
  return true;
}

int tn_soft_contacts(const tn_world *world, tn_soft_id id, tn_soft_contact *contacts, int capacity)
{
  const soft *s = soft_find(world, id, "tn_soft_contacts");
  int32_t slot = s ? (int32_t)(s - world->softs) : NO_SLOT;
  int count = 0;
  for (int32_t i = 0; s && i < world->soft_contact_count; ++i) {
    const soft_contact *t = &world->soft_contacts[i];
    if (!soft_contact_is_of(t, slot)) {
      continue;
    }
    if (contacts && count < capacity) {
      tn_soft_contact c = {{-1, -1, -1}, {0}, {0}, {0}, -1, t->normal, t->gap, t->force};
      bool soft_soft = is_soft_soft(t), second = soft_soft && t->soft != slot;
      int own = first_side_particles(t), first = second ? own : 0;
      int last = soft_soft && !second ? own : soft_contact_particles(t);
      for (int k = first; k < last; ++k) {
        c.particles[k - first] = t->particle[k];
      }
      if (soft_soft) {
        c.other_soft = soft_id_at(world, second ? t->soft : t->other);
        c.other_particle = t->particle[second ? 0 : own];
        c.force = second ? tn_scale(-1.0f, t->force) : t->force;
        c.normal = second ? tn_scale(-1.0f, t->normal) : t->normal;
      } else {
        c.shape = shape_id_at(world, t->shape);
        c.body = body_id_at(world, t->body);
      }
      contacts[count] = c;
    }
    count += 1;
  }
  return count;
}

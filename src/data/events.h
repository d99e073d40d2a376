// Queues of events. Those raised between steps are published with those of the next step.
#ifndef TENON_DATA_EVENTS_H
#define TENON_DATA_EVENTS_H

#include "data/pairs.h"

#include <tenon/tenon.h>

bool add_contact_event(tn_world *world, tn_contact_event event);
tn_contact_event pair_event(const tn_world *world, const pair *p, tn_event_kind kind);
// Drops unpublished events of a shape that is destroyed.
void contact_events_remove_of(tn_world *world, int32_t shape_slot);
void add_sleep_event(tn_world *world, int32_t body_slot, bool asleep);
// Drops unpublished events of a body that is destroyed.
void sleep_events_remove_of(tn_world *world, int32_t slot);
void add_soft_event(tn_world *world, const tn_soft_event *event);
void soft_events_release(tn_world *world);
// Drops the events of the last step; publishes those queued since.
void events_begin_step(tn_world *world);
void events_publish(tn_world *world);

#endif

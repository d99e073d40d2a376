// Contacts of soft bodies.
#ifndef TENON_DETECT_SOFT_CONTACTS_H
#define TENON_DETECT_SOFT_CONTACTS_H

#include <tenon/tenon.h>

bool soft_contacts_find(tn_world *world, float dt);
void soft_contacts_remove_soft(tn_world *world, int32_t slot);
void soft_contacts_discard(tn_world *world, int32_t slot); // sends no events
void soft_contacts_remove_shape(tn_world *world, int32_t slot);
void soft_wake_touched(tn_world *world, int32_t slot);
void soft_contacts_release(tn_world *world);

void soft_touch_pairs_update(tn_world *world);
void soft_touch_pairs_remove_soft(tn_world *world, int32_t slot);
void soft_touch_pairs_remove_shape(tn_world *world, int32_t slot);

#endif

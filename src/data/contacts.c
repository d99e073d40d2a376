// Contact records.
#include "data/contacts.h"

#include <string.h>

void contact_clear_impulses(contact *c)
{
  memset(&c->state, 0, sizeof c->state);
  memset(&c->forces, 0, sizeof c->forces);
  c->idle = true;
  c->settled = false;
}

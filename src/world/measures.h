// Energies and momenta of single objects.
#ifndef TENON_WORLD_MEASURES_H
#define TENON_WORLD_MEASURES_H

#include "data/softs.h"

#include <tenon/tenon.h>

double attachment_energy(const tn_world *world, const attachment *a);
double soft_volume_of(const soft *s);
void soft_add_energy(const tn_world *world, const soft *s, tn_energy *sum);
void soft_add_momentum(const soft *s, tn_pos about, tn_momentum *sum);

#endif

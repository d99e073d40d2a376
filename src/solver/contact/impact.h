// Impacts with restitution, before the contacts of a substep are solved.
#ifndef TENON_SOLVER_CONTACT_IMPACT_H
#define TENON_SOLVER_CONTACT_IMPACT_H

#include "data/world.h"
#include "solver/contact/contact_layout.h"

// Lists the contacts with restitution after contacts have been packed.
void impacts_list(tn_world *world);

// Resolves the impacts of a substep; returns whether that moved bodies.
bool impacts_solve(tn_world *world, solver_data *data);

#endif

// Shared by the sections about Seabra et al.
#ifndef TENON_STUDY_SEABRA_H
#define TENON_STUDY_SEABRA_H

#include "page.h"
#include "trial.h"

#define SEABRA "Seabra et al. 2022, "

enum { SEABRA_SUBSTEPS = 20 }; // "all engines used 20 iterations or sub-steps"

// Colour of a solver in all charts.
int solver_color(int index);

#endif

// Progress bar and handling of Ctrl-C.
#ifndef TENON_CLI_PROGRESS_H
#define TENON_CLI_PROGRESS_H

#include <stdbool.h>

typedef struct progress {
  bool shows; // stderr is a terminal
  int total;
  double started, shown; // ms
} progress;

void progress_start(progress *p, int total);
void progress_show(progress *p, int done);
// Shows a share of the whole and a description.
void progress_show_part(progress *p, double share, const char *words);
// Removes the bar.
void progress_end(const progress *p);

// From here on the first Ctrl-C requests a stop; the second ends the program.
void interrupt_catch(void);
bool interrupt_came(void);

#endif

// A bar on the terminal, and Ctrl-C.
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
// Takes the bar away.
void progress_end(progress *p);

// From here on the first Ctrl-C only asks to stop; the second ends the program.
void interrupt_catch(void);
bool interrupt_came(void);

#endif

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
// So much of the whole, and what is being done.
void progress_show_part(progress *p, double share, const char *words);
// Takes the bar away.
void progress_end(const progress *p);

// From here on the first Ctrl-C only asks to stop; the second ends the program.
void interrupt_catch(void);
bool interrupt_came(void);

#endif

#include "progress.h"

#include "timing.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { WIDTH = 40 };
static const double INTERVAL = 100.0; // ms

void progress_start(progress *p, int total)
{
  p->shows = isatty(STDERR_FILENO) != 0;
  p->total = total;
  p->started = p->shown = timing_now_ms();
}

void progress_show_part(progress *p, double share, const char *words)
{
  double now = timing_now_ms();
  if (!p->shows || now - p->shown < INTERVAL || !(share > 0.0)) {
    return;
  }
  p->shown = now;
  char bar[WIDTH + 1];
  for (int i = 0; i < WIDTH; ++i) {
    bar[i] = (double)i < share * (double)WIDTH ? '#' : '.';
  }
  bar[WIDTH] = '\0';
  double left = (now - p->started) * (1.0 - share) / share * 1e-3;
  fprintf(stderr, "\r[%s] %3.0f %%, %s, %.0f s left\033[K", bar, 100.0 * share, words, left);
}

void progress_show(progress *p, int done)
{
  char words[64];
  snprintf(words, sizeof words, "frame %d of %d", done, p->total);
  progress_show_part(p, (double)done / (double)p->total, words);
}

void progress_end(const progress *p)
{
  if (p->shows) {
    fputs("\r\033[K", stderr);
  }
}

static volatile sig_atomic_t interrupted;

static void remember_interrupt(int number)
{
  interrupted = 1;
  signal(number, SIG_DFL);
}

void interrupt_catch(void)
{
  signal(SIGINT, remember_interrupt);
  signal(SIGTERM, remember_interrupt);
}

bool interrupt_came(void)
{
  return interrupted != 0;
}

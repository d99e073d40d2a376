// Which rules are on. Compiled only with -DTENON_RULES=ON, see rules.h.
#define _POSIX_C_SOURCE 200809L // strtok_r
#include "base/rules.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RULE_NAME(name) #name,
static const char *const rule_names[] = {RULES(RULE_NAME) ""};

// One constant table for the process: a development build compares runs of whole programs.
static bool rule_off[RULE_COUNT + 1];
static pthread_once_t rules_read = PTHREAD_ONCE_INIT;

static void switch_off(const char *name)
{
  for (int i = 0; i < RULE_COUNT; ++i) {
    if (strcmp(rule_names[i], name) == 0) {
      rule_off[i] = true;
      return;
    }
  }
  fprintf(stderr, "TENON_RULES_OFF: there is no rule \"%s\"; the rules are:", name);
  for (int i = 0; i < RULE_COUNT; ++i) {
    fprintf(stderr, " %s", rule_names[i]);
  }
  fprintf(stderr, "\n");
  exit(2);
}

static void switch_off_all(char *names)
{
  char *rest = names;
  for (char *name; (name = strtok_r(rest, ", \n", &rest)) != NULL;) {
    switch_off(name);
  }
}

static void read_rules(void)
{
  const char *given = getenv("TENON_RULES_OFF");
  char names[4096] = "";
  if (given && given[0] == '@') {
    FILE *file = fopen(given + 1, "r");
    if (!file) {
      fprintf(stderr, "TENON_RULES_OFF: cannot read %s\n", given + 1);
      exit(2);
    }
    names[fread(names, 1, sizeof names - 1, file)] = '\0';
    fclose(file);
  } else if (given) {
    snprintf(names, sizeof names, "%s", given);
  }
  switch_off_all(names);
}

bool rule_is_on(rule r)
{
  pthread_once(&rules_read, read_rules);
  return !rule_off[r];
}

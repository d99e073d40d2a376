#include "listing.h"

#include "options.h"

#include <stdio.h>
#include <string.h>

typedef void show_fn(const scene *s);

// Calls `show` for every scene of a group.
static void show_group(scene_group group, show_fn *show)
{
  int count;
  const scene *const *all = scene_list(&count);
  for (int i = 0; i < count; ++i) {
    if (all[i]->group == group) {
      show(all[i]);
    }
  }
}

static bool is_empty(scene_group group)
{
  int count;
  const scene *const *all = scene_list(&count);
  for (int i = 0; i < count; ++i) {
    if (all[i]->group == group) {
      return false;
    }
  }
  return true;
}

static void print_name(const scene *s)
{
  puts(s->name);
}

static void print_line(const scene *s)
{
  printf("  %-18s %s\n", s->name, s->title);
}

static void print_scene(const scene *s)
{
  printf("%s: %s\n", s->name, s->title);
  printf("%s; %g s, %d substeps\n", s->source, s->seconds, s->substeps);
  for (int k = 0; k < SCENE_MAX_PARAMETERS && s->parameters[k].name; ++k) {
    const scene_parameter *p = &s->parameters[k];
    printf("  %s=%g [%g, %g]: %s\n", p->name, p->value, p->lo, p->hi, p->meaning);
  }
}

static void print_markdown(const scene *s)
{
  printf("| `%s` | %s | %s | ", s->name, s->title, s->source);
  for (int k = 0; k < SCENE_MAX_PARAMETERS && s->parameters[k].name; ++k) {
    printf("%s`%s=%g`", k ? ", " : "", s->parameters[k].name, s->parameters[k].value);
  }
  printf(" |\n");
}

static void show_markdown(void)
{
  printf("# Scenes\n\nMade by `tenon scenes --markdown`. `tenon run SCENE` simulates one, `tenon "
         "scenes "
         "SCENE`\nsays what its parameters mean.\n");
  for (int g = 0; g < SCENE_GROUP_COUNT; ++g) {
    if (!is_empty((scene_group)g)) {
      printf("\n## %s\n\n| Scene | What it is | Source | Parameters |\n| --- | --- | --- | --- |\n",
             scene_group_title((scene_group)g));
      show_group((scene_group)g, print_markdown);
    }
  }
}

static void show_names(void)
{
  for (int g = 0; g < SCENE_GROUP_COUNT; ++g) {
    show_group((scene_group)g, print_name);
  }
}

static void show_all(void)
{
  for (int g = 0; g < SCENE_GROUP_COUNT; ++g) {
    if (!is_empty((scene_group)g)) {
      printf("%s%s\n", g > 0 ? "\n" : "", scene_group_title((scene_group)g));
      show_group((scene_group)g, print_line);
    }
  }
  printf("\n'tenon scenes SCENE' tells about one.\n");
}

bool show_scenes(int count, char **words)
{
  if (count > 1) {
    complain("scenes takes one name or option, but was given '%s' as well", words[1]);
    return false;
  }
  if (count == 0) {
    show_all();
  } else if (strcmp(words[0], "--names") == 0) {
    show_names();
  } else if (strcmp(words[0], "--markdown") == 0) {
    show_markdown();
  } else if (words[0][0] == '-') {
    complain("scenes has no option '%s'; 'tenon help' lists them", words[0]);
    return false;
  } else if (scene_find(words[0])) {
    print_scene(scene_find(words[0]));
  } else {
    complain("there is no scene '%s'; 'tenon scenes' lists them", words[0]);
    return false;
  }
  return true;
}

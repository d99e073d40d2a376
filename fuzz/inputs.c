// Runs a fuzz target on stored inputs, without libFuzzer, or on mutations of them without guidance
// by coverage.
// usage: fuzz_NAME FILE|FOLDER...
//        fuzz_NAME --runs COUNT --seed SEED FILE|FOLDER...   writes crash-input where it crashes
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_INPUTS = 4096, CAPACITY = 1 << 16, HANG = 30 };

typedef struct input {
  uint8_t *bytes;
  size_t size;
} input;

static input inputs[MOST_INPUTS];
static int input_count;
static fuzz_random generator;
static uint8_t *current;
static size_t current_size;

// A few bytes change; targets without a mutator of their own have only this one.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t capacity)
{
  size_t at = (size_t)fuzz_index(&generator, (int)size + 1);
  switch (fuzz_index(&generator, 4)) {
  case 0:
    if (size < capacity) {
      memmove(data + at + 1, data + at, size - at);
      data[at] = (uint8_t)fuzz_next(&generator);
      return size + 1;
    }
    return size;
  case 1:
    if (at < size && size > 1) {
      memmove(data + at, data + at + 1, size - at - 1);
      return size - 1;
    }
    return size;
  default:
    if (at < size) {
      data[at] = (uint8_t)fuzz_next(&generator);
    }
    return size;
  }
}

static size_t plain_mutator(uint8_t *data, size_t size, size_t capacity)
{
  for (int i = fuzz_index(&generator, 8); i >= 0; --i) {
    size = LLVMFuzzerMutate(data, size, capacity);
  }
  return size;
}

// ---------------------------------------------------------------------------------------------
// Stored inputs

static bool keep_file(const char *path)
{
  FILE *in = fopen(path, "rb");
  if (!in || input_count == MOST_INPUTS) {
    return false;
  }
  uint8_t *bytes = NULL;
  size_t size = 0, read;
  do {
    uint8_t *grown = realloc(bytes, size + CAPACITY);
    if (!grown) {
      break;
    }
    bytes = grown;
    read = fread(bytes + size, 1, CAPACITY, in);
    size += read;
  } while (read > 0);
  fclose(in);
  inputs[input_count++] = (input){bytes, size};
  return true;
}

static bool keep_path(const char *path)
{
  DIR *folder = opendir(path);
  if (!folder) {
    return keep_file(path);
  }
  int before = input_count;
  for (const struct dirent *e = readdir(folder); e; e = readdir(folder)) {
    char name[1024];
    snprintf(name, sizeof name, "%s/%s", path, e->d_name);
    if (e->d_name[0] != '.') {
      keep_file(name);
    }
  }
  closedir(folder);
  return input_count > before;
}

// A copy of the exact size, so that the address sanitizer sees reads beyond the end.
static void run(const uint8_t *bytes, size_t size)
{
  uint8_t *exact = malloc(size + (size == 0));
  if (exact) {
    memcpy(exact, bytes, size);
    current = exact;
    current_size = size;
    alarm(HANG);
    LLVMFuzzerTestOneInput(exact, size);
  }
  free(exact);
  current = NULL;
}

// ---------------------------------------------------------------------------------------------
// Mutations

static void write_current(int number)
{
  int out = current ? open("crash-input", O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
  if (out >= 0) {
    ssize_t written = write(out, current, current_size);
    (void)written;
    close(out);
  }
  signal(number, SIG_DFL);
  raise(number);
}

static void run_mutations(int runs)
{
  static uint8_t bytes[CAPACITY];
  const int signals[] = {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS, SIGALRM};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i) {
    signal(signals[i], write_current);
  }
  for (int i = 0; i < runs; ++i) {
    const input *from = &inputs[fuzz_index(&generator, input_count)];
    size_t size = from->size < CAPACITY ? from->size : CAPACITY;
    memcpy(bytes, from->bytes, size);
    for (int k = fuzz_index(&generator, 4); k >= 0; --k) {
      size = LLVMFuzzerCustomMutator
                 ? LLVMFuzzerCustomMutator(bytes, size, CAPACITY, fuzz_next(&generator))
                 : plain_mutator(bytes, size, CAPACITY);
    }
    run(bytes, size);
  }
}

int main(int argc, char **argv)
{
  int runs = 0, first = 1;
  for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
    long number = strtol(argv[first + 1], NULL, 10);
    if (argv[first][2] == 'r') {
      runs = (int)number;
    } else {
      generator.state = (uint64_t)number;
    }
  }
  for (int i = first; i < argc; ++i) {
    if (!keep_path(argv[i])) {
      fprintf(stderr, "%s: no inputs\n", argv[i]);
      return 1;
    }
  }
  for (int i = 0; i < input_count; ++i) {
    run(inputs[i].bytes, inputs[i].size);
  }
  if (input_count > 0) {
    run_mutations(runs);
  }
  printf("%d inputs, %d mutations\n", input_count, runs);
  for (int i = 0; i < input_count; ++i) {
    free(inputs[i].bytes);
  }
  return input_count == 0;
}

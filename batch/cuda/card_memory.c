// Filling and copying memory on a card, sixteen or four bytes at a time where addresses allow. LLVM
// would do it byte by byte: the module's calls are changed into calls of these, see CMakeLists.txt.
#include <stddef.h>
#include <stdint.h>

typedef uint32_t word __attribute__((may_alias));
typedef uint32_t words __attribute__((vector_size(16), may_alias));

void card_fill(void *to, char value, size_t size);
void card_copy(void *to, const void *from, size_t size);
void card_move(void *to, const void *from, size_t size);

// Whether the bits of `mask` are zero in both addresses.
static int is_aligned(const void *a, const void *b, uintptr_t mask)
{
  return (((uintptr_t)a | (uintptr_t)b) & mask) == 0;
}

void card_fill(void *to, char value, size_t size)
{
  char *at = to, *end = at + size;
  uint32_t one = 0x01010101u * (unsigned char)value;
  words four = {one, one, one, one};
  for (; at < end && !is_aligned(at, at, 3); ++at) {
    *at = value;
  }
  for (; end - at >= 4 && !is_aligned(at, at, 15); at += 4) {
    *(word *)at = one;
  }
  for (; end - at >= 16; at += 16) {
    *(words *)at = four;
  }
  for (; end - at >= 4; at += 4) {
    *(word *)at = one;
  }
  for (; at < end; ++at) {
    *at = value;
  }
}

void card_copy(void *to, const void *from, size_t size)
{
  char *at = to, *end = at + size;
  const char *source = from;
  if (is_aligned(at, source, 15)) {
    for (; end - at >= 16; at += 16, source += 16) {
      *(words *)at = *(const words *)source;
    }
  }
  if (is_aligned(at, source, 3)) {
    for (; end - at >= 4; at += 4, source += 4) {
      *(word *)at = *(const word *)source;
    }
  }
  for (; at < end; ++at, ++source) {
    *at = *source;
  }
}

// From the end where the ranges overlap.
void card_move(void *to, const void *from, size_t size)
{
  char *first = to, *at = first + size;
  const char *source = (const char *)from + size;
  if (first <= (const char *)from || first >= source) {
    card_copy(to, from, size);
    return;
  }
  if (is_aligned(at, source, 3)) {
    for (; at - first >= 4;) {
      at -= 4, source -= 4;
      *(word *)at = *(const word *)source;
    }
  }
  while (at > first) {
    *--at = *--source;
  }
}

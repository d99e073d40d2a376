// Prefetching.
#ifndef TENON_BASE_PREFETCH_H
#define TENON_BASE_PREFETCH_H

// Starts loading a cache line. A macro: compilers drop an inline function that does nothing else.
#if defined(__GNUC__) && !defined(__wasm__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) (void)(address)
#endif

#define PREFETCH_DISTANCE 8 // list entries ahead of the one in use

#endif

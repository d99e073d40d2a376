// Records the calls of a world; see tn_world_record_calls(). Every public function that changes a
// world begins with RECORD(), before it checks its arguments.
#ifndef TENON_DATA_RECORDER_H
#define TENON_DATA_RECORDER_H

#include "data/recorded_calls.h"
#include "data/world.h"

// TN_NO_RECORDER leaves it out, for modules that must be small.
#if defined(TN_NO_RECORDER)
#define RECORD(world, call, ...) ((void)0)
#define RECORD_RESULT_OF(world, status) ((void)0)
#define RECORD_STATE_OF(world) ((void)0)
#define RECORD_PAUSE(world) ((void)0)
#define RECORD_RESUME(world) ((void)0)
#else
// The arguments are pointers to the values, and the pointers among the arguments; NULL for none.
#define RECORD(world, call, ...)                                                                   \
  ((world) && (world)->recorder                                                                    \
       ? recorder_call((world), CALL_##call, (const void *const[]){__VA_ARGS__})                   \
       : (void)0)
// After a step: its status, and the hash of the world.
#define RECORD_RESULT_OF(world, status)                                                            \
  ((world)->recorder ? recorder_result((world), (status)) : (void)0)
// After a call that has no record: the state that it leaves.
#define RECORD_STATE_OF(world) ((world)->recorder ? recorder_state((world)) : (void)0)
// Around public functions that a public function calls, which are not recorded.
#define RECORD_PAUSE(world) ((world) && (world)->recorder ? recorder_pause((world), 1) : (void)0)
#define RECORD_RESUME(world) ((world) && (world)->recorder ? recorder_pause((world), -1) : (void)0)
#endif

typedef struct recorder recorder;

// Null, with the reason in the log.
recorder *recorder_open(tn_world *world, const char *path, const tn_world_def *def);
// False if something could not be written.
bool recorder_close(recorder *r);
void recorder_call(tn_world *world, int call, const void *const *arguments);
void recorder_result(tn_world *world, uint32_t status);
void recorder_state(tn_world *world);
void recorder_pause(tn_world *world, int by);

#endif

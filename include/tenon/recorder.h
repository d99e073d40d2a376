/// @file
/// Recordings: every call and every step of a world in a file, to be run again.
///
/// A recording is what a bug report needs. `tenon replay FILE` runs it and compares the hash of the
/// world after each step with the recorded one; tn_replay_create() does so in a program.
///
/// Recorded are the calls that change the world, with their arguments, whether they succeed or not,
/// and the status and hash of each step. Not recorded are pointers of the host, and pair filters:
/// steps of a world with a filter may differ in a replay. Where a call has no record
/// (tn_world_restore(), tn_articulation_set_positions()), the state that it leaves is recorded. A
/// recording that begins at an empty world can be read by other builds of the library as long as
/// its functions are there; one with a state in it only by the same build.
#ifndef TENON_RECORDER_H
#define TENON_RECORDER_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Starts a recording of a world, from its present state on, or ends it.
///
/// The file is complete up to the last step, also after a crash. tn_world_destroy() ends the
/// recording.
///
/// @param world  the world
/// @param path   of the file, which is overwritten; null ends the recording
/// @return false, with the reason in the log, if the file cannot be opened or written
TN_API bool tn_world_record_calls(tn_world *world, const char *path);

/// A recording that is run again.
typedef struct tn_replay tn_replay;

/// What a step of a replay has shown.
typedef struct tn_replay_frame {
  int index;                ///< of the step, from 0
  size_t first;             ///< byte of the recording at which its calls begin
  size_t last;              ///< byte after its result
  int calls;                ///< made before the step
  uint32_t status;          ///< tn_step_status bits
  uint32_t recorded_status; ///< those of the recording
  uint64_t hash;            ///< of the world after the step
  uint64_t recorded_hash;   ///< that of the recording; 0: the recording ends within this step
} tn_replay_frame;

/// Opens a recording and creates its world.
///
/// @param bytes  the file; the caller's, until tn_replay_destroy()
/// @param size   of `bytes`
/// @param def    null, or a definition whose lanes, threads, scheduler, memory and log are used
///               instead of the recorded ones
/// @return null, with the reason in the log, if it is no recording or the world cannot be created
TN_API tn_replay *tn_replay_create(const void *bytes, size_t size, const tn_world_def *def);
/// Ends a replay and destroys its world. Null does nothing.
TN_API void tn_replay_destroy(tn_replay *replay);
/// The world of a replay, which may be read between steps.
TN_API tn_world *tn_replay_world(tn_replay *replay);
/// Makes the calls up to the end of the next step.
///
/// @param frame  filled in; may be null
/// @return false at the end of the recording, or where it is damaged
TN_API bool tn_replay_step(tn_replay *replay, tn_replay_frame *frame);
/// Why the replay ended before the end of the recording; null: it did not.
TN_API const char *tn_replay_problem(const tn_replay *replay);

/// Writes a part of a recording as a recording that begins with the state before it.
///
/// @param bytes  the file
/// @param size   of `bytes`
/// @param from   first step of the part
/// @param to     the step after its last one, above `from`
/// @param path   of the new file, which is overwritten
/// @return false if there are no such steps, or the file cannot be written
TN_API bool tn_replay_cut(const void *bytes, size_t size, int from, int to, const char *path);

#ifdef __cplusplus
}
#endif

#endif

// tenon replay: runs a recording of tn_world_record_calls() again.
#ifndef TENON_CLI_REPLAY_H
#define TENON_CLI_REPLAY_H

// Returns the exit status: 0 if every step has the recorded hash, 1 if not, 2 for bad arguments.
int replay_recording(int count, char **words);

#endif

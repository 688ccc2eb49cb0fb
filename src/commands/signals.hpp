#pragma once

namespace commands {

// SIGTERM, SIGINT and SIGHUP wait for whoever asks; a peer that is gone and a file that may not
// grow are errors of a call, no signals. Before the first thread starts.
void block_signals();

// The next of the three.
[[nodiscard]] int wait_for_signal();

// A file opened while a standard stream is closed would take its place, and its output: each
// stream that is closed goes to /dev/null.
void fill_standard_streams();

}  // namespace commands

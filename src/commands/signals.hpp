#pragma once

#include <csignal>
#include <optional>

#include "domain/time.hpp"

namespace commands {

// What one thread of this process tells the one that waits for signals.
inline constexpr int wake_signal = SIGUSR1;
void wake_main_thread();

// SIGTERM, SIGINT, SIGHUP and the one above wait for whoever asks; a peer that is gone and a file
// that may not grow are errors of a call, no signals. Before the first thread starts.
void block_signals();

// The next of these.
[[nodiscard]] int wait_for_signal();
// Nothing: none came in that time.
[[nodiscard]] std::optional<int> wait_for_signal(domain::Nanoseconds time);

// A file opened while a standard stream is closed would take its place, and its output: each
// stream that is closed goes to /dev/null.
void fill_standard_streams();

}  // namespace commands

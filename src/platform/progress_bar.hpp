#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>

#include "ports/clock.hpp"
#include "ports/progress.hpp"

namespace platform {

// Ctrl-C, SIGTERM, or a terminal that is gone. Whoever works leaves nothing half done behind.
class Interrupted : public std::runtime_error {
public:
    Interrupted() : std::runtime_error("interrupted") {}
};

inline constexpr int exit_interrupted = 130;  // as shells say it: 128 + SIGINT

// From now on SIGINT, SIGTERM and SIGHUP only make is_interrupted() true; a second SIGINT or
// SIGTERM ends the process.
void notice_interrupts();
[[nodiscard]] bool is_interrupted();

// Shows how far a long command is: a bar with rate and time left on a terminal, a plain line every
// ten seconds otherwise. One thread.
class ProgressBar {
public:
    // All outlive it.
    ProgressBar(std::ostream& out, bool is_terminal, const ports::Clock& clock)
        : out_(out), is_terminal_(is_terminal), clock_(clock) {}
    // Leaves the line free for what comes next.
    ~ProgressBar() { clear(); }
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    // Any number of times a second. Throws Interrupted.
    void show(const ports::Done& done);
    // Before other lines are written.
    void clear();

    [[nodiscard]] ports::Progress progress() {
        return [this](const ports::Done& done) { show(done); };
    }

private:
    [[nodiscard]] std::string text_of(const ports::Done& done) const;

    std::ostream& out_;
    const bool is_terminal_;
    const ports::Clock& clock_;
    std::optional<std::string> what_;  // the part that goes on
    domain::Monotonic since_{};
    domain::Monotonic shown_{};
    bool on_screen_ = false;
};

// For standard error of this process.
[[nodiscard]] bool is_terminal_error();
// Whether somebody can be asked there and on standard input.
[[nodiscard]] bool has_terminal();

}  // namespace platform

#include "platform/progress_bar.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>

namespace platform {

namespace {

constexpr domain::Milliseconds between_pictures{100};
constexpr domain::Milliseconds between_lines{10'000};
constexpr std::uint64_t bar_width = 30;

volatile std::sig_atomic_t interrupted = 0;

extern "C" void note_interrupt(int signal) {
    interrupted = 1;
    // Shells and the kernel both say that a terminal is gone, and one hang-up is no impatience.
    if (signal != SIGHUP) std::signal(signal, SIG_DFL);
}

std::string clock_text(std::uint64_t seconds) {
    const auto two = [](std::uint64_t number) {
        return (number < 10 ? "0" : "") + std::to_string(number);
    };
    const std::string hours = seconds >= 3'600 ? std::to_string(seconds / 3'600) + ":" : "";
    const std::uint64_t minutes = seconds / 60 % 60;
    return hours + (hours.empty() ? std::to_string(minutes) : two(minutes)) + ":" +
           two(seconds % 60);
}

std::string bar_of(const ports::Done& done) {
    const std::uint64_t filled = std::min(done.done, done.total) * bar_width / done.total;
    return "[" + std::string(filled, '#') + std::string(bar_width - filled, '.') + "] ";
}

}  // namespace

void notice_interrupts() {
    std::signal(SIGINT, note_interrupt);
    std::signal(SIGTERM, note_interrupt);
    // nohup(1) ignores it, and it stays ignored.
    if (std::signal(SIGHUP, note_interrupt) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

bool is_interrupted() {
    return interrupted != 0;
}

void ProgressBar::show(const ports::Done& done) {
    if (is_interrupted()) throw Interrupted();
    const domain::Monotonic now = clock_.monotonic();
    if (what_ != done.what) {
        what_ = done.what;
        since_ = now;
        // The first line comes after its ten seconds: most work is over by then.
        if (!is_terminal_ && shown_ == domain::Monotonic{}) shown_ = now;
    }
    if (now - shown_ < (is_terminal_ ? between_pictures : between_lines)) return;
    shown_ = now;
    if (is_terminal_) {
        out_ << "\r\x1b[K" << text_of(done) << "\r" << std::flush;  // lines overwrite it
        on_screen_ = true;
    } else {
        out_ << text_of(done) << "\n" << std::flush;
    }
}

void ProgressBar::clear() {
    if (on_screen_) out_ << "\r\x1b[K" << std::flush;
    on_screen_ = false;
}

std::string ProgressBar::text_of(const ports::Done& done) const {
    const auto seconds = std::chrono::duration<double>(clock_.monotonic() - since_).count();
    const double rate = seconds > 0 ? static_cast<double>(done.done) / seconds : 0;
    const std::string rate_text = done.note.empty()
                                      ? std::to_string(static_cast<std::uint64_t>(rate)) + "/s"
                                      : std::string(done.note);
    std::string text = std::string(done.what) + " ";
    if (done.total == 0) return text + std::to_string(done.done) + ", " + rate_text;
    if (is_terminal_) text += bar_of(done);
    text += std::to_string(std::min(done.done, done.total) * 100 / done.total) + " %, " + rate_text;
    if (rate < 1 || done.done > done.total) return text;
    const auto left = static_cast<double>(done.total - done.done) / rate;
    return text + ", " + clock_text(static_cast<std::uint64_t>(left)) + " left";
}

bool is_terminal_error() {
    return ::isatty(STDERR_FILENO) == 1;
}

bool has_terminal() {
    return is_terminal_error() && ::isatty(STDIN_FILENO) == 1;
}

}  // namespace platform

#include "chains/votes/prover/command_exchange.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <limits>

#include "base/sanitize.hpp"
#include "chains/votes/prover/prover_protocol.hpp"

namespace chains::votes::prover {
namespace {

using Outcome = CommandAnswer::Outcome;

constexpr std::size_t errors_bytes_max = 4'096;
constexpr std::chrono::seconds death_max{1};

// A write to a pipe without a reader raises SIGPIPE in the writing thread; there it stays.
class NoPipeSignal {
public:
    NoPipeSignal() {
        ::sigemptyset(&pipe_);
        ::sigaddset(&pipe_, SIGPIPE);
        ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    NoPipeSignal(const NoPipeSignal&) = delete;
    NoPipeSignal& operator=(const NoPipeSignal&) = delete;
    ~NoPipeSignal() {
        const timespec at_once{};
        while (::sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
        }
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

private:
    sigset_t pipe_{};
    sigset_t before_{};
};

int milliseconds_left(base::Deadline deadline) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    return static_cast<int>(
        std::clamp<std::int64_t>(left.count(), 0, std::numeric_limits<int>::max()));
}

class Exchange {
public:
    Exchange(CommandProcess& process, const CommandTalk& talk, const base::StopToken& stop)
        : process_(process),
          talk_(talk),
          stop_(stop),
          deadline_(talk.deadline),
          rest_(talk.request) {}

    CommandAnswer run() {
        while (!outcome_) step();
        read_errors();
        answer_.outcome = *outcome_;
        if (cut_errors_) answer_.errors = base::without_open_end(answer_.errors);
        return std::move(answer_);
    }

private:
    void step() {
        std::array<pollfd, 5> polled{{{stop_.descriptor(), POLLIN, 0},
                                      {process_.handle(), POLLIN, 0},
                                      {rest_.empty() ? -1 : process_.input(), POLLOUT, 0},
                                      {output_ended_ ? -1 : process_.output(), POLLIN, 0},
                                      {errors_ended_ ? -1 : process_.errors(), POLLIN, 0}}};
        const int left = milliseconds_left(deadline_);
        ::poll(polled.data(), polled.size(), left);
        if (stop_.stop_requested()) return end_with(Outcome::stopped);
        if (polled[2].revents != 0) write_request();
        if (polled[4].revents != 0) read_errors();
        if (polled[3].revents != 0) read_output();
        if (outcome_) return;
        if (polled[1].revents != 0) return note_death();
        if (left > 0) return;
        const bool can_not_answer = output_ended_ && talk_.life == ProverLife::pool;
        end_with(can_not_answer ? Outcome::ended : Outcome::timed_out);
    }

    void end_with(Outcome outcome) { outcome_ = outcome; }

    void write_request() {
        const NoPipeSignal quiet;
        const ssize_t count = ::write(process_.input(), rest_.data(), rest_.size());
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
        // Who takes no more of a request may have answered it already.
        rest_.remove_prefix(count < 0 ? rest_.size() : static_cast<std::size_t>(count));
        if (count > 0) written_ += static_cast<std::size_t>(count);
        if (rest_.empty() && talk_.life == ProverLife::fresh) process_.close_input();
    }

    void read_output() {
        output_ended_ = !drain(process_.output(), [this](std::string_view bytes) {
            answer_.bytes += bytes;
            return answer_.bytes.size() <= answer_bytes_max;
        });
        if (answer_.bytes.size() > answer_bytes_max) return end_with(Outcome::too_large);
        if (talk_.life == ProverLife::fresh) return;
        if (is_whole(answer_.bytes, talk_.format)) return end_with(Outcome::whole);
        if (output_ended_) deadline_ = std::min(deadline_, soon());
    }

    void read_errors() {
        if (errors_ended_) return;
        std::size_t drained = 0;
        errors_ended_ = !drain(process_.errors(), [this, &drained](std::string_view bytes) {
            const std::size_t room = errors_bytes_max - answer_.errors.size();
            cut_errors_ = cut_errors_ || bytes.size() > room;
            answer_.errors += bytes.substr(0, room);
            drained += bytes.size();
            return drained < answer_bytes_max;  // leaves time for the rest
        });
    }

    // Its children may hold its streams open, so nobody waits for their end.
    void note_death() {
        if (!output_ended_) read_output();
        if (outcome_) return;
        answer_.end = process_.end();
        answer_.unread = read_nothing();
        end_with(Outcome::ended);
    }

    // Whoever dies closes its streams a moment before.
    static base::Deadline soon() { return std::chrono::steady_clock::now() + death_max; }

    [[nodiscard]] bool read_nothing() const {
        int waiting = 0;
        return process_.input() >= 0 && ::ioctl(process_.input(), FIONREAD, &waiting) == 0 &&
               static_cast<std::size_t>(waiting) == written_;
    }

    // Hands on what is there until `take` has enough. False at the stream's end.
    template <typename Take>
    static bool drain(int descriptor, const Take& take) {
        std::array<char, 16'384> space;
        for (;;) {
            const ssize_t count = ::read(descriptor, space.data(), space.size());
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) return errno == EAGAIN;
            if (count == 0) return false;
            if (!take(std::string_view(space.data(), static_cast<std::size_t>(count)))) return true;
        }
    }

    CommandProcess& process_;
    const CommandTalk& talk_;
    const base::StopToken& stop_;
    base::Deadline deadline_;
    std::string_view rest_;  // of the request
    std::size_t written_ = 0;
    bool output_ended_ = false;
    bool errors_ended_ = false;
    bool cut_errors_ = false;
    std::optional<Outcome> outcome_;
    CommandAnswer answer_;
};

}  // namespace

CommandAnswer exchange(CommandProcess& process, const CommandTalk& talk,
                       const base::StopToken& stop) {
    return Exchange(process, talk, stop).run();
}

}  // namespace chains::votes::prover

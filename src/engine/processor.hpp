#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "engine/admission.hpp"
#include "engine/checkpointer.hpp"
#include "engine/context.hpp"
#include "engine/crash_suspects.hpp"
#include "engine/filtered_clock.hpp"
#include "engine/holds.hpp"
#include "engine/recovery.hpp"
#include "engine/rounds.hpp"
#include "ports/clock.hpp"
#include "ports/heartbeat.hpp"

namespace engine {

// What a request is told that a database in this state can not take. A full disk stays full for
// longer than others fail.
[[nodiscard]] Unavailable unavailable(store::StorageErrorKind kind, std::string reason);

// The one thread that decides and writes. Each step takes what happened and what is due, writes it
// down in one transaction, and only after the commit lets replies and orders out.
class Processor {
public:
    // `alerts`: whom to tell of rounds that end with unrevealed shares, beside the log.
    // `heartbeat`: hears of every turn, often enough also where nothing happens.
    Processor(const Options& options, store::Store& store, Gates& gates, Gateway& gateway,
              Inbox& inbox, const ports::Clock& clock, ports::Random& random, ports::Logger& logger,
              Observer& observer, AlertSink* alerts = nullptr,
              ports::Heartbeat* heartbeat = nullptr);

    // Before anything else: who the clients are, for the log. Empty: nobody has that id.
    void name_clients(std::function<std::string(std::int64_t)> client_name) {
        context_.client_name = std::move(client_name);
    }

    // Once, before anything else: puts interrupted work back and starts the gateway's answers.
    recovery::Report recover(
        recovery::LastEnd last_end = recovery::LastEnd::by_itself,
        const std::function<void()>& progress = [] {});

    // One step. Returns when to come back if nothing happens before. Throws StorageError after the
    // step was rolled back: submissions were refused, all other events wait for the next step.
    // Where the store is journaled a step has a size; what it has no room for is the next one's.
    domain::Nanoseconds step();

    struct Wait {
        domain::Nanoseconds length{};
        bool events_end_it = true;  // false: a pause that only stop() cuts short
    };
    // A step that survives a failing disk: enters read-only mode, pauses, tries again, leaves it.
    // Throws when the file is corrupt, and when a step is too large for its journal all the same.
    Wait turn();

    // Turns until Inbox::stop(), then until the work in flight has reported or `grace` is over.
    void run(domain::Milliseconds grace);

    // Any thread. A stop does not wait for the work in flight: others go on with it.
    void hurry() { hurries_.store(true, std::memory_order_relaxed); }

    // Any thread. False while new requests can not be stored.
    [[nodiscard]] bool is_open() const { return open_.load(std::memory_order_relaxed); }
    // Any thread. Why it can not, of the last try; meaningful while it is not open.
    [[nodiscard]] store::StorageErrorKind closed_by() const {
        return closed_by_.load(std::memory_order_relaxed);
    }
    // Any thread. Since when the share longest in work or in pauses could have left.
    [[nodiscard]] std::optional<domain::Timestamp> begun_since() const {
        const std::int64_t since = begun_since_ms_.load(std::memory_order_relaxed);
        if (since == none_begun) return std::nullopt;
        return domain::from_unix_ms(since);
    }
    // Any thread. Orders the gateway has not answered yet.
    [[nodiscard]] std::size_t in_flight() const {
        return in_flight_.load(std::memory_order_relaxed);
    }

    [[nodiscard]] std::uint64_t stale_events() const { return context_.stale; }

private:
    static constexpr std::int64_t none_begun = -1;

    // How far the first event of its kind was applied, where a step had no room for all of it.
    struct Begun {
        std::size_t held = 0;     // of AccountFound
        std::size_t blocks = 0;   // of BlockNews
        std::size_t answers = 0;  // of Answered
        bool has_instruction = false;
        holds::BegunRelease release{};
    };

    [[nodiscard]] Wait try_step();
    [[nodiscard]] domain::Nanoseconds beat();
    void run_turns(domain::Milliseconds grace);
    void release_unfinished();
    void refuse_the_rest();
    void apply_events();
    template <typename Event, typename Apply>
    void take_up(const std::vector<Event>& events, const Apply& apply);
    [[nodiscard]] Events take_applied();
    void wake_timers();
    void start_work();
    void close_rounds();
    void maintain_if_due();
    void release_effects(domain::Nanoseconds commit);
    void watch(std::vector<domain::Block> blocks);
    void log_alerts(const std::vector<RoundAlert>& raised);
    void report_to_observer(Effects& effects, const Events& events, domain::Nanoseconds commit);
    void note_revealed(const std::vector<store::Change>& changes);
    void roll_back();
    [[nodiscard]] bool has_events_left() const;
    [[nodiscard]] domain::Nanoseconds until_next_wake();
    void watch_clock();
    void enter_read_only(const store::StorageError& error);
    void try_to_leave_read_only();
    // `stops`: nothing goes on after it.
    void refuse_pending(const Unavailable& refusal, bool stops = false);

    store::Store& store_;
    Gates& gates_;
    Gateway& gateway_;
    Inbox& inbox_;
    ports::Logger& logger_;
    Observer& observer_;
    ports::Heartbeat* const heartbeat_;
    const ports::Clock& clock_;
    FilteredClock filtered_clock_;
    Admission admission_;
    Work work_;
    CrashSuspects suspects_;
    Context context_;
    Checkpointer checkpointer_;
    rounds::PurgeTally purges_;
    std::vector<RoundAlert> unlogged_;  // of an earlier life, until the first commit of this one
    std::vector<AlertMark> logged_;     // whose lines are out, and no commit knows it yet
    Events events_;
    // Of each kind of events, in their order, how many this step has applied.
    std::vector<std::size_t> applied_;
    Begun begun_;                  // as of the last commit
    Begun begun_now_;              // in this step
    bool newcomers_wait_ = false;  // submissions, for a step in which what is due goes before
    domain::Monotonic next_maintenance_{};
    domain::Monotonic next_try_{};
    domain::Monotonic next_beat_{};
    std::optional<domain::Milliseconds> reported_leap_;
    bool more_rounds_ = false;
    bool more_maintenance_ = false;
    bool maintained_ = false;  // in this step, to the end
    bool lines_stale_ = false;
    bool has_stepped_ = false;
    bool stopping_ = false;
    std::atomic<bool> hurries_{false};
    std::atomic<bool> open_{true};
    std::atomic<store::StorageErrorKind> closed_by_{store::StorageErrorKind::other};
    std::atomic<std::size_t> in_flight_{0};
    std::atomic<std::int64_t> begun_since_ms_{none_begun};
};

}  // namespace engine

#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "domain/kind.hpp"
#include "domain/retry_after.hpp"
#include "engine/fair_queue.hpp"
#include "engine/options.hpp"
#include "engine/token_bucket.hpp"
#include "engine/tuning.hpp"
#include "engine/work.hpp"

namespace engine {

// The queues in front of the chain and what lets requests through: permits for readiness
// checks of decrypts, tokens for transactions, slots for vote shares. The processor changes them;
// any thread may ask for a place.
class Gates {
public:
    using Id = std::int64_t;

    Gates(const Options& options, domain::Monotonic now);

    // --- queues; processor thread ---

    void enqueue_check(const store::Row& row);
    void enqueue_send(const store::Row& row);
    // After a pause: before the others of its client.
    void enqueue_check_again(const store::Row& row);
    void enqueue_send_again(const store::Row& row);
    void leave(Id id, domain::Family family);
    [[nodiscard]] bool holds(Id id, domain::Family family) const;
    void clear_queues();

    // Whether a new request of this client must be refused (relayer-api 4.4). In fair queues one
    // that has less than its share may still use the margin.
    [[nodiscard]] bool is_full(domain::Family family, std::int64_t client) const;

    // --- passing; processor thread ---

    // The next one to check, with its permit taken.
    [[nodiscard]] std::optional<Id> pass_check(domain::Family family, domain::Monotonic now);
    void give_back_check(domain::Family family);
    // The next one to send, with its token and its place in flight taken.
    [[nodiscard]] std::optional<Id> pass_sending(domain::Family family, domain::Monotonic now);
    void give_back_sending();
    // For what was signed before a restart: it is in flight already, whatever the limit.
    void take_sending() { ++sends_in_flight_; }
    [[nodiscard]] domain::Monotonic sends_held_until() const { return sends_held_until_; }
    // Nobody passes before `until`: the chain asked to wait, or the signer's account is empty.
    void hold_checks(domain::Monotonic until);
    void hold_sending(domain::Monotonic until);
    // Whether its gate would let this one through now, once its turn and its token come; not for
    // what is signed.
    [[nodiscard]] bool lets_through(const store::Row& row, domain::Monotonic now) const;
    [[nodiscard]] std::uint32_t free_share_slots() const;
    void take_share_slot();
    void give_back_share_slot();
    [[nodiscard]] std::uint32_t free_confirms() const { return confirms_max_ - confirms_; }
    void take_confirm();
    void give_back_confirm();

    // A rate that changes takes over the tokens that are there (relayer-api 4.2).
    void retune(const Tuning& tuning, domain::Monotonic now);

    // Processor thread. Nobody of the family passes from `since` on, until resume().
    void pause(domain::Family family, domain::Timestamp since);
    void resume(domain::Family family);
    // Since when; nothing: it is not paused.
    [[nodiscard]] std::optional<domain::Timestamp> paused_since(domain::Family family) const;
    [[nodiscard]] bool is_paused(domain::Family family) const {
        return paused_since(family).has_value();
    }
    // What the step changed of it is durable, or never was.
    void keep_pauses() { pauses_before_ = pauses_; }
    void undo_pauses();

    // How many transactions of the family may leave within any second.
    [[nodiscard]] std::uint32_t sends_in_any_second_max(domain::Family family) const;

    // Counts the permits anew from what is really in work.
    void restore_permits(const Work& work);

    // When a token or the end of a hold lets somebody through who waits now; nothing when nobody
    // waits for one.
    [[nodiscard]] std::optional<domain::Monotonic> next_token(domain::Monotonic now) const;

    [[nodiscard]] std::uint32_t checks_running(domain::Family family) const;
    [[nodiscard]] std::uint32_t sends_in_flight() const { return sends_in_flight_; }
    [[nodiscard]] std::uint32_t shares_in_work() const { return shares_in_work_; }
    // All that are taken: one for each entry of the work in progress.
    [[nodiscard]] std::size_t permits() const;

    // --- looking; any thread ---

    // Where a request stands. Not for shares.
    [[nodiscard]] domain::QueuePosition position_of(const store::Row& row,
                                                    std::int64_t seconds_in_status) const;
    // Where a request of this client would stand that came in now.
    [[nodiscard]] domain::QueuePosition position_of_new(domain::Family family,
                                                        std::int64_t client) const;
    [[nodiscard]] std::uint32_t retry_after_seconds(const domain::QueuePosition& position) const;
    [[nodiscard]] std::uint32_t shortest_retry_after_seconds() const;
    // For what waits for an operator.
    [[nodiscard]] std::uint32_t longest_retry_after_seconds() const;
    [[nodiscard]] std::optional<std::uint64_t> raw_eta_ms(
        const domain::QueuePosition& position) const;
    [[nodiscard]] Tuning tuning() const;

    [[nodiscard]] std::vector<domain::Family> paused() const;

    struct Depths {
        PerDecryptFamily<std::size_t> readiness;
        PerRelayerFamily<std::size_t> sending;
    };
    // How many wait in each queue.
    [[nodiscard]] Depths depths() const;

private:
    struct CheckQueue {
        ReadinessGateOptions options;
        FairQueue waiting;
        std::uint32_t running = 0;
    };
    struct SendQueue {
        SendGateOptions options;
        FairQueue waiting;
        TokenBucket tokens;
    };

    using Pauses = std::array<std::optional<domain::Timestamp>, domain::families.size()>;

    [[nodiscard]] static CheckQueue check_queue_for(const ReadinessGateOptions& options, bool fair);
    [[nodiscard]] static SendQueue send_queue_for(const SendGateOptions& options, bool fair,
                                                  domain::Monotonic now);
    [[nodiscard]] CheckQueue* check_queue(domain::Family family);
    [[nodiscard]] const CheckQueue* check_queue(domain::Family family) const;
    [[nodiscard]] SendQueue& send_queue(domain::Family family);
    [[nodiscard]] const SendQueue& send_queue(domain::Family family) const;

    mutable std::mutex mutex_;  // guards queues and tuning against threads that look
    Tuning tuning_;
    Pauses pauses_{};
    Pauses pauses_before_{};            // as of the last commit
    std::array<CheckQueue, 2> checks_;  // public, user
    std::array<SendQueue, 3> sends_;    // by family
    std::uint32_t sends_max_;
    std::uint32_t sends_in_flight_ = 0;
    domain::Monotonic checks_held_until_{};
    domain::Monotonic sends_held_until_{};
    std::uint32_t shares_max_;
    std::uint32_t shares_in_work_ = 0;
    std::uint32_t confirms_max_;
    std::uint32_t confirms_ = 0;
};

}  // namespace engine

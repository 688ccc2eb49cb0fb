#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "domain/identity.hpp"
#include "domain/kind.hpp"
#include "domain/time.hpp"
#include "engine/alerts.hpp"
#include "engine/gateway.hpp"
#include "engine/instructions.hpp"
#include "engine/submitter.hpp"
#include "engine/tuning.hpp"

namespace engine {

// A request on its way into the database.
struct Submission {
    domain::Kind kind = domain::Kind::input_proof;
    domain::Identity identity;
    domain::Bytes payload;
    // Shares only.
    domain::Bytes32 round_id{};
    std::optional<domain::Timestamp> vote_end;
    std::optional<domain::Timestamp> submit_at;
    std::optional<domain::Bytes32> idempotency_key;
    std::int64_t client = 0;
    Reply reply;
};

// What happened since the last step.
struct Events {
    std::vector<Checked> checked;
    std::vector<Prepared> prepared;
    std::vector<Signed> sealed;
    std::vector<Sent> sent;
    std::vector<Answered> answered;
    std::vector<Confirmed> confirmed;
    std::vector<BlockNews> block_news;
    std::vector<Submission> submissions;
    std::vector<Retune> retunes;
    std::vector<Instruction> instructions;
    std::vector<AccountFound> accounts;
    std::vector<AccountsSettled> accounts_settled;
    std::vector<store::OwnTransaction> own_sealed;
    std::vector<OwnSettled> own_settled;
    std::vector<AlertMark> alerts_taken;
    bool stop = false;

    [[nodiscard]] bool empty() const;
    [[nodiscard]] std::size_t size() const;
};

// Every kind of them, in the order in which a step takes them up.
template <typename SomeEvents>
[[nodiscard]] auto kinds_of(SomeEvents& events) {
    return std::tie(events.accounts, events.accounts_settled, events.block_news, events.checked,
                    events.prepared, events.sealed, events.sent, events.answered, events.confirmed,
                    events.own_sealed, events.own_settled, events.submissions, events.instructions,
                    events.alerts_taken, events.retunes);
}

// What HTTP threads and gateways leave for the processor. Submissions are bounded; events of a
// gateway are not dropped: their number is bounded by the gates that let the work through, and that
// of answers by who reads them.
class Inbox : public GatewayEvents, public AlertEvents {
public:
    explicit Inbox(std::size_t submissions_max) : submissions_max_(submissions_max) {}

    // Any thread. Wakes the processor. When full or closed the submission comes back.
    [[nodiscard]] std::optional<Submission> submit(Submission submission);

    // Any thread. Wakes the processor. When closed the change comes back.
    [[nodiscard]] std::optional<Retune> retune(Retune change);
    // Same, with what an operator wants to be done.
    [[nodiscard]] std::optional<Instruction> instruct(Instruction instruction);
    // Any thread. Wakes the processor.
    void checked(std::vector<Checked> events) override;
    void prepared(std::vector<Prepared> events) override;
    void sent(std::vector<Sent> events) override;
    void answered(Answered event) override;
    [[nodiscard]] bool has_too_many_answers() override;
    void sealed(std::vector<Signed> events) override;
    void confirmed(std::vector<Confirmed> events) override;
    void block_news(BlockNews news) override;
    void alert_taken(AlertMark alert) override;
    void account_found(AccountFound event) override;
    void accounts_settled(AccountsSettled event) override;
    void own_sealed(store::OwnTransaction own) override;
    void own_settled(OwnSettled event) override;

    // Any thread. From now on submit() refuses.
    void close();
    // Any thread. Makes the next drain say stop.
    void stop();

    // Processor thread. Appends everything to `events`; submissions and answers only where none
    // wait already, so that there is a bound to them.
    void drain(Events& events);
    // Processor thread. Returns when something is there, or after `limit`.
    void wait(domain::Nanoseconds limit);
    // Processor thread. Same, but only stop() ends it early.
    void wait_for_stop(domain::Nanoseconds limit);
    [[nodiscard]] bool is_empty();
    // Any thread. What waits for the next step.
    [[nodiscard]] std::size_t size();

private:
    void look_around(domain::Nanoseconds limit) const;
    // When closed, or when `max` wait there, it comes back.
    template <typename Event>
    std::optional<Event> put_unless_full(std::vector<Event>& where, std::size_t max, Event event);
    template <typename Event>
    void put(std::vector<Event>& where, std::vector<Event>&& events);
    template <typename Event>
    void put_one(std::vector<Event>& where, Event event);

    const std::size_t submissions_max_;
    std::mutex mutex_;  // guards what follows
    std::condition_variable arrived_;
    Events events_;
    bool waiting_ = false;
    std::atomic<bool> something_there_{false};
    bool was_busy_ = false;  // processor thread: the last drain found something
    bool closed_ = false;
};

}  // namespace engine

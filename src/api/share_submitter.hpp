#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "api/commitment_check.hpp"
#include "api/lookups.hpp"
#include "api/options.hpp"
#include "api/ports.hpp"
#include "api/round_cache.hpp"
#include "api/share_answers.hpp"
#include "api/throttled_log.hpp"
#include "domain/request.hpp"
#include "domain/time.hpp"
#include "net/http_message.hpp"

namespace api {

// How a share comes in (share-helper 1.1 to 1.4): checks of its fields, of its commitment, of its
// round and of its time, then the engine. Any thread; never waits for the chain.
class ShareSubmitter {
public:
    // `lookups` too must end before this does.
    ShareSubmitter(const Options& options, const Ports& ports, ShareAnswers& answers,
                   Lookups& lookups);

    // Refusals of fields are answered at once, everything else when chain and commit are through;
    // 503 when the chain's turn comes too late (Lookups).
    void submit(std::string_view body, const ShareCall& call, net::Respond respond);

private:
    using VoteEnd = std::variant<domain::Timestamp, net::HttpResponse>;

    // May block.
    void check_and_enter(const domain::VoteShare& share, const ShareCall& call,
                         const net::Respond& respond);
    // May block.
    [[nodiscard]] VoteEnd find_vote_end(const domain::VoteShare& share, const ShareCall& call);
    [[nodiscard]] VoteEnd ask_vote_end(const domain::VoteShare& share, const ShareCall& call);
    void enter(const domain::VoteShare& share, domain::Timestamp vote_end, const ShareCall& call,
               net::Respond respond);
    [[nodiscard]] net::HttpResponse answer(const engine::AcceptOutcome& outcome,
                                           std::string_view call_id, const std::string& fields);
    void note_received(const domain::VoteShare& share, std::string_view call_id) const;
    // Of lines that tell when shares come.
    [[nodiscard]] ports::LogLevel level() const;
    // Empty when nobody keeps lines of that level.
    [[nodiscard]] std::string scheduled_fields(const domain::VoteShare& share) const;

    const Options options_;
    engine::Submitter& submitter_;
    engine::RoundDirectory& rounds_;
    ports::Logger& logger_;
    ShareAnswers& answers_;
    Lookups& lookups_;
    CommitmentCheck commitments_;
    RoundCache known_rounds_;
    ThrottledLog submit_errors_;
    ThrottledLog rounds_errors_;
};

}  // namespace api

#pragma once

#include <optional>
#include <string>

#include "api/share_answers.hpp"
#include "api/throttled_log.hpp"
#include "domain/request.hpp"
#include "engine/vote_chain.hpp"

namespace api {

// Whether the vote a share belongs to is in the tree of its round (share-helper 1.4). Any thread.
class CommitmentCheck {
public:
    CommitmentCheck(const engine::VoteChain& votes, ports::Logger& logger,
                    const ports::Clock& clock);

    // False: a port is missing, and every share passes unchecked.
    [[nodiscard]] bool is_on() const;
    // Only when it is on; may block. Nothing: it is there. Otherwise the text of the 400; what the
    // ports could not do is in the log then.
    [[nodiscard]] std::optional<std::string> problem_of(const domain::VoteShare& share,
                                                        std::string_view call_id);

private:
    engine::CommitmentTrees* const trees_;
    engine::CommitmentHash* const commitments_;
    ThrottledLog hash_errors_;
    ThrottledLog leaf_errors_;
};

}  // namespace api

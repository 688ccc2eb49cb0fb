#pragma once

#include <string_view>

#include "api/active_tree.hpp"
#include "api/lookups.hpp"
#include "api/ports.hpp"
#include "api/share_answers.hpp"
#include "api/throttled_log.hpp"
#include "net/http_message.hpp"

namespace api {

// What can be asked about shares (share-helper 1.5 to 1.7). Any thread; never waits for the chain.
class ShareQueries {
public:
    // `lookups` and `tree_lookups` too must end before this does.
    ShareQueries(const Ports& ports, ShareAnswers& answers, Lookups& lookups,
                 Lookups& tree_lookups);

    // `ids` is what stands in the path: round id, slash, nullifier. The chain alone is asked,
    // whatever is stored here; 503 when its turn comes too late (Lookups).
    void share_status(std::string_view ids, const ShareCall& call, const net::Respond& respond);
    // With the tree as ActiveTree knows it, after a second and a half at the latest. Without any
    // count of shares: who polls them learns when votes leave.
    void helper_status(const net::Respond& respond);
    [[nodiscard]] net::HttpResponse queue_status(const ShareCall& call);

private:
    [[nodiscard]] net::HttpResponse find_nullifier(const domain::Bytes32& round_id,
                                                   const domain::Bytes32& nullifier,
                                                   const ShareCall& call);

    engine::Nullifiers* const nullifiers_;
    engine::VoteQueue* const queue_;
    ShareAnswers& answers_;
    Lookups& lookups_;
    ActiveTree tree_;
    ThrottledLog nullifier_errors_;
    ThrottledLog queue_errors_;
};

}  // namespace api

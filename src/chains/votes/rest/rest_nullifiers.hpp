#pragma once

#include <optional>
#include <string>

#include "chains/votes/options.hpp"
#include "chains/votes/rest/rest_client.hpp"
#include "domain/bytes.hpp"
#include "domain/time.hpp"
#include "engine/vote_chain.hpp"
#include "ports/clock.hpp"

namespace chains::votes::rest {

// Asks a helper that stands beside a chain's node (share-helper 1.5). Any thread; calls block until
// the answer or the read timeout. Reasons never hold its URL.
class RestNullifiers : public engine::Nullifiers {
public:
    // Uses nullifier_url and read_timeout. Throws std::invalid_argument, without the URL, when that
    // is no http or https URL.
    RestNullifiers(const Options& options, const ports::Clock& clock);

    [[nodiscard]] engine::NullifierAnswer find(const domain::Bytes32& round_id,
                                               const domain::Bytes32& nullifier) override;

    // Calls under way end with Unreachable as soon as they can, and so does every later one.
    void stop() { client_.stop(); }
    // Nothing when the last exchange went well, else one line without secrets.
    [[nodiscard]] std::optional<std::string> problem() const { return client_.problem(); }

private:
    const domain::Milliseconds read_timeout_;
    RestClient client_;
};

}  // namespace chains::votes::rest

#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chains/votes/options.hpp"
#include "chains/votes/prover/prover.hpp"
#include "net/client.hpp"

namespace chains::votes::prover {

// A service that proves: the request is POSTed as JSON (docs/prover.md).
class HttpProver : public Prover {
public:
    // Throws std::invalid_argument, without the values, when the URL is none or the token can not
    // stand in a header.
    explicit HttpProver(const ProverOptions& options);

    [[nodiscard]] ProveOutcome prove(const Witness& witness) override;
    void stop() override { client_.stop(); }
    [[nodiscard]] std::optional<std::string> problem() const override;

private:
    [[nodiscard]] ProveOutcome ask(const Witness& witness);
    void note(const ProveOutcome& outcome);

    const std::vector<std::pair<std::string, std::string>> fields_;
    const domain::Milliseconds timeout_;
    net::Client client_;
    std::vector<std::string> secrets_;  // of the URL, and the token

    mutable std::mutex mutex_;
    std::optional<std::string> problem_;
};

}  // namespace chains::votes::prover

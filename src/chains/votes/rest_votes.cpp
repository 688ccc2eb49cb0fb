#include "chains/votes/rest_votes.hpp"

#include "chains/votes/prover/make_prover.hpp"

namespace chains::votes {
namespace {

// The URL of a chain that was named by its port is known here only.
Options with_url(Options options) {
    options.chain_url = options.base_url();
    return options;
}

}  // namespace

RestVotes::RestVotes(const Options& options, const ports::Clock& clock, ports::Executor& executor,
                     ports::Executor& confirming, ports::Logger& logger,
                     engine::VoteObserver& observer)
    : commitment_check_(options.commitment_check),
      chain_(with_url(options), clock, &observer),
      trees_(chain_, clock, [this] { return chain_.active_round(); }),
      nullifiers_(options.nullifier_url.empty()
                      ? nullptr
                      : std::make_unique<votes::rest::RestNullifiers>(options, clock)),
      prover_(votes::prover::make_prover(options.prover, logger)),
      sources_(chain_, trees_, nullifiers_.get()),
      gateway_(sources_, *prover_, clock, executor, confirming, logger, observer,
               nullifiers_.get()) {}

engine::VoteChain RestVotes::chain() {
    return {chain_, &trees_, nullifiers_.get(), commitment_check_ ? &commitments_ : nullptr};
}

void RestVotes::stop_lookups() {
    sources_.stop();
}

}  // namespace chains::votes

#include "commands/vote_service.hpp"

#include <optional>
#include <stdexcept>
#include <string>

#include "chains/split_gateway.hpp"
#include "chains/votes/rest_votes.hpp"
#include "commands/exit_status.hpp"
#include "platform/worker_pool.hpp"

namespace commands {

namespace {

class SharedVoteChain final : public VoteService {
public:
    SharedVoteChain(engine::Gateway& gateway, engine::RoundDirectory& rounds)
        : gateway_(gateway), rounds_(rounds) {}

    [[nodiscard]] engine::Gateway& gateway() override { return gateway_; }
    [[nodiscard]] engine::VoteChain chain() override { return {rounds_}; }

private:
    engine::Gateway& gateway_;
    engine::RoundDirectory& rounds_;
};

// A share holds its slot, and with it one thread, from its round check to the chain's answer.
class OwnVoteChain final : public VoteService {
public:
    OwnVoteChain(const config::Settings& settings, engine::Gateway& relayer,
                 const ports::Clock& clock, ports::Logger& logger, engine::VoteObserver& observer)
        : workers_(settings.engine.shares.max_concurrent_proofs),
          votes_(settings.votes, clock, workers_, confirming(settings), logger, observer),
          gateway_(relayer, votes_.gateway()) {}

    [[nodiscard]] engine::Gateway& gateway() override { return gateway_; }
    [[nodiscard]] engine::VoteChain chain() override { return votes_.chain(); }
    void stop_lookups() override { votes_.stop_lookups(); }

private:
    // Threads of their own only where there is something for them to do.
    ports::Executor& confirming(const config::Settings& settings) {
        const engine::ShareOptions& shares = settings.engine.shares;
        return shares.confirm_reveals ? confirming_.emplace(shares.confirms_max) : workers_;
    }

    platform::WorkerPool workers_;
    std::optional<platform::WorkerPool> confirming_;
    chains::votes::RestVotes votes_;
    chains::SplitGateway gateway_;
};

// Without URLs: they may hold secrets.
std::string line_of(const config::Settings& settings) {
    const chains::votes::Options& options = settings.votes;
    const char* const prover = options.prover.type == chains::votes::ProverType::command ? "command"
                               : options.prover.type == chains::votes::ProverType::http
                                   ? "http"
                                   : "loopback";
    return std::string("vote_chain type=rest prover=") + prover +
           " proofs_at_once=" + std::to_string(settings.engine.shares.max_concurrent_proofs) +
           " commitment_check=" + (options.commitment_check ? "on" : "off") +
           " share_status=" + (options.nullifier_url.empty() ? "pending" : "asked") +
           " confirm_reveals=" + (settings.engine.shares.confirm_reveals ? "on" : "off");
}

}  // namespace

std::unique_ptr<VoteService> make_vote_service(const config::Settings& settings,
                                               engine::Gateway& relayer,
                                               engine::RoundDirectory& rounds,
                                               const ports::Clock& clock, ports::Logger& logger,
                                               engine::VoteObserver& observer) {
    if (settings.api.share_disable) return std::make_unique<SharedVoteChain>(relayer, rounds);
    if (settings.votes.base_url().empty()) {
        logger.write(ports::LogLevel::info,
                     "vote_chain type=loopback hint=\"a trial: vote shares reach no real chain\"");
        return std::make_unique<SharedVoteChain>(relayer, rounds);
    }
    try {
        auto votes = std::make_unique<OwnVoteChain>(settings, relayer, clock, logger, observer);
        logger.write(ports::LogLevel::info, line_of(settings));
        return votes;
    } catch (const std::invalid_argument& error) {
        throw BadSettings(std::string("the vote chain: ") + error.what());
    }
}

}  // namespace commands

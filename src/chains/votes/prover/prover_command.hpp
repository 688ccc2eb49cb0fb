#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>

#include "base/stop_token.hpp"
#include "chains/votes/options.hpp"
#include "chains/votes/prover/command_exchange.hpp"
#include "chains/votes/prover/process_pool.hpp"
#include "chains/votes/prover/prover.hpp"
#include "chains/votes/prover/prover_protocol.hpp"
#include "ports/logger.hpp"

namespace chains::votes::prover {

// A program that proves: one request on its standard input, one answer on its standard output
// (docs/prover.md). Runs as many processes as proofs are made at once.
class CommandProver : public Prover {
public:
    // Throws std::invalid_argument when the program can not be executed.
    CommandProver(const ProverOptions& options, ports::Logger& logger);

    [[nodiscard]] ProveOutcome prove(const Witness& witness) override;
    // Of a pool: starts the processes that are missing, once a second at most.
    void expect(std::size_t proofs) override;
    void stop() override { stop_.request_stop(); }
    [[nodiscard]] std::optional<std::string> problem() const override;

private:
    using Process = ProcessPool::Process;

    [[nodiscard]] ProveOutcome settle(const Witness& witness);
    // Nothing: the process had died before it was asked.
    [[nodiscard]] std::optional<ProveOutcome> ask_idle(const CommandTalk& talk);
    [[nodiscard]] ProveOutcome ask_new(const CommandTalk& talk);
    [[nodiscard]] ProveOutcome judge(const CommandAnswer& answer, Process process);
    [[nodiscard]] ProveOutcome read(const CommandAnswer& answer, Process process);
    [[nodiscard]] ProveOutcome judge_end(const CommandAnswer& answer) const;
    void report(const std::string& why, std::string_view errors) const;
    void note(const ProveOutcome& outcome);

    const ProverFormat format_;
    const ProverLife life_;
    const domain::Milliseconds timeout_;
    ports::Logger& logger_;
    base::StopToken stop_;
    ProcessPool pool_;

    mutable std::mutex mutex_;
    std::optional<std::string> problem_;
    std::size_t proving_ = 0;                             // proofs under way
    std::chrono::steady_clock::time_point next_start_{};  // of processes ahead of their proofs
};

}  // namespace chains::votes::prover

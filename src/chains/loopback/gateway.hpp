#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "chains/loopback/answers.hpp"
#include "chains/loopback/ledger.hpp"
#include "chains/loopback/miner.hpp"
#include "chains/loopback/options.hpp"
#include "chains/loopback/outages.hpp"
#include "chains/loopback/outbox.hpp"
#include "chains/loopback/preparation.hpp"
#include "chains/loopback/readiness.hpp"
#include "chains/loopback/seeded_random.hpp"
#include "engine/gateway.hpp"
#include "engine/key_material.hpp"
#include "engine/task_group.hpp"
#include "ports/clock.hpp"
#include "ports/executor.hpp"
#include "ports/logger.hpp"

namespace chains::loopback {

// An embedded chain for laptops, drills and simulations. It keeps its own ledger, so it outlives a
// crash of the processor: receipts are found again by hash, and answers come again from any cursor.
// It does not prevent that a relayer request is included twice; it shows it.
//
// All events come from tasks of the executor. Orders of one call with the same latency are answered
// by one event; sends that arrive while a batch is being written form the next batch together, so
// with all latencies 0 a batch costs one flush of the ledger and three events.
class Gateway : public engine::Gateway, public engine::RoundDirectory, public engine::KeyDirectory {
public:
    // Opens the ledger: SQLite::Exception, std::system_error or std::runtime_error when it can not.
    // std::invalid_argument when problem_of(options) has something to say.
    Gateway(Options options, ports::Clock& clock, ports::Executor& executor, ports::Logger& logger);
    ~Gateway() override;
    Gateway(const Gateway&) = delete;
    Gateway& operator=(const Gateway&) = delete;

    void listen(engine::GatewayEvents& events, const engine::Resume& resume) override;
    void check(std::vector<engine::CheckOrder> orders) override;
    void prepare(std::vector<engine::PrepareOrder> orders) override;
    void send(std::vector<engine::SendOrder> orders) override;

    // The nonce is informative on this chain: it rises within a process; after a restart numbers
    // that never reached the ledger come again. The hash is the SHA-256 of the bytes.
    [[nodiscard]] engine::Sealed seal(const domain::RequestId& id, domain::Kind kind,
                                      const engine::Plan& plan) override;

    // Waits for the events under way; not from inside one.
    void stop() override;

    [[nodiscard]] std::optional<std::string> problem() const override;
    [[nodiscard]] std::vector<engine::Dependency> dependencies() const override;

    [[nodiscard]] engine::RoundAnswer find(const domain::Bytes32& round_id) override;

    // As the options have it, from the start on.
    [[nodiscard]] std::optional<engine::KeyMaterial> current() const override;

    // How many transactions took effect since the ledger was created.
    [[nodiscard]] std::uint64_t inclusions();

    // How many of them were one too many. Shares never are: the chain refuses the second.
    [[nodiscard]] std::uint64_t double_inclusions();

private:
    void include_arrived();
    [[nodiscard]] std::vector<engine::SendOrder> take_arrived();
    [[nodiscard]] Mined mine(const std::vector<engine::SendOrder>& orders);
    [[nodiscard]] Mined unreachable(const std::vector<engine::SendOrder>& orders,
                                    const std::string& reason);
    void reply(std::vector<DelayedReply> replies);
    void reply_now(std::vector<engine::Sent> events);
    void note_problem(std::optional<std::string> problem);

    const Options options_;
    ports::Logger& logger_;
    Ledger ledger_;
    SeededRandom random_;
    Outages outages_;
    Answers answers_;
    Readiness readiness_;
    Preparation preparation_;
    Miner miner_;
    std::map<domain::Bytes32, domain::Timestamp> rounds_;
    std::atomic<std::uint64_t> next_nonce_;
    std::atomic<engine::GatewayEvents*> events_{nullptr};

    mutable std::mutex mutex_;  // for what follows
    std::vector<engine::SendOrder> arrived_;
    std::optional<std::string> problem_;

    // Last: they end before what their work refers to.
    engine::TaskGroup task_group_;
    Outbox outbox_;
};

}  // namespace chains::loopback

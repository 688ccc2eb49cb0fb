#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "chains/evm/call_batcher.hpp"
#include "chains/evm/options.hpp"
#include "chains/jsonrpc/node.hpp"
#include "domain/request.hpp"
#include "engine/gateway.hpp"
#include "engine/task_group.hpp"
#include "ports/executor.hpp"
#include "ports/logger.hpp"

namespace chains::evm {

// Whether decrypts may go to the gateway chain (evm-gateway 7, relayer-api 4.3): the access lists
// of their host chains first, one after another, then the ciphertext on the gateway chain.
//
// Each node has a line of its own, so one that hangs holds up nobody who does not need it, and what
// waits for a node goes out in one HTTP exchange. No more than two exchanges per node at once.
//
// What the key servers would refuse after the fee was paid is asked in the same exchange and
// refused like the rest; of these look-ups none that fails refuses (relayer-api 4.3).
//
// All chains of a request are asked. A refusal weighs more than a chain that failed, since nothing
// the failed one could say would help; a chain that failed for good more than one that is silent.
class Readiness {
public:
    using Hosts = std::map<std::uint64_t, std::unique_ptr<jsonrpc::Node>>;

    // What is referred to must outlive it. A host chain is known when it has options and a node.
    Readiness(const Options& options, jsonrpc::Node& read, const Hosts& hosts,
              ports::Executor& executor, ports::Logger& logger);
    ~Readiness();
    Readiness(const Readiness&) = delete;
    Readiness& operator=(const Readiness&) = delete;

    // Any thread. Returns at once; one answer for each order through `events`. Decrypts only.
    void check(std::vector<engine::CheckOrder> orders, engine::GatewayEvents& events);

    // Waits for exchanges under way, so stop the nodes first. No event after it returns.
    void stop();

private:
    struct Check;
    using CheckPtr = std::shared_ptr<Check>;
    using Checks = std::vector<CheckPtr>;

    struct Host {
        Host(Readiness& owner, const Options::HostChain& chain, jsonrpc::Node& asked);

        const std::uint64_t chain_id;
        const domain::Address acl;
        jsonrpc::Node& node;
        // The access list does not know which signatures are invalidated; seen once, kept.
        std::atomic<bool> lacks_invalidation{false};
        CallBatcher<CheckPtr> line;
    };

    [[nodiscard]] Host* host(std::uint64_t chain_id) const;
    [[nodiscard]] std::optional<engine::CheckOutcome> unknown_chain(const Check& check) const;

    // Each to its next line, or to its end.
    void proceed(Checks checks);

    void ask_access_list(Host& host, Checks checks);
    // Places of a check's look-ups among the calls.
    struct LookUps;
    [[nodiscard]] static LookUps look_ups(const Check& check, const Host& host,
                                          std::vector<jsonrpc::Call>& calls);
    static void take_look_ups(Check& check, Host& host, const LookUps& look_ups,
                              const std::vector<jsonrpc::Answer>& answers);
    // False: the chain is to be asked again.
    [[nodiscard]] bool settle_chain(Check& check, const Host& host, const jsonrpc::Answer& answer);
    void note_try(const Check& check, const Host& host, const jsonrpc::NodeError& error);
    void ask_gateway(Checks checks);

    const Options options_;
    jsonrpc::Node& read_;
    ports::Logger& logger_;
    engine::TaskGroup task_group_;
    std::map<std::uint64_t, std::unique_ptr<Host>> hosts_;
    CallBatcher<CheckPtr> gateway_batcher_;
};

}  // namespace chains::evm

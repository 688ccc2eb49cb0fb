#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "chains/evm/contract_kind.hpp"
#include "chains/evm/nodes.hpp"
#include "chains/evm/options.hpp"
#include "domain/bytes.hpp"
#include "domain/time.hpp"
#include "engine/health.hpp"
#include "engine/task_group.hpp"
#include "ports/executor.hpp"
#include "ports/logger.hpp"

namespace chains::evm {

// Whether the contracts that are configured are the ones that stand at their addresses, and the
// nodes of host chains on their chains. Looks every 5 min, every 15 s while somebody has not
// answered. Keeps nobody from working: it only says so. Any thread.
class ContractWatch {
public:
    // What is referred to must outlive it.
    ContractWatch(const Options& options, const Nodes& nodes, ports::Executor& executor,
                  ports::Logger& logger);
    ~ContractWatch();
    ContractWatch(const ContractWatch&) = delete;
    ContractWatch& operator=(const ContractWatch&) = delete;

    void start();  // once
    // Waits for a look under way, so stop the nodes first.
    void stop();

    // Whether the decryption contract is the published one; nothing before it answered.
    [[nodiscard]] std::optional<bool> has_published_decryption() const;

    // Those with something wrong: `gateway_contracts`, `protocol_contracts`, `host_chain_8009` …
    [[nodiscard]] std::vector<engine::Dependency> dependencies() const;

private:
    struct Place {
        std::string dependency;
        ContractKind kind{};
        domain::Address address{};
        jsonrpc::Node* node = nullptr;
    };
    struct Host {
        std::string dependency;
        std::uint64_t chain_id = 0;
        jsonrpc::Node* node = nullptr;
    };

    void look();
    // False: nobody answered.
    [[nodiscard]] bool look_at(const Place& place);
    [[nodiscard]] bool look_at(const Host& host);
    void note(const std::string& subject, const std::string& dependency,
              std::optional<std::string> wrong);

    ports::Logger& logger_;
    std::vector<Place> places_;
    std::vector<Host> hosts_;

    mutable std::mutex mutex_;  // for what follows
    std::optional<bool> has_published_decryption_;
    struct Wrong {
        std::string dependency;
        std::string text;
    };
    std::map<std::string, Wrong> wrong_;  // by subject

    engine::TaskGroup task_group_;  // last: it waits for work that uses the rest
};

}  // namespace chains::evm

#include "chains/evm/contract_watch.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "base/sanitize.hpp"
#include "chains/jsonrpc/decode.hpp"

namespace chains::evm {

namespace {

constexpr domain::Milliseconds interval{std::chrono::minutes{5}};
constexpr domain::Milliseconds interval_unanswered{15'000};

}  // namespace

ContractWatch::ContractWatch(const Options& options, const Nodes& nodes, ports::Executor& executor,
                             ports::Logger& logger)
    : logger_(logger), task_group_(executor) {
    using enum ContractKind;
    const std::string gateway = "gateway_contracts";
    const std::string protocol = "protocol_contracts";
    places_ = {{gateway, decryption, options.decryption, nodes.read.get()},
               {gateway, input_verification, options.input_verification, nodes.read.get()},
               {protocol, protocol_config, options.protocol_config.address, nodes.protocol.get()},
               {protocol, kms_generation, options.key_urls.kms_generation, nodes.protocol.get()}};
    if (options.protocol_payment) {
        places_.push_back({gateway, protocol_payment, *options.protocol_payment, nodes.read.get()});
    }
    for (const Options::HostChain& chain : options.host_chains) {
        const auto node = nodes.hosts.find(chain.chain_id);
        if (node == nodes.hosts.end()) continue;
        const std::string dependency = "host_chain_" + std::to_string(chain.chain_id);
        hosts_.push_back({dependency, chain.chain_id, node->second.get()});
        places_.push_back({dependency, access_list, chain.acl, node->second.get()});
    }
}

ContractWatch::~ContractWatch() {
    stop();
}

void ContractWatch::start() {
    task_group_.run_after(domain::Milliseconds{0}, [this] { look(); });
}

void ContractWatch::stop() {
    task_group_.stop();
}

std::optional<bool> ContractWatch::has_published_decryption() const {
    const std::lock_guard lock{mutex_};
    return has_published_decryption_;
}

std::vector<engine::Dependency> ContractWatch::dependencies() const {
    const std::lock_guard lock{mutex_};
    std::vector<engine::Dependency> all;
    for (const auto& [subject, wrong] : wrong_) {
        const engine::Dependency unhealthy{wrong.dependency, false};
        if (std::ranges::find(all, unhealthy.name, &engine::Dependency::name) == all.end()) {
            all.push_back(unhealthy);
        }
    }
    return all;
}

void ContractWatch::look() {
    bool answered = true;
    for (const Place& place : places_) answered = look_at(place) && answered;
    for (const Host& host : hosts_) answered = look_at(host) && answered;
    task_group_.run_after(answered ? interval : interval_unanswered, [this] { look(); });
}

bool ContractWatch::look_at(const Place& place) {
    const ContractAnswer answer = read_version(place.node->call(version_call(place.address)));
    if (std::holds_alternative<NoResult>(answer)) return false;
    const std::string_view expected = name_of(place.kind);
    const auto* version = std::get_if<ContractVersion>(&answer);
    const bool fits = version != nullptr && version->name == expected;
    // One that does not say what it is may be a stand-in.
    std::optional<std::string> wrong;
    if (version != nullptr && !fits) wrong = to_string(*version);
    note(std::string{expected} +
             (place.kind == ContractKind::access_list ? " of " + place.dependency : std::string{}),
         place.dependency, std::move(wrong));
    if (place.kind == ContractKind::decryption) {
        const std::lock_guard lock{mutex_};
        has_published_decryption_ = fits;
    }
    return true;
}

bool ContractWatch::look_at(const Host& host) {
    const jsonrpc::Answer answer = host.node->call({"eth_chainId", jsonrpc::Json::array()});
    const auto* said = std::get_if<jsonrpc::Json>(&answer);
    const auto chain_id = said != nullptr ? jsonrpc::quantity(*said) : std::nullopt;
    if (!chain_id) return false;
    std::optional<std::string> wrong;
    if (*chain_id != host.chain_id) wrong = "chain " + std::to_string(*chain_id);
    note("node of " + host.dependency, host.dependency, std::move(wrong));
    return true;
}

void ContractWatch::note(const std::string& subject, const std::string& dependency,
                         std::optional<std::string> wrong) {
    const std::lock_guard lock{mutex_};
    const auto known = wrong_.find(subject);
    const std::string before = known == wrong_.end() ? std::string{} : known->second.text;
    if (wrong.value_or("") == before) return;
    if (wrong) {
        logger_.write(ports::LogLevel::error, "misplaced_contract dependency=" + dependency +
                                                  " expected=" + base::log_value(subject) +
                                                  " found=" + base::log_value(*wrong));
        wrong_[subject] = {dependency, *std::move(wrong)};
    } else {
        logger_.write(ports::LogLevel::info,
                      "misplaced_contract_recovered dependency=" + dependency +
                          " expected=" + base::log_value(subject));
        wrong_.erase(known);
    }
}

}  // namespace chains::evm

#include "config/keys.hpp"

#include <algorithm>
#include <iterator>

namespace config {
namespace {

constexpr std::size_t signers_max = 32;

std::vector<TableList> lists() {
    std::vector<TableList> all;
    all.push_back({"host_chains", 1, 1'000, "The chains whose handles are served; ids are unique.",
                   Effect::full,
                   [](Settings& s, std::size_t entries) {
                       s.api.host_chain_ids.assign(entries, 0);
                       s.loopback.host_chains.assign(entries, 0);
                       s.evm.host_chains.assign(entries, {});
                   },
                   [](const Settings& s) { return s.api.host_chain_ids.size(); }});
    all.push_back(
        {"gateway.listener_pool.listeners", 1, 5,
         "Where the events of the gateway chain come from; two of different providers "
         "make up for each other.",
         Effect::needs_chain,
         [](Settings& s, std::size_t entries) { s.evm.listening.listeners.assign(entries, {}); },
         [](const Settings& s) { return s.evm.listening.listeners.size(); }});
    all.push_back(
        {"gateway.tx_engine.signers", 1, signers_max,
         "Several keys at once, in place of gateway.tx_engine.signer: requests are spread "
         "over them. With aws_kms each needs its address.",
         Effect::needs_chain,
         [](Settings& s, std::size_t entries) {
             s.evm.signers.assign(entries, {});
             for (std::size_t i = 0; i < entries; ++i) {
                 s.evm.signers[i].table = "gateway.tx_engine.signers[" + std::to_string(i) + "]";
             }
         },
         [](const Settings& s) { return s.evm.signers.size(); }});
    all.push_back({"gateway.loopback.rounds", 0, 100'000,
                   "The vote rounds that exist; without an entry every round does, until "
                   "rounds_end.",
                   Effect::full,
                   [](Settings& s, std::size_t entries) { s.loopback.rounds.assign(entries, {}); },
                   [](const Settings& s) { return s.loopback.rounds.size(); }});
    all.push_back({"gateway.loopback.outages", 0, 1'000,
                   "Spans in which the chain can not be reached; they may overlap.", Effect::full,
                   [](Settings& s, std::size_t entries) { s.loopback.outages.assign(entries, {}); },
                   [](const Settings& s) { return s.loopback.outages.size(); }});
    return all;
}

}  // namespace

std::vector<Key> joined(std::initializer_list<std::vector<Key>> parts) {
    std::vector<Key> all;
    for (const auto& part : parts) std::ranges::copy(part, std::back_inserter(all));
    return all;
}

const std::vector<Key>& keys() {
    static const std::vector<Key> all =
        joined({http_keys(), helper_keys(), votes_keys(), storage_keys(), cluster_keys(),
                engine_keys(), chain_keys(), gateway_keys(), evm_keys(), loopback_keys()});
    return all;
}

const std::vector<TableList>& table_lists() {
    static const std::vector<TableList> all = lists();
    return all;
}

const Key* find_key(std::string_view name) {
    const auto place = std::ranges::find(keys(), name, &Key::name);
    return place == keys().end() ? nullptr : &*place;
}

const TableList* find_table_list(std::string_view name) {
    const auto place = std::ranges::find(table_lists(), name, &TableList::name);
    return place == table_lists().end() ? nullptr : &*place;
}

bool is_table(std::string_view name) {
    const std::string start = std::string{name} + ".";
    return std::ranges::any_of(keys(), [&](const Key& key) { return key.name.starts_with(start); });
}

}  // namespace config

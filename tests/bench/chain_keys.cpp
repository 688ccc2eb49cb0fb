#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/anvil.hpp"
#include "bench/chain_load.hpp"
#include "bench/scenarios.hpp"
#include "bench/scratch.hpp"
#include "bench/slow_signer.hpp"

// What several keys are for: each is served by a device that makes one signature after the other,
// which is the limit of a key long before the node is that of the chain. With blocks at once.
namespace bench {

namespace {

constexpr std::chrono::milliseconds one_signature{40};
// Of each key are as many under way as keep its device busy.
constexpr std::size_t at_once = 48;
// Development accounts: anvil gives them coins, and everybody knows their keys.
constexpr std::array keys{relayer_key,
                          "59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
                          "5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a"};

double rate_with(const Options& options, std::size_t count) {
    const Scratch scratch(options.directory);
    Anvil anvil(options, scratch.path());
    std::vector<std::unique_ptr<SlowSigner>> signers;
    std::vector<domain::Address> accounts;
    std::string list;
    for (std::size_t i = 0; i < count; ++i) {
        signers.push_back(
            std::make_unique<SlowSigner>(one_signature, keys.at(i), SlowSigner::Serves::one));
        accounts.push_back(signers.back()->account());
        list += (list.empty() ? "" : ", ") + signers.back()->table();
    }
    Settings settings = on_chain(anvil, anvil.port());
    settings["gateway.tx_engine.max_concurrency"] = std::to_string(at_once);
    settings.erase("gateway.tx_engine.signer.type");
    settings.erase("gateway.tx_engine.signer.private_key");
    settings["gateway.tx_engine.signers"] = '[' + list + ']';
    // Half a minute of one key at most.
    return drained_rate(options, scratch.path(), anvil, settings, accounts,
                        options.amount.chained / 3 / chain_kinds.size() * count);
}

}  // namespace

void measure_chain_keys(const Options& options, Report& report) {
    Series one;
    Series three;
    for (std::size_t round = 0; round < options.amount.drain_rounds; ++round) {
        one.add(rate_with(options, 1));
        three.add(rate_with(options, keys.size()));
    }
    report.at_least(2.2,
                    "three keys, one signature of " + std::to_string(one_signature.count()) +
                        " ms at a time for each, blocks at once",
                    "tx/s", three, "one key", one);
}

}  // namespace bench

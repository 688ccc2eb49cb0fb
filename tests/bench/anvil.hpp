#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "bench/child.hpp"
#include "bench/options.hpp"
#include "bench/posthouse.hpp"
#include "chains/jsonrpc/http_node.hpp"
#include "domain/bytes.hpp"
#include "platform/real_clock.hpp"

namespace bench {

inline constexpr std::uint64_t chain_id = 8009;

// A fresh development chain with the contracts of the tests, which take every request and allow
// every decryption.
class Anvil {
public:
    // `block_seconds` 0: a block as soon as there is a transaction.
    Anvil(const Options& options, const std::filesystem::path& directory,
          unsigned block_seconds = 0);

    [[nodiscard]] int port() const { return port_; }

    // Throws std::runtime_error unless the node answers with a result.
    [[nodiscard]] chains::jsonrpc::Json ask(const std::string& method,
                                            chains::jsonrpc::Json parameters);
    // How many transactions of the account are on chain.
    [[nodiscard]] std::uint64_t included(const domain::Address& account);

private:
    void put_contracts(const std::filesystem::path& compiled);

    int port_;
    Child child_;
    platform::RealClock clock_;
    chains::jsonrpc::HttpNode node_;
};

// The contract of all three kinds.
[[nodiscard]] domain::Address gateway_contract();

// A development account: anvil gives it coins, and everybody knows its key.
inline constexpr const char* relayer_key =
    "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

// A relayer on that chain; transactions go to `send_port`, which may be something in between.
[[nodiscard]] Settings on_chain(const Anvil& anvil, int send_port);

}  // namespace bench

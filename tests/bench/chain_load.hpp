#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "bench/anvil.hpp"
#include "bench/bodies.hpp"
#include "bench/posthouse.hpp"
#include "domain/bytes.hpp"

namespace bench {

// A kind of request that becomes a transaction, with the name its settings have.
struct ChainKind {
    std::string_view name;  // of settings
    std::string_view plural;
    std::uint32_t selector;  // of the contract's function
    Body (*body)(const std::filesystem::path& samples);
};

// In the order in which Posthouse takes them when all wait.
extern const std::array<ChainKind, 3> chain_kinds;

// The calldata that a request with this body leads to.
[[nodiscard]] domain::Bytes calldata_of(const Body& body);

// So many different requests of each kind are accepted.
void post_all(const Options& options, int port, std::uint64_t of_each_kind);

// Returns when every check is done, so that requests wait for nothing but to be sent.
void wait_for_tokens_only(const std::filesystem::path& directory);

// The gates of all kinds: `per_seconds` transactions, with room for any number waiting.
void set_rates(Settings& settings, std::uint32_t per_seconds, std::uint32_t burst);

// Inclusions per second of accounts that have `before` transactions on chain together, from the
// first inclusion on until they have `all`.
[[nodiscard]] double inclusion_rate(Anvil& anvil, const std::vector<domain::Address>& accounts,
                                    std::uint64_t before, std::uint64_t all);

// The same of a backlog of requests. The first start takes them in and lets next to nothing out,
// the second one has no rate. Throws unless each is included once.
[[nodiscard]] double drained_rate(const Options& options, const std::filesystem::path& directory,
                                  Anvil& anvil, Settings settings,
                                  const std::vector<domain::Address>& accounts,
                                  std::uint64_t of_each_kind);

}  // namespace bench

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api/access/gcra.hpp"
#include "domain/bytes.hpp"

namespace api::access {

// Somebody who has a key.
struct Client {
    std::string name;
    std::uint64_t id = 0;  // the first 8 bytes of SHA-256(name), big endian; never 0
};

[[nodiscard]] Client client_named(std::string_view name);

// One key, known by its digest alone.
struct ClientKey {
    Client client;
    domain::Bytes32 digest{};
    std::shared_ptr<Gcra> limiter;  // none: as often as it likes
};

[[nodiscard]] domain::Bytes32 digest_of(std::string_view key);
// Takes the same time wherever they differ.
[[nodiscard]] bool equal_in_constant_time(const domain::Bytes32& left,
                                          const domain::Bytes32& right);

// Which keys are good; does not change once it is shared. Any thread.
class ClientKeys {
public:
    static constexpr std::size_t keys_max = 4'096;

    // Reads lines `NAME KEY [RATE [BURST]]`; empty ones and those that begin with # do not count.
    // RATE is POSTs per second, BURST how many may come at once; no RATE: no limit. At least one
    // key. Otherwise the text is `FILE:LINE: problem; allowed: …` and repeats nothing of the line,
    // since nobody knows what stands where in a line that is wrong.
    [[nodiscard]] static std::variant<ClientKeys, std::string> read(std::string_view text,
                                                                    std::string_view file);

    ClientKeys() = default;
    explicit ClientKeys(std::vector<ClientKey> keys) : keys_(std::move(keys)) {}

    // Compares with every key, and each as a whole: the time taken tells nothing. If several fit,
    // the last one counts.
    [[nodiscard]] const ClientKey* find(std::string_view key) const;

    // What a name has used up stays used up if its allowance is the same. Before it is shared.
    void take_over_limiters(const ClientKeys& old);

    [[nodiscard]] std::size_t size() const { return keys_.size(); }
    [[nodiscard]] const std::vector<ClientKey>& all() const { return keys_; }

private:
    std::vector<ClientKey> keys_;
};

}  // namespace api::access

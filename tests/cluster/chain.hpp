#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "cluster/database.hpp"
#include "cluster/entry.hpp"

namespace cluster_test {

inline const domain::Bytes32 genesis = [] {
    domain::Bytes32 hash{};
    hash.fill(0x67);
    return hash;
}();

inline cluster::Instance instance_of(std::uint8_t number) {
    cluster::Instance instance{};
    instance.back() = number;
    return instance;
}

inline cluster::Candidate node_named(char name) {
    return {.node = std::string(1, name),
            .instance = instance_of(static_cast<std::uint8_t>(name)),
            .url = std::string("https://") + name + ".example:3000"};
}

inline cluster::Snapshot snapshot_of(std::int64_t seq, std::uint8_t id, std::int64_t parts,
                                     const domain::Bytes32& hash) {
    return {.seq = seq, .id = instance_of(id), .parts = parts, .hash = hash};
}

// An entry that follows on `previous`; it owns its bytes.
struct Link {
    std::int64_t seq = 0;
    std::int64_t epoch = 0;
    domain::Bytes32 previous{};
    domain::Bytes bytes;

    [[nodiscard]] domain::Bytes32 hash() const {
        return cluster::hash_of({.book = "test", .seq = seq, .epoch = epoch, .previous = previous},
                                bytes);
    }
    [[nodiscard]] cluster::NewEntry entry() const {
        return {.seq = seq,
                .epoch = epoch,
                .previous = previous,
                .hash = hash(),
                .stable = seq - 1,
                .bytes = bytes};
    }
    [[nodiscard]] Link next(domain::Bytes content) const {
        return {.seq = seq + 1, .epoch = epoch, .previous = hash(), .bytes = std::move(content)};
    }
};

inline Link first_link(std::int64_t epoch, domain::Bytes content) {
    return {.seq = 1, .epoch = epoch, .previous = genesis, .bytes = std::move(content)};
}

// The book is made, and `node` is its owner in epoch 1.
inline void begin_book(cluster::Database& database, char node = 'a') {
    static_cast<void>(std::get<cluster::Done>(database.initialise(genesis)));
    static_cast<void>(std::get<cluster::Taken>(database.take({.epoch = 0}, node_named(node))));
}

// Whether the outcome is of this kind.
template <class Kind, class Answer>
[[nodiscard]] bool is_a(const Answer& answer) {
    return std::holds_alternative<Kind>(answer);
}

}  // namespace cluster_test

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chains/loopback/ledger.hpp"
#include "domain/bytes.hpp"
#include "domain/kind.hpp"
#include "domain/time.hpp"

namespace chains::loopback {

// One transaction that reached the embedded chain, as somebody from outside sees it.
struct LedgerEntry {
    std::int64_t request_sequence = 0;
    domain::Kind kind = domain::Kind::input_proof;
    domain::Bytes subject;  // of the transaction: what should be included at most once
    domain::Timestamp included;
    Effect effect = Effect::included;
};

// Everything the ledger holds, in the order of its blocks; also while a process writes it. Never
// changes it. Throws SQLite::Exception, and std::runtime_error when it is damaged.
[[nodiscard]] std::vector<LedgerEntry> read_ledger(const std::string& path);

}  // namespace chains::loopback

#pragma once

#include <cstdint>
#include <vector>

#include "chains/jsonrpc/wei.hpp"
#include "commands/drill/chain_account.hpp"
#include "commands/drill/judge.hpp"
#include "domain/bytes.hpp"

namespace commands::drill {

// What is said of a chain and of the account that sent to it.
struct ChainFigures {
    std::uint64_t chain_id = 0;
    domain::Address signer{};
    std::uint64_t requests_max = 0;  // as it was agreed to
    std::uint64_t first_block = 0;   // of those that were looked at
    std::uint64_t last_block = 0;
    std::uint64_t nonce_before = 0;
    std::uint64_t nonce_after = 0;
    std::uint64_t transactions = 0;  // of the account, in these blocks
    std::uint64_t reverted = 0;      // of them
    std::uint64_t fillers = 0;       // of them: they only use a nonce up
    std::uint64_t waiting = 0;       // promises that wait for the chain, and rightly so
    std::uint64_t gas_used = 0;
    chains::jsonrpc::Wei fees = 0;
};

struct ChainEvidence {
    std::uint64_t seed = 0;  // of the bodies
    Notes notes;
    std::vector<FinalAnswer> answers;  // one for each promise, in the same order
    std::vector<Wish> asked;           // all, also those without an answer
    std::vector<AccountTransaction> transactions;
};

// The data of the transaction of a wish. Not for shares.
[[nodiscard]] domain::Bytes call_of(std::uint64_t seed, const Wish& wish);

// Compares what was promised with the transactions between both nonces of the figures, and counts
// these in them.
[[nodiscard]] Counts judge_on_chain(const ChainEvidence& evidence, ChainFigures& figures);

}  // namespace commands::drill

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chains/loopback/ledger_reader.hpp"
#include "commands/drill/notebook.hpp"

namespace commands::drill {

// What a promise came to, as whoever holds it is told at the end.
enum class FinalAnswer {
    completed,  // of a share: it is known, and nothing of it is in work
    failed,
    waiting,  // still 202, as the chain has not answered or has not got the ciphertext
    none,     // still 202, or nobody answers
    unknown,  // nobody has heard of it
};

struct Evidence {
    std::uint64_t seed = 0;            // of the bodies
    Notes notes;                       // what was promised
    std::vector<FinalAnswer> answers;  // one for each promise, in the same order
    std::vector<chains::loopback::LedgerEntry> ledger;
};

struct Counts {
    std::uint64_t accepted = 0;
    std::uint64_t completed = 0;
    std::uint64_t failed = 0;
    std::uint64_t lost = 0;  // promised and never ended, or a share that was never revealed
    std::uint64_t included_twice = 0;
    std::uint64_t shares = 0;  // on the ledger, of those that were promised
    std::uint64_t early_shares = 0;
    std::uint64_t asked_again = 0;
    std::uint64_t later = 0;
    std::uint64_t unanswered = 0;
    std::vector<std::string> violations;  // what is none of the above, and must not be either

    Counts& operator+=(const Counts& other);
};

// Compares what was promised with what came of it.
[[nodiscard]] Counts judge(const Evidence& evidence);

// Nothing was lost, doubled, early or otherwise wrong, and there was something to lose.
[[nodiscard]] bool is_good(const Counts& counts);

}  // namespace commands::drill

#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>

#include "domain/bytes.hpp"
#include "store/store.hpp"

// A database remembers whose it is: what waits in it was signed for one chain, and what ended in it
// is true of that chain alone. One thread, before the processor has the store.
namespace engine {

// A chain as it is configured.
struct ChainIdentity {
    store::Chain chain = store::Chain::gateway;
    // One line: type, number, contracts. Same text, same chain.
    std::string is;
    // Accounts, in small letters; empty: nobody signs, or not known yet.
    std::set<std::string> signers{};
    bool is_trial = false;  // lives in this process, its results are invented
    // A trial chain left its traces beside the database.
    bool has_trial_beside = false;
    // Whether these bytes are a transaction of this chain, `by_signer`: signed by one of those.
    std::function<bool(domain::ByteView sealed, bool by_signer)> is_own{};
};

// The database is another chain's. what() says whose, and the way out.
class ForeignDatabase : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Marks a database without a mark, if all that was ever signed in it is this chain's. Signers may
// be added, and be left out once all of their nonces are settled. Throws ForeignDatabase.
void claim(store::Store& store, const ChainIdentity& identity);

struct Adopted {
    bool was_other = false;
    std::uint64_t forgotten = 0;  // requests of the other chain that had ended
};

// Makes the database this chain's, if nothing of another is unfinished: what ended there is
// forgotten. One of a trial chain that holds requests never becomes another's. Throws
// ForeignDatabase.
[[nodiscard]] Adopted adopt(store::Store& store, const ChainIdentity& identity);

}  // namespace engine

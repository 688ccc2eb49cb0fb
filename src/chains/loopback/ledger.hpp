#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chains/loopback/options.hpp"
#include "chains/loopback/transaction.hpp"
#include "domain/bytes.hpp"
#include "domain/time.hpp"

namespace chains::loopback {

// How the chain took a transaction.
enum class Effect {
    included,  // it did what it asked for
    reverted,
    already,  // a share whose nullifier was spent before
};

// One transaction on its way into the ledger.
struct Inclusion {
    const Transaction& transaction;
    domain::ByteView subject;  // of the transaction
    domain::ByteView bytes;
    const domain::Bytes32& hash;
    std::optional<domain::Bytes32> reference;
    domain::Timestamp included;
    Effect effect = Effect::included;
};

// Which pieces an answer delivers: bit i-1 stands for KMS node i; other answers have piece 1 only.
using Pieces = std::uint64_t;

struct PlannedAnswer {
    std::int64_t block = 0;
    domain::Timestamp ready;
    Pieces pieces = 1;
    bool foreign = false;  // to the reference nobody here knows
};

// An answer without a place in the order of delivery yet.
struct WaitingAnswer {
    std::int64_t id = 0;
    domain::Timestamp ready;
};

// An answer at its place in the order of delivery.
struct PlacedAnswer {
    std::uint64_t position = 0;
    Pieces pieces = 1;
    bool foreign = false;
    domain::Bytes32 hash{};
    domain::Bytes bytes;  // the transaction it answers
};

// What the embedded chain remembers: every inclusion, and every answer with its place in the order
// of delivery. Its own SQLite file, so it outlives the processor, and nothing is ever deleted
// from it. Any thread; one connection behind a mutex. Throws SQLite::Exception on accidents, and
// std::runtime_error when the file is no ledger of this version.
class Ledger {
public:
    Ledger(const std::string& path, LedgerSynchronous synchronous, domain::Timestamp now);

    // How often this ledger was opened, this time included.
    [[nodiscard]] std::uint64_t run() const { return run_; }

    // Above every nonce that ever reached the ledger when it was opened.
    [[nodiscard]] std::uint64_t first_nonce() const { return first_nonce_; }

    // What the connection really uses.
    [[nodiscard]] LedgerSynchronous synchronous();

    // One write transaction; holds the ledger until it goes away. Without commit() nothing
    // happened.
    class Batch {
    public:
        explicit Batch(Ledger& ledger);

        // How the transaction with this hash was taken; nothing when it never came.
        [[nodiscard]] std::optional<Effect> find(domain::ByteView subject,
                                                 const domain::Bytes32& hash);

        // Whether some transaction with this subject took effect.
        [[nodiscard]] bool holds(domain::ByteView subject);

        // Returns the block. The hash must be new.
        std::int64_t include(const Inclusion& inclusion);

        // Returns the id of an answer that waits for place().
        std::int64_t plan(const PlannedAnswer& answer);

        // Gives an answer the next place in the order of delivery.
        void plan_next(const PlannedAnswer& answer);

        void commit();

    private:
        void insert_answer(const PlannedAnswer& answer, std::optional<std::uint64_t> position);

        Ledger& ledger_;
        std::lock_guard<std::mutex> lock_;
        SQLite::Transaction transaction_;
        std::uint64_t nonce_max_ = 0;
    };

    // The answers that wait, by ready time.
    [[nodiscard]] std::vector<WaitingAnswer> waiting();

    // Gives these answers the next places in the order of delivery, in one transaction.
    void place(std::span<const std::int64_t> answers);

    // No further answer gets a place up to and including this one.
    void skip_to(std::uint64_t position);

    // The answers behind a place, in order, at most `limit`.
    [[nodiscard]] std::vector<PlacedAnswer> behind(std::uint64_t position, std::size_t limit);

    // How many transactions took effect.
    [[nodiscard]] std::uint64_t inclusions();

    // How many of them were one too many: their subject had been included before.
    [[nodiscard]] std::uint64_t double_inclusions();

private:
    [[nodiscard]] std::uint64_t count(SQLite::Statement& statement);

    SQLite::Database database_;
    std::uint64_t run_ = 0;
    std::uint64_t first_nonce_ = 1;
    std::mutex mutex_;
    std::uint64_t position_ = 0;  // the last one given out

    SQLite::Statement find_;
    SQLite::Statement holds_;
    SQLite::Statement include_;
    SQLite::Statement plan_;
    SQLite::Statement note_nonce_;
    SQLite::Statement waiting_;
    SQLite::Statement place_;
    SQLite::Statement behind_;
    SQLite::Statement inclusions_;
    SQLite::Statement double_inclusions_;
};

}  // namespace chains::loopback

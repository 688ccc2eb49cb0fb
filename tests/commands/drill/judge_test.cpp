#include "commands/drill/judge.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/drill/bodies.hpp"

using namespace commands::drill;
using chains::loopback::Effect;
using chains::loopback::LedgerEntry;
using domain::Kind;

namespace {

constexpr std::uint64_t seed = 3;
constexpr std::uint64_t due_second = 1'800'000'000;
constexpr std::size_t the_share = 2;  // of the promises, and of the ledger

domain::Timestamp at(std::uint64_t second, std::int64_t ms = 0) {
    return domain::Timestamp{std::chrono::seconds{static_cast<std::int64_t>(second)}} +
           domain::Milliseconds{ms};
}

LedgerEntry entry_of(const Promise& promise, domain::Timestamp included) {
    LedgerEntry entry{.request_sequence = promise.job.sequence,
                      .kind = promise.wish.kind,
                      .subject = {static_cast<std::uint8_t>(promise.job.sequence)},
                      .included = included};
    if (promise.wish.kind == Kind::share) {
        const domain::Bytes32 nullifier = nullifier_of(seed, promise.wish);
        entry.subject.assign(nullifier.begin(), nullifier.end());
        entry.request_sequence = 99;
    }
    return entry;
}

// Two jobs and a share, all as they should be.
Evidence all_well() {
    Evidence evidence;
    evidence.seed = seed;
    evidence.notes.promises = {{{Kind::public_decrypt, 1, 0}, {11, 5}},
                               {{Kind::input_proof, 2, 0}, {12, 5}},
                               {{Kind::share, 3, due_second}, {}}};
    evidence.notes.repeats = {{0, {11, 5}}};
    evidence.notes.later = 4;
    evidence.notes.unanswered = 6;
    evidence.answers.assign(3, FinalAnswer::completed);
    for (const Promise& promise : evidence.notes.promises) {
        evidence.ledger.push_back(entry_of(promise, at(due_second)));
    }
    return evidence;
}

}  // namespace

TEST_CASE("what was kept is counted and is good") {
    const Counts counts = judge(all_well());
    CHECK(counts.accepted == 3);
    CHECK(counts.completed == 3);
    CHECK(counts.failed == 0);
    CHECK(counts.lost == 0);
    CHECK(counts.included_twice == 0);
    CHECK(counts.shares == 1);
    CHECK(counts.early_shares == 0);
    CHECK(counts.asked_again == 1);
    CHECK(counts.later == 4);
    CHECK(counts.unanswered == 6);
    CHECK(counts.violations.empty());
    CHECK(is_good(counts));
}

TEST_CASE("every tampering with notebook, answers or ledger is seen") {
    struct Row {
        std::string_view label;
        std::function<void(Evidence&)> tamper;
        std::uint64_t lost = 0;
        std::uint64_t twice = 0;
        std::uint64_t early = 0;
        std::string_view violation = {};  // none
    };
    const std::vector<Row> rows{
        {"a job that nobody has heard of", [](Evidence& e) { e.answers[0] = FinalAnswer::unknown; },
         1},
        {"a job that does not end", [](Evidence& e) { e.answers[1] = FinalAnswer::none; }, 1},
        {"a job that waits for the chain at the end",
         [](Evidence& e) { e.answers[1] = FinalAnswer::waiting; }, 1},
        {"a share that nobody has heard of",
         [](Evidence& e) { e.answers[the_share] = FinalAnswer::unknown; }, 1},
        {"a share that was never revealed", [](Evidence& e) { e.ledger.pop_back(); }, 1},
        {"a share that is known to have failed and was never revealed",
         [](Evidence& e) {
             e.ledger.pop_back();
             e.answers[the_share] = FinalAnswer::failed;
         },
         1},
        {"two of a promise",
         [](Evidence& e) {
             for (std::size_t i = 0; i < 2; ++i) {
                 e.notes.promises.push_back({{Kind::public_decrypt, 7 + i, 0}, {20, 1}});
                 e.answers.push_back(FinalAnswer::unknown);
             }
         },
         2},
        {"a job included twice", [](Evidence& e) { e.ledger.push_back(e.ledger[0]); }, 0, 1},
        {"a share revealed three times",
         [](Evidence& e) {
             e.ledger.push_back(e.ledger[the_share]);
             e.ledger.push_back(e.ledger[the_share]);
         },
         0, 2},
        {"something included twice that was not promised",
         [](Evidence& e) {
             const Promise other{{Kind::user_decrypt, 9, 0}, {77, 0}};
             e.ledger.insert(e.ledger.end(), 2, entry_of(other, at(due_second)));
         },
         0, 1},
        {"a share a millisecond early",
         [](Evidence& e) { e.ledger[the_share].included = at(due_second, -1); }, 0, 0, 1},
        {"a share early that came again in time",
         [](Evidence& e) {
             LedgerEntry early = e.ledger[the_share];
             early.included = at(due_second - 1);
             e.ledger[the_share].effect = Effect::already;
             e.ledger.push_back(early);
         },
         0, 0, 1},
        {"completed without a transaction", [](Evidence& e) { e.ledger.erase(e.ledger.begin()); },
         0, 0, 0, "the chain has no transaction of it"},
        {"completed, and its only transaction was reverted",
         [](Evidence& e) { e.ledger[0].effect = Effect::reverted; }, 0, 0, 0,
         "the chain has no transaction of it"},
        {"completed, asked again, another job",
         [](Evidence& e) {
             e.notes.repeats.push_back({1, {40, 0}});
         },
         0, 0, 0, "was asked for again and became"},
        {"seen on the way", [](Evidence& e) { e.notes.violations.emplace_back("ended by itself"); },
         0, 0, 0, "ended by itself"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        Evidence evidence = all_well();
        row.tamper(evidence);
        const Counts counts = judge(evidence);
        CHECK(counts.lost == row.lost);
        CHECK(counts.included_twice == row.twice);
        CHECK(counts.early_shares == row.early);
        CHECK(counts.violations.size() == (row.violation.empty() ? 0 : 1));
        if (!row.violation.empty() && !counts.violations.empty()) {
            CHECK(counts.violations[0].find(row.violation) != std::string::npos);
        }
        CHECK_FALSE(is_good(counts));
    }
}

TEST_CASE("what is allowed is not called wrong") {
    struct Row {
        std::string_view label;
        std::function<void(Evidence&)> change;
    };
    const std::vector<Row> rows{
        {"a reverted transaction before one that took effect",
         [](Evidence& e) {
             LedgerEntry reverted = e.ledger[0];
             reverted.effect = Effect::reverted;
             e.ledger.insert(e.ledger.begin(), reverted);
         }},
        {"a share that comes again and is spent",
         [](Evidence& e) {
             LedgerEntry already = e.ledger[the_share];
             already.effect = Effect::already;
             e.ledger.push_back(already);
         }},
        {"what failed and is asked for again is another job",
         [](Evidence& e) {
             e.answers[1] = FinalAnswer::failed;
             e.notes.repeats.push_back({1, {40, 0}});
         }},
        {"included, and never promised: the answer was cut off",
         [](Evidence& e) {
             const Promise other{{Kind::user_decrypt, 9, 0}, {77, 0}};
             e.ledger.push_back(entry_of(other, at(due_second)));
         }},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        Evidence evidence = all_well();
        row.change(evidence);
        const Counts counts = judge(evidence);
        CHECK(counts.violations.empty());
        CHECK(is_good(counts));
    }
}

TEST_CASE("nothing accepted is not good, and counts of two judgements add up") {
    CHECK_FALSE(is_good(judge({})));
    Counts counts = judge(all_well());
    Evidence other = all_well();
    other.answers[0] = FinalAnswer::unknown;
    other.notes.violations.emplace_back("odd");
    counts += judge(other);
    CHECK(counts.accepted == 6);
    CHECK(counts.completed == 5);
    CHECK(counts.lost == 1);
    CHECK(counts.shares == 2);
    CHECK(counts.asked_again == 2);
    CHECK(counts.later == 8);
    CHECK(counts.unanswered == 12);
    CHECK(counts.violations == std::vector<std::string>{"odd"});
}

#include "commands/drill/chain_judge.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

using namespace commands::drill;
using domain::Kind;

namespace {

constexpr std::uint64_t bodies_seed = 3;
constexpr domain::Address judged_signer{0xaa};
constexpr domain::Address a_contract{0xcc};

AccountTransaction transaction_of(const Wish& wish, std::uint64_t nonce) {
    AccountTransaction transaction;
    transaction.hash[31] = static_cast<std::uint8_t>(nonce);
    transaction.nonce = nonce;
    transaction.to = a_contract;
    transaction.data = call_of(bodies_seed, wish);
    transaction.succeeded = true;
    transaction.gas_used = 1'000;
    transaction.gas_price = 2;
    return transaction;
}

struct Case {
    ChainEvidence evidence;
    ChainFigures figures;
};

// Two proofs and a decryption that were promised, and a proof whose promise was lost on its way.
Case all_done() {
    Case made;
    made.evidence.seed = bodies_seed;
    made.evidence.asked = {{.kind = Kind::input_proof, .number = 1},
                           {.kind = Kind::public_decrypt, .number = 2},
                           {.kind = Kind::input_proof, .number = 3},
                           {.kind = Kind::input_proof, .number = 4}};
    for (std::int64_t i = 0; i < 3; ++i) {
        made.evidence.notes.promises.push_back(
            {made.evidence.asked[static_cast<std::size_t>(i)], {11 + i, 5}});
    }
    made.evidence.notes.unanswered = 1;
    made.evidence.answers.assign(3, FinalAnswer::completed);
    for (std::uint64_t i = 0; i < 4; ++i) {
        made.evidence.transactions.push_back(transaction_of(made.evidence.asked[i], 7 + i));
    }
    made.figures.signer = judged_signer;
    made.figures.nonce_before = 7;
    made.figures.nonce_after = 11;
    return made;
}

}  // namespace

TEST_CASE("promises are compared with the transactions of the signer") {
    struct Row {
        std::string_view label;
        std::function<void(Case&)> change;
        bool good;
        std::uint64_t completed, failed, waiting, lost, twice;
        std::vector<std::string_view> violations;
    };
    using Answer = FinalAnswer;
    const auto without = [](std::size_t index) {
        // Its place is taken by a filler, so that the nonces have no hole.
        return [index](Case& c) {
            c.evidence.transactions[index].to = judged_signer;
            c.evidence.transactions[index].data.clear();
        };
    };
    const std::vector<Row> rows{
        {"all well", [](Case&) {}, true, 3, 0, 0, 0, 0, {}},
        {"refused by the chain, with a transaction",
         [](Case& c) {
             c.evidence.answers[0] = Answer::failed;
             c.evidence.transactions[0].succeeded = false;
         },
         true,
         2,
         1,
         0,
         0,
         0,
         {}},
        {"refused before it was sent",
         [&](Case& c) {
             c.evidence.answers[1] = Answer::failed;
             without(1)(c);
         },
         true,
         2,
         1,
         0,
         0,
         0,
         {}},
        {"included, and nobody answers",
         [](Case& c) { c.evidence.answers[0] = Answer::waiting; },
         true,
         2,
         0,
         1,
         0,
         0,
         {}},
        {"included just now",
         [](Case& c) { c.evidence.answers[0] = Answer::none; },
         true,
         2,
         0,
         1,
         0,
         0,
         {}},
        {"a ciphertext that is not there",
         [&](Case& c) {
             c.evidence.answers[1] = Answer::waiting;
             without(1)(c);
         },
         true,
         2,
         0,
         1,
         0,
         0,
         {}},
        {"a proof that says it waits, without a transaction",
         [&](Case& c) {
             c.evidence.answers[0] = Answer::waiting;
             without(0)(c);
         },
         false,
         2,
         0,
         0,
         1,
         0,
         {}},
        {"never sent",
         [&](Case& c) {
             c.evidence.answers[1] = Answer::none;
             without(1)(c);
         },
         false,
         2,
         0,
         0,
         1,
         0,
         {}},
        {"nobody has heard of it",
         [](Case& c) { c.evidence.answers[2] = Answer::unknown; },
         false,
         2,
         0,
         0,
         1,
         0,
         {}},
        {"completed without a transaction",
         without(0),
         false,
         3,
         0,
         0,
         0,
         0,
         {"is completed, and the signer has no transaction of it"}},
        {"twice",
         [](Case& c) {
             c.evidence.transactions.push_back(transaction_of(c.evidence.asked[0], 11));
             ++c.figures.nonce_after;
         },
         false,
         3,
         0,
         0,
         0,
         1,
         {}},
        {"twice, the second reverted",
         [](Case& c) {
             c.evidence.transactions.push_back(transaction_of(c.evidence.asked[0], 11));
             c.evidence.transactions.back().succeeded = false;
             ++c.figures.nonce_after;
         },
         false,
         3,
         0,
         0,
         0,
         1,
         {}},
        {"three times, of one whose promise was lost",
         [](Case& c) {
             c.evidence.transactions.push_back(transaction_of(c.evidence.asked[3], 11));
             c.evidence.transactions.push_back(transaction_of(c.evidence.asked[3], 12));
             c.figures.nonce_after += 2;
         },
         false,
         3,
         0,
         0,
         0,
         2,
         {}},
        {"a hole",
         [](Case& c) { c.evidence.transactions.erase(c.evidence.transactions.begin() + 3); },
         false,
         3,
         0,
         0,
         0,
         0,
         {"no transaction with the nonce 10 is in the blocks"}},
        {"a filler for it",
         [](Case& c) {
             AccountTransaction filler = transaction_of(c.evidence.asked[0], 11);
             filler.to = judged_signer;
             filler.data.clear();
             c.evidence.transactions.push_back(filler);
             ++c.figures.nonce_after;
         },
         true,
         3,
         0,
         0,
         0,
         0,
         {}},
        {"somebody else with the key",
         [](Case& c) {
             c.evidence.transactions.push_back(transaction_of({Kind::input_proof, 99}, 11));
             ++c.figures.nonce_after;
         },
         false,
         3,
         0,
         0,
         0,
         0,
         {"somebody else uses the key"}},
        {"a payment to somebody",
         [](Case& c) {
             c.evidence.transactions.push_back(transaction_of(c.evidence.asked[0], 11));
             c.evidence.transactions.back().data.clear();
             ++c.figures.nonce_after;
         },
         false,
         3,
         0,
         0,
         0,
         0,
         {"somebody else uses the key"}},
        {"seen by the clients",
         [](Case& c) { c.evidence.notes.violations = {"odd"}; },
         false,
         3,
         0,
         0,
         0,
         0,
         {"odd"}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        Case made = all_done();
        row.change(made);
        const Counts counts = judge_on_chain(made.evidence, made.figures);
        CHECK(is_good(counts) == row.good);
        CHECK(counts.accepted == 3);
        CHECK(counts.unanswered == 1);
        CHECK(counts.completed == row.completed);
        CHECK(counts.failed == row.failed);
        CHECK(made.figures.waiting == row.waiting);
        CHECK(counts.lost == row.lost);
        CHECK(counts.included_twice == row.twice);
        REQUIRE(counts.violations.size() == row.violations.size());
        for (std::size_t i = 0; i < row.violations.size(); ++i) {
            CAPTURE(counts.violations[i]);
            CHECK(counts.violations[i].find(row.violations[i]) != std::string::npos);
        }
    }
}

TEST_CASE("transactions and what they cost are added up") {
    Case made = all_done();
    made.evidence.transactions[1].succeeded = false;
    made.evidence.transactions[2].to = judged_signer;
    made.evidence.transactions[2].data.clear();
    made.evidence.transactions[2].gas_price = chains::jsonrpc::Wei{1} << 70U;
    static_cast<void>(judge_on_chain(made.evidence, made.figures));
    CHECK(made.figures.transactions == 4);
    CHECK(made.figures.reverted == 1);
    CHECK(made.figures.fillers == 1);
    CHECK(made.figures.gas_used == 4'000);
    CHECK(made.figures.fees == 6'000 + (chains::jsonrpc::Wei{1'000} << 70U));
}

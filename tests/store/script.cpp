#include "store/script.hpp"

#include <doctest/doctest.h>

#include <utility>

#include "store/harness.hpp"

using domain::Cause;
using domain::Kind;
using domain::Status;
using store::Lane;
using store::Store;

namespace script {

namespace {

const store::Row early_share = rows::row(Kind::share, 1, rows::in_lane(Lane::schedule), 1);
const store::Row late_share = rows::row(Kind::share, 2, rows::in_lane(Lane::schedule), 1);
const store::Row decrypt = rows::row(Kind::public_decrypt, 10);
const store::Row proof = rows::row(Kind::input_proof, 11);
const store::Row refused = rows::row(Kind::user_decrypt, 12);

void insert(Store& store, const store::Row& row, std::size_t size) {
    const auto number = static_cast<std::uint64_t>(row.id.sequence);
    const domain::Bytes payload(size, static_cast<std::uint8_t>(number));
    store.insert({row, rows::identity(number), domain::ByteView{payload}});
    if (row.round) store.add_to_round(*row.round, 1);
}

void expect(bool done) {
    REQUIRE(done);
}

void move(Store& store, const store::Row& row, Status from, Status to, Cause cause) {
    expect(take(store, row, {from, to, cause, true, true, true}, rows::in_lane(Lane::timer),
                rows::at(5)));
}

void seal(Store& store, const store::Row& row) {
    store.add_attempt(row.id.sequence, rows::attempt(static_cast<std::uint64_t>(row.id.sequence)),
                      rows::at(4));
    move(store, row, Status::processing, Status::tx_in_flight, Cause::sealed);
}

// Wraps what belongs into one commit.
Step commit(std::string label, std::function<void(Store&)> work) {
    return {std::move(label), [work = std::move(work)](Store& store) {
                Store::Transaction transaction(store);
                work(store);
                transaction.commit();
            }};
}

std::vector<Step> written() {
    const domain::Bytes32 reference = rows::bytes32(10);
    const domain::Block block{7, rows::bytes32(7)};
    return {
        commit("a round and its shares",
               [](Store& store) {
                   expect(store.round(rows::bytes32(1), rows::at(1'000)) == 1);
                   insert(store, early_share, 1'300);
                   insert(store, late_share, 1'300);
               }),
        commit("three requests",
               [](Store& store) {
                   insert(store, decrypt, 500);
                   insert(store, proof, 9'000);
                   insert(store, refused, 3'000);
               }),
        commit("claims",
               [](Store& store) {
                   move(store, early_share, Status::queued, Status::processing, Cause::claimed);
                   move(store, decrypt, Status::queued, Status::processing, Cause::claimed);
               }),
        commit("sealed",
               [](Store& store) {
                   for (const store::Row& row : {early_share, decrypt, proof}) seal(store, row);
               }),
        commit("an early answer",
               [=](Store& store) {
                   expect(store.hold_answer(reference, {0, domain::Bytes(700, 7)}, rows::at(6)));
                   expect(store.hold_answer(rows::bytes32(99), {0, {1}}, rows::at(1)));
                   store.set_cursor("chain", 7);
               }),
        commit("receipts",
               [](Store& store) {
                   for (const store::Row& row : {early_share, decrypt}) {
                       move(store, row, Status::tx_in_flight, Status::receipt_received,
                            Cause::receipt);
                   }
               }),
        commit("where it was included",
               [=](Store& store) {
                   store.include({10, rows::bytes32(10), block, reference, false});
                   expect(store.hold_answer(rows::bytes32(98), {0, {1}, block}, rows::at(6)));
               }),
        commit("its block replaced",
               [=](Store& store) {
                   expect(store.drop_answers({block}, 100));
                   store.exclude(10);
                   expect(store.send_back(decrypt, rows::in_lane(Lane::timer), rows::at(7)));
               }),
        {"a checkpoint", [](Store& store) { store.checkpoint(); }},
        commit("included once more",
               [=](Store& store) {
                   store.include({10, rows::bytes32(10), block, reference, false});
                   move(store, decrypt, Status::tx_in_flight, Status::receipt_received,
                        Cause::receipt);
               }),
        commit("answers",
               [=](Store& store) {
                   expect(store.complete(decrypt, store.held_answers(reference).at(0).body,
                                         rows::at(8)));
                   store.drop_answers(reference);
                   store.set_cursor("chain", 8);
                   expect(store.complete(early_share, rows::bytes32(3), rows::at(8)));
               }),
        commit("a retry",
               [](Store& store) {
                   expect(store.reschedule(late_share, Status::queued,
                                           {Lane::schedule, rows::at(500), {}, 0, 1, 2}));
               }),
        commit("failures",
               [](Store& store) {
                   move(store, refused, Status::queued, Status::failure, Cause::refused);
                   move(store, late_share, Status::queued, Status::timed_out, Cause::expired);
               }),
        commit("a block that stays", [=](Store& store) { expect(store.bury(block, 100)); }),
        {"the log cut to nothing", [](Store& store) { store.truncate_wal(); }},
        commit("a crowd",
               [](Store& store) {
                   for (std::int64_t number = 20; number < 26; ++number) {
                       insert(store, rows::row(Kind::user_decrypt, number), 1'500);
                   }
               }),
        commit("a purge",
               [](Store& store) {
                   expect(store.purge(Lane::ended_public_decrypt, rows::at(100), 10) == 1);
                   expect(store.purge(Lane::ended_user_decrypt, rows::at(100), 10) == 1);
                   expect(store.purge(Lane::ended_share, rows::at(100), 10) == 0);
               }),
        commit("the round closed",
               [](Store& store) {
                   expect(store.trim_answers(rows::at(2), 10).answers == 1);
                   store.close_round(1);
               }),
        {"a probe", [](Store& store) { store.probe(); }},
    };
}

std::vector<std::string> recorded() {
    Harness harness;
    std::vector<std::string> contents{harness.contents()};
    for (const Step& step : steps()) {
        step.run(*harness.store);
        contents.push_back(harness.contents());
    }
    return contents;
}

}  // namespace

const std::vector<Step>& steps() {
    static const std::vector<Step> steps = written();
    return steps;
}

const std::vector<std::string>& contents_after() {
    static const std::vector<std::string> contents = recorded();
    return contents;
}

Run::Run(store::Options with) : options_(std::move(with)) {
    options_.directory = directory_.path();
    options_.vfs = vfs.name();
    options_.reserve_bytes = 0;
}

std::optional<store::StorageError> Run::go_on(std::size_t until) {
    try {
        if (!store_) open();
        for (; done < until; ++done) steps()[done].run(*store_);
        return std::nullopt;
    } catch (const store::StorageError& error) {
        return error;
    }
}

std::string Run::contents() const {
    return ::contents(options_);
}

std::string Run::integrity() const {
    return ::integrity(options_);
}

std::string Run::next_step() const {
    return done < steps().size() ? steps()[done].label : "the end";
}

void check_end(Run& run) {
    CHECK_FALSE(run.go_on());
    CHECK(run.contents() == contents_after().back());
    run.close();
    run.open();
    CHECK(run.contents() == contents_after().back());
    CHECK(run.integrity() == "ok");
}

}  // namespace script

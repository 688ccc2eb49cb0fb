// Whatever an engine may do to its store arrives in a follower's file.

#include <doctest/doctest.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "store/book.hpp"
#include "support/chance.hpp"

using domain::Kind;
using domain::Status;
using store::Lane;

namespace {

// Longer on demand: POSTHOUSE_BOOK_SEEDS=200.
std::uint64_t seeds() {
    const char* seeds = std::getenv("POSTHOUSE_BOOK_SEEDS");  // NOLINT(concurrency-mt-unsafe)
    return seeds != nullptr ? static_cast<std::uint64_t>(std::atoi(seeds)) : 8;
}

// Does to a store what comes to its mind, by the rules.
class Whims {
public:
    Whims(Book& book, std::uint64_t seed) : book_(book), chance_(seed) {}

    // What a step of the engine would: a few of these, in one transaction.
    void work() {
        for (std::uint64_t i = 0; i <= chance_.up_to(6); ++i) act();
    }

    // The transaction was rolled back, and with it what is known of the requests.
    using Known = std::map<std::int64_t, store::Row>;
    [[nodiscard]] const Known& known() const { return known_; }
    void forget_to(const Known& known) { known_ = known; }

    support::Chance& chance() { return chance_; }

private:
    store::Store& store() { return *book_.store; }
    domain::Bytes32 some_hash() { return rows::bytes32(chance_.up_to(20)); }
    domain::Block some_block() { return {chance_.up_to(5), rows::bytes32(chance_.up_to(3))}; }
    std::string some_account() { return chance_.coin() ? "0xA" : "0xB"; }
    std::string some_name() { return "name" + std::to_string(chance_.up_to(5)); }
    domain::Timestamp some_time() {
        return rows::at(static_cast<std::int64_t>(chance_.up_to(5'000)));
    }

    store::Row* some_request() {
        if (known_.empty()) return nullptr;
        auto place = known_.begin();
        std::advance(place, static_cast<std::ptrdiff_t>(chance_.up_to(known_.size() - 1)));
        return &place->second;
    }

    void act() {
        const std::vector<std::pair<unsigned, std::function<void()>>> acts{
            {6, [this] { insert(); }},       {12, [this] { move(); }},
            {2, [this] { sign(); }},         {2, [this] { answer(); }},
            {2, [this] { include(); }},      {2, [this] { tell_history(); }},
            {2, [this] { move_numbers(); }}, {1, [this] { hold(); }},
            {1, [this] { own(); }},          {1, [this] { set(); }},
            {1, [this] { close_round(); }},  {1, [this] { purge(); }},
            {1, [this] { forget(); }},
        };
        std::uint64_t total = 0;
        for (const auto& [weight, act] : acts) total += weight;
        std::uint64_t which = chance_.up_to(total - 1);
        for (const auto& [weight, act] : acts) {
            if (which < weight) return act();
            which -= weight;
        }
    }

    void insert() {
        const Kind kind = domain::kinds[chance_.up_to(domain::kinds.size() - 1)];
        std::optional<std::int64_t> round;
        if (kind == Kind::share) {
            round = store().round(rows::bytes32(chance_.up_to(2)), rows::at(1'000));
            store().add_to_round(*round, 1);
        }
        const store::Row row = rows::row(kind, next_, rows::first_of(kind), round);
        store().insert({row, rows::identity(chance_.up_to(50)), chance_.bytes(2'000)});
        if (chance_.coin()) store().remember_key(some_hash(), next_);
        known_.emplace(next_++, row);
    }

    void move() {
        store::Row* row = some_request();
        if (row == nullptr) return;
        std::vector<domain::Move> legal;
        for (const domain::Move& move : domain::moves) {
            if (move.from == row->status && domain::covers(move, row->kind)) legal.push_back(move);
        }
        if (legal.empty()) return;
        const domain::Move move = legal[chance_.up_to(legal.size() - 1)];
        REQUIRE(take(store(), *row, move, rows::in_lane(Lane::timer, some_time()), some_time()));
        row->status = move.to;
    }

    void sign() {
        store::Row* row = some_request();
        if (row == nullptr || domain::is_terminal(row->status)) return;
        store::Attempt attempt = rows::attempt(chance_.up_to(30));
        if (chance_.coin()) attempt.account = some_account();
        store().add_attempt(row->id.sequence, attempt, some_time());
    }

    void answer() {
        const store::HeldAnswer answer{static_cast<std::uint32_t>(chance_.up_to(2)),
                                       chance_.bytes(300),
                                       chance_.coin() ? std::optional{some_block()} : std::nullopt};
        static_cast<void>(store().hold_answer(some_hash(), answer, some_time()));
        if (chance_.up_to(3) == 0) store().drop_answers(some_hash());
        if (chance_.up_to(5) == 0)
            static_cast<void>(store().drop_answers(std::vector{some_block()}, 2));
        if (chance_.up_to(5) == 0) static_cast<void>(store().trim_answers(some_time(), 3));
    }

    void include() {
        store::Row* row = some_request();
        if (row == nullptr) return;
        switch (chance_.up_to(3)) {
            case 0:
                store().include({row->id.sequence, some_hash(), some_block(), some_hash(), false},
                                {chance_.up_to(9), chance_.up_to(9)});
                return;
            case 1:
                return store().exclude(row->id.sequence);
            case 2:
                return store().settle_inclusion(row->id.sequence);
            default:
                return static_cast<void>(store().bury(some_block(), 2));
        }
    }

    void tell_history() {
        store::Row* row = some_request();
        if (row == nullptr || row->kind == Kind::share) return;
        const store::HistoryEntry entry{"retried", some_time(), "operator", chance_.text(9)};
        chance_.coin() ? store().add_history(row->id.sequence, entry)
                       : store().note_trouble(row->id.sequence, entry);
        static_cast<void>(store().put_off(row->kind, domain::Milliseconds(chance_.up_to(3)), 0, 2));
    }

    void move_numbers() {
        store().set_cursor(some_name(), chance_.up_to(9));
        store().set_mark(some_name(), chance_.up_to(9));
        if (chance_.coin()) store().drop_mark(some_name());
    }

    void hold() {
        store::Row* row = some_request();
        if (row == nullptr) return;
        store().hold(row->id.sequence, some_time());
        if (chance_.coin()) store().release_hold(row->id.sequence);
    }

    void own() {
        const std::uint64_t nonce = chance_.up_to(5);
        store().add_own({some_account(), nonce, some_hash(), {}, chance_.bytes(200), {}},
                        some_time());
        if (chance_.coin()) {
            store().settle_own(some_account(), nonce, some_hash(), store::OwnFate::included,
                               some_time());
        }
        if (chance_.coin()) store().purge_own(some_time(), 2);
        if (chance_.up_to(9) == 0) store().forget_own(1'000);
    }

    void set() {
        store().set({some_name(), std::to_string(chance_.up_to(3))});
        store().keep_note(some_name(), chance_.text(5));
        if (chance_.coin()) store().unset(some_name());
        if (chance_.coin()) store().drop_note(some_name());
    }

    void close_round() {
        for (const store::RoundRow& round : store().rounds_over(rows::at(1'000), 1)) {
            store().close_round(round.id);
            if (round.submitted >= round.total) continue;
            store().add_alert(round, some_time());
            store().take_alert(round.id, chance_.up_to(1));
            store().mark_alert_logged(round.id, chance_.up_to(2));
        }
    }

    void purge() {
        for (const Lane lane : {Lane::ended_input_proof, Lane::ended_public_decrypt,
                                Lane::ended_user_decrypt, Lane::ended_share}) {
            store().purge(lane, some_time(), 3);
        }
        forget_gone();
    }

    void forget() {
        store::Row* row = some_request();
        if (row != nullptr && chance_.coin()) store().forget({row->id.sequence});
        if (chance_.up_to(9) == 0) store().forget_ended(store::Chain::votes, 2);
        if (chance_.up_to(9) == 0) store().forget_listening(1'000);
        forget_gone();
    }

    void forget_gone() {
        std::erase_if(known_, [this](const auto& entry) { return !store().load(entry.first); });
    }

    Book& book_;
    support::Chance chance_;
    Known known_;
    std::int64_t next_ = 1;
};

}  // namespace

TEST_CASE("a follower has what the owner has, whatever was done and whatever failed") {
    for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
        CAPTURE(seed);
        Book book;
        Whims whims(book, seed);
        support::Chance& chance = whims.chance();
        std::uint64_t undone = 0;
        for (int step = 0; step < 60; ++step) {
            CAPTURE(step);
            const Whims::Known known = whims.known();
            const std::uint64_t fault = chance.up_to(19);
            if (fault == 0) {
                book.journal.before = [] { throw store::NotDecided("no connection"); };
            } else if (fault == 1) {
                book.journal.after = [] { throw store::OwnershipLost("no answer"); };
            }
            try {
                const store::Store::Transaction given_up(*book.store);
                if (fault == 2) whims.work();
            } catch (const store::StorageError& error) {
                FAIL(error.what());
            }
            whims.forget_to(known);
            const std::size_t entries = book.journal.entries.size();
            std::uint64_t counted = 0;
            try {
                book.commit([&] {
                    whims.work();
                    counted = book.store->changed_bytes();
                });
                // Never less than what goes into the entry.
                if (book.journal.entries.size() > entries) {
                    CHECK(counted >= book.journal.changes.back().patchset.size());
                }
            } catch (const store::NotDecided&) {
                whims.forget_to(known);
                ++undone;
            } catch (const store::OwnershipLost&) {
                // The entry is in the journal: whoever goes on finds what was done.
                book.follow();
                book.follower.reset();
                book.close();
                std::swap(book.options, book.follower_options);
                ++book.journal.epoch;
                book.open_owner();
                book.open_follower();
                ++undone;
            }
            book.journal.before = book.journal.after = [] {};
            if (chance.up_to(9) == 0) book.store->checkpoint();
            if (chance.up_to(9) == 0) book.follower->truncate_wal();
            if (chance.up_to(9) == 0) book.open_follower();
            book.follow();
            book.check_equal();
        }
        MESSAGE("seed " << seed << ": " << book.journal.entries.size() << " entries, " << undone
                        << " undone");
        CHECK(book.journal.entries.size() > 20);
        CHECK(integrity(book.follower_options) == "ok");
    }
}

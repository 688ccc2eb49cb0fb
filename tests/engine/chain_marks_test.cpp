// A database remembers whose it is.

#include "engine/chain_marks.hpp"

#include <chrono>
#include <optional>
#include <string>

#include "support/contains.hpp"
#include "support/world.hpp"

using domain::Status;
using engine::ChainIdentity;
using engine::ForeignDatabase;
using store::Chain;
using namespace std::chrono_literals;

namespace {

// An engine that ran for a while and died; then its database is looked at.
struct Marked {
    Marked() {
        world.gateway.on_send = [](const engine::SendOrder& order) {
            return support::ScriptedGateway::receipt(order);
        };
    }

    // Ends well, in this life.
    void complete(std::uint64_t number) {
        const auto id = world.submit(support::input_proof(number));
        world.run_for(1s);
        world.gateway.answer(id, support::proof_accepted());
        world.run_for(1s);
        REQUIRE(world.status(id) == Status::completed);
    }

    // Waits for its answer.
    void begin(std::uint64_t number) {
        (void)world.submit(support::input_proof(number));
        world.run_for(1s);
    }

    store::Store& open() {
        world.crash();
        store.reset();
        return store.emplace(world.engine.store_options);
    }

    // Nothing: claimed. Else why not.
    std::optional<std::string> claim(const ChainIdentity& identity) {
        try {
            engine::claim(open(), identity);
            return std::nullopt;
        } catch (const ForeignDatabase& error) {
            return error.what();
        }
    }
    std::optional<std::string> adopt(const ChainIdentity& identity, std::uint64_t forgotten = 0) {
        try {
            const engine::Adopted adopted = engine::adopt(open(), identity);
            CHECK(adopted.forgotten == forgotten);
            return std::nullopt;
        } catch (const ForeignDatabase& error) {
            return error.what();
        }
    }
    void go_on() {
        store.reset();
        world.engine.start();
    }

    support::World world;
    std::optional<store::Store> store;
};

ChainIdentity chain(const std::string& is, bool made_everything = true) {
    ChainIdentity identity{Chain::gateway, is, {"0xaa"}};
    identity.is_own = [made_everything](domain::ByteView, bool) { return made_everything; };
    return identity;
}

ChainIdentity trial() {
    ChainIdentity identity{Chain::gateway, "loopback"};
    identity.is_trial = true;
    identity.is_own = [](domain::ByteView, bool) { return true; };
    return identity;
}

}  // namespace

TEST_CASE("an empty database is whoever's claims it, a marked one its own chain's") {
    Marked marked;
    CHECK_FALSE(marked.claim(trial()));
    CHECK_FALSE(marked.claim(chain("evm 1")));
    CHECK_FALSE(marked.claim(chain("evm 1")));
    marked.go_on();
    marked.begin(1);
    CHECK_FALSE(marked.claim(chain("evm 1")));
    const auto refused = marked.claim(chain("evm 2"));
    REQUIRE(refused);
    for (const char* part : {"posthouse.db", "evm 2", "it belongs to evm 1", "another --data-dir",
                             "let 1 request end", "posthouse adopt"}) {
        CAPTURE(part);
        CHECK(support::contains(*refused, part));
    }
}

TEST_CASE("a database without a mark is claimed when nothing speaks against it") {
    struct Row {
        const char* label;
        bool made_everything;
        bool trial_beside;
        bool claimed;
    };
    for (const bool ended : {false, true}) {
        CAPTURE(ended);
        for (const Row& row : {Row{"all is signed by it", true, false, true},
                               Row{"something is not", false, false, false},
                               Row{"a ledger lies beside", true, true, false}}) {
            CAPTURE(row.label);
            Marked marked;
            ended ? marked.complete(1) : marked.begin(1);
            ChainIdentity identity = chain("evm 1", row.made_everything);
            identity.has_trial_beside = row.trial_beside;
            const auto refused = marked.claim(identity);
            CHECK(refused.has_value() != row.claimed);
            if (refused) CHECK(support::contains(*refused, "posthouse adopt"));
            // Nothing was written that decides it.
            identity = chain("evm 1");
            CHECK_FALSE(marked.claim(identity));
        }
    }
}

TEST_CASE("what ended on another chain is not served: it is refused, or forgotten by adopt") {
    Marked marked;
    REQUIRE_FALSE(marked.claim(chain("evm 1")));
    marked.go_on();
    marked.complete(1);
    marked.begin(2);
    // A share is the vote chain's.
    const auto share = marked.world.submit(support::vote_share(7, marked.world.in_seconds(3'600)));
    CHECK(marked.claim(chain("evm 2")));
    CHECK(marked.adopt(chain("evm 2")));  // one is unfinished

    marked.go_on();
    const auto second = marked.world.engine.try_submit(support::input_proof(2));
    marked.world.gateway.answer(support::accepted(second).id, support::proof_accepted());
    marked.world.run_for(1s);
    const auto refused = marked.claim(chain("evm 2"));
    REQUIRE(refused);
    CHECK(support::contains(*refused, "forgets what has ended"));
    CHECK(marked.store->cursors().size() == 1);
    CHECK_FALSE(marked.adopt(chain("evm 2"), 2));
    CHECK(marked.store->cursors().empty());
    CHECK_FALSE(marked.claim(chain("evm 2")));
    CHECK_FALSE(marked.claim(chain("evm 1")));  // nothing is in it
    CHECK_FALSE(marked.claim(chain("evm 2")));

    marked.go_on();
    CHECK_FALSE(marked.world.engine.view(support::accepted(second).id));
    const auto anew = marked.world.engine.try_submit(support::input_proof(2));
    CHECK_FALSE(support::accepted(anew).duplicate);
    CHECK(marked.world.status(share) == Status::queued);
}

TEST_CASE("a database of the loopback that holds requests never becomes a real one") {
    for (const bool ended : {false, true}) {
        CAPTURE(ended);
        Marked marked;
        REQUIRE_FALSE(marked.claim(trial()));
        marked.go_on();
        ended ? marked.complete(1) : marked.begin(1);
        for (const auto& refused : {marked.claim(chain("evm 1")), marked.adopt(chain("evm 1"))}) {
            REQUIRE(refused);
            CHECK(support::contains(*refused, "never becomes"));
            CHECK(support::contains(*refused, "another --data-dir"));
            CHECK_FALSE(support::contains(*refused, "adopt"));
        }
        CHECK_FALSE(marked.claim(trial()));
    }
}

TEST_CASE("an unmarked database is adopted without what another chain has signed") {
    struct Row {
        const char* label;
        bool trial_beside;
        bool has_own;
        bool adopted;
    };
    for (const Row& row :
         {Row{"of another chain", false, false, true}, Row{"mixed", false, true, true},
          Row{"mixed with the loopback's", true, true, true},
          Row{"the loopback's alone", true, false, false}}) {
        CAPTURE(row.label);
        Marked marked;
        marked.complete(1);
        marked.complete(2);
        ChainIdentity identity = chain("evm 1");
        identity.has_trial_beside = row.trial_beside;
        // The newest is looked at first.
        std::size_t seen = 0;
        identity.is_own = [&](domain::ByteView, bool) { return row.has_own && ++seen % 2 == 1; };
        const auto refused = marked.adopt(identity, row.has_own ? 1 : 2);
        CHECK(refused.has_value() != row.adopted);
        if (row.adopted) CHECK_FALSE(marked.claim(identity));
        CHECK(marked.world.number("select count(*) from request") == (!row.adopted  ? 2
                                                                      : row.has_own ? 1
                                                                                    : 0));
    }
    Marked unfinished;
    unfinished.begin(1);
    CHECK(unfinished.adopt(chain("evm 1", false)));
    CHECK_FALSE(unfinished.adopt(chain("evm 1")));
}

TEST_CASE("a signer may be added, and left out once nothing is unfinished") {
    Marked marked;
    ChainIdentity both = chain("evm 1");
    both.signers = {"0xaa", "0xbb"};
    ChainIdentity other = chain("evm 1");
    other.signers = {"0xbb"};
    ChainIdentity unknown = chain("evm 1");
    unknown.signers.clear();
    REQUIRE_FALSE(marked.claim(chain("evm 1")));
    marked.go_on();
    marked.begin(1);
    const auto refused = marked.claim(other);
    REQUIRE(refused);
    CHECK(support::contains(*refused, "the account 0xaa"));
    CHECK(marked.adopt(other));
    CHECK_FALSE(marked.claim(unknown));
    CHECK(marked.claim(other));
    CHECK_FALSE(marked.claim(both));
    CHECK(marked.claim(other));
    CHECK(marked.claim(chain("evm 1")));  // 0xbb may have signed by now

    marked.go_on();
    const auto again = marked.world.engine.try_submit(support::input_proof(1));
    marked.world.gateway.answer(support::accepted(again).id, support::proof_accepted());
    marked.world.run_for(1s);
    CHECK_FALSE(marked.claim(other));
    CHECK_FALSE(marked.claim(other));
}

TEST_CASE("a signer whose nonces are not settled is not left out, and its address is said") {
    const std::string account = "0x00000000000000000000000000000000000000Aa";
    const std::string signer = "0x00000000000000000000000000000000000000aa";
    ChainIdentity both = chain("evm 1");
    both.signers = {signer, "0xbb"};
    ChainIdentity other = both;
    other.signers = {"0xbb"};
    for (const bool is_included : {false, true}) {
        CAPTURE(is_included);
        Marked marked;
        REQUIRE_FALSE(marked.claim(both));
        marked.go_on();
        const domain::Block block{7, domain::Bytes32{7}};
        marked.world.gateway.account = account;
        marked.world.gateway.block = block;
        if (!is_included) {
            marked.world.gateway.on_send =
                [](const engine::SendOrder&) -> std::optional<engine::SendOutcome> {
                return std::nullopt;
            };
        }
        marked.begin(1);
        const auto refused = marked.claim(other);
        REQUIRE(refused);
        CHECK(support::contains(*refused, "the account " + signer));
        CHECK(support::contains(*refused, "configure its key as well"));
        CHECK(support::contains(*refused, "another --data-dir"));
        CHECK_FALSE(marked.claim(both));
        if (!is_included) continue;
        // One that never signed is free to go, whatever the other has.
        ChainIdentity first = both;
        first.signers = {signer};
        CHECK_FALSE(marked.claim(first));
        CHECK_FALSE(marked.claim(both));
        marked.go_on();
        marked.world.gateway.news({{}, {}, {block}});
        marked.world.run_for(1s);
        // It waits for its answer, and its nonce is settled.
        CHECK(marked.world.number("select count(*) from request where lane < 8") == 1);
        CHECK_FALSE(marked.claim(other));
    }
}

TEST_CASE("the vote chain's mark is its own") {
    Marked marked;
    (void)marked.world.submit(support::vote_share(1, marked.world.in_seconds(3'600)));
    ChainIdentity votes{Chain::votes, "rest"};
    votes.is_own = [](domain::ByteView, bool) { return true; };
    ChainIdentity loopback = votes;
    loopback.is = "loopback";
    loopback.is_trial = true;
    CHECK_FALSE(marked.claim(votes));
    CHECK(marked.claim(loopback));
    CHECK_FALSE(marked.claim(trial()));
    CHECK_FALSE(marked.claim(chain("evm 1")));  // no request of the gateway's
    CHECK_FALSE(marked.claim(votes));
}

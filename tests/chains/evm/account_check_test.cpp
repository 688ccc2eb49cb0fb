// A database that is older than the chain: nobody's request is sent a second time.

#include <chrono>
#include <filesystem>

#include <SQLiteCpp/SQLiteCpp.h>

#include "chains/evm/relay.hpp"
#include "support/temp_directory.hpp"

using chains::jsonrpc::Answer;
using chains::jsonrpc::Call;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;
using domain::Status;
using namespace std::chrono_literals;

namespace {

// Asks what the account asked our contracts for.
bool asks_for_requests(const Call& call) {
    return call.method == "eth_getLogs" &&
           call.params.at(0).at("topics").at(0).size() == 7;  // answers have five
}

struct CopiedRelay : support::Relay {
    // As an operator with cp would.
    void keep_copy() {
        crash();
        std::filesystem::copy(engine.store_options.directory, copy.path() / "data");
        start();
    }

    void put_copy_back() {
        crash();
        const auto& directory = engine.store_options.directory;
        for (const auto& entry : std::filesystem::directory_iterator(directory)) {
            std::filesystem::remove(entry.path());
        }
        std::filesystem::copy(copy.path() / "data", directory);
        chain.calls.clear();
        start();
    }

    void settle(const std::string& sql) {
        SQLite::Database database(store::database_path(engine.store_options).string(),
                                  SQLite::OPEN_READWRITE);
        database.exec(sql);
    }

    [[nodiscard]] std::size_t lines(const std::string& part) const {
        return engine.logger.count(part);
    }

    // Sent before the copy was made: from then on the database knows the account.
    void send_one() {
        submit(support::public_decrypt(1));
        run_for(5s);
        REQUIRE(chain.nonce() == 1);
    }

    support::TempDirectory copy;
};

}  // namespace

TEST_CASE("a copy of the database from before a send holds what the chain may have already") {
    CopiedRelay relay;
    relay.send_one();
    const auto sent_since = relay.submit(support::input_proof(2));
    relay.keep_copy();
    relay.run_for(5s);
    REQUIRE(relay.engine.status(sent_since) == Status::receipt_received);
    REQUIRE(relay.chain.nonce() == 2);

    relay.put_copy_back();
    relay.run_for(10h);
    CHECK(relay.lines("chain_is_ahead account=0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf count=2 "
                      "known=1 held=1") == 1);
    CHECK(relay.lines("requests_held alert=true count=1") == 1);
    CHECK(relay.engine.status(sent_since) == Status::processing);
    CHECK(relay.chain.nonce() == 2);
    relay.check_inclusions();

    // What is new goes on, and the next start knows.
    relay.submit(support::input_proof(3));
    relay.run_for(5s);
    CHECK(relay.chain.nonce() == 3);
    relay.restart();
    relay.run_for(1h);
    CHECK(relay.lines("chain_is_ahead") == 1);
    CHECK(relay.chain.nonce() == 3);
    relay.check_inclusions();
}

TEST_CASE(
    "a signed request whose nonce the chain gave to a later version of it is not sent again") {
    CopiedRelay relay;
    relay.send_one();
    relay.chain.mines = false;
    relay.chain.knows_sync = false;
    const auto id = relay.submit(support::input_proof(2));
    relay.run_for(1s);
    relay.keep_copy();
    REQUIRE(relay.engine.status(id) == Status::processing);
    relay.run_for(10min);  // fees are raised meanwhile
    relay.chain.mine_pool();
    relay.chain.mines = true;
    relay.run_for(1min);
    REQUIRE(relay.engine.status(id) == Status::receipt_received);
    REQUIRE(relay.chain.included().back().transaction.nonce == 1);

    relay.put_copy_back();
    relay.run_for(10h);
    CHECK(relay.lines("requests_held alert=true count=1") == 1);
    CHECK(relay.chain.nonce() == 2);
    relay.check_inclusions();
}

TEST_CASE("transactions of an operator with the same key hold nobody") {
    CopiedRelay relay;
    relay.send_one();
    const auto id = relay.submit(support::input_proof(2));
    relay.crash();
    for (int i = 0; i < 3; ++i) relay.chain.use_nonce_elsewhere();
    relay.start();
    relay.run_for(5s);
    CHECK(relay.lines("requests_held") == 0);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    CHECK(relay.chain.included().back().transaction.nonce == 4);
    relay.restart();
    relay.run_for(5s);
    CHECK(relay.lines("chain_is_ahead") == 0);
    relay.check_inclusions();
}

TEST_CASE("a database without the mark takes the account from the chain, and holds nobody") {
    CopiedRelay relay;
    relay.send_one();
    const auto id = relay.submit(support::input_proof(2));
    relay.crash();
    relay.settle("delete from cursor where listener glob 'mark *'");
    relay.chain.use_nonce_elsewhere();
    relay.start();
    relay.run_for(5s);
    CHECK(relay.lines("requests_held") == 0);
    CHECK(relay.engine.status(id) == Status::receipt_received);
}

TEST_CASE("what no node tells is waited for, and nothing is signed meanwhile") {
    struct Trouble {
        std::string label;
        std::function<std::optional<Answer>(const Call&)> before;
        bool counts_as_sent;
    };
    const Trouble table[] = {
        {"no logs",
         [](const Call& call) -> std::optional<Answer> {
             if (!asks_for_requests(call)) return std::nullopt;
             return TransportError{TransportError::Kind::timed_out, "no answer in time"};
         },
         false},
        {"no transaction",
         [](const Call& call) -> std::optional<Answer> {
             if (call.method != "eth_getTransactionByHash") return std::nullopt;
             return Answer{chains::jsonrpc::Json(nullptr)};
         },
         false},
        {"logs refused",
         [](const Call& call) -> std::optional<Answer> {
             if (!asks_for_requests(call)) return std::nullopt;
             return NodeError{-32005, "query returned more than 10000 results", {}};
         },
         true},
    };
    for (const Trouble& row : table) {
        CAPTURE(row.label);
        CopiedRelay relay;
        relay.send_one();
        const auto id = relay.submit(support::input_proof(2));
        relay.keep_copy();
        relay.run_for(5s);
        REQUIRE(relay.chain.nonce() == 2);
        relay.chain.before = row.before;
        relay.put_copy_back();
        relay.run_for(3min);
        CHECK(relay.chain.nonce() == 2);
        CHECK(relay.lines("requests_held") == (row.counts_as_sent ? 1 : 0));
        relay.chain.before = nullptr;
        relay.run_for(3min);
        CHECK(relay.lines("requests_held") == 1);
        CHECK(relay.chain.nonce() == 2);
        CHECK(relay.engine.status(id) == Status::processing);
    }
}

TEST_CASE("a range that is too large for a node is asked for in pieces") {
    CopiedRelay relay;
    relay.send_one();
    relay.submit(support::input_proof(2));
    relay.keep_copy();
    relay.run_for(5s);
    relay.chain.mine(900);
    relay.chain.before = [](const Call& call) -> std::optional<Answer> {
        if (call.method != "eth_getLogs") return std::nullopt;
        const auto from = chains::jsonrpc::quantity(call.params.at(0).at("fromBlock"));
        const auto to = chains::jsonrpc::quantity(call.params.at(0).at("toBlock"));
        if (*to - *from < 10) return std::nullopt;
        return NodeError{-32005, "at most 10 blocks", {}};
    };
    relay.put_copy_back();
    relay.run_for(10min);
    CHECK(relay.lines("requests_held alert=true count=1") == 1);
    CHECK(relay.lines("account_check_blind") == 0);
}

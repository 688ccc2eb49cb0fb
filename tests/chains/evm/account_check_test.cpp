// A database that is older than the chain: nobody's request is sent a second time.

#include <algorithm>
#include <chrono>
#include <filesystem>

#include <SQLiteCpp/SQLiteCpp.h>

#include "chains/evm/several_relay.hpp"
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

std::function<std::optional<Answer>(const Call&)> no_logs(const char* words) {
    return [words](const Call& call) -> std::optional<Answer> {
        if (!asks_for_requests(call)) return std::nullopt;
        return NodeError{-32'602, words, {}};
    };
}

template <class AnyRelay>
struct Copied : AnyRelay {
    using AnyRelay::AnyRelay;

    // As an operator with cp would.
    void keep_copy() {
        this->crash();
        copy_files();
        this->start();
    }

    void copy_files() {
        std::filesystem::remove_all(copy.path() / "data");
        std::filesystem::copy(this->engine.store_options.directory, copy.path() / "data");
    }

    void put_copy_back() {
        this->crash();
        put_files_back();
        this->start();
    }

    void put_files_back() {
        const auto& directory = this->engine.store_options.directory;
        for (const auto& entry : std::filesystem::directory_iterator(directory)) {
            std::filesystem::remove(entry.path());
        }
        std::filesystem::copy(copy.path() / "data", directory);
        this->chain.calls.clear();
    }

    [[nodiscard]] std::size_t lines(const std::string& part) const {
        return this->engine.logger.count(part);
    }

    support::TempDirectory copy;
};

struct CopiedRelay : Copied<support::Relay> {
    void change(const std::string& sql) const {
        SQLite::Database database(store::database_path(engine.store_options).string(),
                                  SQLite::OPEN_READWRITE);
        database.exec(sql);
    }

    // Sent before the copy was made: from then on the database knows the account.
    void send_one() {
        submit(support::public_decrypt(1));
        run_for(5s);
        REQUIRE(chain.nonce() == 1);
    }
};

struct CopiedKeys : Copied<support::SeveralRelay> {
    using Copied::Copied;

    // Each of these keys has sent something; then four wait that are sent with `later` alone, in a
    // life that the copy does not know.
    void go_on_with(const std::vector<std::size_t>& before, const std::vector<std::size_t>& later) {
        crash();
        all_ = options.signers;
        use(before);
        start();
        submit_proofs(static_cast<unsigned>(before.size()));
        run_for(5s);
        REQUIRE(chain.included().size() == before.size());
        // Before that the start would refuse to go on without one of them.
        chain.mine(1'000);
        run_for(2min);
        submit_proofs(4);
        crash();
        copy_files();
        use(later);
        start();
        run_for(10s);
        REQUIRE(chain.included().size() == before.size() + 4);
        chain.mine(1'000);
        run_for(2min);
    }

    void start_copy_with(const std::vector<std::size_t>& keys) {
        crash();
        put_files_back();
        use(keys);
        start();
    }

    void use(const std::vector<std::size_t>& keys) {
        options.signers = all_;
        use_keys(keys);
    }

    // Two requests wait; the key 1 is not configured any more, and was used elsewhere since.
    void lose_key_that_went_on() {
        go_on_with({0, 1}, {1});
        submit_proofs(2);
        crash();
        ask_elsewhere_with(1);
        use({0});
    }

    // Another process asks our contracts for something with that key.
    void ask_elsewhere_with(std::size_t index) {
        chains::evm::Transaction transaction;
        transaction.chain_id = options.chain_id;
        transaction.nonce = chain.nonce(accounts[index]);
        transaction.to = support::gateway_contract;
        transaction.data = chains::evm::request_call(support::input_proof(900 + index));
        transaction.gas_limit = 1'000'000;
        transaction.max_fee = 10'000'000'000;
        transaction.priority_fee = 1;
        const auto signer =
            chains::evm::private_key_signer(support::small_key(static_cast<unsigned>(index) + 1));
        const auto bytes = chains::evm::sign(transaction, *signer);
        static_cast<void>(chain.call({"eth_sendRawTransaction", {chains::jsonrpc::hex(bytes)}}));
    }

    // What is kept of the first start until the accounts are known.
    [[nodiscard]] bool has_mark_of_start() const {
        SQLite::Database database(store::database_path(engine.store_options).string());
        return database.execAndGet("select count(*) from cursor where listener = 'mark look from'")
                   .getInt() == 1;
    }

    [[nodiscard]] std::size_t asked_for_count_of(std::size_t index) const {
        std::size_t times = 0;
        for (const Call& call : chain.calls) {
            if (call.method == "eth_getTransactionCount" && account_in(call) == accounts[index])
                ++times;
        }
        return times;
    }

private:
    std::vector<chains::evm::Options::Signing> all_;
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
    relay.change("delete from cursor where listener glob 'mark *'");
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
        {"a node that is syncing", no_logs("node is syncing"), false},
        {"a node that gave up", no_logs("request timed out"), false},
        {"a node that lags behind", no_logs("block range extends beyond current head block"),
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

TEST_CASE("a copy is noticed whichever keys went on, and whichever it is started with") {
    struct Row {
        std::string label;
        std::vector<std::size_t> before;
        std::vector<std::size_t> later;
        std::vector<std::size_t> copy;
    };
    const Row table[] = {
        {"the key that went on was removed", {0, 1}, {1}, {0}},
        {"all keys were removed", {0, 1}, {1}, {2}},
        {"the key that went on is new", {0}, {1}, {0, 1}},
        {"only the new one is left", {0}, {1}, {1}},
        {"all of them", {0, 1}, {0, 1, 2}, {0, 1, 2}},
    };
    for (const Row& row : table) {
        CAPTURE(row.label);
        CopiedKeys relay;
        relay.go_on_with(row.before, row.later);
        const std::size_t included = relay.chain.included().size();

        relay.start_copy_with(row.copy);
        // Nobody else can have what comes from now on.
        relay.submit_proofs(1);
        relay.run_for(10min);
        CHECK(relay.lines("requests_held alert=true count=4") >= 1);
        CHECK(relay.chain.included().size() == included + 1);

        // What is held stays held, and nothing new is.
        relay.restart();
        relay.submit_proofs(1);
        relay.run_for(10min);
        CHECK(relay.lines("requests_held alert=true count=5") == 0);
        CHECK(relay.chain.included().size() == included + 2);
        relay.check_inclusions();
    }
}

TEST_CASE("a start that is cut off before it knew takes nothing from the next one") {
    for (const std::vector<std::size_t>& keys : {std::vector<std::size_t>{0}, {1}, {0, 1}}) {
        CAPTURE(keys);
        CopiedKeys relay;
        relay.go_on_with({0, 1}, {1});
        const std::size_t included = relay.chain.included().size();

        // Their listeners go on, beyond what the other process asked for.
        relay.chain.before = [](const Call& call) -> std::optional<Answer> {
            if (call.method != "eth_getTransactionCount") return std::nullopt;
            return TransportError{TransportError::Kind::timed_out, "no answer in time", {}};
        };
        relay.start_copy_with(keys);
        for (int start = 0; start < 3; ++start) {
            relay.chain.mine(100);
            relay.run_for(30s);
            REQUIRE(relay.chain.included().size() == included);
            REQUIRE(relay.has_mark_of_start());
            relay.restart();
        }
        relay.chain.before = nullptr;
        relay.restart();
        // Nobody else can have it.
        relay.submit_proofs(1);
        relay.run_for(10min);
        CHECK(relay.lines("requests_held alert=true count=4") >= 1);
        CHECK(relay.lines("requests_held alert=true count=5") == 0);
        CHECK(relay.chain.included().size() == included + 1);
        CHECK_FALSE(relay.has_mark_of_start());
        relay.check_inclusions();
    }
}

TEST_CASE("what a start accepted before it was cut off may be in a copy of its file, and is held") {
    CopiedRelay relay;
    relay.send_one();
    relay.submit(support::input_proof(2));
    relay.crash();
    relay.chain.before = [](const Call& call) -> std::optional<Answer> {
        if (call.method != "eth_getTransactionCount") return std::nullopt;
        return TransportError{TransportError::Kind::timed_out, "no answer in time", {}};
    };
    relay.start();
    relay.submit(support::input_proof(3));
    relay.run_for(30s);
    relay.keep_copy();
    relay.chain.before = nullptr;
    relay.run_for(1min);
    REQUIRE(relay.chain.nonce() == 3);

    relay.put_copy_back();
    relay.run_for(10min);
    CHECK(relay.lines("requests_held alert=true count=2") == 1);
    CHECK(relay.chain.nonce() == 3);
    relay.check_inclusions();
}

// Found by the chaos: until the count is told, the filler is not known to be outrun.
TEST_CASE("a request of ours that outran a filler holds nobody") {
    CopiedRelay relay;
    relay.send_one();
    const auto id = relay.submit(support::input_proof(2));
    relay.crash();
    relay.change(
        "insert into own_transaction (account, nonce, hash, purpose, sealed, sealed_ms) "
        "select account, nonce, zeroblob(32), 'filler', sealed, sealed_ms from attempt");
    // As after starts that were cut off since before it was sent.
    relay.change("insert into cursor values ('mark look from', 1)");
    relay.start();
    relay.run_for(1min);
    CHECK(relay.lines("chain_is_ahead") == 0);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    relay.check_inclusions();
}

TEST_CASE("a key that is gone is looked at once, and what it sends elsewhere holds nobody") {
    CopiedKeys relay;
    relay.go_on_with({0, 1}, {1});
    relay.submit_proofs(2);
    relay.crash();
    relay.use({0});
    relay.chain.calls.clear();
    relay.start();
    relay.run_for(1min);
    CHECK(relay.asked_for_count_of(1) == 1);
    CHECK(relay.lines("requests_held") == 0);
    relay.submit_proofs(2);
    relay.crash();
    relay.ask_elsewhere_with(1);
    relay.chain.calls.clear();
    relay.start();
    relay.run_for(1min);
    CHECK(relay.asked_for_count_of(1) == 0);
    CHECK(relay.lines("chain_is_ahead") == 0);
    CHECK(relay.lines("requests_held") == 0);
    CHECK(relay.shares() == std::vector<std::size_t>{5, 6, 0});
}

TEST_CASE("a node that knows less than the database tells nothing of a key that is gone") {
    CopiedKeys relay;
    relay.lose_key_that_went_on();
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (call.method == "eth_feeHistory") {
            return TransportError{TransportError::Kind::unsent, "connection refused", {}};
        }
        const bool counts = call.method == "eth_getTransactionCount";
        if (!counts || relay.account_in(call) != relay.accounts[1]) return std::nullopt;
        return Answer{chains::jsonrpc::Json("0x0")};
    };
    relay.start();
    relay.run_for(10s);
    REQUIRE(relay.shares() == std::vector<std::size_t>{1, 6, 0});
    relay.crash();
    relay.chain.before = nullptr;
    relay.start();
    relay.run_for(1min);
    CHECK(relay.lines("requests_held alert=true count=2") == 1);
    CHECK(relay.shares() == std::vector<std::size_t>{1, 6, 0});
}

TEST_CASE("on another chain nothing is learned of a key that is gone") {
    CopiedKeys relay;
    relay.lose_key_that_went_on();
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (call.method == "eth_chainId") return Answer{chains::jsonrpc::Json("0x1")};
        if (call.method == "eth_getTransactionCount") return Answer{chains::jsonrpc::Json("0x0")};
        return std::nullopt;
    };
    relay.start();
    relay.run_for(1min);
    relay.chain.before = nullptr;
    relay.run_for(10min);
    CHECK(relay.lines("requests_held alert=true count=2") >= 1);
    CHECK(relay.shares() == std::vector<std::size_t>{1, 6, 0});
}

TEST_CASE("what one key has on its way says nothing about another") {
    CopiedKeys relay;
    relay.crash();
    const auto all = relay.options.signers;
    relay.use_keys({0});
    relay.start();
    relay.submit_proofs(5);
    relay.run_for(5s);
    REQUIRE(relay.shares() == std::vector<std::size_t>{5, 0, 0});
    relay.submit_proofs(3);
    relay.crash();
    for (int i = 0; i < 3; ++i) relay.ask_elsewhere_with(1);
    // The start refuses this where it knows the addresses, and a key in a KMS has none at first.
    relay.options.signers = {all[1]};
    relay.start();
    relay.run_for(10min);
    CHECK(relay.lines("requests_held alert=true count=3") >= 1);
    CHECK(relay.shares() == std::vector<std::size_t>{5, 3, 0});
}

TEST_CASE("a listener that is not configured any more makes nobody read old blocks") {
    CopiedKeys relay{2};
    relay.submit_proofs(2);
    relay.run_for(5s);
    relay.chain.mine(5'000);
    relay.run_for(10min);
    relay.submit_proofs(3);
    relay.crash();
    relay.change("insert into cursor values ('evm-gone', 1)");
    relay.change("delete from cursor where listener glob 'mark *'");
    relay.chain.calls.clear();
    relay.start();
    relay.run_for(1min);
    CHECK(relay.lines("requests_held") == 0);
    CHECK(std::ranges::count_if(relay.chain.calls, asks_for_requests) <= 2);
    relay.check_inclusions();
}

TEST_CASE("an account that was in use before it was configured holds nobody") {
    CopiedKeys relay{1};
    relay.submit_proofs(3);
    relay.crash();
    relay.chain.use_nonce_elsewhere();
    relay.start();
    relay.run_for(1min);
    CHECK(relay.lines("requests_held") == 0);
    CHECK(relay.shares() == std::vector<std::size_t>{3});
    relay.check_inclusions();
}

TEST_CASE("while no node tells the count of a key that is gone nothing is signed") {
    CopiedKeys relay;
    relay.go_on_with({0, 1}, {1});
    relay.crash();
    relay.use({0});
    relay.tell_count_of(1, TransportError{TransportError::Kind::unsent, "connection refused", {}});
    relay.start();
    relay.submit_proofs(2);
    relay.run_for(1min);
    CHECK(relay.chain.included().size() == 6);
    relay.chain.before = nullptr;
    relay.run_for(1min);
    CHECK(relay.chain.included().size() == 8);
    relay.check_inclusions();
}

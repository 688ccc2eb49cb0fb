// Blocks that are replaced between any two of our steps (relayer-api 3.5).

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <string>

#include "chains/evm/abi.hpp"
#include "chains/evm/relay.hpp"
#include "chains/evm/topics.hpp"
#include "domain/keccak.hpp"

using chains::jsonrpc::Answer;
using chains::jsonrpc::Call;
using chains::jsonrpc::Json;
using chains::jsonrpc::TransportError;
using domain::Status;
using support::Relay;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t fork_depth = 80;

struct ForkWorld : Relay {
    ForkWorld() {
        options.listening.reorg_depth = fork_depth;
        restart();
        chain.mine(2 * fork_depth);
        run_for(2s);
    }

    // What the chain says to a request follows from its content.
    [[nodiscard]] static domain::Bytes value_of(const domain::Bytes& calldata) {
        const domain::Bytes32 value = domain::keccak256(calldata);
        return {value.begin(), value.end()};
    }

    void answer(const domain::Bytes32& reference, const domain::Bytes& value) {
        chains::evm::abi::Tuple signatures;
        signatures.add_bytes(domain::Bytes(65, 7));
        chains::evm::abi::Tuple data;
        data.add_bytes(value).add_list(1, signatures).add_bytes(domain::Bytes{0});
        chain.answer(reference, chains::evm::topic::public_decryption_response, data.encoded());
    }

    void answer_ours() {
        for (const auto& entry : chain.included()) {
            if (entry.reference) answer(*entry.reference, value_of(entry.transaction.data));
        }
    }

    [[nodiscard]] domain::Bytes served(const domain::RequestId& id) {
        const auto result = domain::decode_result(engine.view(id).value().result.value());
        return std::get<domain::PublicDecrypted>(result.value()).value;
    }

    [[nodiscard]] std::size_t said(const std::string& line) { return engine.logger.count(line); }

    // From the block of our transaction on, or the newest ones when there is none.
    void reorganise(std::uint64_t depth, bool keeps_transactions) {
        if (!chain.included().empty()) {
            const std::uint64_t above = chain.head() - chain.included().front().block + 1;
            if (above < depth) chain.mine(depth - above);
        }
        chain.reorganise(depth, keeps_transactions);
    }
};

void hide_receipts(ForkWorld& world) {
    world.chain.knows_sync = false;
    world.chain.before = [](const Call& call) -> std::optional<Answer> {
        if (call.method != "eth_getTransactionReceipt") return std::nullopt;
        return Json(nullptr);
    };
}

struct ForkMoment {
    const char* label;
    std::function<void(ForkWorld&)> prepare;
    bool is_answered;
    Status status;
};

// Up to which step a request has come when the chain changes.
const ForkMoment fork_moments[]{
    {"sealed",
     [](ForkWorld& world) {
         world.chain.before = [](const Call& call) -> std::optional<Answer> {
             if (!call.method.starts_with("eth_sendRaw")) return std::nullopt;
             return TransportError{TransportError::Kind::unsent, "connection refused", {}};
         };
     },
     false, Status::tx_in_flight},
    {"sent", [](ForkWorld& world) { world.chain.mines = false; }, false, Status::tx_in_flight},
    {"included", hide_receipts, false, Status::tx_in_flight},
    {"answer held", hide_receipts, true, Status::tx_in_flight},
    {"receipt stored", [](ForkWorld&) {}, false, Status::receipt_received},
    {"completed", [](ForkWorld&) {}, true, Status::completed},
};

struct Fork {
    const ForkMoment& moment;
    std::uint64_t depth;
    bool keeps_transactions;
    bool is_down;
};

void live_through_fork(const Fork& one) {
    CAPTURE(one.moment.label);
    CAPTURE(one.depth);
    CAPTURE(one.keeps_transactions);
    CAPTURE(one.is_down);
    ForkWorld world;
    one.moment.prepare(world);
    const domain::Request request = support::public_decrypt(1);
    const auto id = world.submit(request);
    world.run_for(3s);
    if (one.moment.is_answered) {
        world.answer_ours();
        world.run_for(3s);
    }
    REQUIRE(world.engine.status(id) == one.moment.status);

    if (one.is_down) world.crash();
    world.reorganise(one.depth, one.keeps_transactions);
    world.chain.ask_elsewhere();  // takes the id that ours had
    if (world.chain.included().empty()) {
        domain::Bytes32 others{};
        others[0] = 1;
        others[31] = 1;
        world.answer(others, domain::Bytes(32, 0xee));
    }
    world.chain.before = nullptr;
    world.chain.after = nullptr;
    world.chain.mines = true;
    world.chain.mine_pool();
    if (one.is_down) world.start();
    world.run_for(2min);
    world.answer_ours();
    world.run_for(2min);

    CHECK(world.engine.status(id) == Status::completed);
    CHECK(world.served(id) == ForkWorld::value_of(chains::evm::request_call(request)));
    world.check_inclusions();
    CHECK(world.chain.nonce() == 1);
}

}  // namespace

TEST_CASE("a fork between any two steps costs no request, no answer and no nonce") {
    for (const ForkMoment& moment : fork_moments) {
        for (const std::uint64_t depth :
             {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{64}, fork_depth}) {
            for (const bool keeps_transactions : {true, false}) {
                for (const bool is_down : {true, false}) {
                    live_through_fork({moment, depth, keeps_transactions, is_down});
                }
            }
        }
    }
}

TEST_CASE("what waits for its answer goes back by a move of its own, with a new deadline") {
    ForkWorld world;
    const auto id = world.submit(support::public_decrypt(1));
    world.run_for(10min);
    REQUIRE(world.engine.status(id) == Status::receipt_received);
    const auto deadline = world.engine.row(id).schedule.deadline;
    world.chain.mines = false;
    world.reorganise(5, false);
    world.run_for(5s);
    CHECK(world.engine.status(id) == Status::tx_in_flight);
    CHECK_FALSE(world.engine.row(id).schedule.deadline);
    CHECK(world.said("request_reorganised job_id=" + to_string(id) + " status=receipt_received") ==
          1);
    world.chain.mines = true;
    world.chain.mine_pool();
    world.run_for(30s);
    REQUIRE(world.engine.status(id) == Status::receipt_received);
    CHECK(world.engine.row(id).schedule.deadline > deadline);
}

TEST_CASE("the number of a transaction whose block went is given to nobody else") {
    ForkWorld world;
    const auto first = world.submit(support::public_decrypt(1));
    world.run_for(3s);
    world.answer_ours();
    world.run_for(3s);
    REQUIRE(world.engine.status(first) == Status::completed);
    for (const bool is_down : {false, true}) {
        CAPTURE(is_down);
        if (is_down) world.crash();
        world.reorganise(5, false);
        if (is_down) world.start();
        world.submit(support::public_decrypt(is_down ? 3 : 2));
        world.run_for(2min);
        world.check_inclusions();
        CHECK(world.chain.included().front().transaction.data ==
              chains::evm::request_call(world.requests[0]));
    }
    CHECK(world.chain.nonce() == 3);
}

TEST_CASE("another answer to what is served changes nothing but a line") {
    ForkWorld world;
    const domain::Request request = support::public_decrypt(1);
    const auto id = world.submit(request);
    world.run_for(3s);
    world.answer_ours();
    world.run_for(3s);
    const domain::Bytes before = world.served(id);
    const store::Row row = world.engine.row(id);
    world.reorganise(5, false);
    world.run_for(30s);
    REQUIRE(world.chain.included().size() == 1);
    world.answer(*world.chain.included()[0].reference, before);
    world.run_for(5s);
    CHECK(world.said("answer_reorganised") == 0);
    world.answer(*world.chain.included()[0].reference, domain::Bytes(32, 0xee));
    world.run_for(5s);
    CHECK(world.said("answer_reorganised job_id=" + to_string(id)) == 1);
    CHECK(world.served(id) == before);
    CHECK(world.engine.row(id) == row);
}

TEST_CASE("one block beyond the depth is said and not repaired") {
    for (const bool is_completed : {true, false}) {
        CAPTURE(is_completed);
        ForkWorld world;
        const auto id = world.submit(support::public_decrypt(1));
        world.run_for(3s);
        if (is_completed) world.answer_ours();
        for (std::uint64_t i = 0; i <= fork_depth; ++i) {
            world.chain.mine();
            world.run_for(1s);
        }
        world.reorganise(world.chain.head() - world.chain.included()[0].block + 1, false);
        world.run_for(1min);
        CHECK(world.said("reorganised_too_deep") == 1);
        CHECK(world.chain.included().empty());
        CHECK(world.engine.status(id) ==
              (is_completed ? Status::completed : Status::receipt_received));
        if (is_completed) continue;
        world.run_for(30min);
        CHECK(world.engine.status(id) == Status::timed_out);
        CHECK(world.failure(id).text ==
              "Gateway chain did not respond within the expected timeframe: its transaction is no "
              "longer on the chain");
    }
}

TEST_CASE("nothing is asked once all blocks are deep enough") {
    ForkWorld world;
    const auto id = world.submit(support::public_decrypt(1));
    world.run_for(3s);
    world.answer_ours();
    world.run_for(3s);
    world.chain.mine(fork_depth);
    world.run_for(10s);
    const auto asked = [&] { return world.chain.count("eth_getBlockByNumber"); };
    const std::size_t before = asked();
    world.run_for(10s);
    // The listener's look at its last block remains.
    CHECK(asked() - before <= 21);
    CHECK(world.engine.status(id) == Status::completed);
}

namespace {

// Requests, answers, forks and crashes at random from a seed.
void forks_at_random(std::uint32_t seed) {
    CAPTURE(seed);
    ForkWorld world;
    support::SeededRandom random{seed};
    const auto chance = [&](std::uint64_t percent) { return random.below(100) < percent; };
    for (std::uint64_t step = 0; step < 40; ++step) {
        if (chance(40)) world.submit(support::public_decrypt(1'000ULL * seed + step));
        if (chance(15)) world.chain.mines = !world.chain.mines;
        if (chance(15)) world.chain.drop_pool();
        if (chance(30)) world.chain.mine(1 + random.below(3));
        if (chance(40)) world.answer_ours();
        const bool is_down = chance(12);
        if (is_down) world.crash();
        if (chance(20)) {
            world.chain.reorganise(1 + random.below(chance(70) ? 5 : fork_depth), chance(50));
            if (chance(70)) world.chain.ask_elsewhere();
        }
        if (is_down) world.start();
        world.run_for(domain::Milliseconds{random.below(4'000)});
    }
    world.chain.mines = true;
    world.chain.mine_pool();
    for (int i = 0; i < 10; ++i) {
        world.run_for(1min);
        world.answer_ours();
    }
    world.run_for(1min);
    for (std::size_t i = 0; i < world.ids.size(); ++i) {
        CAPTURE(i);
        REQUIRE(world.engine.status(world.ids[i]) == Status::completed);
        CHECK(world.served(world.ids[i]) ==
              ForkWorld::value_of(chains::evm::request_call(world.requests[i])));
    }
    world.check_inclusions();
    CHECK(world.chain.nonce() >= world.ids.size());
}

}  // namespace

TEST_CASE("forks and crashes at random fork_moments cost no request, no answer and no nonce") {
    for (std::uint32_t seed = 1; seed <= 40; ++seed) forks_at_random(seed);
}

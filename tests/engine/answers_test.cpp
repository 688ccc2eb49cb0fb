#include <algorithm>
#include <chrono>
#include <random>

#include "support/world.hpp"

using domain::Kind;
using domain::Reason;
using domain::Status;
using engine::SendOrder;
using engine::SendOutcome;
using namespace std::chrono_literals;

namespace {

domain::Bytes32 foreign(std::uint64_t number) {
    return support::numbered<domain::Bytes32>(number);
}

// Receipts come only when the test lets them.
struct HeldReceipts {
    explicit HeldReceipts(support::World& world) : world_(world) {
        world.gateway.on_send = [this](const SendOrder& order) -> std::optional<SendOutcome> {
            held_.push_back(order);
            return std::nullopt;
        };
    }
    void release() {
        for (const SendOrder& order : std::exchange(held_, {})) {
            world_.engine.process().inbox.sent(
                {{order.id, support::ScriptedGateway::receipt(order)}});
        }
    }

private:
    support::World& world_;
    std::vector<SendOrder> held_;
};

domain::UserDecrypted shares_of(std::initializer_list<std::uint32_t> indices) {
    domain::UserDecrypted result;
    for (const std::uint32_t index : indices) result.shares.push_back(support::kms_share(index));
    return result;
}

}  // namespace

TEST_CASE("no answer within half an hour of the receipt times out, and one tick less does not") {
    for (const Kind kind : {Kind::input_proof, Kind::public_decrypt, Kind::user_decrypt}) {
        CAPTURE(to_string(kind));
        support::World world;
        world.gateway.check_delay = world.gateway.prepare_delay = world.gateway.send_delay = 0ms;
        const auto id = world.submit(support::request_of(kind, 1));
        world.run_for(0ms);
        world.run_for(0ms);
        REQUIRE(world.status(id) == Status::receipt_received);
        world.run_for(30min - 1ms);
        CHECK(world.status(id) == Status::receipt_received);
        world.run_for(1ms);
        CHECK(world.status(id) == Status::timed_out);
        CHECK(world.failure(id) ==
              domain::Failure{Reason::response_timed_out,
                              "Gateway chain did not respond within the expected timeframe",
                              {}});

        // Too late: the request stays as it ended.
        const store::Row ended = world.row(id);
        const auto stale = world.engine.process().processor.stale_events();
        support::answer_well(world.gateway, id, kind);
        world.run_for(1h);
        CHECK(world.row(id) == ended);
        CHECK(world.engine.process().processor.stale_events() > stale);
        CHECK(world.number("select count(*) from answer") == 0);
    }
}

TEST_CASE("each kind has its own response timeout") {
    support::World world;
    world.engine.options.response_timeout = {5min, 10min, 15min};
    const auto proof = world.submit(support::input_proof(1));
    const auto open = world.submit(support::public_decrypt(2));
    const auto user = world.submit(support::user_decrypt(3));
    world.run_for(5min + 1s);
    CHECK(world.status(proof) == Status::timed_out);
    CHECK(world.status(open) == Status::receipt_received);
    world.run_for(5min);
    CHECK(world.status(open) == Status::timed_out);
    CHECK(world.status(user) == Status::receipt_received);
    world.run_for(5min);
    CHECK(world.status(user) == Status::timed_out);
}

TEST_CASE("a late share does not extend the deadline (8.1)") {
    support::World world;
    const auto id = world.submit(support::user_decrypt(1));
    for (std::uint32_t index = 1; index <= 8; ++index) {
        world.run_for(3min);
        world.gateway.answer(id, support::kms_share(index));
    }
    world.run_for(6min);
    CHECK(world.status(id) == Status::receipt_received);
    world.run_for(1s);
    CHECK(world.status(id) == Status::timed_out);
}

TEST_CASE("answers that come before the receipt are joined when it is applied") {
    struct Row {
        const char* label;
        Kind kind;
        std::vector<engine::AnswerBody> early;
        Status before_late;
        std::vector<engine::AnswerBody> late;
        Status end;
    };
    std::vector<engine::AnswerBody> nine;
    for (std::uint32_t index = 9; index >= 1; --index) nine.push_back(support::kms_share(index));
    const std::vector<engine::AnswerBody> five(nine.begin(), nine.begin() + 5);
    const std::vector<engine::AnswerBody> four(nine.begin() + 5, nine.end());
    std::vector<engine::AnswerBody> thirteen = nine;
    for (std::uint32_t index = 10; index <= 13; ++index)
        thirteen.push_back(support::kms_share(index));
    const Row rows[]{
        {"public value",
         Kind::public_decrypt,
         {support::public_decrypted()},
         Status::completed,
         {},
         Status::completed},
        {"proof accepted",
         Kind::input_proof,
         {support::proof_accepted()},
         Status::completed,
         {},
         Status::completed},
        {"proof rejected",
         Kind::input_proof,
         {engine::ProofRejected{}},
         Status::failure,
         {},
         Status::failure},
        {"threshold reached", Kind::user_decrypt, nine, Status::completed, {}, Status::completed},
        {"more than the threshold",
         Kind::delegated_user_decrypt,
         thirteen,
         Status::completed,
         {},
         Status::completed},
        {"some before, some after", Kind::unified_user_decrypt, five, Status::receipt_received,
         four, Status::completed},
        {"the first single answer wins",
         Kind::input_proof,
         {support::proof_accepted(), engine::ProofRejected{}},
         Status::completed,
         {},
         Status::completed},
    };
    for (const Row& row : rows) {
        for (const bool restart : {false, true}) {
            CAPTURE(row.label);
            CAPTURE(restart);
            support::World world;
            HeldReceipts receipts{world};
            const auto id = world.submit(support::request_of(row.kind, 1));
            world.run_for(100ms);
            REQUIRE(world.status(id) == Status::tx_in_flight);
            for (const auto& body : row.early) world.gateway.answer(id, body);
            world.run_for(1s);
            CHECK(world.status(id) == Status::tx_in_flight);
            if (restart) {
                world.restart();
                world.run_for(100ms);
            }
            receipts.release();
            world.run_for(1ms);
            CHECK(world.status(id) == row.before_late);
            for (const auto& body : row.late) world.gateway.answer(id, body);
            world.run_for(1ms);
            CHECK(world.status(id) == row.end);
            CHECK(world.number("select count(*) from answer") == 0);
            if (row.label == std::string{"more than the threshold"}) {
                CHECK(world.result(id) == domain::Result{shares_of({1, 2, 3, 4, 5, 6, 7, 8, 9})});
            }
        }
    }
}

TEST_CASE("a repeated share index counts once and the first one stays") {
    support::World world;
    const auto id = world.submit(support::user_decrypt(1));
    world.run_for(1s);
    domain::KmsShare forged = support::kms_share(1);
    for (int again = 0; again < 12; ++again) {
        world.gateway.answer(id, again == 0 ? support::kms_share(1) : forged);
        forged.payload.push_back(6);
    }
    for (std::uint32_t index = 2; index <= 8; ++index)
        world.gateway.answer(id, support::kms_share(index));
    world.run_for(1s);
    CHECK(world.status(id) == Status::receipt_received);
    world.gateway.answer(id, support::kms_share(9));
    world.run_for(1s);
    CHECK(world.result(id) == domain::Result{shares_of({1, 2, 3, 4, 5, 6, 7, 8, 9})});
}

TEST_CASE("a count beyond the threshold completes too: it may have been lowered (D-9)") {
    support::World world;
    const auto id = world.submit(support::user_decrypt(1));
    world.run_for(1s);
    for (std::uint32_t index = 1; index <= 8; ++index)
        world.gateway.answer(id, support::kms_share(index));
    world.run_for(1s);
    world.engine.options.user_decrypt_shares_threshold = 5;
    world.restart();
    world.gateway.answer(id, support::kms_share(13));
    world.run_for(1s);
    CHECK(world.status(id) == Status::completed);
    CHECK(world.result(id) == domain::Result{shares_of({1, 2, 3, 4, 5})});
}

TEST_CASE("an answer of the wrong kind changes nothing") {
    support::World world;
    const auto proof = world.submit(support::input_proof(1));
    const auto open = world.submit(support::public_decrypt(2));
    const auto user = world.submit(support::user_decrypt(3));
    world.run_for(1s);
    for (const auto& id : {proof, open, user}) {
        for (std::uint32_t index = 1; index <= 13 && id != user; ++index) {
            world.gateway.answer(id, support::kms_share(index));
        }
        if (id != open) world.gateway.answer(id, support::public_decrypted());
        if (id != proof) world.gateway.answer(id, support::proof_accepted());
        if (id != proof) world.gateway.answer(id, engine::ProofRejected{});
    }
    world.run_for(1s);
    for (const auto& id : {proof, open, user}) CHECK(world.status(id) == Status::receipt_received);
    world.gateway.answer(proof, support::proof_accepted());
    world.gateway.answer(open, support::public_decrypted());
    for (std::uint32_t index = 1; index <= 9; ++index)
        world.gateway.answer(user, support::kms_share(index));
    world.run_for(1s);
    for (const auto& id : {proof, open, user}) CHECK(world.status(id) == Status::completed);
}

TEST_CASE("answers nobody here asked for are bounded in number and in age") {
    support::World world;
    world.engine.store_options.early_answers_max = 50;
    world.engine.start();
    for (std::uint64_t number = 1; number <= 1'000; ++number) {
        world.engine.process().inbox.answered(
            {{{foreign(number), support::public_decrypted()}}, number});
    }
    world.run_for(1min);
    CHECK(world.number("select count(*) from answer") == 50);
    CHECK(world.number("select min(position) from answer") == 951);
    world.run_for(1h);
    CHECK(world.number("select count(*) from answer") == 0);
}

TEST_CASE("answers of others do not push out the shares of a request that waits for more") {
    support::World world;
    world.engine.store_options.early_answers_max = 50;
    const auto id = world.submit(support::user_decrypt(1));
    world.run_for(1s);
    for (std::uint32_t index = 1; index <= 8; ++index)
        world.gateway.answer(id, support::kms_share(index));
    for (std::uint64_t number = 1; number <= 500; ++number) {
        world.engine.process().inbox.answered({{{foreign(number), support::kms_share(1)}}, 0});
    }
    world.run_for(5min);
    CHECK(world.number("select count(*) from answer") <= 50 + 8);
    world.gateway.answer(id, support::kms_share(9));
    world.run_for(1s);
    CHECK(world.status(id) == Status::completed);
}

TEST_CASE("shares of a request are kept as long as it may still wait for more") {
    support::World world;
    world.engine.options.response_timeout.user_decrypt = 6h;
    const auto id = world.submit(support::user_decrypt(1));
    world.run_for(1s);
    for (std::uint32_t index = 1; index <= 8; ++index)
        world.gateway.answer(id, support::kms_share(index));
    world.run_for(5h);
    world.gateway.answer(id, support::kms_share(9));
    world.run_for(1s);
    CHECK(world.status(id) == Status::completed);
}

TEST_CASE(
    "the cursor moves in the commit of the moves it caused, never back, and is told at start") {
    support::World world;
    world.engine.start();
    CHECK(world.gateway.listened_from == 0);
    const auto id = world.submit(support::public_decrypt(1));
    world.run_for(1s);
    auto* inbox = &world.engine.process().inbox;
    inbox->answered({{{foreign(1), support::public_decrypted()},
                      {support::ScriptedGateway::reference_of(id), support::public_decrypted()}},
                     17});
    // Not applied yet: neither the move nor the cursor is there.
    CHECK(world.status(id) == Status::receipt_received);
    CHECK(world.number("select count(*) from cursor where listener = 'gateway'") == 0);
    world.engine.turn();
    CHECK(world.status(id) == Status::completed);
    CHECK(world.number("select position from cursor where listener = 'gateway'") == 17);
    inbox->answered({{}, 12});
    inbox->answered({{}, 0});
    world.engine.turn();
    CHECK(world.number("select position from cursor where listener = 'gateway'") == 17);
    inbox->answered({{}, 23});
    world.crash();  // what was not committed is asked for again
    world.engine.start();
    CHECK(world.gateway.listened_from == 17);
}

TEST_CASE("answers the listener tells twice after a restart change nothing") {
    support::World world;
    const auto open = world.submit(support::public_decrypt(1));
    const auto user = world.submit(support::user_decrypt(2));
    const auto rejected = world.submit(support::input_proof(3));
    world.run_for(1s);
    const auto tell_all = [&] {
        world.gateway.answer(open, support::public_decrypted());
        for (std::uint32_t index = 1; index <= 13; ++index) {
            world.gateway.answer(user, support::kms_share(index));
        }
        world.gateway.answer(rejected, engine::ProofRejected{});
        world.run_for(1s);
    };
    tell_all();
    const auto rows = std::vector{world.row(open), world.row(user), world.row(rejected)};
    world.restart();
    tell_all();
    CHECK(rows == std::vector{world.row(open), world.row(user), world.row(rejected)});
    CHECK(world.status(user) == Status::completed);
    CHECK(world.status(rejected) == Status::failure);
    CHECK(world.number("select count(*) from answer") == 0);
}

TEST_CASE("shares of many requests in one batch, in any order, find their own") {
    for (unsigned seed = 1; seed <= 5; ++seed) {
        CAPTURE(seed);
        support::World world;
        std::vector<domain::RequestId> ids;
        for (std::uint64_t number = 1; number <= 10; ++number) {
            ids.push_back(world.submit(support::user_decrypt(number)));
        }
        world.run_for(1s);
        std::vector<engine::Answer> answers;
        for (const auto& id : ids) {
            for (std::uint32_t index = 1; index <= 13; ++index) {
                answers.push_back(
                    {support::ScriptedGateway::reference_of(id), support::kms_share(index)});
            }
        }
        std::shuffle(answers.begin(), answers.end(), std::mt19937{seed});
        const std::size_t half = answers.size() / 2;
        const std::vector<engine::Answer> first(answers.begin(),
                                                answers.begin() + static_cast<long>(half));
        const std::vector<engine::Answer> second(answers.begin() + static_cast<long>(half),
                                                 answers.end());
        auto& inbox = world.engine.process().inbox;
        inbox.answered({first, 1});
        world.run_for(1s);
        inbox.answered({second, 2});
        world.run_for(1s);
        for (const auto& id : ids) {
            REQUIRE(world.status(id) == Status::completed);
            const auto result = std::get<domain::UserDecrypted>(world.result(id));
            CHECK(result.shares.size() == 9);
            CHECK(std::is_sorted(result.shares.begin(), result.shares.end(),
                                 [](const auto& a, const auto& b) { return a.index < b.index; }));
        }
        CHECK(world.number("select count(*) from answer") == 0);
    }
}

TEST_CASE("a listener's cursor goes back only when its chain did, and block 0 is a place too") {
    support::World world;
    world.run_for(0ms);
    auto& inbox = world.engine.process().inbox;
    const auto stored = [&] {
        return world.number(
            "select coalesce((select position from cursor where listener = 'b'), -1)");
    };
    CHECK(stored() == -1);
    inbox.answered({{}, 0, "b"});
    world.run_for(0ms);
    CHECK(stored() == 0);
    inbox.answered({{}, 90, "b"});
    inbox.answered({{}, 80, "b"});
    world.run_for(0ms);
    CHECK(stored() == 90);
    inbox.answered({{}, 70, "b", true});
    world.run_for(0ms);
    CHECK(stored() == 70);
    inbox.answered({{}, 75, "b"});
    world.run_for(0ms);
    CHECK(stored() == 75);
    world.restart();
    CHECK(world.gateway.resumed.cursor("b") == 75);
    CHECK(world.gateway.resumed.cursors.size() == 1);
}

TEST_CASE("answers that were forgotten before the receipt was known are read again") {
    for (const std::uint64_t receipt : {std::uint64_t{100}, std::uint64_t{102}}) {
        CAPTURE(receipt);
        support::World world;
        const auto id = world.submit(support::public_decrypt(1));
        world.gateway.on_send = [](const engine::SendOrder&) -> engine::SendOutcome {
            return engine::unreached("no node");
        };
        world.run_for(1s);
        REQUIRE(world.status(id) == Status::tx_in_flight);
        world.gateway.answer(id, support::public_decrypted(), domain::Block{101, {1}});
        world.run_for(3h);
        REQUIRE(world.number("select count(*) from answer") == 0);
        CHECK(world.gateway.rereads.empty());
        world.restart();
        world.gateway.block = domain::Block{receipt, {2}};
        world.gateway.on_send = [](const engine::SendOrder& order) -> engine::SendOutcome {
            return support::ScriptedGateway::receipt(order);
        };
        world.run_for(1min);
        CHECK(world.status(id) == Status::receipt_received);
        // Behind all that was forgotten the listener has yet to come by.
        using Blocks = std::vector<std::uint64_t>;
        CHECK(world.gateway.rereads == (receipt == 100 ? Blocks{100} : Blocks{}));
        world.gateway.rereads.clear();
        world.restart();
        world.run_for(1min);
        CHECK(world.gateway.rereads == (receipt == 100 ? Blocks{100} : Blocks{}));
        // What nobody here asked for is not kept a second time.
        world.engine.process().inbox.answered(
            {{{foreign(1), support::public_decrypted(), domain::Block{100, {3}}},
              {foreign(2), support::public_decrypted(), domain::Block{102, {4}}},
              {support::ScriptedGateway::reference_of(id), support::public_decrypted(),
               domain::Block{101, {1}}}},
             102});
        world.run_for(1s);
        CHECK(world.number("select count(*) from answer where block = 100") == 0);
        CHECK(world.number("select count(*) from answer where block = 101") == 1);
        CHECK(world.number("select count(*) from answer where block = 102") == 1);
    }
}

TEST_CASE("no answer is late while nobody hears the chain, nor before what was missed is read") {
    for (const bool is_answered : {true, false}) {
        CAPTURE(is_answered);
        support::World world;
        const auto id = world.submit(support::input_proof(1));
        world.run_for(1s);
        world.gateway.hears = false;
        world.run_for(3h);
        world.gateway.hears = true;
        world.run_for(80s);
        CHECK(world.status(id) == Status::receipt_received);
        if (is_answered) support::answer_well(world.gateway, id, domain::Kind::input_proof);
        world.run_for(1min);
        CHECK(world.status(id) == (is_answered ? Status::completed : Status::timed_out));
    }
}

TEST_CASE("an outage that was over in time puts no deadline off") {
    support::World world;
    const auto id = world.submit(support::input_proof(1));
    world.run_for(1min);
    world.gateway.hears = false;
    world.run_for(20min);
    world.gateway.hears = true;
    world.run_for(9min);
    CHECK(world.status(id) == Status::receipt_received);
    world.run_for(1min);
    CHECK(world.status(id) == Status::timed_out);
}

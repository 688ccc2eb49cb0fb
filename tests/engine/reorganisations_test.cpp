// Blocks that are replaced, as the engine hears of it.

#include <algorithm>
#include <chrono>

#include "support/world.hpp"

using domain::Block;
using domain::Kind;
using domain::Status;
using engine::SendOrder;
using engine::SendOutcome;
using namespace std::chrono_literals;

namespace {

Block block(std::uint64_t number, std::uint8_t fork = 0) {
    Block made{number, {}};
    made.hash[0] = fork;
    made.hash[1] = static_cast<std::uint8_t>(number);
    return made;
}

struct Chained : support::World {
    Chained() { gateway.block = block(10); }

    domain::RequestId with_receipt(const domain::Request& request) {
        const auto id = submit(request);
        run_for(1s);
        REQUIRE(status(id) == Status::receipt_received);
        return id;
    }
    domain::RequestId completed(const domain::Request& request) {
        const auto id = with_receipt(request);
        gateway.answer(id, support::public_decrypted(), block(11));
        run_for(0ms);
        stand({block(10), block(11)});
        REQUIRE(status(id) == Status::completed);
        return id;
    }

    void stand(std::vector<Block> blocks) { tell({std::move(blocks), {}, {}}); }
    void replace(std::vector<Block> blocks) { tell({{}, std::move(blocks), {}}); }
    void bury(std::vector<Block> blocks) { tell({{}, {}, std::move(blocks)}); }
    void tell(engine::BlockNews news) {
        gateway.news(std::move(news));
        run_for(0ms);
    }
    [[nodiscard]] bool watches(const Block& wanted) const {
        return std::ranges::any_of(gateway.watched, [&](const auto& blocks) {
            return std::ranges::find(blocks, wanted) != blocks.end();
        });
    }
    [[nodiscard]] std::int64_t inclusions() { return number("select count(*) from inclusion"); }
};

}  // namespace

TEST_CASE("an answer counts once the chain has its block and that of the receipt") {
    Chained world;
    const auto id = world.with_receipt(support::public_decrypt(1));
    CHECK(world.watches(block(10)));
    world.gateway.answer(id, support::public_decrypted(), block(11));
    world.run_for(1s);
    CHECK(world.status(id) == Status::receipt_received);
    CHECK(world.watches(block(11)));
    world.stand({block(11)});
    CHECK(world.status(id) == Status::receipt_received);
    world.stand({block(10), block(11, 1)});
    CHECK(world.status(id) == Status::receipt_received);
    world.stand({block(10), block(11)});
    CHECK(world.status(id) == Status::completed);
}

TEST_CASE("an answer that is older than the receipt, or beside it, is another's") {
    for (const Block& wrong : {block(9), block(10, 1)}) {
        Chained world;
        const auto id = world.with_receipt(support::public_decrypt(1));
        world.gateway.answer(id, support::public_decrypted(), wrong);
        world.run_for(1s);
        world.stand({block(10), wrong});
        CHECK(world.status(id) == Status::receipt_received);
        world.gateway.answer(id, support::public_decrypted(), block(10));
        world.run_for(1s);
        world.stand({block(10)});
        CHECK(world.status(id) == Status::completed);
    }
}

TEST_CASE("a receipt whose block is replaced is forgotten, with the answers of replaced blocks") {
    for (const bool crashes : {false, true}) {
        CAPTURE(crashes);
        Chained world;
        const auto id = world.with_receipt(support::user_decrypt(1));
        for (std::uint32_t index = 1; index <= 5; ++index) {
            world.gateway.answer(id, support::kms_share(index), block(10 + index));
        }
        world.run_for(10min);
        world.gateway.on_send = [](const SendOrder&) -> std::optional<SendOutcome> {
            return engine::Unreachable{"away"};
        };
        world.replace({block(10), block(11), block(12)});
        CHECK(world.status(id) == Status::tx_in_flight);
        const store::Row row = world.row(id);
        CHECK_FALSE(row.schedule.deadline);
        CHECK(world.clock.wall() - row.since < 1s);
        CHECK(world.number("select reference is null from request") == 1);
        CHECK(world.number("select count(*) from answer") == 3);
        if (crashes) world.restart();
        world.run_for(1s);
        // The same bytes, once more.
        const auto& again = world.gateway.sends.back().order;
        CHECK(again.look_up_first);
        CHECK(again.sealed.back().bytes == world.gateway.sends.front().order.sealed.back().bytes);

        world.gateway.block = block(13, 1);
        world.gateway.on_send = [](const SendOrder& order) {
            return support::ScriptedGateway::receipt(order);
        };
        world.run_for(1min);
        REQUIRE(world.status(id) == Status::receipt_received);
        CHECK(world.row(id).schedule.deadline.value() > world.clock.wall() + 28min);
    }
}

TEST_CASE("news of a block nothing rests on is stale") {
    Chained world;
    const auto id = world.with_receipt(support::public_decrypt(1));
    const store::Row before = world.row(id);
    world.replace({block(10, 1), block(9), block(11)});
    world.stand({block(10)});
    CHECK(world.row(id) == before);
    world.replace({block(10)});
    world.run_for(1s);
    world.replace({block(10)});  // it came back there, and is looked up once more
    world.run_for(1s);
    CHECK(world.status(id) == Status::receipt_received);
}

TEST_CASE("an ended request keeps its row, and its bytes go again until a block has them") {
    for (const bool crashes : {false, true}) {
        CAPTURE(crashes);
        Chained world;
        const auto id = world.completed(support::public_decrypt(1));
        const store::Row row = world.row(id);
        const std::size_t sends = world.gateway.sends.size();
        int refusals = 3;
        world.gateway.on_send = [&](const SendOrder& order) -> std::optional<SendOutcome> {
            if (refusals-- > 0) return engine::Unreachable{"away"};
            return support::ScriptedGateway::receipt(order);
        };
        world.gateway.block = block(12, 1);
        world.replace({block(10), block(11)});
        world.run_for(500ms);
        if (crashes) world.restart();
        world.run_for(1min);
        CHECK(world.gateway.sends.size() == sends + (crashes ? 5 : 4));
        CHECK(world.gateway.sends.back().order.sealed.back().bytes ==
              world.gateway.sends.front().order.sealed.back().bytes);
        CHECK(world.row(id) == row);
        CHECK(world.watches(block(12, 1)));
        CHECK(world.inclusions() == 1);
        world.bury({block(12, 1)});
        CHECK(world.inclusions() == 0);
    }
}

TEST_CASE("an ended request whose transaction needs higher fees gets another one") {
    Chained world;
    const auto id = world.completed(support::public_decrypt(1));
    bool is_first = true;
    world.gateway.on_send = [&](const SendOrder& order) -> std::optional<SendOutcome> {
        if (std::exchange(is_first, false)) return engine::Reseal{{}, order.sealed.size()};
        return support::ScriptedGateway::receipt(order);
    };
    world.gateway.block = block(12, 1);
    std::size_t asked = 0;
    SUBCASE("signed here") {}
    SUBCASE("signed elsewhere") {
        world.gateway.on_sign = [](std::uint64_t, const engine::Sealed& sealed) { return sealed; };
        world.gateway.sign_delay = [](std::uint64_t) { return 300ms; };
    }
    SUBCASE("signed elsewhere, after it was out of reach") {
        world.gateway.on_sign = [&](std::uint64_t,
                                    const engine::Sealed& sealed) -> engine::SignOutcome {
            if (++asked <= 3) {
                is_first = true;  // the node still wants higher fees
                return engine::unreached("the signer: connection refused");
            }
            return sealed;
        };
    }
    world.replace({block(10)});
    world.run_for(1min);
    CHECK(world.gateway.dropped.empty());
    CHECK((asked == 0 || asked == 4));
    CHECK(world.gateway.sends.back().order.sealed.size() == 2);
    CHECK(world.status(id) == Status::completed);
    CHECK(world.inclusions() == 1);
}

TEST_CASE("an ended request gets another nonce once it is known that nobody else sent it") {
    Chained world;
    world.gateway.account = "0xA";
    const auto id = world.completed(support::public_decrypt(1));
    world.gateway.on_send = [](const SendOrder& order) -> std::optional<SendOutcome> {
        if (order.sealed.size() > 1) return support::ScriptedGateway::receipt(order);
        return engine::Reseal{{}, order.sealed.size(), true};
    };
    world.gateway.block = block(12, 1);
    world.replace({block(10)});
    world.restart();
    world.run_for(1min);
    CHECK(world.number("select count(*) from attempt") == 1);
    SUBCASE("nobody else sent") {
        world.engine.process().inbox.account_found({"0xA", 1, false});
        world.run_for(1min);
        CHECK(world.number("select count(*) from attempt") == 2);
        CHECK(world.number("select position from cursor where listener = 'mark nonce 0xA'") ==
              world.number("select max(nonce) + 1 from attempt"));
        CHECK(world.inclusions() == 1);
    }
    SUBCASE("another process sent") {
        world.engine.process().inbox.account_found({"0xA", 9, true});
        world.run_for(1min);
        CHECK(world.number("select count(*) from attempt") == 1);
        CHECK(world.inclusions() == 0);
    }
    CHECK(world.status(id) == Status::completed);
}

TEST_CASE("a nonce is told to the next life until its block is buried") {
    Chained world;
    const auto id = world.completed(support::public_decrypt(1));
    world.restart();
    CHECK(world.gateway.resumed.in_flight.empty());
    REQUIRE(world.gateway.resumed.used.size() == 1);
    CHECK(world.gateway.resumed.used[0].block == block(10));
    CHECK(world.watches(block(10)));
    world.bury({block(10)});
    world.restart();
    CHECK(world.gateway.resumed.used.empty());
    CHECK(world.status(id) == Status::completed);
}

TEST_CASE("a buried nonce is nobody's, also while its request waits for the answer") {
    Chained world;
    const auto id = world.with_receipt(support::public_decrypt(1));
    world.bury({block(10)});
    world.restart();
    CHECK(world.gateway.resumed.in_flight.empty());
    CHECK(world.gateway.resumed.used.empty());
    CHECK(world.status(id) == Status::receipt_received);
}

TEST_CASE("a block that is gone deeper than is looked for is said, and ends as a reason") {
    Chained world;
    const auto id = world.with_receipt(support::public_decrypt(1));
    world.bury({block(10)});
    world.replace({block(10)});
    CHECK(world.status(id) == Status::receipt_received);
    CHECK(world.engine.logger.count("request_reorganised") == 1);
    world.run_for(30min);
    CHECK(world.status(id) == Status::receipt_received);
    world.replace({block(10)});
    CHECK(world.status(id) == Status::timed_out);
    CHECK(world.failure(id).text.ends_with("its transaction is no longer on the chain"));

    // Nobody says anything: as ever.
    const auto other = world.with_receipt(support::public_decrypt(2));
    world.run_for(30min + 5s);
    CHECK(world.failure(other).text ==
          "Gateway chain did not respond within the expected timeframe");
}

TEST_CASE("another answer to what is served is counted, the same one is not") {
    struct Counted : engine::Observer {
        void stepped(const engine::StepFacts& facts) override {
            count += facts.answers_reorganised;
        }
        std::size_t count = 0;
    } counted;
    Chained world;
    world.engine.observers.add(counted);
    const auto id = world.completed(support::public_decrypt(1));
    world.gateway.answer(id, support::public_decrypted(), block(11));
    world.run_for(1s);
    CHECK(counted.count == 0);
    domain::PublicDecrypted other = support::public_decrypted();
    other.value.push_back(1);
    world.gateway.answer(id, other, block(11, 1));
    world.run_for(1s);
    CHECK(counted.count == 1);
    CHECK(std::get<domain::PublicDecrypted>(world.result(id)).value ==
          support::public_decrypted().value);
}

#include <chrono>
#include <string_view>
#include <vector>

#include "support/world.hpp"

using domain::Bytes;
using domain::Bytes32;
using domain::Status;
using namespace std::chrono_literals;

namespace {

Bytes32 context(std::uint8_t last) {
    Bytes32 id{};
    id.front() = 7;
    id.back() = last;
    return id;
}

Bytes extra_data(const Bytes32& id) {
    Bytes bytes{1};
    bytes.insert(bytes.end(), id.begin(), id.end());
    return bytes;
}

domain::KmsShare share(std::uint32_t index, Bytes extra) {
    return {index, {static_cast<std::uint8_t>(index)}, Bytes(65, 3), std::move(extra)};
}

// A user decryption that has its receipt.
struct Waiting : support::World {
    Waiting() {
        id = submit(support::user_decrypt(1));
        run_for(1s);
        REQUIRE(status(id) == Status::receipt_received);
    }
    void share_comes(std::uint32_t index, Bytes extra) {
        gateway.answer(id, share(index, std::move(extra)));
        run_for(1ms);
    }
    [[nodiscard]] std::size_t shares_served() {
        return std::get<domain::UserDecrypted>(result(id)).shares.size();
    }
    domain::RequestId id;
};

}  // namespace

TEST_CASE("T-130 shares without a context are measured by the setting, and nobody is asked") {
    for (const Bytes& extra : {Bytes{}, Bytes{0}, Bytes{0, 1, 2}, extra_data(Bytes32{})}) {
        Waiting world;
        int asked = 0;
        world.gateway.on_threshold = [&](const Bytes32&) -> std::optional<std::uint32_t> {
            ++asked;
            return 1;
        };
        for (std::uint32_t index = 0; index < 8; ++index) world.share_comes(index, extra);
        CHECK(world.status(world.id) == Status::receipt_received);
        world.share_comes(8, extra);
        CHECK(world.status(world.id) == Status::completed);
        CHECK(world.shares_served() == 9);
        CHECK(asked == 0);
    }
}

TEST_CASE("the threshold of a context decides, smaller or larger than the setting") {
    for (const std::uint32_t threshold : {1U, 3U, 12U}) {
        CAPTURE(threshold);
        Waiting world;
        world.gateway.on_threshold = [&](const Bytes32& id) {
            CHECK(id == context(42));
            return std::optional{threshold};
        };
        for (std::uint32_t index = 0; index + 1 < threshold; ++index) {
            world.share_comes(index, extra_data(context(42)));
            CHECK(world.status(world.id) == Status::receipt_received);
        }
        world.share_comes(threshold - 1, extra_data(context(42)));
        CHECK(world.status(world.id) == Status::completed);
        CHECK(world.shares_served() == threshold);
    }
}

TEST_CASE("shares are kept while their threshold is not known, also over a restart") {
    Waiting world;
    bool known = false;
    world.gateway.on_threshold = [&](const Bytes32&) {
        return known ? std::optional{2U} : std::nullopt;
    };
    world.share_comes(5, extra_data(context(1)));
    world.share_comes(3, extra_data(context(1)));
    world.run_for(1min);
    CHECK(world.status(world.id) == Status::receipt_received);
    world.restart();
    world.run_for(1min);
    CHECK(world.status(world.id) == Status::receipt_received);
    known = true;
    world.run_for(1001ms);
    CHECK(world.status(world.id) == Status::completed);
    CHECK(world.shares_served() == 2);
}

TEST_CASE("a threshold that is lowered later completes what has enough") {
    Waiting world;
    std::uint32_t threshold = 5;
    world.gateway.on_threshold = [&](const Bytes32&) { return std::optional{threshold}; };
    for (std::uint32_t index = 0; index < 3; ++index) {
        world.share_comes(index, extra_data(context(1)));
    }
    threshold = 2;
    world.run_for(31s);
    CHECK(world.status(world.id) == Status::completed);
    CHECK(world.shares_served() == 2);
}

TEST_CASE("looking for thresholds moves no deadline") {
    Waiting world;
    world.share_comes(1, extra_data(context(1)));
    world.run_for(29min + 58s);
    CHECK(world.status(world.id) == Status::receipt_received);
    world.run_for(2s);
    CHECK(world.status(world.id) == Status::timed_out);
}

TEST_CASE("a share of a context that can not be read counts for nobody") {
    Waiting world;
    world.engine.options.user_decrypt_shares_threshold = 1;
    for (const Bytes& extra : {Bytes{3}, Bytes{1}, Bytes(32, 1), Bytes(64, 2), Bytes(40, 9)}) {
        world.share_comes(1, extra);
        CHECK(world.status(world.id) == Status::receipt_received);
    }
    CHECK(world.number("select count(*) from answer") == 0);
    Bytes with_tail = extra_data(context(1));
    with_tail.push_back(0xff);
    world.gateway.on_threshold = [](const Bytes32& id) {
        CHECK(id == context(1));
        return std::optional{1U};
    };
    world.share_comes(1, with_tail);
    CHECK(world.status(world.id) == Status::completed);
}

TEST_CASE("a threshold that the chain announces completes with exactly its shares") {
    for (const std::uint32_t count : {1U, 3U, 9U, 12U}) {
        CAPTURE(count);
        Waiting world;
        world.gateway.announces = true;
        world.gateway.on_threshold = [](const Bytes32&) { return std::optional{2U}; };
        for (std::uint32_t index = 14; index-- > 0;)
            world.share_comes(index, extra_data(context(1)));
        world.run_for(10min);
        CHECK(world.status(world.id) == Status::receipt_received);
        world.gateway.answer(world.id, engine::ThresholdReached{count, 5});
        world.run_for(1ms);
        CHECK(world.status(world.id) == Status::completed);
        const auto shares = std::get<domain::UserDecrypted>(world.result(world.id)).shares;
        REQUIRE(shares.size() == count);
        for (std::uint32_t index = 0; index < count; ++index) CHECK(shares[index].index == index);
        CHECK(world.gateway.rereads.empty());
        CHECK(world.number("select count(*) from answer") == 0);
    }
}

TEST_CASE("an announced threshold whose shares are not all there completes nothing") {
    for (const bool restarts : {false, true}) {
        CAPTURE(restarts);
        Waiting world;
        world.gateway.announces = true;
        world.share_comes(0, {0});
        world.share_comes(2, {0});
        world.gateway.answer(world.id, engine::ThresholdReached{3, 77});
        world.run_for(1ms);
        CHECK(world.gateway.rereads == std::vector<std::uint64_t>{77});
        // What comes once more tells nothing.
        world.gateway.answer(world.id, engine::ThresholdReached{3, 77});
        world.share_comes(2, {0});
        CHECK(world.gateway.rereads.size() == 1);
        if (restarts) world.restart();
        world.run_for(65s);
        CHECK(world.gateway.rereads.size() == 3);
        CHECK(world.status(world.id) == Status::receipt_received);
        world.share_comes(1, {0});
        CHECK(world.status(world.id) == Status::completed);
        CHECK(world.shares_served() == 3);
    }
}

TEST_CASE("an announced threshold moves no deadline and is nothing to other kinds") {
    Waiting world;
    world.gateway.announces = true;
    world.gateway.answer(world.id, engine::ThresholdReached{2, 5});
    const auto other = world.submit(support::public_decrypt(1));
    world.run_for(1s);
    world.gateway.answer(other, engine::ThresholdReached{1, 5});
    world.run_for(29min + 58s);
    CHECK(world.status(world.id) == Status::receipt_received);
    CHECK(world.status(other) == Status::receipt_received);
    world.gateway.answer(other, support::public_decrypted());
    world.run_for(3s);
    CHECK(world.status(world.id) == Status::timed_out);
    CHECK(world.status(other) == Status::completed);
}

TEST_CASE("a chain of which nobody knows whether it announces: a number that is known decides") {
    Waiting world;
    world.gateway.announces = true;
    for (std::uint32_t index = 0; index < 9; ++index) world.share_comes(index, {0});
    CHECK(world.status(world.id) == Status::receipt_received);
    world.gateway.announces = false;  // it turned out
    world.run_for(31s);
    CHECK(world.status(world.id) == Status::completed);
    CHECK(world.shares_served() == 9);
}

TEST_CASE("the newest request of an id that was given out twice gets the answer") {
    // A chain that was reset counts from the beginning again.
    support::World world;
    const auto old = world.submit(support::input_proof(1));
    world.run_for(1s);
    world.gateway.answer(old, support::proof_accepted());
    world.run_for(1s);
    REQUIRE(world.status(old) == Status::completed);
    const Bytes32 reference = support::ScriptedGateway::reference_of(old);
    world.gateway.on_send = [&](const engine::SendOrder& order) {
        engine::Receipt receipt{order.sealed.front().hash, reference, {}};
        return std::optional<engine::SendOutcome>{receipt};
    };
    const auto young = world.submit(support::input_proof(2));
    world.run_for(1s);
    REQUIRE(world.status(young) == Status::receipt_received);
    world.gateway.answer(old, support::proof_accepted());
    world.run_for(1s);
    CHECK(world.status(young) == Status::completed);
}

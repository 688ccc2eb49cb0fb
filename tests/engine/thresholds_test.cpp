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

// Idempotency-Key: the stored job is replayed, whatever became of it (field reports 55 and 56).

#include <set>
#include <vector>

#include "support/world.hpp"

using domain::Status;
using engine::Accepted;
using namespace std::chrono_literals;

namespace {

domain::Bytes32 key(std::uint64_t number) {
    return support::numbered<domain::Bytes32>(number);
}

engine::AcceptOutcome post(support::World& world, const domain::Request& request,
                           std::optional<domain::Bytes32> with) {
    std::optional<engine::AcceptOutcome> outcome;
    world.engine.process().service.submit(
        request, {.idempotency_key = with},
        [&](engine::AcceptOutcome given) { outcome = std::move(given); });
    static_cast<void>(world.engine.turn());
    return outcome.value();
}

domain::RequestId id_of(const engine::AcceptOutcome& outcome) {
    REQUIRE(is<Accepted>(outcome));
    return std::get<Accepted>(outcome).id;
}

// Brings the request of `input_proof(1)` to each of its ends.
void bring(support::World& world, const domain::RequestId& id, Status wanted) {
    if (wanted == Status::completed) {
        world.run_for(1s);
        support::answer_well(world.gateway, id, domain::Kind::input_proof);
    }
    world.run_for(wanted == Status::timed_out ? 2h : 1s);
    REQUIRE(world.status(id) == wanted);
}

}  // namespace

TEST_CASE("field report 56: content and key modes against every end, stable across a restart") {
    for (const Status end : {Status::failure, Status::timed_out, Status::completed}) {
        CAPTURE(to_string(end));
        support::World world;
        if (end == Status::failure) {
            world.gateway.on_prepare = [](const engine::PrepareOrder&) {
                return engine::Rejected{{domain::Reason::reverted, "reverted", {}}};
            };
        }
        const domain::Request request = support::input_proof(1);
        const domain::RequestId first = id_of(post(world, request, key(1)));
        CHECK(id_of(post(world, request, key(1))) == first);
        bring(world, first, end);
        for (int life = 0; life < 2; ++life) {
            // With the key it is the stored job, without it content decides.
            CHECK(id_of(post(world, request, key(1))) == first);
            if (life == 0) world.restart();
        }
        const domain::RequestId by_content = id_of(post(world, request, {}));
        CHECK((by_content == first) == (end == Status::completed));
        const domain::RequestId new_key = id_of(post(world, request, key(2)));
        CHECK(new_key == by_content);
        CHECK(id_of(post(world, request, key(1))) == first);
    }
}

TEST_CASE("field report 55: a key with other content is refused, also while the first runs") {
    support::World world;
    const auto first = id_of(post(world, support::input_proof(1), key(1)));
    CHECK(is<engine::KeyReused>(post(world, support::input_proof(2), key(1))));
    CHECK(is<engine::KeyReused>(post(world, support::public_decrypt(1), key(1))));
    CHECK(id_of(post(world, support::input_proof(2), key(2))) != first);
    CHECK(world.number("select count(*) from request") == 2);
    world.restart();
    CHECK(is<engine::KeyReused>(post(world, support::input_proof(2), key(1))));
}

TEST_CASE("field report 55: fifty POSTs of one key in one step make one row and equal answers") {
    support::World world;
    std::set<std::int64_t> ids;
    int answers = 0;
    for (int i = 0; i < 50; ++i) {
        world.engine.process().service.submit(support::input_proof(1), {.idempotency_key = key(1)},
                                              [&](engine::AcceptOutcome outcome) {
                                                  ids.insert(id_of(outcome).sequence);
                                                  ++answers;
                                              });
    }
    static_cast<void>(world.engine.turn());
    CHECK(answers == 50);
    CHECK(ids.size() == 1);
    CHECK(world.number("select count(*) from request") == 1);
    CHECK(world.number("select count(*) from idempotency") == 1);
}

TEST_CASE("a request that was bounced leaves no key behind") {
    support::World world;
    world.engine.options.sending.input_proof = {1, 1, 2, 1};
    static_cast<void>(post(world, support::input_proof(1), {}));
    static_cast<void>(post(world, support::input_proof(2), {}));
    REQUIRE(is<engine::QueueFull>(post(world, support::input_proof(3), key(3))));
    CHECK(world.number("select count(*) from idempotency") == 0);
    world.run_for(1min);
    CHECK(is<Accepted>(post(world, support::input_proof(4), key(3))));
}

TEST_CASE("a key lives as long as its job") {
    support::World world;
    world.engine.options.retention.expiry_enabled = true;
    const auto first = id_of(post(world, support::input_proof(1), key(1)));
    bring(world, first, Status::completed);
    world.run_for(24h * 8);
    REQUIRE_FALSE(world.engine.view(first));
    CHECK(id_of(post(world, support::input_proof(2), key(1))) != first);
}

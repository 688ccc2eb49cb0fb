// A journal takes entries of a bounded size: whatever comes at once, a step is never larger.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/operations.hpp"
#include "store/commit_sink.hpp"
#include "store/journal_position.hpp"
#include "support/answers.hpp"
#include "support/is.hpp"
#include "support/world.hpp"

using domain::RequestId;
using domain::Status;
using engine::AcceptOutcome;
using engine::Instruction;
using engine::InstructionOutcome;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t too_large = store::value_bytes_max + 1;

// A journal that keeps only how large its entries were.
class EntrySizes : public store::CommitSink {
public:
    [[nodiscard]] store::JournalPosition decide(const store::RowChanges& changes) override {
        sizes.push_back(changes.patchset.size());
        ++position.seq;
        return position;
    }
    void committed() noexcept override {}

    std::vector<std::size_t> sizes;
    store::JournalPosition position{"main", 0, 0, 1, {}};
};

struct JournaledWorld : support::World {
    JournaledWorld() {
        store::join_book(engine.store_options, journal.position);
        engine.journal = &journal;
        engine.options.inbox_capacity = 100'000;
        engine.options.readiness.public_decrypt.capacity = 100'000;
        engine.options.sending.input_proof.capacity = 100'000;
    }
    ~JournaledWorld() {
        for (const std::size_t size : journal.sizes) CHECK(size <= store::patchset_bytes_max);
    }
    JournaledWorld(const JournaledWorld&) = delete;
    JournaledWorld& operator=(const JournaledWorld&) = delete;

    // Turns, until nothing is left to do at once; how many.
    std::size_t turn_to_rest() {
        std::size_t turns = 1;
        while (engine.turn().length <= 0ms || !engine.process().inbox.is_empty()) {
            REQUIRE(++turns < 10'000);
        }
        return turns;
    }

    void submit_many(std::size_t count) {
        std::size_t told = 0;
        for (std::uint64_t number = 1; number <= count; ++number) {
            engine.post(support::public_decrypt(number), [&told](const AcceptOutcome& outcome) {
                told += is<engine::Accepted>(outcome) ? 1 : 0;
            });
        }
        turn_to_rest();
        REQUIRE(told == count);
    }

    // Tells what became of it once it is told.
    std::optional<InstructionOutcome>& instruct(Instruction::What what) {
        outcome.reset();
        engine.process().service.instruct(
            {std::move(what), [this](const InstructionOutcome& given) {
                 CHECK_FALSE(outcome);
                 outcome = given;
             }});
        return outcome;
    }

    EntrySizes journal;
    std::optional<InstructionOutcome> outcome;
};

domain::Request large_proof(std::uint64_t number, std::size_t size) {
    domain::InputProof request = support::input_proof(number);
    request.ciphertext.resize(size, 1);
    return request;
}

template <typename AnyWorld>
std::vector<RequestId> post_large(AnyWorld& world, std::size_t count) {
    std::vector<RequestId> ids;
    for (std::uint64_t number = 1; number <= count; ++number) {
        world.engine.post(large_proof(number, 300'000), [&ids](const AcceptOutcome& outcome) {
            ids.push_back(support::accepted(outcome).id);
        });
    }
    static_cast<void>(world.engine.turn());
    return ids;
}

}  // namespace

TEST_CASE("a step takes up what fits into an entry, and the next one follows at once") {
    JournaledWorld world;
    std::vector<RequestId> ids;
    for (std::uint64_t number = 1; number <= 40; ++number) {
        world.engine.post(large_proof(number, 300'000), [&ids](const AcceptOutcome& outcome) {
            ids.push_back(support::accepted(outcome).id);
        });
    }
    CHECK(world.engine.turn().length == 0ms);
    CHECK(ids.size() == 2);
    world.turn_to_rest();
    CHECK(ids.size() == 40);
    CHECK(std::ranges::is_sorted(ids, {}, &RequestId::sequence));
    CHECK(world.journal.sizes.size() >= 20);
}

TEST_CASE("on a single machine a step takes up all there is") {
    support::World world;
    CHECK(post_large(world, 40).size() == 40);
}

TEST_CASE("what comes in does not keep waiting what is due") {
    JournaledWorld world;
    static_cast<void>(world.submit(support::public_decrypt(1)));
    world.gateway.checks.clear();
    static_cast<void>(world.submit(support::public_decrypt(2)));
    world.gateway.checks.clear();
    std::size_t told = 0;
    world.engine.post(support::public_decrypt(3), [](const AcceptOutcome&) {});
    for (std::uint64_t number = 1; number <= 40; ++number) {
        world.engine.post(large_proof(number, 400'000), [&told](const AcceptOutcome&) { ++told; });
    }
    for (int turn = 0; turn < 3; ++turn) static_cast<void>(world.engine.turn());
    CHECK(world.gateway.checks.size() == 1);
    CHECK(told < 6);
    world.turn_to_rest();
    CHECK(told == 40);
}

TEST_CASE("a request that no entry can hold is refused, and on a single machine it is not") {
    JournaledWorld world;
    const AcceptOutcome outcome = world.engine.try_submit(large_proof(1, too_large));
    REQUIRE(is<engine::TooLarge>(outcome));
    CHECK(std::get<engine::TooLarge>(outcome).bytes_max == store::value_bytes_max);
    CHECK(is<engine::Accepted>(
        world.engine.try_submit(large_proof(2, store::value_bytes_max - 200))));
    support::World alone;
    CHECK(is<engine::Accepted>(alone.engine.try_submit(large_proof(1, 3 * too_large))));
}

TEST_CASE("the end of a pause moves each deadline once, in as many steps as it takes") {
    for (const bool dies : {false, true}) {
        CAPTURE(dies);
        JournaledWorld world;
        constexpr std::size_t count = 15'000;
        world.instruct(engine::Pause{domain::Family::public_decrypt});
        world.submit_many(count);
        world.crash();
        world.tamper("update request set deadline_ms = 1780300000000");
        world.engine.start();
        auto& process = world.engine.process();
        engine::operations::restore_pauses(process.store.settings(), process.gates);
        static_cast<void>(world.engine.turn());
        world.clock.advance(10min);

        world.instruct(engine::Unpause{domain::Family::public_decrypt});
        static_cast<void>(world.engine.turn());
        CHECK_FALSE(world.outcome);
        const auto moved = [&] {
            return world.number(
                "select count(*) from request where deadline_ms = 1780300000000 + 600000");
        };
        const std::int64_t moved_first = moved();
        CHECK(moved_first > 2'000);
        CHECK(moved_first < static_cast<std::int64_t>(count));
        CHECK(world.gateway.checks.empty());
        if (dies) {
            world.restart();
        } else {
            for (int turn = 0; turn < 10 && !world.outcome; ++turn) {
                static_cast<void>(world.engine.turn());
            }
            REQUIRE(world.outcome);
            CHECK(is<engine::Done>(*world.outcome));
        }
        CHECK(moved() == static_cast<std::int64_t>(count));
        CHECK(world.engine.process().store.settings().empty());
        CHECK(world.number("select count(*) from setting where name like '~pause%'") == 0);
        CHECK_FALSE(world.engine.process().gates.is_paused(domain::Family::public_decrypt));
        static_cast<void>(world.engine.turn());
        CHECK_FALSE(world.gateway.checks.empty());
    }
}

TEST_CASE("a chain that is ahead holds all there is before anything begins") {
    JournaledWorld world;
    constexpr std::size_t count = 9'000;
    world.instruct(engine::Pause{domain::Family::public_decrypt});
    world.submit_many(count);
    world.restart();
    world.engine.process().inbox.account_found({"0xa", 9, true, false});
    static_cast<void>(world.engine.turn());
    store::Store& store = world.engine.process().store;
    CHECK_FALSE(store.mark("nonce 0xa"));
    const auto first = store.holds().size();
    CHECK(first > 1'000);
    CHECK(first < count);
    world.turn_to_rest();
    CHECK(store.holds().size() == count);
    CHECK(store.mark("nonce 0xa") == 9);
    CHECK(world.gateway.checks.empty());
    CHECK(world.engine.logger.count("held=" + std::to_string(count)) == 1);

    world.gateway.on_check = [](const engine::CheckOrder&) { return std::nullopt; };
    world.instruct(engine::Release{true, {}});
    static_cast<void>(world.engine.turn());
    CHECK_FALSE(world.outcome);
    world.turn_to_rest();
    REQUIRE(world.outcome);
    CHECK(std::get<engine::Released>(*world.outcome).count == count);
    CHECK_FALSE(world.gateway.checks.empty());
}

TEST_CASE("a batch of answers is applied in as many steps as it takes, and then the cursor moves") {
    JournaledWorld world;
    world.engine.start();
    constexpr std::uint64_t count = 4'000;
    const domain::Block block{7, support::numbered<domain::Bytes32>(7)};
    engine::Answered answered;
    for (std::uint64_t number = 1; number <= count; ++number) {
        engine::Answer answer{support::numbered<domain::Bytes32>(number),
                              domain::PublicDecrypted{domain::Bytes(500, 1), {}, {0}}, block};
        answered.answers.push_back(std::move(answer));
    }
    answered.cursor = 70;
    auto& process = world.engine.process();
    process.inbox.answered(std::move(answered));
    static_cast<void>(world.engine.turn());
    CHECK(world.number("select count(*) from answer") < static_cast<std::int64_t>(count));
    CHECK_FALSE(process.store.cursor(engine::only_listener));
    CHECK(world.turn_to_rest() > 3);
    CHECK(world.number("select count(*) from answer") == static_cast<std::int64_t>(count));
    CHECK(process.store.cursor(engine::only_listener) == 70);

    process.inbox.block_news({{}, {block}, {}});
    world.turn_to_rest();
    CHECK(world.number("select count(*) from answer") == 0);
}

TEST_CASE("an answer that no entry can hold fails its request, early or late") {
    JournaledWorld world;
    const domain::PublicDecrypted large{domain::Bytes(too_large, 1), {}, {0}};
    const auto check_failed = [&](const RequestId& id) {
        REQUIRE(world.status(id) == Status::failure);
        CHECK(world.failure(id).text.find("larger than 458752 bytes") != std::string::npos);
    };
    const RequestId late = world.submit(support::public_decrypt(1));
    world.run_for(1s);
    world.gateway.answer(late, large);
    world.run_for(1s);
    check_failed(late);

    const RequestId early = world.submit(support::public_decrypt(2));
    world.gateway.answer(early, large);
    world.run_for(1s);
    check_failed(early);

    // Shares that fit, and what they make does not.
    const RequestId many = world.submit(support::user_decrypt(3));
    world.run_for(1s);
    for (std::uint32_t index = 1; index <= 9; ++index) {
        domain::KmsShare share = support::kms_share(index);
        share.payload.resize(100'000);
        world.gateway.answer(many, share);
    }
    world.run_for(1s);
    check_failed(many);

    world.gateway.announces = true;
    const RequestId announced = world.submit(support::user_decrypt(4));
    world.run_for(1s);
    domain::KmsShare share = support::kms_share(0);
    share.payload.resize(too_large);
    world.gateway.answer(announced, share);
    world.run_for(1s);
    CHECK(world.status(announced) == Status::receipt_received);
    world.gateway.answer(announced, engine::ThresholdReached{1, 0});
    world.run_for(1s);
    check_failed(announced);

    support::World alone;
    const RequestId kept = alone.submit(support::public_decrypt(1));
    alone.run_for(1s);
    alone.gateway.answer(kept, large);
    alone.run_for(1s);
    CHECK(alone.status(kept) == Status::completed);
}

TEST_CASE("a transaction that no entry can hold is not signed") {
    JournaledWorld world;
    world.gateway.on_prepare = [](const engine::PrepareOrder&) {
        return engine::Plan{domain::Bytes(too_large, 1)};
    };
    const RequestId id = world.submit(support::input_proof(1));
    world.run_for(1s);
    CHECK(world.status(id) == Status::failure);
    CHECK(world.gateway.plans.empty());
    world.gateway.on_prepare = [](const engine::PrepareOrder&) { return engine::Plan{}; };
    const RequestId other = world.submit(support::input_proof(2));
    world.run_for(1s);
    CHECK(world.status(other) == Status::receipt_received);
}

TEST_CASE("a step that is too large all the same ends the process") {
    JournaledWorld world;
    world.engine.start();
    std::optional<bool> stored;
    world.engine.process().service.retune({engine::tuning_of(world.engine.options),
                                           {{"name", std::string(2 << 20, 'x')}},
                                           {},
                                           [&](bool given) { stored = given; }});
    CHECK_THROWS_AS(static_cast<void>(world.engine.turn()), store::StepTooLarge);
    CHECK(stored == false);
    CHECK(world.engine.logger.count("step_too_large alert=true") == 1);
    CHECK(world.journal.sizes.empty());
    world.restart();
    CHECK(is<engine::Accepted>(world.engine.try_submit(support::input_proof(1))));
}

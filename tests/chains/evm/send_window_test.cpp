#include "chains/evm/send_window.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "chains/evm/relay.hpp"
#include "chains/evm/scripted_signer.hpp"
#include "support/virtual_time.hpp"

// What leaves within any second, whatever gathered before it could.

using chains::evm::SendWindow;
using chains::jsonrpc::Call;
using domain::Family;
using domain::Milliseconds;
using domain::Monotonic;
using domain::Status;
using support::Relay;
using support::ScriptedSigner;
using namespace std::chrono_literals;

namespace {

SendWindow::PlacePtr place_in(std::variant<SendWindow::PlacePtr, Milliseconds> taken) {
    return std::get<SendWindow::PlacePtr>(std::move(taken));
}

Milliseconds wait_in(const std::variant<SendWindow::PlacePtr, Milliseconds>& taken) {
    return std::get<Milliseconds>(taken);
}

// At any moments, in order.
std::size_t most_in_a_second(std::vector<Monotonic> moments) {
    std::ranges::sort(moments);
    std::size_t most = 0;
    for (std::size_t first = 0, last = 0; last < moments.size(); ++last) {
        while (moments[last] - moments[first] >= 1s) ++first;
        most = std::max(most, last - first + 1);
    }
    return most;
}

const std::string elsewhere_key = std::string(63, '0') + "1";

// Requests of three families, and a key that is elsewhere and signs nothing until it is told to.
struct Gathering {
    Gathering()
        : relay([this](Relay& self) {
              signer = std::make_unique<ScriptedSigner>(self.executor, elsewhere_key);
              signer->delay = [this](const auto&) {
                  return std::chrono::ceil<Milliseconds>(
                      std::max(domain::Nanoseconds{1ms}, signs_from - relay.clock.monotonic()));
              };
              return signer.get();
          }) {
        auto& rates = relay.engine.options.sending;
        for (auto* rate : {&rates.input_proof, &rates.public_decrypt, &rates.user_decrypt}) {
            rate->per_seconds = 20;
            rate->burst = 10;
        }
        relay.engine.options.sends_max = 1'000;
        relay.restart();
        relay.run_for(1s);
        relay.chain.before = [this](const Call& call) -> std::optional<chains::jsonrpc::Answer> {
            if (!support::sends(call)) return std::nullopt;
            const auto transaction = support::transaction_in(call);
            nonces.push_back(transaction.nonce);
            left[{transaction.data.begin(), transaction.data.begin() + 4}].push_back(
                relay.clock.monotonic());
            return std::nullopt;
        };
    }

    std::unique_ptr<ScriptedSigner> signer;
    Monotonic signs_from{};
    Relay relay;
    std::vector<std::uint64_t> nonces;
    std::map<domain::Bytes, std::vector<Monotonic>> left;  // by selector
};

}  // namespace

TEST_CASE("a place is free again one second after its transaction was written") {
    support::VirtualClock clock;
    SendWindow window(clock);
    const auto first = place_in(window.take(Family::input_proof, 2));
    const auto second = place_in(window.take(Family::input_proof, 2));
    CHECK(wait_in(window.take(Family::input_proof, 2)) == 10ms);  // who knows how long they take
    clock.advance(700ms);
    first->written();
    CHECK(wait_in(window.take(Family::input_proof, 2)) == 1'000ms);
    clock.advance(200ms);
    second->written();
    second->written();
    CHECK(wait_in(window.take(Family::input_proof, 2)) == 800ms);
    clock.advance(800ms - 1ns);
    CHECK(wait_in(window.take(Family::input_proof, 2)) == 1ms);
    clock.advance(1ns);
    CHECK(place_in(window.take(Family::input_proof, 2)));
    CHECK(window.most(Family::input_proof) == 2);
}

TEST_CASE("who gives up on its place has used it as if it had been written") {
    support::VirtualClock clock;
    SendWindow window(clock);
    CHECK(place_in(window.take(Family::user_decrypt, 1)));
    CHECK(wait_in(window.take(Family::user_decrypt, 1)) == 1'000ms);
    clock.advance(1s);
    CHECK(place_in(window.take(Family::user_decrypt, 1)));
}

TEST_CASE("families have places of their own, and as many as each asks for") {
    support::VirtualClock clock;
    SendWindow window(clock);
    const auto one = place_in(window.take(Family::input_proof, 1));
    const auto other = place_in(window.take(Family::public_decrypt, 1));
    CHECK(wait_in(window.take(Family::public_decrypt, 1)) == 10ms);
    const auto more = place_in(window.take(Family::public_decrypt, 2));  // its rate was raised
    one->written();
    CHECK(window.most(Family::input_proof) == 1);
    CHECK(window.most(Family::public_decrypt) == 0);
}

TEST_CASE("no second has more writes than places, however long each write takes") {
    constexpr std::uint32_t places = 7;
    const std::uint64_t seed = std::random_device{}();
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t limit) {
        return static_cast<std::int64_t>(random() % limit);
    };
    support::VirtualClock clock;
    SendWindow window(clock);
    struct Writing {
        SendWindow::PlacePtr place;
        Monotonic write;  // the bytes leave
        Monotonic end;    // and that is known
    };
    std::vector<Writing> under_way;
    std::vector<Monotonic> writes;
    std::uint64_t waits = 0;
    for (int step = 0; step < 20'000; ++step) {
        clock.advance(Milliseconds{below(60)});
        const Monotonic now = clock.monotonic();
        std::erase_if(under_way, [&](const Writing& writing) {
            if (writing.end > now) return false;
            writes.push_back(writing.write);
            writing.place->written();
            return true;
        });
        auto taken = window.take(Family::input_proof, places);
        if (auto* const place = std::get_if<SendWindow::PlacePtr>(&taken)) {
            const Monotonic write = now + Milliseconds{below(below(10) == 0 ? 3'000 : 30)};
            under_way.push_back({*place, write, write + Milliseconds{below(20)}});
        } else {
            ++waits;
        }
    }
    CHECK(waits > 100);
    CHECK(writes.size() > 1'000);
    CHECK(most_in_a_second(writes) <= places);
    CHECK(window.most(Family::input_proof) == places);
}

TEST_CASE("signatures that all come at once leave no faster than rate and burst, in their order") {
    Gathering world;
    world.signs_from = world.relay.clock.monotonic() + 4s;
    for (std::uint8_t i = 1; i <= 80; ++i) {
        world.relay.submit(support::input_proof(i));
        world.relay.submit(support::public_decrypt(i));
        world.relay.submit(support::request_of(domain::Kind::user_decrypt, i));
    }
    world.relay.run_for(3'900ms);
    REQUIRE(world.nonces.empty());
    REQUIRE(world.signer->under_way_peak > 3 * 60);
    world.relay.run_for(6s);

    CHECK(world.nonces.size() == 3 * 80);
    CHECK(std::ranges::is_sorted(world.nonces));
    REQUIRE(world.left.size() == 3);
    for (const auto& [selector, moments] : world.left) CHECK(most_in_a_second(moments) == 30);
    for (const auto& id : world.relay.ids) {
        CHECK(world.relay.engine.status(id) == Status::receipt_received);
    }
    world.relay.check_inclusions();
    const auto most = world.relay.gateway.readings().most_sent_in_a_second;
    REQUIRE(most);
    CHECK(*most == engine::PerRelayerFamily<std::uint32_t>{30, 30, 30});
}

TEST_CASE("what goes out again takes no place") {
    Gathering world;
    for (std::uint8_t i = 1; i <= 40; ++i) world.relay.submit(support::input_proof(i));
    world.relay.chain.mines = false;
    world.relay.run_for(3s);
    REQUIRE(world.nonces.size() == 40);
    world.relay.chain.drop_pool();
    world.relay.restart();
    world.relay.run_for(1s);  // all are looked up, and sent together
    CHECK(world.nonces.size() == 80);
    CHECK(most_in_a_second(world.left.begin()->second) >= 40);
    CHECK(world.relay.gateway.readings().most_sent_in_a_second->input_proof == 0);
    world.relay.chain.mines = true;
    world.relay.chain.mine_pool();
    world.relay.run_for(10s);
    world.relay.check_inclusions();
}

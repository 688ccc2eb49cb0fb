#include "chains/loopback/outages.hpp"

#include <doctest/doctest.h>

#include "chains/loopback/harness.hpp"

using domain::Milliseconds;
using namespace engine;

TEST_CASE("overlapping and touching outages are one") {
    support::VirtualClock clock;
    const domain::Monotonic start = clock.monotonic();
    const chains::loopback::Outages outages{{{Milliseconds{300}, Milliseconds{100}},
                                             {Milliseconds{100}, Milliseconds{150}},
                                             {Milliseconds{200}, Milliseconds{100}}},
                                            clock};
    struct Row {
        int at;
        std::optional<int> end;
    };
    const Row rows[] = {{0, {}}, {99, {}}, {100, 400}, {250, 400}, {399, 400}, {400, {}}};
    for (const Row& row : rows) {
        CAPTURE(row.at);
        clock.advance_to(start + Milliseconds{row.at});
        CHECK(outages.down() == row.end.has_value());
        if (row.end) CHECK(outages.end() == start + Milliseconds{*row.end});
    }
}

TEST_CASE("during an outage every order is unreachable and health says so") {
    auto options = instant();
    options.outages = {{Milliseconds{1'000}, Milliseconds{500}}};
    Harness harness{options};
    const SendOrder order = harness.order(support::request_id(1), support::public_decrypt(1));
    CHECK_FALSE(harness.gateway->problem());
    CHECK(is<Round>(harness.gateway->find({})));
    const auto failing = [&] {
        std::vector<std::string> names;
        for (const Dependency& dependency : harness.gateway->dependencies()) {
            if (!dependency.ok) names.push_back(dependency.name);
        }
        return names;
    };
    CHECK(harness.gateway->dependencies().size() == 2);
    CHECK(failing().empty());

    harness.run_for(Milliseconds{1'000});
    CHECK(harness.gateway->problem() == "the loopback chain is down by its configuration");
    CHECK(failing() == std::vector<std::string>{"gateway_http", "gateway_listener_0"});
    CHECK(is<Unreachable>(harness.check(support::request_id(1), support::public_decrypt(1))));
    CHECK(is<Unreachable>(harness.prepare(support::request_id(1), support::public_decrypt(1))));
    CHECK(is<Unreachable>(harness.send(order)));
    CHECK(harness.gateway->inclusions() == 0);
    CHECK(is<Unreachable>(harness.gateway->find({})));

    harness.run_for(Milliseconds{500});
    CHECK_FALSE(harness.gateway->problem());
    CHECK(is<Ready>(harness.check(support::request_id(1), support::public_decrypt(1))));
    CHECK(is<Receipt>(harness.send(order)));
}

TEST_CASE("answers and receipts that an outage overtakes") {
    chains::loopback::Options options;
    options.prepare = {};
    options.outages = {{Milliseconds{100}, Milliseconds{5'000}}};
    Harness harness{options};
    SendOrder order = harness.order(support::request_id(1), support::public_decrypt(1));
    harness.gateway->send({order});
    harness.run_for(Milliseconds{5'099});
    REQUIRE(harness.events.sends.size() == 1);
    CHECK(is<Unreachable>(harness.events.sends[0].outcome));
    CHECK(harness.gateway->inclusions() == 1);
    CHECK(harness.events.answers.empty());

    harness.run_for(Milliseconds{1});
    CHECK(harness.events.answers.size() == 1);
    order.look_up_first = true;
    CHECK(is<Receipt>(harness.send(order)));
    CHECK(harness.gateway->inclusions() == 1);
}

TEST_CASE("an outage holds back what a restart would deliver") {
    Harness harness{instant()};
    (void)harness.send(harness.order(support::request_id(1), support::public_decrypt(1)));
    harness.crash();
    harness.events = {};
    harness.options.outages = {{Milliseconds{0}, Milliseconds{300}}};
    harness.start(0);
    harness.run_for(Milliseconds{299});
    CHECK(harness.events.answers.empty());
    harness.run_for(Milliseconds{1});
    CHECK(harness.events.answers.size() == 1);
}

#include "chains/split_gateway.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "support/requests.hpp"

namespace {

// Notes what it is told to do.
class Noting : public engine::Gateway {
public:
    explicit Noting(std::string name) : name_(std::move(name)) {}

    std::vector<std::string> calls;
    std::optional<std::string> in_problem;

    void listen(engine::GatewayEvents&, const engine::Resume& resume) override {
        calls.push_back("listen " + std::to_string(resume.in_flight.size()));
    }
    void check(std::vector<engine::CheckOrder> orders) override {
        calls.push_back("check " + std::to_string(orders.size()));
    }
    void prepare(std::vector<engine::PrepareOrder> orders) override {
        std::string call = "prepare";
        for (const auto& order : orders) call += " " + std::to_string(order.id.sequence);
        calls.push_back(call);
    }
    void send(std::vector<engine::SendOrder> orders) override {
        std::string call = "send";
        for (const auto& order : orders) call += " " + std::to_string(order.id.sequence);
        calls.push_back(call);
    }
    engine::Sealed seal(const domain::RequestId&, domain::Kind, const engine::Plan&) override {
        calls.emplace_back("seal");
        return {};
    }
    void keep_sealed() override { calls.emplace_back("keep"); }
    void undo_sealed() override { calls.emplace_back("undo"); }
    std::optional<std::uint32_t> share_threshold(const domain::Bytes32&, std::uint32_t) override {
        return 5;
    }
    void wind_down() override { calls.emplace_back("wind_down"); }
    void stop() override { calls.emplace_back("stop"); }
    [[nodiscard]] std::optional<std::string> problem() const override { return in_problem; }
    [[nodiscard]] std::vector<engine::Dependency> dependencies() const override {
        return {{name_, !in_problem}};
    }
    [[nodiscard]] engine::ChainReadings readings() const override { return {7.0, 8, 9}; }

private:
    const std::string name_;
};

struct Silent : engine::GatewayEvents {
    void checked(std::vector<engine::Checked>) override {}
    void prepared(std::vector<engine::Prepared>) override {}
    void sent(std::vector<engine::Sent>) override {}
    void answered(engine::Answered) override {}
};

engine::PrepareOrder preparation(std::int64_t id, const domain::Request& request) {
    return {{id, 1}, std::make_shared<const domain::Request>(request)};
}

struct Split {
    Noting relayer{"relayer"};
    Noting votes{"votes"};
    chains::SplitGateway gateway{relayer, votes};
};

using Calls = std::vector<std::string>;

}  // namespace

TEST_CASE("each kind goes to its chain, in its order") {
    Split split;
    split.gateway.prepare(
        {preparation(1, support::input_proof(1)), preparation(2, support::vote_share(2)),
         preparation(3, support::public_decrypt(3)), preparation(4, support::vote_share(4))});
    split.gateway.send({{{1, 1}, domain::Kind::share, {}, false, 0},
                        {{2, 1}, domain::Kind::user_decrypt, {}, false, 0},
                        {{3, 1}, domain::Kind::share, {}, false, 0}});
    CHECK(split.relayer.calls == Calls{"prepare 1 3", "send 2"});
    CHECK(split.votes.calls == Calls{"prepare 2 4", "send 1 3"});
}

TEST_CASE("a chain without orders is not called") {
    Split split;
    split.gateway.prepare({preparation(2, support::vote_share(2))});
    split.gateway.send({{{2, 1}, domain::Kind::user_decrypt, {}, false, 0}});
    split.gateway.check({});
    CHECK(split.relayer.calls == Calls{"send 2", "check 0"});
    CHECK(split.votes.calls == Calls{"prepare 2"});
}

TEST_CASE("what is sealed is sealed by the chain it goes to; both hear of the commit") {
    Split split;
    static_cast<void>(split.gateway.seal({1, 1}, domain::Kind::share, {}));
    static_cast<void>(split.gateway.seal({2, 1}, domain::Kind::input_proof, {}));
    split.gateway.keep_sealed();
    split.gateway.undo_sealed();
    split.gateway.wind_down();
    split.gateway.stop();
    CHECK(split.relayer.calls == Calls{"seal", "keep", "undo", "wind_down", "stop"});
    CHECK(split.votes.calls == split.relayer.calls);
}

TEST_CASE("only the relayer's chain goes on where it was") {
    Split split;
    Silent events;
    engine::Resume resume;
    resume.in_flight.resize(2);
    split.gateway.listen(events, resume);
    CHECK(split.relayer.calls == Calls{"listen 2"});
    CHECK(split.votes.calls == Calls{"listen 0"});
}

TEST_CASE("trouble of either chain shows, readings are the relayer's") {
    Split split;
    CHECK_FALSE(split.gateway.problem());
    split.votes.in_problem = "down";
    CHECK(split.gateway.problem() == "down");
    const auto dependencies = split.gateway.dependencies();
    REQUIRE(dependencies.size() == 2);
    CHECK(dependencies[0].name == "relayer");
    CHECK(dependencies[0].ok);
    CHECK(dependencies[1].name == "votes");
    CHECK_FALSE(dependencies[1].ok);
    CHECK(split.gateway.readings().head_lag == 9);
    CHECK(split.gateway.share_threshold({}, 9) == 5);
}

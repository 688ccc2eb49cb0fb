#include <algorithm>
#include <chrono>
#include <random>
#include <string>

#include "chains/evm/several_relay.hpp"
#include "chains/jsonrpc/decode.hpp"

// A node that lies, loses and forgets, and a relayer that dies, at random from a seed. Afterwards
// everything must have happened once.

using chains::jsonrpc::Answer;
using chains::jsonrpc::Call;
using chains::jsonrpc::Json;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;
using domain::Status;
using support::Relay;
using support::SeveralRelay;
using namespace std::chrono_literals;

namespace {

class Liar {
public:
    Liar(Relay& relay, std::uint32_t seed) : relay_(relay), random_(seed) {
        relay.chain.before = [this](const Call& call) { return before(call); };
        relay.chain.after = [this](const Call& call, const Answer& answer) {
            return after(call, answer);
        };
    }
    ~Liar() { fall_silent(); }

    void fall_silent() {
        relay_.chain.before = nullptr;
        relay_.chain.after = nullptr;
    }

    [[nodiscard]] std::uint32_t below(std::uint32_t limit) {
        return static_cast<std::uint32_t>(random_() % limit);
    }
    [[nodiscard]] bool chance(std::uint32_t percent) { return below(100) < percent; }

private:
    std::optional<Answer> before(const Call& call) {
        if (!chance(20)) return std::nullopt;
        switch (below(support::sends(call) ? 9 : 6)) {
            case 0:
                return TransportError{TransportError::Kind::unsent, "connection refused", {}};
            case 1:
                return TransportError{TransportError::Kind::throttled, "HTTP 429", 2s};
            case 2:
                return TransportError{TransportError::Kind::lost, "connection lost", {}};
            case 3:
                return TransportError{TransportError::Kind::garbled, "HTTP 502", {}};
            case 4:
                return empty_receipt(call);
            case 5:
                return older_nonce(call);
            case 6:
                return NodeError{-32'000, "nonce too low", {}};
            case 7:
                return NodeError{-32'003, "Insufficient funds for gas * price + value", {}};
            default:
                return NodeError{-32'000, "already known", {}};
        }
    }

    std::optional<Answer> after(const Call& call, const Answer& answer) {
        if (!support::sends(call) || !chance(25)) return std::nullopt;
        switch (below(5)) {
            case 0:
                return TransportError{TransportError::Kind::timed_out, "no answer", {}};
            case 1:
                return NodeError{-32'603, "Transaction confirmation timeout", {}};
            case 2:
                return NodeError{4, "no receipt within the wait", {}};
            case 3:  // once more, as a proxy would that repeats what it believes lost
                relay_.chain.after = nullptr;
                static_cast<void>(relay_.chain.call(call));
                relay_.chain.after = [this](const Call& next, const Answer& given) {
                    return after(next, given);
                };
                return answer;
            default:
                return TransportError{TransportError::Kind::lost, "connection lost", {}};
        }
    }

    static std::optional<Answer> empty_receipt(const Call& call) {
        if (call.method != "eth_getTransactionReceipt") return std::nullopt;
        return Json(nullptr);
    }

    std::optional<Answer> older_nonce(const Call& call) {
        if (call.method != "eth_getTransactionCount") return std::nullopt;
        const auto account = chains::jsonrpc::address(call.params[0]);
        const std::uint64_t count = relay_.chain.nonce(*account);
        return Json(
            chains::jsonrpc::hex_quantity(count - std::min<std::uint64_t>(count, 1 + below(3))));
    }

    Relay& relay_;
    std::mt19937 random_;
};

void live_through(Relay& relay, std::uint32_t seed) {
    relay.options.foreign_use_patience = 90s;  // longer than these lies last
    relay.restart();
    {
        Liar liar{relay, seed};
        std::uint64_t number = seed * 1'000ULL;
        for (int step = 0; step < 60; ++step) {
            for (std::uint32_t i = liar.below(4); i > 0; --i) {
                ++number;
                relay.submit(support::request_of(support::relayer_kinds[number % 3], number));
            }
            if (liar.chance(15)) relay.chain.mines = !relay.chain.mines;
            if (liar.chance(5)) relay.chain.drop_pool();
            if (liar.chance(30)) relay.chain.mine_pool();
            if (liar.chance(40)) relay.chain.answer_all();
            if (liar.chance(15)) {
                relay.restart();
            }
            relay.run_for(domain::Milliseconds{liar.below(3'000)});
        }
    }
    relay.chain.mines = true;
    relay.chain.mine_pool();
    for (int round = 0; round < 20; ++round) {
        relay.run_for(1min);
        relay.chain.answer_all();
    }
    for (const auto& id : relay.ids) {
        CAPTURE(to_string(id));
        CHECK(relay.engine.status(id) == Status::completed);
    }
    relay.check_inclusions();
}

// One signs in the process, one elsewhere, one elsewhere and badly.
void sign_variously(SeveralRelay& relay, std::mt19937& random) {
    using chains::evm::SignProblem;
    using chains::evm::SignResult;
    using chains::evm::Transaction;
    relay.scripted[0]->delay = [](const Transaction&) { return domain::Milliseconds{0}; };
    relay.scripted[1]->delay = [&](const Transaction&) {
        return domain::Milliseconds{random() % 3'000};
    };
    auto& bad = *relay.scripted[2];
    bad.on_sign = [&](const Transaction& asked) -> std::optional<SignResult> {
        switch (random() % 6) {
            case 0:
                return SignProblem{"connection refused", true};
            case 1:
                return SignProblem{"it refuses"};
            default:
                return bad.sign(asked);
        }
    };
    bad.delay = [&](const Transaction&) { return domain::Milliseconds{random() % 8'000}; };
}

}  // namespace

TEST_CASE("whatever a node does and whenever the relayer dies, everything is included once") {
    for (std::uint32_t seed = 1; seed <= 50; ++seed) {
        CAPTURE(seed);
        Relay relay;
        live_through(relay, seed);
        CHECK(relay.chain.nonce() == relay.chain.included().size());
    }
}

TEST_CASE("the same with three keys, of which one signs badly: no key leaves a number out") {
    for (std::uint32_t seed = 1; seed <= 30; ++seed) {
        CAPTURE(seed);
        std::mt19937 random{seed};
        SeveralRelay relay{3, true};
        sign_variously(relay, random);
        live_through(relay, seed);
        relay.check_everything();
        for (const std::size_t share : relay.shares()) CHECK(share > 0);
    }
}

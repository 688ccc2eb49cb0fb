// Trouble with transactions, as a client sees it (relayer-api 3.3, 9.3, 13.4 to 13.6). Nonces are
// the gateway's own business: at the engine's port a nonce that did not fit is a send that did not
// arrive, and one that never fits is a refusal.

#include <chrono>
#include <string>

#include "box.hpp"
#include "routes.hpp"

namespace {

using namespace std::chrono_literals;
using api_test::Answer;
using api_test::Json;
using domain::Reason;
using whole::Box;
using whole::life_of;
using whole::Route;

// The first send of a request meets `trouble`, the second is included and answered.
void check_second_send_works(const std::string& problem) {
    for (const Route& route : whole::routes) {
        CAPTURE(route.path);
        Box box;
        box.answer_everything();
        auto included = box.world.gateway.on_send;
        int sends = 0;
        box.world.gateway.on_send =
            [&](const engine::SendOrder& order) -> std::optional<engine::SendOutcome> {
            if (++sends == 1) return engine::Unreachable{problem};
            return included(order);
        };
        CHECK(life_of(box, route).status == 200);
        REQUIRE(box.world.gateway.sends.size() == 2);
        // Looked up first, then the same bytes: never a second transaction.
        CHECK(box.world.gateway.sends[1].order.look_up_first);
        CHECK(box.world.gateway.sends[1].order.sealed.size() == 1);
        CHECK(box.world.gateway.sends[1].order.sealed[0].bytes ==
              box.world.gateway.sends[0].order.sealed[0].bytes);
    }
}

TEST_CASE("T-032 T-051 T-072 'nonce too low' once, then it works") {
    check_second_send_works("nonce too low");
}

TEST_CASE("T-033 T-051 T-072 'nonce too high' once, then it works") {
    check_second_send_works("nonce too high");
}

TEST_CASE("T-034 T-051 T-072 retries used up: an internal error, once and for all") {
    for (const Route& route : whole::routes) {
        CAPTURE(route.path);
        {
            INFO("at sending, by the gateway's count");
            Box box;
            const std::string text = "Transaction failed: Transaction failed after 2 retries.";
            box.world.gateway.on_send = [&](const engine::SendOrder&) {
                return engine::Rejected{{Reason::send_failed, text, {}}};
            };
            const Answer answer = life_of(box, route);
            CHECK(answer.status == 500);
            CHECK(answer.label() == "internal_server_error");
            CHECK(answer.message() == text);
            CHECK(box.world.gateway.sends.size() == 1);
        }
        {
            INFO("at estimation, by the time it took");
            Box box;
            box.world.engine.options.sending_timeout = 10s;
            box.world.gateway.on_prepare = [](const engine::PrepareOrder&) {
                return engine::Unreachable{"https://user:key@node/secret is down"};
            };
            const Answer answer = life_of(box, route);
            CHECK(answer.status == 500);
            CHECK(answer.label() == "internal_server_error");
            CHECK(answer.message().starts_with("Transaction failed: Gas estimation failed after "));
            CHECK(answer.body.find("secret") == std::string::npos);
            CHECK(box.world.gateway.sends.empty());
        }
    }
}

struct Revert {
    const char* number;
    const char* error;
    std::uint32_t selector;
    int status;
    const char* label;
};

// At estimation and on the chain, for every kind.
void check_reverts(const std::vector<Revert>& reverts) {
    for (const Revert& row : reverts) {
        for (const Route& route : whole::routes) {
            for (const bool simulated : {true, false}) {
                CAPTURE(row.error);
                CAPTURE(route.path);
                CAPTURE(simulated);
                const std::string text = "Transaction simulation failed: Execution reverted: 0x" +
                                         domain::to_hex(std::array<std::uint8_t, 4>{
                                             static_cast<std::uint8_t>(row.selector >> 24U),
                                             static_cast<std::uint8_t>(row.selector >> 16U),
                                             static_cast<std::uint8_t>(row.selector >> 8U),
                                             static_cast<std::uint8_t>(row.selector)});
                const engine::Rejected rejected{{Reason::reverted, text, row.selector}};
                Box box;
                if (simulated) {
                    box.world.gateway.on_prepare = [&](const engine::PrepareOrder&) {
                        return rejected;
                    };
                } else {
                    box.world.gateway.on_send = [&](const engine::SendOrder&) { return rejected; };
                }
                const Answer answer = life_of(box, route);
                CHECK(answer.status == row.status);
                CHECK(answer.label() == row.label);
                if (row.status == 400) {
                    CHECK(answer.message() == "Validation failed for 1 field(s)");
                    CHECK(answer.details() ==
                          Json{{{"field", "signature"}, {"issue", "Signature is invalid"}}});
                } else {
                    CHECK(answer.message() == text);
                }
                CHECK_FALSE(answer.has("Retry-After"));
                // It stays so.
                CHECK(box.world.number("select count(*) from request where status = 'failure'") ==
                      1);
            }
        }
    }
}

TEST_CASE("T-035 T-051 T-072 a paused protocol") {
    check_reverts({{"T-035", "EnforcedPause()", 0xd93c0665, 503, "protocol_paused"}});
}

TEST_CASE("T-036 T-051 T-072 a signature the chain refuses") {
    check_reverts(
        {{"T-036", "InvalidUserSignature(bytes)", 0x2a873d27, 400, "validation_failed"},
         {"T-036", "ECDSAInvalidSignature()", 0xf645eedf, 400, "validation_failed"},
         {"T-036", "ECDSAInvalidSignatureLength(uint256)", 0xfce698f7, 400, "validation_failed"},
         {"T-036", "ECDSAInvalidSignatureS(bytes32)", 0xd78bce0c, 400, "validation_failed"}});
}

TEST_CASE("T-037 T-051 T-072 a balance or an allowance that is too small") {
    check_reverts({{"T-037", "ERC-20 balance", 0xe450d38c, 503, "insufficient_balance"},
                   {"T-037", "ERC-20 allowance", 0xfb8f41b2, 503, "insufficient_allowance"}});
}

TEST_CASE("T-038 T-051 T-072 a revert nobody knows") {
    check_reverts({{"T-038", "unknown", 0x01020304, 500, "internal_server_error"}});
}

TEST_CASE("an endless outage after the transaction left never ends the request badly (D-6)") {
    for (const Route& route : whole::routes) {
        CAPTURE(route.path);
        Box box;
        box.answer_everything();
        const auto included = box.world.gateway.on_send;
        box.world.gateway.on_send = [](const engine::SendOrder&) {
            return engine::Unreachable{"down"};
        };
        const std::string job = box.post(route.path, route.body()).job_id();
        box.run_for(6h);
        const Answer waiting = box.poll(route.path, job);
        CHECK(waiting.status == 202);
        CHECK(waiting.text("/state") == "tx_in_flight");
        box.world.gateway.on_send = included;
        CHECK(box.follow(route.path, job).status == 200);
    }
}

}  // namespace

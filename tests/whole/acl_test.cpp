// What the host ACL and the readiness of ciphertexts decide, as a client sees it (relayer-api 4.3,
// 13.5, 13.6). Which questions are asked of a chain is the gateway's own business; here the chain
// refuses handles by the list.

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "box.hpp"
#include "routes.hpp"

namespace {

using namespace std::chrono_literals;
using api_test::Answer;
using api_test::Json;
using domain::Reason;
using whole::Box;
using whole::Route;

const Route decrypts[] = {whole::public_decrypt, whole::user_decrypt, whole::delegated_decrypt,
                          whole::unified_decrypt};

std::vector<domain::Bytes32> handles_of(const domain::Request& request) {
    std::vector<domain::Bytes32> handles;
    if (const auto* decrypt = std::get_if<domain::PublicDecrypt>(&request)) return decrypt->handles;
    const auto take = [&](const auto& entries) {
        for (const auto& entry : entries) handles.push_back(entry.handle);
    };
    if (const auto* direct = std::get_if<domain::UserDecrypt>(&request)) take(direct->pairs);
    if (const auto* other = std::get_if<domain::DelegatedUserDecrypt>(&request)) take(other->pairs);
    if (const auto* unified = std::get_if<domain::UnifiedUserDecrypt>(&request)) {
        take(unified->handles);
    }
    return handles;
}

// Refuses the handles at these places, in the words of 9.2.
void refuse_handles(Box& box, std::set<std::size_t> places) {
    box.world.gateway.on_check =
        [places](const engine::CheckOrder& order) -> std::optional<engine::CheckOutcome> {
        const auto handles = handles_of(*order.request);
        std::string list;
        std::size_t refused = 0;
        for (std::size_t i = 0; i < handles.size(); ++i) {
            if (!places.contains(i)) continue;
            ++refused;
            list += (list.empty() ? "" : ", ");
            list += "handle=0x" + domain::to_hex(handles[i]) + " check=isAllowed";
        }
        if (refused == 0) return engine::Ready{};
        return engine::Rejected{{Reason::host_acl_refused,
                                 "Not allowed on host ACL: ACL check failed for " +
                                     std::to_string(refused) + " handle(s): " + list,
                                 {}}};
    };
}

Answer answered_life_of(Box& box, const Route& route, const std::string& body) {
    box.answer_everything();
    return whole::life_of(box, route, body);
}

// The sample with so many handles, on these chains in turn.
std::string with_handles(const Route& route, const std::vector<std::uint64_t>& chains) {
    Json body = Json::parse(route.body());
    Json& list = route.kind == domain::Kind::public_decrypt ? body["ciphertextHandles"]
                                                            : body["handleContractPairs"];
    const Json entry = list[0];
    list = Json::array();
    for (std::size_t i = 0; i < chains.size(); ++i) {
        domain::Bytes32 handle = support::handle(i + 1);
        handle[28] = static_cast<std::uint8_t>(chains[i] >> 8U);
        handle[29] = static_cast<std::uint8_t>(chains[i]);
        const std::string text = "0x" + domain::to_hex(handle);
        Json next = entry;
        if (next.is_string()) {
            next = text;
        } else {
            next["handle"] = text;
        }
        list.push_back(next);
    }
    return body.dump();
}

struct ApiError {
    const char* label;
    std::set<std::size_t> refused;
    int status;
};

void check_rows(const Route& route, const std::vector<std::uint64_t>& chains,
                const std::vector<ApiError>& rows) {
    for (const ApiError& row : rows) {
        CAPTURE(route.path);
        CAPTURE(row.label);
        Box box;
        box.options.host_chain_ids = {8009, 9001};
        refuse_handles(box, row.refused);
        const Answer answer = answered_life_of(box, route, with_handles(route, chains));
        CHECK(answer.status == row.status);
        if (row.status == 200) continue;
        CHECK(answer.label() == "not_allowed_on_host_acl");
        CHECK(answer.message().find(" " + std::to_string(row.refused.size()) + " handle(s)") !=
              std::string::npos);
        CHECK(box.world.gateway.prepares.empty());
    }
}

TEST_CASE("T-053 T-074 the ACL refuses: accepted, then not_allowed_on_host_acl") {
    for (const Route& route : decrypts) {
        CAPTURE(route.path);
        Box box;
        refuse_handles(box, {0});
        const Answer answer = answered_life_of(box, route, route.body());
        CHECK(answer.status == 400);
        CHECK(answer.label() == "not_allowed_on_host_acl");
        CHECK(answer.message().starts_with("Not allowed on host ACL: ACL check failed for 1 "));
        CHECK(box.world.gateway.prepares.empty());
    }
}

TEST_CASE("T-054 T-074 the ACL can not be asked: an error of ours") {
    for (const Route& route : decrypts) {
        CAPTURE(route.path);
        {
            INFO("by the gateway's count of tries");
            Box box;
            const std::string text = "Host ACL check failed: Host chain 8009 call failed: timeout";
            box.world.gateway.on_check = [&](const engine::CheckOrder&) {
                return engine::Rejected{{Reason::host_acl_failed, text, {}}};
            };
            const Answer answer = answered_life_of(box, route, route.body());
            CHECK(answer.status == 500);
            CHECK(answer.label() == "host_acl_failed");
            CHECK(answer.message() == text);
        }
        {
            INFO("by the time it took");
            Box box;
            box.world.engine.options.readiness_timeout = {10s, 10s};
            box.world.gateway.on_check = [](const engine::CheckOrder&) {
                return engine::Unreachable{"https://user:key@host/secret is down"};
            };
            const Answer answer = answered_life_of(box, route, route.body());
            CHECK(answer.status == 500);
            CHECK(answer.label() == "internal_server_error");
            CHECK(answer.message().starts_with("Processing Failed: Contract call failed: "));
            CHECK(answer.body.find("secret") == std::string::npos);
        }
    }
}

TEST_CASE("T-055 three handles of a public decrypt") {
    check_rows(whole::public_decrypt, {8009, 8009, 8009},
               {{"all allowed", {}, 200},
                {"first and third refused", {0, 2}, 400},
                {"all refused", {0, 1, 2}, 400}});
}

TEST_CASE("T-056 a public decrypt on two chains") {
    check_rows(whole::public_decrypt, {8009, 9001},
               {{"both allowed", {}, 200}, {"both refused", {0, 1}, 400}});
}

TEST_CASE("T-075 three pairs of a user decrypt, direct and delegated") {
    for (const Route& route : {whole::user_decrypt, whole::delegated_decrypt}) {
        check_rows(route, {8009, 8009, 8009},
                   {{"all allowed", {}, 200},
                    {"some refused", {1, 2}, 400},
                    {"all refused", {0, 1, 2}, 400}});
    }
}

TEST_CASE("T-076 a user decrypt on two chains, direct and delegated") {
    for (const Route& route : {whole::user_decrypt, whole::delegated_decrypt}) {
        check_rows(route, {8009, 9001}, {{"all allowed", {}, 200}, {"all refused", {0, 1}, 400}});
    }
}

TEST_CASE("4.3: a decrypt that never gets ready times out, and one that does goes on") {
    for (const Route& route : decrypts) {
        CAPTURE(route.path);
        Box never;
        never.world.engine.options.readiness_attempts_max = 3;
        never.world.gateway.on_check = [](const engine::CheckOrder&) { return engine::NotReady{}; };
        const Answer answer = answered_life_of(never, route, route.body());
        CHECK(answer.status == 503);
        CHECK(answer.label() == "readiness_check_timed_out");
        CHECK(answer.message() == "Ciphertext not ready for decryption on the gateway chain");
        CHECK(never.world.gateway.checks.size() == 3);

        Box late;
        int tries = 0;
        late.world.gateway.on_check =
            [&](const engine::CheckOrder&) -> std::optional<engine::CheckOutcome> {
            if (++tries < 3) return engine::NotReady{};
            return engine::Ready{};
        };
        CHECK(answered_life_of(late, route, route.body()).status == 200);
    }
}

}  // namespace

#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "api/samples.hpp"
#include "box.hpp"
#include "domain/kind.hpp"

namespace whole {

// The kinds of requests of the relayer API, with a valid body for each.
struct Route {
    domain::Kind kind;
    const char* path;
    const char* file;
    const char* varied;  // member that makes one body another content
    bool readiness = true;

    [[nodiscard]] std::string body() const { return api_test::sample(file); }

    // Valid bodies of different content; 0 is as good a number as any.
    [[nodiscard]] std::string body(std::uint64_t number) const {
        nlohmann::json json = nlohmann::json::parse(body());
        std::string pointer = std::string("/") + varied;
        std::string text = json[nlohmann::json::json_pointer(pointer)];
        char digits[17];
        std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
        text.replace(2, 16, digits);
        json[nlohmann::json::json_pointer(pointer)] = text;
        return json.dump();
    }
};

inline const Route input_proof{domain::Kind::input_proof, "/v2/input-proof",
                               "input-proof-1-value.json", "ciphertextWithInputVerification",
                               false};
inline const Route public_decrypt{domain::Kind::public_decrypt, "/v2/public-decrypt",
                                  "public-decrypt.json", "ciphertextHandles/0"};
inline const Route user_decrypt{domain::Kind::user_decrypt, "/v2/user-decrypt", "user-decrypt.json",
                                "handleContractPairs/0/handle"};
inline const Route delegated_decrypt{domain::Kind::delegated_user_decrypt,
                                     "/v2/delegated-user-decrypt", "delegated-user-decrypt.json",
                                     "handleContractPairs/0/handle"};
inline const Route unified_decrypt{domain::Kind::unified_user_decrypt, "/v3/user-decrypt",
                                   "user-decrypt-v3.json", "attestedPayload/handles/0/ctHandle"};

inline const Route routes[] = {input_proof, public_decrypt, user_decrypt, delegated_decrypt,
                               unified_decrypt};

// Posts, polls to the end, and gives the last answer.
inline Answer life_of(Box& box, const Route& route, const std::string& body) {
    const Answer accepted = box.post(route.path, body);
    CAPTURE(accepted.body);
    REQUIRE(accepted.status == 202);
    CHECK(accepted.has("Retry-After"));
    const Answer first = box.poll(route.path, accepted.job_id());
    CHECK(first.status == 202);
    CHECK(first.has("Retry-After"));
    return box.follow(route.path, accepted.job_id());
}
inline Answer life_of(Box& box, const Route& route) {
    return life_of(box, route, route.body());
}

}  // namespace whole

// What the database holds of a request, a result and a share of a result.

#include <optional>

#include <nlohmann/json.hpp>

#include "api/envelope.hpp"
#include "domain/identity.hpp"
#include "domain/request.hpp"
#include "domain/result.hpp"
#include "fuzz/target.hpp"

namespace {

using fuzz::require;

// Decodes only what encode() makes, to the last byte.
template <typename Decode>
auto check_form(domain::ByteView bytes, Decode decode) {
    const auto value = decode(bytes);
    if (!value) return value;
    const domain::Bytes encoded = domain::encode(*value);
    require(encoded == domain::Bytes(bytes.begin(), bytes.end()), "bytes are as encode makes them");
    domain::Bytes longer = encoded;
    longer.push_back(0);
    require(!decode(longer), "nothing may follow");
    // A copy of exactly this size, so that a sanitizer sees a read past its end.
    const domain::Bytes shorter(encoded.begin(), encoded.end() - 1);
    require(!decode(shorter), "nothing may be missing");
    return value;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const domain::ByteView bytes{data, size};
    int readings = 0;
    if (const auto request = check_form(bytes, domain::decode_request)) {
        ++readings;
        require(domain::identify(*request).key != domain::Bytes32{}, "a request has an identity");
    }
    if (const auto result = check_form(bytes, domain::decode_result)) {
        ++readings;
        const auto answer = nlohmann::json::parse(api::succeeded_answer("call", *result).body);
        require(answer["result"].is_object(), "a result can be served");
    }
    if (check_form(bytes, domain::decode_kms_share)) ++readings;
    require(readings <= 1, "bytes mean one thing");
    return 0;
}

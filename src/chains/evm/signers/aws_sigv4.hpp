#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/time.hpp"

// Signature version 4 of AWS (IAM User Guide, "Create a signed AWS API request"), in the field
// Authorization.
namespace chains::evm::signers {

struct AwsCredentials {
    std::string access_key_id;
    std::string secret_access_key;
    std::string session_token;                 // empty: none
    std::optional<domain::Timestamp> expires;  // absent: never
    std::string source{};                      // in words, such as `the environment`

    bool operator==(const AwsCredentials&) const = default;
};

struct AwsRequest {
    std::string_view method;
    std::string_view path;   // as it is sent, `/` first
    std::string_view query;  // as it is sent, without `?`
    // All that is signed, Host among it, in any order and case.
    std::vector<std::pair<std::string, std::string>> headers;
    std::string_view body;
};

struct AwsScope {
    std::string_view region;
    std::string_view service;
};

// All but unreserved characters as %XX (RFC 3986, 2.3); `keeps_escapes`: those that are there stay.
[[nodiscard]] std::string uri_escaped(std::string_view text, bool keeps_escapes = false);

// For the field X-Amz-Date, such as `20150830T123600Z`.
[[nodiscard]] std::string amz_date(domain::Timestamp time);

// The value of Authorization. X-Amz-Date and, where there is one, X-Amz-Security-Token are among
// the headers already.
[[nodiscard]] std::string sigv4_authorization(const AwsRequest& request,
                                              const AwsCredentials& credentials,
                                              const AwsScope& scope, domain::Timestamp time);

}  // namespace chains::evm::signers

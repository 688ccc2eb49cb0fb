#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "chains/evm/signer.hpp"
#include "chains/evm/signers/aws_sigv4.hpp"
#include "domain/time.hpp"
#include "net/client.hpp"

// Where AWS credentials come from (AWS SDKs and Tools Reference Guide, "Standardized credential
// providers").
namespace chains::evm::signers {

// What is looked at of the machine and its surroundings. Each may block.
struct AwsSurroundings {
    std::function<std::optional<std::string>(const std::string& name)> variable;  // not empty
    std::function<std::optional<std::string>(const std::string& path)> file;
    std::function<net::ClientResult(const std::string& url, net::OwnedRequest request,
                                    domain::Milliseconds timeout)>
        ask;
};

using AwsCredentialsResult = std::variant<AwsCredentials, SignProblem>;

// The first of: the environment; the profile in the shared files (keys, or a role with a web
// identity); the web identity of the environment (AssumeRoleWithWebIdentity of STS in `region`);
// the endpoint of a container; the metadata of an instance (IMDSv2). The first that is set up
// decides: when it fails nobody else is asked. Texts of problems name the source and no secret.
[[nodiscard]] AwsCredentialsResult find_aws_credentials(const AwsSurroundings& surroundings,
                                                        const std::string& region);

// `2026-11-28T22:00:00Z`, with or without a fraction.
[[nodiscard]] std::optional<domain::Timestamp> time_in_iso8601(std::string_view text);

}  // namespace chains::evm::signers

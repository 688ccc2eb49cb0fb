#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

// The files ~/.aws/credentials and ~/.aws/config (AWS SDKs and Tools Reference Guide, "Shared
// config and credentials files").
namespace chains::evm::signers {

using AwsProfile = std::map<std::string, std::string>;  // settings by lower-case name

// The section [NAME], or [profile NAME]; nothing when there is none. Lines that make no sense are
// skipped, as by AWS.
[[nodiscard]] std::optional<AwsProfile> read_aws_profile(std::string_view text,
                                                         std::string_view name);

}  // namespace chains::evm::signers

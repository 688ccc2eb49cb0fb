#include "config/secret_values.hpp"

#include <algorithm>
#include <stdexcept>
#include <variant>

#include "api/access/secret_file.hpp"
#include "base/text.hpp"
#include "cluster/key.hpp"

namespace config {
namespace {

constexpr std::size_t token_bytes_min = 16;
constexpr std::size_t token_bytes_max = 4'096;
constexpr std::size_t digits_of_key = 64;

bool is_key(std::string_view text) {
    if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
    return text.size() == digits_of_key && std::ranges::all_of(text, base::is_hex_digit);
}

// For `key`, if the file holds what `problem_of` finds nothing wrong with.
template <typename Check>
std::string read_value(const std::string& key, const std::string& place,
                       const std::string& credentials_directory, Check problem_of) {
    auto content = api::access::read_secret_file(place, credentials_directory);
    if (const auto* problem = std::get_if<api::access::FileProblem>(&content)) {
        throw std::runtime_error(key + ": " + problem->text);
    }
    auto& value = std::get<std::string>(content);
    value.resize(value.find_last_not_of(" \t\r\n") + 1);
    if (const std::optional<std::string> problem = problem_of(value)) {
        api::access::wipe(value);
        throw std::runtime_error(key + ": " + place + ": " + *problem);
    }
    return value;
}

}  // namespace

std::optional<std::string> problem_of_token(std::string_view token) {
    if (token.size() < token_bytes_min) return "is shorter than 16 characters";
    if (token.size() > token_bytes_max) return "is longer than 4096 characters";
    if (!std::ranges::all_of(token, base::is_visible)) {
        return "holds characters that are not visible ASCII";
    }
    return std::nullopt;
}

std::string read_token_file(const std::string& place, const std::string& credentials_directory) {
    const auto problem_of = [](std::string_view token) {
        auto problem = problem_of_token(token);
        if (problem) problem->insert(0, "the token in it ");
        return problem;
    };
    return read_value("http.admin_token_file", place, credentials_directory, problem_of);
}

void check_signer_token(const std::string& key, const std::string& place,
                        const std::string& credentials_directory) {
    const auto problem_of = [](std::string_view token) -> std::optional<std::string> {
        if (!token.empty() && std::ranges::all_of(token, base::is_visible)) return std::nullopt;
        return "holds no token; allowed: visible ASCII characters, and nothing else";
    };
    std::string token = read_value(key, place, credentials_directory, problem_of);
    api::access::wipe(token);
}

std::string read_signer_key(const std::string& key, const std::string& place,
                            const std::string& credentials_directory) {
    const auto problem_of = [](std::string_view digits) -> std::optional<std::string> {
        if (is_key(digits)) return std::nullopt;
        return "holds no private key; allowed: 64 hexadecimal digits, with or without 0x, and "
               "nothing else";
    };
    return read_value(key, place, credentials_directory, problem_of);
}

domain::Bytes32 read_cluster_key(const std::string& key, const std::string& place,
                                 const std::string& credentials_directory) {
    auto content = api::access::read_secret_file(place, credentials_directory);
    if (const auto* problem = std::get_if<api::access::FileProblem>(&content)) {
        throw std::runtime_error(key + ": " + problem->text);
    }
    auto& text = std::get<std::string>(content);
    const std::optional<domain::Bytes32> secret = cluster::key_in(text);
    api::access::wipe(text);
    if (secret) return *secret;
    throw std::runtime_error(key + ": " + place +
                             ": holds no key; allowed: 32 bytes, or 64 hexadecimal digits, as "
                             "openssl rand -hex 32 makes them");
}

domain::Bytes32 read_backup_key(const std::string& place) {
    const auto problem_of = [](std::string_view key) -> std::optional<std::string> {
        if (is_key(key) && key.size() == digits_of_key) return std::nullopt;
        return "holds no key; allowed: 64 hexadecimal digits, as openssl rand -hex 32 makes them";
    };
    std::string digits = read_value("--key-file", place, {}, problem_of);
    domain::Bytes32 key{};
    const bool read = domain::from_hex(digits, key);
    api::access::wipe(digits);
    if (!read) throw std::runtime_error("--key-file: " + place + ": holds no key");
    return key;
}

}  // namespace config

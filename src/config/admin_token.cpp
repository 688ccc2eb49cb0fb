#include "config/admin_token.hpp"

#include <algorithm>
#include <stdexcept>
#include <variant>

#include "api/access/secret_file.hpp"

namespace config {
namespace {

constexpr std::size_t bytes_min = 16;
constexpr std::size_t bytes_max = 4'096;

[[noreturn]] void refuse(const std::string& problem) {
    throw std::runtime_error("http.admin_token_file: " + problem);
}

}  // namespace

std::optional<std::string> problem_of_token(std::string_view token) {
    if (token.size() < bytes_min) return "is shorter than 16 characters";
    if (token.size() > bytes_max) return "is longer than 4096 characters";
    if (std::ranges::any_of(token, [](char c) { return c <= ' ' || c > '~'; })) {
        return "holds characters that are not visible ASCII";
    }
    return std::nullopt;
}

std::string read_token_file(const std::string& place, const std::string& credentials_directory) {
    auto content = api::access::read_secret_file(place, credentials_directory);
    if (const auto* problem = std::get_if<api::access::FileProblem>(&content))
        refuse(problem->text);
    auto& token = std::get<std::string>(content);
    token.resize(token.find_last_not_of(" \t\r\n") + 1);
    if (const auto problem = problem_of_token(token)) {
        api::access::wipe(token);
        refuse(place + ": the token in it " + *problem);
    }
    return token;
}

}  // namespace config

#include "config/signer_key.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <variant>

#include "api/access/secret_file.hpp"
#include "base/text.hpp"

namespace config {
namespace {

constexpr std::size_t digits_of_key = 64;

[[noreturn]] void refuse(const std::string& problem) {
    throw std::runtime_error("gateway.tx_engine.signer.private_key_file: " + problem);
}

bool is_key(std::string_view text) {
    if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
    return text.size() == digits_of_key && std::ranges::all_of(text, base::is_hex_digit);
}

}  // namespace

std::string read_signer_key(const std::string& place, const std::string& credentials_directory) {
    auto content = api::access::read_secret_file(place, credentials_directory);
    if (const auto* problem = std::get_if<api::access::FileProblem>(&content))
        refuse(problem->text);
    auto& key = std::get<std::string>(content);
    key.resize(key.find_last_not_of(" \t\r\n") + 1);
    if (!is_key(key)) {
        api::access::wipe(key);
        refuse(place +
               ": holds no private key; allowed: 64 hexadecimal digits, with or without "
               "0x, and nothing else");
    }
    return key;
}

}  // namespace config

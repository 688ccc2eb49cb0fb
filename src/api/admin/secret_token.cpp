#include "api/admin/secret_token.hpp"

#include <cstddef>
#include <cstdint>

namespace api {

namespace {

domain::Bytes32 digest_of(std::string_view text) {
    return domain::sha256({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace

SecretToken::SecretToken(std::string_view token)
    : is_set_(!token.empty()), digest_(digest_of(token)) {}

bool SecretToken::matches(std::string_view shown) const {
    const domain::Bytes32 digest = digest_of(shown);
    std::uint8_t difference = 0;
    for (std::size_t i = 0; i < digest.size(); ++i) {
        difference = static_cast<std::uint8_t>(difference | (digest[i] ^ digest_[i]));
    }
    return is_set_ && difference == 0;
}

}  // namespace api

#include "api/access/secret_token.hpp"

#include "api/access/client_keys.hpp"

namespace api::access {

SecretToken::SecretToken(std::string_view token)
    : is_set_(!token.empty()), digest_(digest_of(token)) {}

bool SecretToken::matches(std::string_view shown) const {
    return equal_in_constant_time(digest_of(shown), digest_) && is_set_;
}

}  // namespace api::access

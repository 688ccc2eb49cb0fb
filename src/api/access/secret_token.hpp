#pragma once

#include <string_view>

#include "api/access/client_keys.hpp"

namespace api::access {

// A token clients must show. Only its digest is kept, and comparing takes the same time whatever is
// shown. An empty token matches nothing.
class SecretToken {
public:
    explicit SecretToken(std::string_view token)
        : is_set_(!token.empty()), digest_(digest_of(token)) {}

    [[nodiscard]] bool matches(std::string_view shown) const {
        return equal_in_constant_time(digest_of(shown), digest_) && is_set_;
    }

private:
    bool is_set_;
    domain::Bytes32 digest_;
};

}  // namespace api::access

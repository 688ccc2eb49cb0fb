#pragma once

#include <string_view>

#include "domain/bytes.hpp"

namespace api::access {

// A token clients must show. Only its digest is kept, and comparing takes the same time whatever is
// shown. An empty token matches nothing.
class SecretToken {
public:
    explicit SecretToken(std::string_view token);

    [[nodiscard]] bool matches(std::string_view shown) const;

private:
    bool is_set_;
    domain::Bytes32 digest_;
};

}  // namespace api::access

#pragma once

namespace api {

// One visitor out of a lambda for each alternative of a variant.
template <typename... Cases>
struct Match : Cases... {
    using Cases::operator()...;
};

template <typename... Cases>
Match(Cases...) -> Match<Cases...>;

}  // namespace api

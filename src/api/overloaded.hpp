#pragma once

namespace api {

// One visitor out of a lambda for each alternative of a variant.
template <typename... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};

template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace api

#include "chains/jsonrpc/trouble.hpp"

#include <utility>

namespace chains::jsonrpc {

Trouble problem(Trouble::Kind kind, std::string text) {
    return net::transport_error(kind, std::move(text));
}

Trouble held_back(const Trouble& other) {
    if (other.kind == Trouble::Kind::throttled || other.kind == Trouble::Kind::stopped) {
        return other;
    }
    return problem(Trouble::Kind::unsent, other.text);
}

}  // namespace chains::jsonrpc

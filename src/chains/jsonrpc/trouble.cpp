#include "chains/jsonrpc/trouble.hpp"

#include <utility>

namespace chains::jsonrpc {

Trouble trouble(Trouble::Kind kind, std::string text) {
    return {kind, std::move(text), domain::Milliseconds{0}};
}

Trouble throttled(domain::Milliseconds wait) {
    return {Trouble::Kind::throttled, "asked to wait " + in_words(wait), wait};
}

Trouble stopped() {
    return trouble(Trouble::Kind::stopped, "stopped");
}

Trouble held_back(const Trouble& other) {
    if (other.kind == Trouble::Kind::throttled || other.kind == Trouble::Kind::stopped) {
        return other;
    }
    return trouble(Trouble::Kind::unsent, other.text);
}

std::string in_words(domain::Milliseconds time) {
    return time.count() % 1'000 == 0 ? std::to_string(time.count() / 1'000) + " s"
                                     : std::to_string(time.count()) + " ms";
}

}  // namespace chains::jsonrpc

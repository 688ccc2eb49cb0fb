#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "domain/bytes.hpp"
#include "domain/time.hpp"
#include "ports/clock.hpp"
#include "ports/random.hpp"

namespace api::admin::page {

// Browsers that have shown the token. In memory only: a restart asks for the token again. Any
// thread.
class Sessions {
public:
    static constexpr std::size_t sessions_max = 100;  // the oldest one makes room
    static constexpr std::chrono::hours lifetime{12};

    Sessions(const ports::Clock& clock, ports::Random& random) : clock_(clock), random_(random) {}

    // What the browser keeps, 64 hexadecimal digits.
    [[nodiscard]] std::string begin();
    void end(std::string_view secret);

    [[nodiscard]] bool is_open(std::string_view secret) const;
    // What each form of that browser carries: other sites can not know it. Empty: no session.
    [[nodiscard]] std::string form_token(std::string_view secret) const;

    // What the next page of that browser says once.
    void leave_message(std::string_view secret, std::string text);
    [[nodiscard]] std::string take_message(std::string_view secret);

private:
    struct Session {
        std::string form_token;
        std::string message;
        domain::Monotonic begun{};
    };
    using ByDigest = std::map<domain::Bytes32, Session>;

    [[nodiscard]] ByDigest::const_iterator find_locked(std::string_view secret) const;
    [[nodiscard]] std::string random_text();

    const ports::Clock& clock_;
    ports::Random& random_;
    mutable std::mutex mutex_;
    ByDigest sessions_;  // by the digest of the secret, so that looking it up tells no time
};

}  // namespace api::admin::page

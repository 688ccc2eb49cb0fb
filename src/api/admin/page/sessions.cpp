#include "api/admin/page/sessions.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "api/access/client_keys.hpp"

namespace api::admin::page {

std::string Sessions::random_text() {
    std::array<std::uint8_t, 32> bytes{};
    random_.fill(bytes);
    return domain::to_hex(bytes);
}

std::string Sessions::begin() {
    std::string secret = random_text();
    const domain::Monotonic now = clock_.monotonic();
    Session session{random_text(), {}, now};
    const std::lock_guard lock(mutex_);
    std::erase_if(sessions_, [now](const auto& one) { return now - one.second.begun >= lifetime; });
    if (sessions_.size() >= sessions_max) {
        sessions_.erase(std::ranges::min_element(sessions_, {},
                                                 [](const auto& one) { return one.second.begun; }));
    }
    sessions_.insert_or_assign(access::digest_of(secret), std::move(session));
    return secret;
}

void Sessions::end(std::string_view secret) {
    const std::lock_guard lock(mutex_);
    sessions_.erase(access::digest_of(secret));
}

Sessions::ByDigest::const_iterator Sessions::find_locked(std::string_view secret) const {
    const auto found = sessions_.find(access::digest_of(secret));
    const bool is_over =
        found != sessions_.end() && clock_.monotonic() - found->second.begun >= lifetime;
    return is_over ? sessions_.end() : found;
}

bool Sessions::is_open(std::string_view secret) const {
    const std::lock_guard lock(mutex_);
    return find_locked(secret) != sessions_.end();
}

std::string Sessions::form_token(std::string_view secret) const {
    const std::lock_guard lock(mutex_);
    const auto found = find_locked(secret);
    return found == sessions_.end() ? std::string() : found->second.form_token;
}

void Sessions::leave_message(std::string_view secret, std::string text) {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(access::digest_of(secret));
    if (found != sessions_.end()) found->second.message = std::move(text);
}

std::string Sessions::take_message(std::string_view secret) {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(access::digest_of(secret));
    return found == sessions_.end() ? std::string() : std::exchange(found->second.message, {});
}

}  // namespace api::admin::page

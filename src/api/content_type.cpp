#include "api/content_type.hpp"

#include "base/text.hpp"

namespace api {

namespace {

bool starts_ignoring_case(std::string_view text, std::string_view prefix) {
    return net::equal_ignoring_case(text.substr(0, prefix.size()), prefix);
}

bool ends_ignoring_case(std::string_view text, std::string_view suffix) {
    return text.size() >= suffix.size() &&
           net::equal_ignoring_case(text.substr(text.size() - suffix.size()), suffix);
}

}  // namespace

bool announces_json(const net::HttpRequest& head) {
    const auto value = head.header("Content-Type");
    if (!value) return false;
    const std::string_view media_type = base::trimmed(value->substr(0, value->find(';')));
    return net::equal_ignoring_case(media_type, "application/json") ||
           (starts_ignoring_case(media_type, "application/") &&
            ends_ignoring_case(media_type, "+json"));
}

}  // namespace api

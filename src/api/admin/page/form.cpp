#include "api/admin/page/form.hpp"

#include <algorithm>
#include <utility>

#include "api/router.hpp"

namespace api::admin::page {

namespace {

std::string decoded(std::string_view text) {
    std::string spaced(text);
    std::ranges::replace(spaced, '+', ' ');
    return percent_decoded(spaced);
}

}  // namespace

FormValues form_values(std::string_view text) {
    FormValues values;
    while (const auto part = take_query_part(text)) {
        std::string value = decoded(part->value);
        if (!value.empty()) values.insert_or_assign(decoded(part->name), std::move(value));
    }
    return values;
}

std::string percent_encoded(std::string_view text) {
    constexpr std::string_view plain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
    constexpr char digits[] = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        if (plain.find(c) != std::string_view::npos) {
            out += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        out += '%';
        out += digits[byte >> 4U];
        out += digits[byte & 15U];
    }
    return out;
}

std::string query_of(const FormValues& values) {
    std::string query;
    for (const auto& [name, value] : values) {
        query += (query.empty() ? "" : "&") + percent_encoded(name) + "=" + percent_encoded(value);
    }
    return query;
}

}  // namespace api::admin::page

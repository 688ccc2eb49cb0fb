#include "api/metrics/labels.hpp"

#include <algorithm>
#include <cassert>

namespace api::metrics::labels {

using domain::Family;

namespace {

template <std::size_t Size>
std::optional<std::size_t> find(const std::array<std::string_view, Size>& table,
                                std::string_view text) {
    const auto place = std::ranges::find(table, text);
    if (place == table.end()) return std::nullopt;
    return static_cast<std::size_t>(place - table.begin());
}

// `0.4` of `0.4.0-alpha.4`.
std::string_view major_minor(std::string_view version) {
    const std::size_t first = version.find('.');
    if (first == std::string_view::npos) return version;
    return version.substr(0, version.find('.', first + 1));
}

}  // namespace

std::string req_type(Family family) {
    return family == Family::share ? "vote_share" : std::string(domain::to_string(family));
}

std::string transaction_type(Family family) {
    switch (family) {
        case Family::input_proof:
            return "input_request";
        case Family::public_decrypt:
            return "public_decrypt_request";
        case Family::user_decrypt:
            return "user_decrypt_request";
        case Family::share:
            break;
    }
    assert(false && "shares are no transactions of the reference");
    return {};
}

std::string table(Family family) {
    assert(family != Family::share);
    return std::string(domain::to_string(family)) + "_req";
}

std::string lane(store::Lane lane) {
    switch (lane) {
        case store::Lane::schedule:
            return "schedule";
        case store::Lane::gate:
            return "gate";
        default:
            return "timer";
    }
}

std::optional<SeriesIndex> series_of(const Route& route) {
    std::string_view path = route.path;
    if (!path.starts_with('/') || path.size() < 3) return std::nullopt;
    if (path.ends_with('/')) path.remove_suffix(1);
    const auto version = find(versions, path.substr(1, 2));
    const auto endpoint = find(endpoints, path.substr(3));
    const auto method = find(methods, route.method);
    if (!version || !endpoint || !method) return std::nullopt;
    return SeriesIndex{*endpoint, *method, *version};
}

std::size_t sdk_name_of(std::optional<std::string_view> header) {
    return header ? find(sdk_names, *header).value_or(0) : 0;
}

std::size_t sdk_version_of(std::optional<std::string_view> header) {
    return header ? find(sdk_versions, major_minor(*header)).value_or(0) : 0;
}

std::size_t revert_category_of(std::optional<std::uint32_t> selector) {
    switch (selector.value_or(0)) {
        case 0xe450d38c:
            return 0;
        case 0xfb8f41b2:
            return 1;
        case 0xd93c0665:
            return 2;
        case 0x2a873d27:
        case 0xf645eedf:
        case 0xfce698f7:
        case 0xd78bce0c:
            return 3;
        default:
            return 4;
    }
}

}  // namespace api::metrics::labels

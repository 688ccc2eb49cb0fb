#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/router.hpp"
#include "domain/kind.hpp"
#include "domain/time.hpp"
#include "store/rows.hpp"

// The values labels may have (relayer-api 10). Every one comes from a table here or from an
// enumeration: nothing a client or a chain says becomes a label.
namespace api::metrics::labels {

inline constexpr std::array families{domain::Family::input_proof, domain::Family::public_decrypt,
                                     domain::Family::user_decrypt, domain::Family::share};
// What the reference knows: everything but vote shares.
inline constexpr std::array relayer_families{
    domain::Family::input_proof, domain::Family::public_decrypt, domain::Family::user_decrypt};

// Whether something of this family, or of this lane, may be shown; the lane `schedule` is the
// shares' own. `shares` is MetricsOptions::shares.
[[nodiscard]] constexpr bool is_shown(domain::Family family, bool shares) {
    return shares || family != domain::Family::share;
}
[[nodiscard]] constexpr bool is_shown(store::Lane lane, bool shares) {
    return shares || lane != store::Lane::schedule;
}

[[nodiscard]] constexpr std::size_t index_of(domain::Family family) {
    return static_cast<std::size_t>(family);
}

[[nodiscard]] std::string req_type(domain::Family family);
// Of the relayer's families.
[[nodiscard]] std::string transaction_type(domain::Family family);
[[nodiscard]] std::string table(domain::Family family);
// schedule, gate or timer.
[[nodiscard]] std::string lane(store::Lane lane);

inline constexpr std::array<std::string_view, 5> endpoints{
    "/input-proof", "/public-decrypt", "/user-decrypt", "/delegated-user-decrypt", "/keyurl"};
inline constexpr std::array<std::string_view, 2> methods{"GET", "POST"};
inline constexpr std::array<std::string_view, 2> versions{"v2", "v3"};

// A route as places in the tables above.
struct SeriesIndex {
    std::size_t endpoint = 0;
    std::size_t method = 0;
    std::size_t version = 0;

    static constexpr std::size_t count = endpoints.size() * methods.size() * versions.size();
    [[nodiscard]] std::size_t number() const {
        return (endpoint * methods.size() + method) * versions.size() + version;
    }
    [[nodiscard]] static SeriesIndex from(std::size_t number) {
        return {number / (methods.size() * versions.size()),
                number / versions.size() % methods.size(), number % versions.size()};
    }
};

// Nothing: the route is none of the relayer API.
[[nodiscard]] std::optional<SeriesIndex> series_of(const Route& route);

inline constexpr std::array<std::string_view, 2> sdk_names{"unknown", "@zama-fhe/relayer-sdk"};
inline constexpr std::array<std::string_view, 3> sdk_versions{"unknown", "0.4", "0.5"};

// Places in the tables above, of what the headers zama-sdk-name and zama-sdk-version say.
[[nodiscard]] std::size_t sdk_name_of(std::optional<std::string_view> header);
[[nodiscard]] std::size_t sdk_version_of(std::optional<std::string_view> header);

inline constexpr std::array<std::string_view, 5> revert_categories{
    "insufficient_balance", "insufficient_allowance", "contract_paused", "invalid_signature",
    "unknown"};
// A place in the table above; by the Solidity errors of relayer-api 9.3.
[[nodiscard]] std::size_t revert_category_of(std::optional<std::uint32_t> selector);
// The chain does not know the ciphertext (yet).
inline constexpr std::uint32_t acl_selector = 0x0666cbdf;

[[nodiscard]] constexpr double seconds(domain::Nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

}  // namespace api::metrics::labels

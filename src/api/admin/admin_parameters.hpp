#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/json_reader.hpp"
#include "engine/tuning.hpp"

namespace api::admin {

// One setting that may change while the process runs (relayer-api 6.2).
struct AdminParameter {
    enum class Type { whole, fraction, intervals };

    std::string_view name;         // in POST
    std::string_view key;          // in GET
    std::string_view description;  // same
    Type type = Type::whole;
    std::uint32_t min = 0;  // of a whole number, in its unit
    std::uint32_t max = 0;
    std::uint32_t unit_ms = 0;  // of a time
    // The member of a tuning it is about; intervals have no `get` and no `set`.
    void (*copy)(engine::Tuning& to, const engine::Tuning& from) = nullptr;
    std::uint64_t (*get)(const engine::Tuning&) = nullptr;
    void (*set)(engine::Tuning&, std::uint32_t) = nullptr;
};

inline constexpr std::uint32_t intervals_max = 64;
inline constexpr std::uint32_t interval_seconds_max = 86'400;  // and of the thresholds

// All of them, in the order of the table.
[[nodiscard]] std::span<const AdminParameter> admin_parameters();
[[nodiscard]] const AdminParameter* find_admin_parameter(std::string_view name);

// In the unit of the parameter; fractions in permille.
using AdminValue = std::variant<std::uint32_t, std::vector<domain::BackoffInterval>>;

// Why a value is refused, as the client is told.
struct AdminError {
    std::string text;
};

// Exact: nothing is rounded. `value` is a number or an array.
[[nodiscard]] std::variant<AdminValue, AdminError> read_admin_value(const AdminParameter&,
                                                                    JsonValue value);

// The tuning with this one value changed, if all of it still fits together (relayer-api 5.7).
[[nodiscard]] std::variant<engine::Tuning, AdminError> apply(const engine::Tuning&,
                                                             const AdminParameter&,
                                                             const AdminValue&);

// Same, with the value that `base` has.
[[nodiscard]] std::variant<engine::Tuning, AdminError> reset(const engine::Tuning&,
                                                             const AdminParameter&,
                                                             const engine::Tuning& base);

// As JSON on one line: `20`, `0.2`, `[[0,4],[60,10]]`. read_admin_value takes it back if it is in
// range.
[[nodiscard]] std::string value_of(const engine::Tuning&, const AdminParameter&);

// What earlier lives of the process left.
struct RestoredTuning {
    engine::Tuning tuning;
    std::vector<std::string> overridden;  // names of what differs from the base by their will
    std::vector<std::string> warnings;    // one line for the log about each that does not fit
};

// `base` is what the configuration says; it must keep the rules itself.
[[nodiscard]] RestoredTuning restore(const engine::Tuning& base,
                                     std::span<const store::Setting> remembered);

}  // namespace api::admin

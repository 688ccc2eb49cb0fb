#include "api/admin/admin_parameters.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "api/admin/admin_values.hpp"
#include "base/sanitize.hpp"

namespace api::admin {

namespace {

using engine::Tuning;
using Rates = engine::PerRelayerFamily<std::uint32_t>;
using RetryAfter = domain::RetryAfterOptions;
using Type = AdminParameter::Type;

struct Names {
    std::string_view name;
    std::string_view key;
    std::string_view description;
};

struct Range {
    std::uint32_t min;
    std::uint32_t max;
};

template <auto member>
void copy_of(Tuning& to, const Tuning& from) {
    to.retry_after.*member = from.retry_after.*member;
}

template <std::uint32_t Rates::*member>
constexpr AdminParameter rate(const Names& names) {
    return {
        names.name,
        names.key,
        names.description,
        Type::whole,
        1,
        1'000,
        0,
        [](Tuning& to, const Tuning& from) { to.per_seconds.*member = from.per_seconds.*member; },
        [](const Tuning& tuning) -> std::uint64_t { return tuning.per_seconds.*member; },
        [](Tuning& tuning, std::uint32_t value) { tuning.per_seconds.*member = value; }};
}

template <domain::Milliseconds RetryAfter::*member, std::uint32_t unit_ms>
constexpr AdminParameter time(const Names& names, Range range) {
    return {names.name,
            names.key,
            names.description,
            Type::whole,
            range.min,
            range.max,
            unit_ms,
            copy_of<member>,
            [](const Tuning& tuning) {
                return static_cast<std::uint64_t>((tuning.retry_after.*member).count()) / unit_ms;
            },
            [](Tuning& tuning, std::uint32_t value) {
                tuning.retry_after.*member =
                    domain::Milliseconds{std::int64_t{value} * std::int64_t{unit_ms}};
            }};
}

template <std::uint32_t RetryAfter::*member>
constexpr AdminParameter plain(const Names& names, Type type, Range range) {
    return {names.name,
            names.key,
            names.description,
            type,
            range.min,
            range.max,
            0,
            copy_of<member>,
            [](const Tuning& tuning) -> std::uint64_t { return tuning.retry_after.*member; },
            [](Tuning& tuning, std::uint32_t value) { tuning.retry_after.*member = value; }};
}

constexpr Range seconds_range{1, 3'600};

constexpr std::array parameters{
    rate<&Rates::input_proof>({"input_proof_throttler_tps", "InputProofThrottlerTps",
                               "Input proof TX throttler rate (TPS)"}),
    rate<&Rates::user_decrypt>({"user_decrypt_throttler_tps", "UserDecryptThrottlerTps",
                                "User decrypt TX throttler rate (TPS)"}),
    rate<&Rates::public_decrypt>({"public_decrypt_throttler_tps", "PublicDecryptThrottlerTps",
                                  "Public decrypt TX throttler rate (TPS)"}),
    time<&RetryAfter::readiness_check, 1'000>(
        {"nominal_readiness_check_seconds", "NominalReadinessCheckSeconds",
         "Expected readiness check time (seconds)"},
        seconds_range),
    time<&RetryAfter::input_proof_processing, 1'000>(
        {"nominal_input_proof_processing_seconds", "NominalInputProofProcessingSeconds",
         "Expected input proof processing time (seconds)"},
        seconds_range),
    time<&RetryAfter::user_decrypt_processing, 1'000>(
        {"nominal_user_decrypt_processing_seconds", "NominalUserDecryptProcessingSeconds",
         "Expected user decrypt processing time (seconds)"},
        seconds_range),
    time<&RetryAfter::public_decrypt_processing, 1'000>(
        {"nominal_public_decrypt_processing_seconds", "NominalPublicDecryptProcessingSeconds",
         "Expected public decrypt processing time (seconds)"},
        seconds_range),
    time<&RetryAfter::tx_confirmation, 1>({"nominal_tx_confirmation_ms", "NominalTxConfirmationMs",
                                           "Expected TX confirmation time (ms)"},
                                          {1, 60'000}),
    plain<&RetryAfter::min_seconds>(
        {"retry_after_min_seconds", "RetryAfterMinSeconds", "Minimum retry-after interval"},
        Type::whole, seconds_range),
    plain<&RetryAfter::max_seconds>(
        {"retry_after_max_seconds", "RetryAfterMaxSeconds", "Maximum retry-after interval"},
        Type::whole, seconds_range),
    plain<&RetryAfter::safety_margin_permille>(
        {"retry_after_safety_margin", "RetryAfterSafetyMargin",
         "Safety margin multiplier for ETA (0.0-1.0)"},
        Type::fraction, {0, 1}),
    AdminParameter{
        .name = "copro_kms_backoff_intervals",
        .key = "CoproKmsBackoffIntervals",
        .description = "Retry interval by time since the receipt ([threshold, interval], seconds)",
        .type = Type::intervals,
        .copy = copy_of<&RetryAfter::copro_kms_backoff_intervals>},
};

std::optional<AdminError> api_error_of(const Tuning& tuning) {
    if (tuning.retry_after.min_seconds >= tuning.retry_after.max_seconds) {
        return AdminError{"retry_after_min_seconds must be less than retry_after_max_seconds"};
    }
    if (auto problem = domain::problem_of(tuning.retry_after)) {
        return AdminError{*std::move(problem)};
    }
    return std::nullopt;
}

void put(Tuning& tuning, const AdminParameter& parameter, const AdminValue& value) {
    if (const auto* number = std::get_if<std::uint32_t>(&value)) {
        parameter.set(tuning, *number);
    } else {
        tuning.retry_after.copro_kms_backoff_intervals =
            std::get<std::vector<domain::BackoffInterval>>(value);
    }
}

std::variant<Tuning, AdminError> checked(Tuning tuning) {
    if (auto api_error = api_error_of(tuning)) return *std::move(api_error);
    return tuning;
}

std::string fraction_text(std::uint64_t permille) {
    std::string decimals = std::to_string(permille % 1'000 + 1'000).substr(1);
    decimals.resize(std::max<std::size_t>(decimals.find_last_not_of('0') + 1, 1));
    return std::to_string(permille / 1'000) + "." + decimals;
}

std::string intervals_text(const std::vector<domain::BackoffInterval>& intervals) {
    std::string out;
    for (const domain::BackoffInterval& interval : intervals) {
        out += (out.empty() ? "[" : ",[") + std::to_string(interval.elapsed_threshold_seconds) +
               "," + std::to_string(interval.retry_interval_seconds) + "]";
    }
    return "[" + out + "]";
}

std::string not_restored(std::string_view name, std::string_view reason) {
    return "setting_not_restored name=" + std::string(name) + " reason=" + base::log_value(reason) +
           " action=\"the value of the configuration is in force\"";
}

// One value as it was remembered, or why it can not be used.
std::variant<AdminValue, AdminError> read_remembered(const AdminParameter& parameter,
                                                     std::string_view json) {
    const auto read = read_json(json);
    const auto* document = std::get_if<JsonDocument>(&read);
    if (document == nullptr) return AdminError{"not JSON"};
    const JsonValue value = document->root();
    if (!value.is(JsonType::number) && !value.is(JsonType::array)) {
        return AdminError{"neither a number nor an array"};
    }
    return read_admin_value(parameter, value);
}

// Either limit may have been remembered: as long as the two do not fit, the file's are in force.
void settle_limits(RestoredTuning& restored, const Tuning& base) {
    const auto api_error = api_error_of(restored.tuning);
    if (!api_error) return;
    for (const std::string_view name : {"retry_after_min_seconds", "retry_after_max_seconds"}) {
        const auto place = std::ranges::find(restored.overridden, name);
        if (place == restored.overridden.end()) continue;
        find_admin_parameter(name)->copy(restored.tuning, base);
        restored.warnings.push_back(not_restored(name, api_error->text));
        restored.overridden.erase(place);
    }
}

}  // namespace

std::span<const AdminParameter> admin_parameters() {
    return parameters;
}

const AdminParameter* find_admin_parameter(std::string_view name) {
    const auto place = std::ranges::find(parameters, name, &AdminParameter::name);
    return place == parameters.end() ? nullptr : &*place;
}

std::variant<AdminValue, AdminError> read_admin_value(const AdminParameter& parameter,
                                                      JsonValue value) {
    switch (parameter.type) {
        case Type::whole:
            return read_whole(parameter, value);
        case Type::fraction:
            return read_fraction(parameter, value);
        case Type::intervals:
            break;
    }
    return read_intervals(parameter, value);
}

std::variant<Tuning, AdminError> apply(const Tuning& tuning, const AdminParameter& parameter,
                                       const AdminValue& value) {
    Tuning changed = tuning;
    put(changed, parameter, value);
    return checked(std::move(changed));
}

std::variant<Tuning, AdminError> reset(const Tuning& tuning, const AdminParameter& parameter,
                                       const Tuning& base) {
    Tuning changed = tuning;
    parameter.copy(changed, base);
    return checked(std::move(changed));
}

std::string value_of(const Tuning& tuning, const AdminParameter& parameter) {
    switch (parameter.type) {
        case Type::whole:
            return std::to_string(parameter.get(tuning));
        case Type::fraction:
            return fraction_text(parameter.get(tuning));
        case Type::intervals:
            break;
    }
    return intervals_text(tuning.retry_after.copro_kms_backoff_intervals);
}

RestoredTuning restore(const Tuning& base, std::span<const store::Setting> remembered) {
    RestoredTuning restored{base, {}, {}};
    for (const auto& [name, json] : remembered) {
        const AdminParameter* parameter = find_admin_parameter(name);
        if (parameter == nullptr) {
            restored.warnings.push_back(not_restored(name, "no such parameter"));
            continue;
        }
        const auto read = read_remembered(*parameter, json);
        if (const auto* api_error = std::get_if<AdminError>(&read)) {
            restored.warnings.push_back(not_restored(name, api_error->text));
            continue;
        }
        put(restored.tuning, *parameter, std::get<AdminValue>(read));
        restored.overridden.push_back(name);
    }
    settle_limits(restored, base);
    return restored;
}

}  // namespace api::admin

#include "api/admin/admin_parameters.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/admin_tunings.hpp"

namespace api {
namespace {

using engine::Tuning;

// What becomes of a value sent as this JSON: the new value as JSON, or the error text.
std::string outcome_of(std::string_view name, std::string_view json,
                       const Tuning& tuning = sample_tuning()) {
    const admin::AdminParameter* parameter = admin::find_admin_parameter(name);
    REQUIRE(parameter != nullptr);
    const auto read = read_json(json);
    REQUIRE(std::holds_alternative<JsonDocument>(read));
    const auto value = admin::read_admin_value(*parameter, std::get<JsonDocument>(read).root());
    if (const auto* api_error = std::get_if<admin::AdminError>(&value)) return api_error->text;
    const auto applied = apply(tuning, *parameter, std::get<admin::AdminValue>(value));
    if (const auto* api_error = std::get_if<admin::AdminError>(&applied)) return api_error->text;
    const auto& changed = std::get<Tuning>(applied);
    // Nothing else moves.
    for (const admin::AdminParameter& other : admin::admin_parameters()) {
        if (&other == parameter) continue;
        CAPTURE(other.name);
        CHECK(admin::value_of(changed, other) == admin::value_of(tuning, other));
    }
    return admin::value_of(changed, *parameter);
}

std::string entries(std::size_t count) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) {
        list += (list.empty() ? "[" : ",[") + std::to_string(i) + ",7]";
    }
    return "[" + list + "]";
}

TEST_CASE("the table of parameters is that of relayer-api 6.2") {
    struct Row {
        std::string_view name;
        std::string_view key;
        std::string_view description;
        std::string_view value;  // of the sample
    };
    const std::vector<Row> rows{
        {"input_proof_throttler_tps", "InputProofThrottlerTps",
         "Input proof TX throttler rate (TPS)", "21"},
        {"user_decrypt_throttler_tps", "UserDecryptThrottlerTps",
         "User decrypt TX throttler rate (TPS)", "23"},
        {"public_decrypt_throttler_tps", "PublicDecryptThrottlerTps",
         "Public decrypt TX throttler rate (TPS)", "22"},
        {"nominal_readiness_check_seconds", "NominalReadinessCheckSeconds",
         "Expected readiness check time (seconds)", "4"},
        {"nominal_input_proof_processing_seconds", "NominalInputProofProcessingSeconds",
         "Expected input proof processing time (seconds)", "2"},
        {"nominal_user_decrypt_processing_seconds", "NominalUserDecryptProcessingSeconds",
         "Expected user decrypt processing time (seconds)", "6"},
        {"nominal_public_decrypt_processing_seconds", "NominalPublicDecryptProcessingSeconds",
         "Expected public decrypt processing time (seconds)", "5"},
        {"nominal_tx_confirmation_ms", "NominalTxConfirmationMs",
         "Expected TX confirmation time (ms)", "250"},
        {"retry_after_min_seconds", "RetryAfterMinSeconds", "Minimum retry-after interval", "1"},
        {"retry_after_max_seconds", "RetryAfterMaxSeconds", "Maximum retry-after interval", "300"},
        {"retry_after_safety_margin", "RetryAfterSafetyMargin",
         "Safety margin multiplier for ETA (0.0-1.0)", "0.2"},
        {"copro_kms_backoff_intervals", "CoproKmsBackoffIntervals",
         "Retry interval by time since the receipt ([threshold, interval], seconds)",
         "[[0,4],[60,10]]"},
    };
    const auto parameters = admin::admin_parameters();
    REQUIRE(parameters.size() == rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CAPTURE(rows[i].name);
        CHECK(parameters[i].name == rows[i].name);
        CHECK(parameters[i].key == rows[i].key);
        CHECK(parameters[i].description == rows[i].description);
        CHECK(admin::value_of(sample_tuning(), parameters[i]) == rows[i].value);
        CHECK(admin::find_admin_parameter(rows[i].name) == &parameters[i]);
        CHECK(admin::find_admin_parameter(rows[i].key) == nullptr);
    }
}

TEST_CASE("every whole parameter takes its range and refuses what lies beside it") {
    struct Row {
        std::string name;
        std::uint32_t max;
    };
    const std::vector<Row> rows{
        {"input_proof_throttler_tps", 1'000},
        {"user_decrypt_throttler_tps", 1'000},
        {"public_decrypt_throttler_tps", 1'000},
        {"nominal_readiness_check_seconds", 3'600},
        {"nominal_input_proof_processing_seconds", 3'600},
        {"nominal_user_decrypt_processing_seconds", 3'600},
        {"nominal_public_decrypt_processing_seconds", 3'600},
        {"nominal_tx_confirmation_ms", 60'000},
        {"retry_after_min_seconds", 3'600},
        {"retry_after_max_seconds", 3'600},
    };
    Tuning wide = sample_tuning();
    wide.retry_after.min_seconds = 1;
    wide.retry_after.max_seconds = 86'400;
    for (const auto& [name, max] : rows) {
        CAPTURE(name);
        const std::string most = std::to_string(max);
        const bool is_max = name == "retry_after_max_seconds";  // 1 would meet the other limit
        const std::string least = is_max ? "2" : "1";
        CHECK(outcome_of(name, least, wide) == least);
        CHECK(outcome_of(name, most, wide) == most);
        CHECK(outcome_of(name, "0") == name + " must be greater than 0");
        const std::string above = name + " must be less than or equal to " + most;
        CHECK(outcome_of(name, std::to_string(max + 1)) == above);
        for (const std::string_view large : {"4294967295", "4294967296", "9007199254740993",
                                             "18446744073709551617", "1000000000000000000000000"}) {
            CAPTURE(large);
            CHECK(outcome_of(name, large) == above);
        }
        for (const std::string_view wrong :
             {"5.0", "5.5", "0.0", "5e0", "5E+0", "50e-1", "-1", "-0", "-0.0", "-5.5",
              "-9007199254740993", "1e300", "2.5e-300"}) {
            CAPTURE(wrong);
            CHECK(outcome_of(name, wrong) == "Type mismatch: expected u32, got f32");
        }
        CHECK(outcome_of(name, "[]") == "Type mismatch: expected u32, got array");
    }
}

TEST_CASE("the margin is kept exactly or refused") {
    struct Row {
        std::string_view sent;
        std::string_view outcome;
    };
    const std::string name = "retry_after_safety_margin";
    const std::string_view too_large = "retry_after_safety_margin must be less than or equal to 1";
    const std::string_view too_fine = "retry_after_safety_margin must have at most 3 decimals";
    const std::vector<Row> rows{
        {"0", "0.0"},
        {"1", "1.0"},
        {"0.0", "0.0"},
        {"-0", "0.0"},
        {"-0.0", "0.0"},
        {"1.0", "1.0"},
        {"1.000000000000", "1.0"},
        {"0.2", "0.2"},
        {"0.25", "0.25"},
        {"0.001", "0.001"},
        {"0.999", "0.999"},
        {"0.010", "0.01"},
        {"0.2000000000000000000000", "0.2"},
        {"2e-1", "0.2"},
        {"2E-1", "0.2"},
        {"0.02e+1", "0.2"},
        {"1000e-3", "1.0"},
        {"0.0009", too_fine},
        {"0.1234", too_fine},
        {"0.20000000000000001", too_fine},
        {"0.99999999999999999999", too_fine},
        {"1e-4", too_fine},
        {"1e-300", too_fine},
        {"2", too_large},
        {"2.0", too_large},
        {"10", too_large},
        {"2e0", too_large},
        {"20e-1", too_large},
        {"1e300", too_large},
        {"9007199254740993", too_large},
        {"1.5", "Value 1.5 is out of range [0, 1]"},
        {"1.0001", "Value 1.0001 is out of range [0, 1]"},
        {"15e-1", "Value 15e-1 is out of range [0, 1]"},
        {"-1", "Value -1 is out of range [0, 1]"},
        {"-0.5", "Value -0.5 is out of range [0, 1]"},
        {"-1.0", "Value -1.0 is out of range [0, 1]"},
        {"1.00000000000000000000000000000000000000000000000001",
         "Value 1.00000000000000000000000000000000000000… is out of range [0, 1]"},
        {"[]", "Type mismatch: expected f32, got array"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.sent);
        CHECK(outcome_of(name, row.sent) == row.outcome);
    }
    // The reader of JSON takes no exponent beyond 32 bits, also not of zero.
    const auto beyond = read_json("0e99999999999999999999");
    REQUIRE(std::holds_alternative<JsonProblem>(beyond));
    CHECK(std::get<JsonProblem>(beyond).what == "the number is out of range");
    for (std::uint32_t permille = 0; permille <= 1'000; ++permille) {
        Tuning tuning = sample_tuning();
        tuning.retry_after.safety_margin_permille = permille;
        const std::string text = admin::value_of(tuning, *admin::find_admin_parameter(name));
        CAPTURE(text);
        REQUIRE(outcome_of(name, text) == text);
    }
}

TEST_CASE("backoff intervals come as pairs or objects and must rise") {
    struct Row {
        std::string sent;
        std::string outcome;
    };
    const std::string name = "copro_kms_backoff_intervals";
    const std::string shape =
        " must be [threshold, interval] or an object with the members "
        "elapsed_threshold_secs and retry_interval_secs";
    const std::string threshold = ".elapsed_threshold_secs must be a whole number from 0 to 86400";
    const std::string interval = ".retry_interval_secs must be a whole number from 1 to 86400";
    const std::vector<Row> rows{
        {"[]", "[]"},
        {"[[0,4]]", "[[0,4]]"},
        {"[ [0, 4], [86400, 86400] ]", "[[0,4],[86400,86400]]"},
        {R"([{"elapsed_threshold_secs":5,"retry_interval_secs":1},[6,2]])", "[[5,1],[6,2]]"},
        {R"([{"retry_interval_secs":1,"elapsed_threshold_secs":5}])", "[[5,1]]"},
        {entries(64), entries(64)},
        {entries(65), name + " must have at most 64 entries"},
        {"[[0,0]]", name + "[0]" + interval},
        {"[[0,86401]]", name + "[0]" + interval},
        {"[[0,1.0]]", name + "[0]" + interval},
        {"[[0,\"1\"]]", name + "[0]" + interval},
        {"[[0,1],[-1,1]]", name + "[1]" + threshold},
        {"[[86401,1]]", name + "[0]" + threshold},
        {"[[5e0,1]]", name + "[0]" + threshold},
        {"[[9007199254740993,1]]", name + "[0]" + threshold},
        {"[[null,1]]", name + "[0]" + threshold},
        {"[4]", name + "[0]" + shape},
        {"[[4]]", name + "[0]" + shape},
        {"[[0,4,5]]", name + "[0]" + shape},
        {"[[0,4],{}]", name + "[1]" + shape},
        {R"([{"elapsed_threshold_secs":5,"retry_interval":1}])", name + "[0]" + shape},
        {R"([{"elapsed_threshold_secs":5,"retry_interval_secs":1,"x":1}])", name + "[0]" + shape},
        {"[[60,4],[60,5]]", name + "[1].elapsed_threshold_secs must be greater than 60, that of "
                                   "the entry before"},
        {"[[60,4],[59,5]]", name + "[1].elapsed_threshold_secs must be greater than 60, that of "
                                   "the entry before"},
        {"5", "Type mismatch: expected array, got u32"},
        {"5.5", "Type mismatch: expected array, got f32"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.sent);
        CHECK(outcome_of(name, row.sent) == row.outcome);
    }
}

TEST_CASE("the shortest Retry-After stays below the longest") {
    const std::string text = "retry_after_min_seconds must be less than retry_after_max_seconds";
    CHECK(outcome_of("retry_after_min_seconds", "299") == "299");
    CHECK(outcome_of("retry_after_min_seconds", "300") == text);
    CHECK(outcome_of("retry_after_min_seconds", "301") == text);
    CHECK(outcome_of("retry_after_max_seconds", "2") == "2");
    CHECK(outcome_of("retry_after_max_seconds", "1") == text);
}

TEST_CASE("a reset takes the value of the configuration, and the rules hold for it too") {
    const Tuning base = sample_tuning();
    for (const admin::AdminParameter& parameter : admin::admin_parameters()) {
        CAPTURE(parameter.name);
        Tuning other = base;
        other.retry_after.safety_margin_permille = 3;
        other.retry_after.copro_kms_backoff_intervals = {{1, 1}};
        other.per_seconds = {7, 7, 7};
        other.retry_after.readiness_check = other.retry_after.input_proof_processing =
            other.retry_after.user_decrypt_processing =
                other.retry_after.public_decrypt_processing = other.retry_after.tx_confirmation =
                    domain::Milliseconds{9'000};
        other.retry_after.min_seconds = 2;
        other.retry_after.max_seconds = 299;
        const auto made = reset(other, parameter, base);
        REQUIRE(std::holds_alternative<Tuning>(made));
        CHECK(admin::value_of(std::get<Tuning>(made), parameter) ==
              admin::value_of(base, parameter));
        CHECK_FALSE(std::get<Tuning>(made) == other);
        CHECK_FALSE(std::get<Tuning>(made) == base);
    }
    Tuning high = base;
    high.retry_after.min_seconds = 400;
    high.retry_after.max_seconds = 500;
    const auto made = reset(high, *admin::find_admin_parameter("retry_after_max_seconds"), base);
    REQUIRE(std::holds_alternative<admin::AdminError>(made));
    CHECK(std::get<admin::AdminError>(made).text ==
          "retry_after_min_seconds must be less than retry_after_max_seconds");
}

TEST_CASE("what was remembered is laid over the configuration") {
    const std::vector<store::Setting> remembered{
        {"copro_kms_backoff_intervals", "[[0,9]]"}, {"input_proof_throttler_tps", "77"},
        {"retry_after_max_seconds", "500"},         {"retry_after_min_seconds", "400"},
        {"retry_after_safety_margin", "0.125"},
    };
    const auto [tuning, overridden, warnings] = admin::restore(sample_tuning(), remembered);
    CHECK(warnings.empty());
    Tuning expected = sample_tuning();
    expected.retry_after.copro_kms_backoff_intervals = {{0, 9}};
    expected.per_seconds.input_proof = 77;
    expected.retry_after.min_seconds = 400;
    expected.retry_after.max_seconds = 500;
    expected.retry_after.safety_margin_permille = 125;
    CHECK(tuning == expected);
    CHECK(overridden.size() == 5);
    CHECK(admin::restore(sample_tuning(), {}).tuning == sample_tuning());
}

TEST_CASE("a remembered value that does not fit is left out with a warning, the rest is not") {
    struct Row {
        store::Setting setting;
        std::string_view reason;
    };
    const std::vector<Row> rows{
        {{"public_decrypt_throttler_tps", "1001"},
         "public_decrypt_throttler_tps must be less than or equal to 1000"},
        {{"public_decrypt_throttler_tps", "1.5"}, "Type mismatch: expected u32, got f32"},
        {{"public_decrypt_throttler_tps", "null"}, "neither a number nor an array"},
        {{"public_decrypt_throttler_tps", "\"5\""}, "neither a number nor an array"},
        {{"public_decrypt_throttler_tps", ""}, "not JSON"},
        {{"public_decrypt_throttler_tps", "{"}, "not JSON"},
        {{"of_a_later_version", "1"}, "no such parameter"},
        {{"retry_after_min_seconds", "300"},
         "retry_after_min_seconds must be less than retry_after_max_seconds"},
        {{"retry_after_max_seconds", "1"},
         "retry_after_min_seconds must be less than retry_after_max_seconds"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.setting.name);
        CAPTURE(row.setting.value);
        const std::vector<store::Setting> remembered{
            {"input_proof_throttler_tps", "77"}, row.setting, {"user_decrypt_throttler_tps", "78"}};
        const auto [tuning, overridden, warnings] = admin::restore(sample_tuning(), remembered);
        Tuning expected = sample_tuning();
        expected.per_seconds.input_proof = 77;
        expected.per_seconds.user_decrypt = 78;
        CHECK(tuning == expected);
        CHECK(overridden ==
              std::vector<std::string>{"input_proof_throttler_tps", "user_decrypt_throttler_tps"});
        REQUIRE(warnings.size() == 1);
        CHECK(warnings[0] == "setting_not_restored name=" + row.setting.name + " reason=\"" +
                                 std::string(row.reason) +
                                 "\" action=\"the value of the configuration is in force\"");
    }
}

TEST_CASE("of two remembered limits only what contradicts the file goes") {
    Tuning base = sample_tuning();
    base.retry_after.min_seconds = 10;
    // Together they fit, although the longest alone would not.
    const std::vector<store::Setting> both{{"retry_after_max_seconds", "5"},
                                           {"retry_after_min_seconds", "1"}};
    const admin::RestoredTuning fits = admin::restore(base, both);
    CHECK(fits.warnings.empty());
    CHECK(fits.tuning.retry_after.min_seconds == 1);
    CHECK(fits.tuning.retry_after.max_seconds == 5);
    // Nobody could have remembered these two together.
    const std::vector<store::Setting> crossed{{"retry_after_max_seconds", "5"},
                                              {"retry_after_min_seconds", "6"}};
    const admin::RestoredTuning neither = admin::restore(base, crossed);
    CHECK(neither.warnings.size() == 2);
    CHECK(neither.overridden.empty());
    CHECK(neither.tuning == base);
}

}  // namespace
}  // namespace api

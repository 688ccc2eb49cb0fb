#include "domain/retry_after.hpp"

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "support/chance.hpp"

using namespace domain;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

// D = 10, C = 50, R = 2000, P = 2000 or 4000, T = 100, M = 0.2 (relayer-api 5.3).
RetryAfterOptions worked_options() {
    RetryAfterOptions options;
    options.readiness_check = 2'000ms;
    options.input_proof_processing = 2'000ms;
    options.user_decrypt_processing = 4'000ms;
    options.public_decrypt_processing = 4'000ms;
    options.tx_confirmation = 100ms;
    return options;
}

QueuePosition worked_position(Family family, Stage stage) {
    return {.family = family, .stage = stage, .tx_per_second = 10, .readiness_concurrency = 50};
}

QueuePosition in_tx_queue(std::uint64_t position, std::uint64_t rate) {
    return {.family = Family::input_proof,
            .stage = Stage::tx_queue,
            .ahead = position,
            .tx_per_second = rate};
}

}  // namespace

TEST_CASE("T-146 the worked values of relayer-api 5.3") {
    struct Row {
        std::string_view label;
        std::vector<Family> families;
        Stage stage;
        std::array<std::uint32_t, 5> seconds;
    };
    const std::vector<Family> decrypts{Family::public_decrypt, Family::user_decrypt};
    const std::vector<Row> rows{
        {"input proof", {Family::input_proof}, Stage::tx_queue, {3, 3, 4, 15, 123}},
        {"decrypt queued", decrypts, Stage::readiness_queue, {5, 6, 7, 20, 149}},
        {"check running", decrypts, Stage::readiness_check, {8, 8, 9, 20, 128}},
        {"decrypt in tx queue", decrypts, Stage::tx_queue, {5, 6, 7, 17, 125}},
        {"input proof sent", {Family::input_proof}, Stage::sending, {3, 3, 3, 3, 3}},
        {"decrypt sent", decrypts, Stage::sending, {5, 5, 5, 5, 5}},
    };
    const std::array<std::uint64_t, 5> sizes{0, 1, 10, 100, 1'000};
    for (const Row& row : rows) {
        for (const Family family : row.families) {
            for (std::size_t i = 0; i < sizes.size(); ++i) {
                CAPTURE(row.label);
                CAPTURE(to_string(family));
                CAPTURE(sizes.at(i));
                QueuePosition queue_position = worked_position(family, row.stage);
                queue_position.ahead = sizes.at(i);
                queue_position.tx_queue_size = sizes.at(i);
                CHECK(retry_after_seconds(queue_position, worked_options()) == row.seconds.at(i));
            }
        }
    }
}

TEST_CASE("each stage reads only what its formula names") {
    const RetryAfterOptions options = worked_options();
    QueuePosition queue_position = worked_position(Family::user_decrypt, Stage::tx_queue);
    queue_position.ahead = 20;
    queue_position.tx_queue_size = 70;
    CHECK(raw_eta_ms(queue_position, options) == 2'000 + 4'100);

    queue_position.stage = Stage::readiness_queue;
    CHECK(raw_eta_ms(queue_position, options) == 400 + 7'000 + 4'100);

    queue_position.stage = Stage::readiness_check;
    CHECK(raw_eta_ms(queue_position, options) == 2'000 + 7'000 + 4'100);

    queue_position.stage = Stage::sending;
    CHECK(raw_eta_ms(queue_position, options) == 4'000);

    queue_position.stage = Stage::response;
    CHECK_FALSE(raw_eta_ms(queue_position, options).has_value());

    queue_position.stage = Stage::done;
    CHECK_FALSE(raw_eta_ms(queue_position, options).has_value());
    CHECK(retry_after_seconds(queue_position, options) == 0);
}

TEST_CASE("processing times are those of the family") {
    RetryAfterOptions options;
    options.input_proof_processing = 11ms;
    options.public_decrypt_processing = 12ms;
    options.user_decrypt_processing = 13ms;
    CHECK(raw_eta_ms({.family = Family::input_proof, .stage = Stage::sending}, options) == 11);
    CHECK(raw_eta_ms({.family = Family::public_decrypt, .stage = Stage::sending}, options) == 12);
    CHECK(raw_eta_ms({.family = Family::user_decrypt, .stage = Stage::sending}, options) == 13);
}

TEST_CASE("the check value of relayer-api 5.4 that follows 5.2") {
    CHECK(raw_eta_ms(in_tx_queue(100, 20), {}) == 7'250);
    CHECK(retry_after_seconds(in_tx_queue(100, 20), {}) == 9);
}

TEST_CASE("whole seconds stay whole and one more millisecond makes one more second") {
    struct Row {
        std::int64_t raw_ms;
        std::uint32_t seconds;
    };
    const std::array rows{
        Row{0, 1},       Row{833, 1},       Row{834, 2},       Row{2'500, 3},
        Row{2'501, 4},   Row{5'000, 6},     Row{5'001, 7},     Row{10'000, 12},
        Row{10'001, 13}, Row{249'999, 300}, Row{250'000, 300}, Row{250'001, 300},
    };
    for (const Row& row : rows) {
        CAPTURE(row.raw_ms);
        RetryAfterOptions options;
        options.input_proof_processing = Milliseconds{row.raw_ms};
        CHECK(retry_after_seconds({.stage = Stage::sending}, options) == row.seconds);
    }
}

TEST_CASE("long queues and old requests stay inside the clamp") {
    const RetryAfterOptions options = worked_options();
    struct Row {
        std::uint64_t position;
        std::uint64_t rate;
        std::uint32_t seconds;
    };
    const std::array rows{
        Row{0, 10, 3},    Row{1, 10, 3},       Row{4, 10, 3},          Row{10, 10, 4},
        Row{100, 10, 15}, Row{1'000, 10, 123}, Row{5'000'000, 1, 300},
    };
    for (const Row& row : rows) {
        CAPTURE(row.position);
        CHECK(retry_after_seconds(in_tx_queue(row.position, row.rate), options) == row.seconds);
    }
    constexpr std::int64_t sixty_days = 60LL * 24 * 3'600;
    for (const std::int64_t elapsed : {sixty_days, std::numeric_limits<std::int64_t>::max()}) {
        CHECK(retry_after_seconds({.stage = Stage::response, .seconds_in_status = elapsed},
                                  options) == 300);
    }
}

TEST_CASE("a wait is an exact fraction until the one rounding at the end") {
    RetryAfterOptions options;
    options.input_proof_processing = 0ms;
    options.user_decrypt_processing = 0ms;
    options.tx_confirmation = 0ms;
    options.safety_margin_permille = 0;

    CHECK(raw_eta_ms(in_tx_queue(1, 3), options) == 334);
    CHECK(raw_eta_ms(in_tx_queue(3, 3'000), options) == 1);
    CHECK(raw_eta_ms(in_tx_queue(3'001, 3'000), options) == 1'001);
    CHECK(retry_after_seconds(in_tx_queue(30, 3), options) == 10);
    CHECK(retry_after_seconds(in_tx_queue(31, 3), options) == 11);

    QueuePosition queue_position{.family = Family::user_decrypt,
                                 .stage = Stage::readiness_queue,
                                 .ahead = 1,
                                 .tx_queue_size = 2,
                                 .tx_per_second = 3,
                                 .readiness_concurrency = 3};
    CHECK(raw_eta_ms(queue_position, options) == 1'000);  // 1/3 s + 2/3 s
    CHECK(retry_after_seconds(queue_position, options) == 1);

    queue_position.tx_per_second = 4;
    CHECK(raw_eta_ms(queue_position, options) == 834);  // 1/3 s + 1/2 s

    // The margin multiplies the fraction, not a rounded number: 2/3 s · 1.5 is one second.
    options.safety_margin_permille = 500;
    options.max_seconds = 86'400;
    CHECK(retry_after_seconds(in_tx_queue(2, 3), options) == 1);
    CHECK(retry_after_seconds(in_tx_queue(200, 3), options) == 100);
    CHECK(retry_after_seconds(in_tx_queue(201, 3), options) == 101);
}

TEST_CASE("random standings agree with the formula over one common denominator") {
    for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
        CAPTURE(seed);
        support::Chance chance{seed};
        RetryAfterOptions options;
        options.max_seconds = 86'400;
        options.safety_margin_permille = static_cast<std::uint32_t>(chance.up_to(1'000));
        options.user_decrypt_processing = Milliseconds{chance.up_to(10'000)};
        options.tx_confirmation = Milliseconds{chance.up_to(1'000)};
        const QueuePosition queue_position{.family = Family::user_decrypt,
                                           .stage = Stage::readiness_queue,
                                           .ahead = chance.up_to(1'000),
                                           .tx_queue_size = chance.up_to(1'000),
                                           .tx_per_second = 1 + chance.up_to(30),
                                           .readiness_concurrency = 1 + chance.up_to(30)};

        // Small enough for 64 bits; the negation turns the floor of the division into a ceiling.
        const auto d = static_cast<std::int64_t>(queue_position.tx_per_second);
        const auto c = static_cast<std::int64_t>(queue_position.readiness_concurrency);
        const std::int64_t fixed =
            options.user_decrypt_processing.count() + options.tx_confirmation.count();
        const std::int64_t numerator =
            static_cast<std::int64_t>(queue_position.ahead) * 1'000 * d +
            static_cast<std::int64_t>(queue_position.tx_queue_size) * 1'000 * c + fixed * c * d;
        const std::int64_t raw = (numerator + c * d - 1) / (c * d);
        const std::int64_t scaled = numerator * (1'000 + options.safety_margin_permille);
        const std::int64_t unit = c * d * 1'000'000;
        const std::int64_t seconds = std::max<std::int64_t>((scaled + unit - 1) / unit, 1);

        REQUIRE(raw_eta_ms(queue_position, options) == static_cast<std::uint64_t>(raw));
        REQUIRE(retry_after_seconds(queue_position, options) ==
                static_cast<std::uint32_t>(seconds));
    }
}

TEST_CASE("no input overflows") {
    RetryAfterOptions options;
    const std::array<std::uint64_t, 8> values{0,          1,          2,        1'000,
                                              1ULL << 32, 1ULL << 63, most - 1, most};
    for (const std::uint64_t position : values) {
        for (const std::uint64_t size : values) {
            for (const std::uint64_t rate : values) {
                for (const std::uint64_t concurrency : values) {
                    CAPTURE(position);
                    CAPTURE(size);
                    CAPTURE(rate);
                    CAPTURE(concurrency);
                    const QueuePosition queue_position{.family = Family::public_decrypt,
                                                       .stage = Stage::readiness_queue,
                                                       .ahead = position,
                                                       .tx_queue_size = size,
                                                       .tx_per_second = rate,
                                                       .readiness_concurrency = concurrency};
                    const std::uint32_t seconds = retry_after_seconds(queue_position, options);
                    REQUIRE(seconds >= 8);  // (6000 + 250) · 1.2
                    REQUIRE(seconds <= 300);
                    const bool waits = rate == 0 || concurrency == 0 ||
                                       position / concurrency >= 300 || size / rate >= 300;
                    if (waits) REQUIRE(seconds == 300);
                }
            }
        }
    }

    // Two rests just below one second each: the sum over one denominator exceeds 128 bits.
    const QueuePosition two_rests{.family = Family::public_decrypt,
                                  .stage = Stage::readiness_queue,
                                  .ahead = most - 1,
                                  .tx_queue_size = most - 1,
                                  .tx_per_second = most,
                                  .readiness_concurrency = most};
    CHECK(raw_eta_ms(two_rests, options) == 2'000 + 6'250);
    CHECK(retry_after_seconds(two_rests, options) == 10);  // 8250 · 1.2 = 9900
}

TEST_CASE("the raw time saturates") {
    RetryAfterOptions options;
    CHECK(raw_eta_ms(in_tx_queue(most, 1), options) == most);
    CHECK(raw_eta_ms(in_tx_queue(most, most), options) == 1'000 + 2'250);
    CHECK(retry_after_seconds(in_tx_queue(most, 1), options) == 300);

    options.input_proof_processing = Milliseconds::max();
    options.tx_confirmation = Milliseconds::max();
    options.safety_margin_permille = std::numeric_limits<std::uint32_t>::max();
    CHECK(raw_eta_ms(in_tx_queue(0, 1), options) == most - 1);
    CHECK(raw_eta_ms(in_tx_queue(1, 1), options) == most);
    CHECK(retry_after_seconds(in_tx_queue(most, 1), options) == 300);
}

TEST_CASE("a queue that does not move counts as the longest wait") {
    const RetryAfterOptions options = worked_options();
    CHECK(retry_after_seconds(in_tx_queue(0, 0), options) == 300);
    CHECK(raw_eta_ms(in_tx_queue(0, 0), options) == 300'000 + 2'100);

    QueuePosition queue_position = worked_position(Family::user_decrypt, Stage::readiness_queue);
    queue_position.readiness_concurrency = 0;
    CHECK(retry_after_seconds(queue_position, options) == 300);
    CHECK(raw_eta_ms(queue_position, options) == 300'000 + 4'100);

    queue_position = worked_position(Family::user_decrypt, Stage::readiness_check);
    queue_position.tx_per_second = 0;
    CHECK(retry_after_seconds(queue_position, options) == 300);
}

TEST_CASE("T-146 after the receipt the interval of the last threshold reached counts, no margin") {
    struct Row {
        std::int64_t elapsed;
        std::uint32_t seconds;
    };
    const std::array defaults{
        Row{-1, 4},    Row{0, 4},           Row{59, 4},
        Row{60, 10},   Row{119, 10},        Row{120, 30},
        Row{299, 30},  Row{300, 60},        Row{899, 60},
        Row{900, 300}, Row{5'184'000, 300}, Row{std::numeric_limits<std::int64_t>::min(), 4},
    };
    for (const Row& row : defaults) {
        CAPTURE(row.elapsed);
        CHECK(retry_after_seconds({.stage = Stage::response, .seconds_in_status = row.elapsed},
                                  {}) == row.seconds);
    }

    RetryAfterOptions options;
    options.copro_kms_backoff_intervals = {{0, 4}, {60, 10}, {120, 30}};
    for (const Row& row :
         {Row{0, 4}, Row{30, 4}, Row{60, 10}, Row{90, 10}, Row{120, 30}, Row{200, 30}}) {
        CAPTURE(row.elapsed);
        CHECK(retry_after_seconds({.stage = Stage::response, .seconds_in_status = row.elapsed},
                                  options) == row.seconds);
    }
}

TEST_CASE("the table of intervals may be empty, begin late or leave the clamp") {
    RetryAfterOptions options;
    options.min_seconds = 5;
    options.max_seconds = 20;
    const auto at = [&](std::int64_t elapsed) {
        return retry_after_seconds({.stage = Stage::response, .seconds_in_status = elapsed},
                                   options);
    };
    options.copro_kms_backoff_intervals = {};
    CHECK(at(0) == 5);
    CHECK(at(1'000'000) == 5);

    options.copro_kms_backoff_intervals = {{10, 7}, {20, 9}};
    CHECK(at(0) == 7);
    CHECK(at(9) == 7);
    CHECK(at(20) == 9);

    options.copro_kms_backoff_intervals = {{0, 1}, {20, 4'000'000'000}};
    CHECK(at(0) == 5);
    CHECK(at(20) == 20);
}

TEST_CASE("options that break a rule are refused with the name and the fix") {
    struct Row {
        std::string_view label;
        void (*change)(RetryAfterOptions&);
        std::vector<std::string_view> words;  // of the message; none: the options are good
    };
    const std::vector<Row> rows{
        {"defaults", [](auto&) {}, {}},
        {"min 0", [](auto& it) { it.min_seconds = 0; }, {"min_seconds is 0", "1 or more"}},
        {"min = max",
         [](auto& it) { it.min_seconds = 300; },
         {"min_seconds is 300", "max_seconds (300)", "lower min_seconds or raise max_seconds"}},
        {"min > max",
         [](auto& it) { it.max_seconds = 0; },
         {"min_seconds is 1", "max_seconds (0)", "raise max_seconds"}},
        {"min just below max", [](auto& it) { it.min_seconds = 299; }, {}},
        {"max one day", [](auto& it) { it.max_seconds = 86'400; }, {}},
        {"max above one day",
         [](auto& it) { it.max_seconds = 86'401; },
         {"max_seconds is 86401", "86400 or less"}},
        {"no margin", [](auto& it) { it.safety_margin_permille = 0; }, {}},
        {"full margin", [](auto& it) { it.safety_margin_permille = 1'000; }, {}},
        {"margin above 1",
         [](auto& it) { it.safety_margin_permille = 1'001; },
         {"safety_margin is 1001 permille", "from 0 to 1"}},
        {"negative readiness",
         [](auto& it) { it.readiness_check = -1ms; },
         {"readiness_check_seconds is -1 ms", "0 or more"}},
        {"negative input proof",
         [](auto& it) { it.input_proof_processing = -1ms; },
         {"input_proof_processing_seconds"}},
        {"negative user decrypt",
         [](auto& it) { it.user_decrypt_processing = -1ms; },
         {"user_decrypt_processing_seconds"}},
        {"negative public decrypt",
         [](auto& it) { it.public_decrypt_processing = -1ms; },
         {"public_decrypt_processing_seconds"}},
        {"negative confirmation",
         [](auto& it) { it.tx_confirmation = -1ms; },
         {"tx_confirmation_ms"}},
        {"no intervals", [](auto& it) { it.copro_kms_backoff_intervals.clear(); }, {}},
        {"late first interval",
         [](auto& it) {
             it.copro_kms_backoff_intervals = {{60, 1}};
         },
         {}},
        {"interval 0",
         [](auto& it) { it.copro_kms_backoff_intervals[2].retry_interval_seconds = 0; },
         {"copro_kms_backoff_intervals[2].retry_interval_seconds is 0", "1 or more"}},
        {"repeated threshold",
         [](auto& it) {
             it.copro_kms_backoff_intervals = {{0, 1}, {60, 2}, {60, 3}};
         },
         {"copro_kms_backoff_intervals[2].elapsed_threshold_seconds is 60", "not above 60",
          "ascending"}},
        {"unsorted thresholds",
         [](auto& it) {
             it.copro_kms_backoff_intervals = {{60, 1}, {0, 2}};
         },
         {"copro_kms_backoff_intervals[1].elapsed_threshold_seconds is 0", "ascending"}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        RetryAfterOptions options;
        row.change(options);
        const auto problem = problem_of(options);
        CHECK(problem.has_value() == !row.words.empty());
        for (const std::string_view words : row.words) {
            CAPTURE(words);
            CAPTURE(problem.value_or(""));
            CHECK(problem.value_or("").find(words) != std::string::npos);
        }
    }
}

TEST_CASE("options that were never checked still give an answer") {
    RetryAfterOptions options;
    options.min_seconds = 10;
    options.max_seconds = 5;
    options.tx_confirmation = Milliseconds::min();
    options.input_proof_processing = -1ms;
    CHECK(retry_after_seconds(in_tx_queue(0, 1), options) == 5);
    CHECK(raw_eta_ms(in_tx_queue(0, 1), options) == 0);
}

#include "platform/log.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <regex>
#include <string>
#include <thread>
#include <vector>

namespace {

// Standard error goes to a pipe while this lives.
class CapturedError {
public:
    CapturedError() : saved_(::dup(STDERR_FILENO)) {
        REQUIRE(::pipe2(pipe_.data(), O_CLOEXEC) == 0);
        REQUIRE(::dup2(pipe_[1], STDERR_FILENO) >= 0);
    }

    ~CapturedError() { restore(); }

    std::string text() {
        restore();
        std::string all;
        std::array<char, 4096> part{};
        for (;;) {
            const ssize_t size = ::read(pipe_[0], part.data(), part.size());
            if (size <= 0) break;
            all.append(part.data(), static_cast<std::size_t>(size));
        }
        ::close(pipe_[0]);
        return all;
    }

private:
    void restore() {
        if (saved_ < 0) return;
        ::dup2(saved_, STDERR_FILENO);
        ::close(saved_);
        ::close(pipe_[1]);
        saved_ = -1;
    }

    int saved_;
    std::array<int, 2> pipe_{};
};

std::string written(const platform::LogOptions& options, ports::LogLevel level,
                    std::string_view line) {
    CapturedError error;
    platform::Log log{options};
    log.write(level, line);
    return error.text();
}

}  // namespace

TEST_CASE("each format writes one line with the parts that are asked for") {
    using enum ports::LogLevel;
    struct Row {
        std::string_view label;
        platform::LogOptions options;
        ports::LogLevel level;
        std::string_view line;
        std::string expected;
    };
    const std::string utc = R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)";
    const std::vector<Row> rows{
        {"compact", {}, info, "accepted id=1", utc + " info posthouse: accepted id=1\n"},
        {"warning", {}, warning, "disk_full", utc + " warning posthouse: disk_full\n"},
        {"bare", {.show_timestamp = false, .show_target = false}, error, "x", "error x\n"},
        {"threads",
         {.show_timestamp = false, .show_thread_ids = true},
         info,
         "x",
         R"(info \[\d+\] posthouse: x)"
         "\n"},
        {"braces",
         {.show_timestamp = false},
         info,
         "a={} b={0} %v",
         R"(info posthouse: a=\{\} b=\{0\} %v)"
         "\n"},
        {"json",
         {.format = platform::LogFormat::json},
         info,
         "say text=\"hi\"",
         R"(\{"timestamp":")" + utc +
             R"(","level":"info","target":"posthouse","message":"say text=\\"hi\\""\})"
             "\n"},
        {"json bare",
         {.format = platform::LogFormat::json,
          .show_timestamp = false,
          .show_target = false,
          .show_thread_ids = true},
         debug,
         "x",
         ""},
        {"json threads",
         {.format = platform::LogFormat::json,
          .level = debug,
          .show_timestamp = false,
          .show_target = false,
          .show_thread_ids = true},
         debug,
         "x",
         R"(\{"level":"debug","thread_id":\d+,"message":"x"\})"
         "\n"},
        {"pretty",
         {.format = platform::LogFormat::pretty},
         info,
         "accepted id=1",
         R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} [+-]\d\d:\d\d  info    posthouse: accepted id=1)"
         "\n"},
        {"forged line",
         {.show_timestamp = false},
         info,
         "a=1\nerror x\x1b[2J",
         R"(info posthouse: a=1\\nerror x\\x1b\[2J)"
         "\n"},
        {"below the level", {.level = warning}, info, "quiet", ""},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        const std::string text = written(row.options, row.level, row.line);
        CAPTURE(text);
        CHECK(std::regex_match(text, std::regex{row.expected}));
    }
}

TEST_CASE("JSON strings are valid whatever the line holds") {
    struct Row {
        std::string_view text;
        std::string_view expected;
    };
    const std::vector<Row> rows{
        {"plain", "plain"},
        {"a\"b\\c", R"(a\"b\\c)"},
        {"\n\t\x01\x7f", R"(\u000a\u0009\u0001\u007f)"},
        {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x8e",
         "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x8e"},
        {"\xff|\xc3", "\xef\xbf\xbd|\xef\xbf\xbd"},
        {"\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        CHECK(platform::json_escaped(row.text) == row.expected);
    }
}

TEST_CASE("a closed standard error loses lines and nothing else") {
    for (const auto format :
         {platform::LogFormat::compact, platform::LogFormat::pretty, platform::LogFormat::json}) {
        const int saved = ::dup(STDERR_FILENO);
        REQUIRE(saved >= 0);
        ::close(STDERR_FILENO);
        platform::Log log{{.format = format}};
        CHECK_NOTHROW(log.write(ports::LogLevel::error, "nobody hears this"));
        ::dup2(saved, STDERR_FILENO);
        ::close(saved);
    }
}

TEST_CASE("a standard error whose reader is gone loses lines and nothing else") {
    const auto old_handler = std::signal(SIGPIPE, SIG_IGN);
    std::array<int, 2> pipe{};
    REQUIRE(::pipe2(pipe.data(), O_CLOEXEC) == 0);
    const int saved = ::dup(STDERR_FILENO);
    ::dup2(pipe[1], STDERR_FILENO);
    ::close(pipe[1]);
    ::close(pipe[0]);
    platform::Log log{{}};
    for (int i = 0; i < 10; ++i) CHECK_NOTHROW(log.write(ports::LogLevel::error, "gone"));
    ::dup2(saved, STDERR_FILENO);
    ::close(saved);
    std::signal(SIGPIPE, old_handler);
}

TEST_CASE("lines that were lost are told before the next one, in its format and at each level") {
    using enum ports::LogLevel;
    using enum platform::LogFormat;
    struct Row {
        platform::LogFormat format;
        ports::LogLevel level;
        std::string expected;
    };
    for (const Row& row : std::vector<Row>{
             {compact, info,
              "warning log_lines_lost count=2 reason=\"nobody read standard error\"\n"
              "error heard\n"},
             {compact, error,
              "error log_lines_lost count=2 reason=\"nobody read standard error\"\n"
              "error heard\n"},
             {json, info,
              R"({"level":"warning","message":"log_lines_lost count=2 )"
              R"(reason=\"nobody read standard error\""})"
              "\n"
              R"({"level":"error","message":"heard"})"
              "\n"},
         }) {
        std::array<int, 2> pipe{};
        REQUIRE(::pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK) == 0);
        const int saved = ::dup(STDERR_FILENO);
        ::dup2(pipe[1], STDERR_FILENO);
        platform::Log log{{.format = row.format,
                           .level = row.level,
                           .show_timestamp = false,
                           .show_target = false}};
        std::array<char, 4096> part{};
        while (::write(pipe[1], part.data(), part.size()) > 0) {
        }
        log.write(error, "lost");
        log.write(error, "lost");
        while (::read(pipe[0], part.data(), part.size()) > 0) {
        }
        log.write(error, "heard");
        ::dup2(saved, STDERR_FILENO);
        ::close(saved);
        ::close(pipe[1]);
        const ssize_t size = ::read(pipe[0], part.data(), part.size());
        ::close(pipe[0]);
        CHECK(std::string(part.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))) ==
              row.expected);
    }
}

TEST_CASE("lines of many threads do not mix") {
    CapturedError error;
    {
        platform::Log log{{.show_timestamp = false, .show_target = false}};
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&log, i] {
                const std::string line(50, static_cast<char>('a' + i));
                for (int n = 0; n < 50; ++n) log.write(ports::LogLevel::info, line);
            });
        }
    }
    const std::string text = error.text();
    CHECK(std::regex_match(text, std::regex{R"((info (a{50}|b{50}|c{50}|d{50})\n){200})"}));
}

TEST_CASE("the journal learns the priority of a line, anybody else does not (field 106)") {
    struct Row {
        ports::LogLevel level;
        std::string prefix;
    };
    const Row rows[]{{ports::LogLevel::debug, "<7>"},
                     {ports::LogLevel::info, "<6>"},
                     {ports::LogLevel::warning, "<4>"},
                     {ports::LogLevel::error, "<3>"}};
    for (const bool is_journal : {true, false}) {
        for (const auto format : {platform::LogFormat::compact, platform::LogFormat::json,
                                  platform::LogFormat::pretty}) {
            for (const Row& row : rows) {
                platform::LogOptions options;
                options.level = ports::LogLevel::debug;
                options.format = format;
                CapturedError error;
                struct stat file {};
                REQUIRE(::fstat(STDERR_FILENO, &file) == 0);
                const std::string stream =
                    std::to_string(file.st_dev) + ":" + std::to_string(file.st_ino + !is_journal);
                ::setenv("JOURNAL_STREAM", stream.c_str(), 1);
                platform::Log log{options};
                log.write(row.level, "hello");
                CHECK(platform::journal_priority(row.level) == (is_journal ? row.prefix : ""));
                ::unsetenv("JOURNAL_STREAM");
                const std::string text = error.text();
                CHECK(text.starts_with(row.prefix) == is_journal);
                CHECK(text.find("hello") != std::string::npos);
                // Text has the time once: the journal keeps one of its own.
                const bool is_text = format != platform::LogFormat::json;
                const bool has_time = text.find("20") != std::string::npos;
                CHECK(has_time == !(is_journal && is_text));
                CHECK(platform::journal_priority(row.level).empty());
            }
        }
    }
}

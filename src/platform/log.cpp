#include "platform/log.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "base/utf8.hpp"

namespace platform {
namespace {

spdlog::level::level_enum level_of(ports::LogLevel level) {
    switch (level) {
        case ports::LogLevel::debug:
            return spdlog::level::debug;
        case ports::LogLevel::info:
            return spdlog::level::info;
        case ports::LogLevel::warning:
            return spdlog::level::warn;
        case ports::LogLevel::error:
            break;
    }
    return spdlog::level::err;
}

// The words of spdlog's pattern language; %v is the line, escaped before it gets there.
std::string pattern_of(const LogOptions& options, bool journal) {
    if (options.format == LogFormat::json) {
        std::string pattern = "{";
        if (options.show_timestamp) pattern += R"("timestamp":"%Y-%m-%dT%H:%M:%S.%eZ",)";
        pattern += R"("level":"%l")";
        if (options.show_target) pattern += R"(,"target":"%n")";
        if (options.show_thread_ids) pattern += R"(,"thread_id":%t)";
        return pattern + R"(,"message":"%v"})";
    }
    const bool pretty = options.format == LogFormat::pretty;
    std::string pattern;
    if (options.show_timestamp && !journal) {  // which has its own
        pattern += pretty ? "%Y-%m-%d %H:%M:%S.%e %z  " : "%Y-%m-%dT%H:%M:%S.%eZ ";
    }
    pattern += pretty ? "%^%-7l%$ " : "%l ";
    if (options.show_thread_ids) pattern += "[%t] ";
    if (options.show_target) pattern += "%n: ";
    return pattern + "%v";
}

// Whether standard error is the journal (systemd.exec(5), JOURNAL_STREAM): device and inode.
bool writes_to_journal() {
    const char* const named =
        std::getenv("JOURNAL_STREAM");  // NOLINT(concurrency-mt-unsafe): never set
    struct stat file {};
    if (named == nullptr || ::fstat(STDERR_FILENO, &file) != 0) return false;
    return named == std::to_string(file.st_dev) + ":" + std::to_string(file.st_ino);
}

// What the journal takes for the priority of a line (sd-daemon(3)).
std::string_view priority_of(ports::LogLevel level) {
    switch (level) {
        case ports::LogLevel::debug:
            return SD_DEBUG;
        case ports::LogLevel::info:
            return SD_INFO;
        case ports::LogLevel::warning:
            return SD_WARNING;
        case ports::LogLevel::error:
            break;
    }
    return SD_ERR;
}

ports::LogLevel level_of(spdlog::level::level_enum level) {
    return level >= spdlog::level::err    ? ports::LogLevel::error
           : level == spdlog::level::warn ? ports::LogLevel::warning
           : level == spdlog::level::info ? ports::LogLevel::info
                                          : ports::LogLevel::debug;
}

class JournalPriority : public spdlog::custom_flag_formatter {
public:
    void format(const spdlog::details::log_msg& message, const std::tm&,
                spdlog::memory_buf_t& out) override {
        const std::string_view prefix = priority_of(level_of(message.level));
        out.append(prefix.data(), prefix.data() + prefix.size());
    }
    [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
        return std::make_unique<JournalPriority>();
    }
};

std::unique_ptr<spdlog::formatter> formatter_of(const LogOptions& options) {
    auto formatter = std::make_unique<spdlog::pattern_formatter>(
        options.format == LogFormat::pretty ? spdlog::pattern_time_type::local
                                            : spdlog::pattern_time_type::utc);
    formatter->add_flag<JournalPriority>('*');
    const bool journal = writes_to_journal();
    formatter->set_pattern((journal ? "%*" : "") + pattern_of(options, journal));
    return formatter;
}

spdlog::sink_ptr sink_for(LogFormat format) {
    if (format == LogFormat::pretty) return std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
    return std::make_shared<spdlog::sinks::stderr_sink_mt>();
}

using base::is_control;

constexpr std::string_view digits = "0123456789abcdef";

}  // namespace

std::string_view journal_priority(ports::LogLevel level) {
    return writes_to_journal() ? priority_of(level) : std::string_view{};
}

std::string printable(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        if (!is_control(c)) {
            out += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '\r') {
            out += "\\r";
        } else if (c == '\t') {
            out += "\\t";
        } else {
            const auto byte = static_cast<unsigned char>(c);
            out += {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
        }
    }
    return out;
}

std::string json_escaped(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const char c = text.front();
        const std::size_t length = base::utf8_length(text);
        if (length == 0) {
            out += "\xef\xbf\xbd";
        } else if (c == '"' || c == '\\') {
            out += {'\\', c};
        } else if (is_control(c)) {
            const auto byte = static_cast<unsigned char>(c);
            out += {'\\', 'u', '0', '0', digits[byte >> 4U], digits[byte & 15U]};
        } else {
            out += text.substr(0, length);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return out;
}

namespace {

// A pipe that is ready takes PIPE_BUF bytes without blocking (pipe(7)); files always are.
bool takes_a_line() {
    pollfd standard_error{STDERR_FILENO, POLLOUT, 0};
    return ::poll(&standard_error, 1, 0) != 0;
}

}  // namespace

Log::Log(const LogOptions& options)
    : logger_(std::make_unique<spdlog::logger>("posthouse", sink_for(options.format))),
      format_(options.format) {
    logger_->set_formatter(formatter_of(options));
    logger_->set_level(level_of(options.level));
    // By default spdlog reports its own trouble to standard error, which is what fails here.
    logger_->set_error_handler([](const std::string&) {});
}

Log::~Log() = default;

bool Log::wants(ports::LogLevel level) const {
    return logger_->should_log(level_of(level));
}

void Log::set_level(ports::LogLevel level) {
    logger_->set_level(level_of(level));
}

ports::LogLevel Log::level() const {
    using ports::LogLevel;
    for (const LogLevel level : {LogLevel::debug, LogLevel::info, LogLevel::warning}) {
        if (wants(level)) return level;
    }
    return LogLevel::error;
}

void Log::write(ports::LogLevel level, std::string_view line) {
    if (!wants(level)) return;
    try {
        const auto escaped = [this](std::string_view text) {
            return format_ == LogFormat::json ? json_escaped(text) : printable(text);
        };
        const std::string text = escaped(line);
        const std::lock_guard lock(mutex_);
        if (!takes_a_line()) {
            ++lost_;
            return;
        }
        if (lost_ > 0) {
            // Where warnings are dropped, nothing else would tell.
            logger_->log(std::max(spdlog::level::warn, logger_->level()),
                         escaped("log_lines_lost count=" + std::to_string(std::exchange(lost_, 0)) +
                                 " reason=\"nobody read standard error\""));
            if (!takes_a_line()) {
                ++lost_;
                return;
            }
        }
        logger_->log(level_of(level), text);
    } catch (...) {
        // Out of memory: the line is lost, the caller's work goes on.
    }
}

}  // namespace platform

#include "chains/jsonrpc/node_error.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/sanitize.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "chains/jsonrpc/reply_class.hpp"
#include "domain/bytes.hpp"

namespace chains::jsonrpc {
namespace {

constexpr std::size_t message_bytes_max = 500;
constexpr std::size_t detail_bytes_max = 4'000;  // of data, before they are cleaned
constexpr std::size_t data_bytes_min = 4;

std::optional<std::int64_t> integer(const Json& value) {
    if (value.is_number_unsigned()) {
        const auto number = value.get<std::uint64_t>();
        if (number > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
        return static_cast<std::int64_t>(number);
    }
    if (value.is_number_integer()) return value.get<std::int64_t>();
    if (!value.is_number_float()) return std::nullopt;
    const auto number = value.get<double>();
    if (std::abs(number) > 9e15 || std::trunc(number) != number) return std::nullopt;
    return static_cast<std::int64_t>(number);
}

// `0x08c379a0…`; some nodes write `Reverted ` before it.
std::optional<domain::Bytes> revert_bytes(std::string_view text) {
    constexpr std::string_view preface = "Reverted ";
    if (text.starts_with(preface)) text.remove_prefix(preface.size());
    if (!text.starts_with("0x")) return std::nullopt;
    auto bytes = domain::from_hex(text.substr(2));
    if (!bytes || bytes->size() < data_bytes_min) return std::nullopt;
    return bytes;
}

// No deeper than parse() lets through. Next to `data` other members may hold hashes and addresses.
std::optional<domain::Bytes> first_bytes(const Json& value) {
    if (value.is_string()) return revert_bytes(value.get_ref<const std::string&>());
    if (!value.is_structured()) return std::nullopt;
    if (value.is_object() && value.contains("data")) {
        if (auto found = first_bytes(value["data"])) return found;
    }
    for (const Json& item : value) {
        if (auto found = first_bytes(item)) return found;
    }
    return std::nullopt;
}

// Names of numbers that say how long to wait.
bool names_a_wait(const std::string& name) {
    const std::string lower = base::lower_case(name);
    return lower.find("retry") != std::string::npos || lower.find("backoff") != std::string::npos;
}

// Hex alone is no word; what a contract gave as its reason is not the node's.
void add_words(const Json& value, std::string& words) {
    if (words.size() >= detail_bytes_max) return;
    if (value.is_string()) {
        const auto& text = value.get_ref<const std::string&>();
        if (!text.starts_with("0x")) words.append(words.empty() ? "" : "; ").append(text);
    } else if (value.is_array()) {
        for (const Json& item : value) add_words(item, words);
    } else if (value.is_object()) {
        for (const auto& [name, item] : value.items()) {
            if (item.is_number() && names_a_wait(name)) {
                words.append(words.empty() ? "" : "; ").append(name + " " + item.dump());
            } else if (name != "reason" && name != "stack") {
                add_words(item, words);
            }
        }
    }
}

// Revert data is text as well when a node wants it to be.
bool tells(const domain::Bytes& data, std::span<const std::string> secrets) {
    const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
    return std::ranges::any_of(secrets, [&](const std::string& secret) {
        return !secret.empty() && text.find(secret) != std::string_view::npos;
    });
}

}  // namespace

std::string sanitised(std::string_view message, std::span<const std::string> secrets) {
    return base::sanitize(message, {.bytes_max = message_bytes_max, .secrets = secrets});
}

std::string shortened(std::string_view text) {
    constexpr std::size_t journal_bytes_max = 200;
    return std::string(base::cut_utf8(text, journal_bytes_max));
}

std::optional<NodeError> read_node_error(const Json& error, std::span<const std::string> secrets) {
    if (!error.is_object()) return std::nullopt;
    const auto code = error.find("code");
    const auto value = code == error.end() ? std::nullopt : integer(*code);
    if (!value) return std::nullopt;
    NodeError read{*value, {}, {}};
    if (const auto message = error.find("message");
        message != error.end() && message->is_string()) {
        read.message = sanitised(message->get_ref<const std::string&>(), secrets);
    }
    if (const auto data = error.find("data"); data != error.end()) {
        read.data = first_bytes(*data);
        std::string words;
        add_words(*data, words);
        read.detail = sanitised(words, secrets);
    }
    if (read.data && tells(*read.data, secrets)) read.data->resize(data_bytes_min);
    return read;
}

bool is_throttling(const NodeError& error) {
    return classify(error).reply_class == ReplyClass::throttled;
}

}  // namespace chains::jsonrpc

#include "chains/votes/rest/rest_reveal.hpp"

#include <algorithm>
#include <limits>

#include "chains/jsonrpc/decode.hpp"

namespace chains::votes::rest {
namespace {

constexpr std::size_t tx_hash_bytes_max = 128;

std::string text_of(const jsonrpc::Json& value) {
    return value.is_string() ? value.get<std::string>() : std::string();
}

// Nobody answers for the chain there, or it asks for time.
bool is_out_of_reach(int status) {
    return status == 429 || status == 502 || status == 503 || status == 504;
}

// It is stored and served: nothing but a word.
std::string tx_hash_of(const RestReply& reply) {
    std::string hash = text_of(jsonrpc::member(*reply.json, "tx_hash"));
    const auto is_digit_or_letter = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    const bool is_word =
        hash.size() <= tx_hash_bytes_max && std::ranges::all_of(hash, is_digit_or_letter);
    return is_word ? hash : std::string();
}

}  // namespace

std::string_view name_of_code(std::int64_t code) {
    switch (code) {
        case 3:
            return "round not found";
        case 4:
            return "round not active";
        case 5:
            return "invalid proof";
        case 7:
            return "bad anchor height";
        case 9:
            return "bad field";
        default:
            return {};
    }
}

std::optional<std::int64_t> code_of(const RestReply& reply) {
    if (!reply.json) return std::nullopt;
    const jsonrpc::Json& code = jsonrpc::member(*reply.json, "code");
    if (!code.is_number_integer()) return std::nullopt;
    if (code.is_number_unsigned() &&
        code.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
        return std::nullopt;
    }
    return code.get<std::int64_t>();
}

RevealOutcome read_reveal(const RestReply& reply, const RestClient& client) {
    if (is_out_of_reach(reply.status)) return unreachable(reply);
    const std::string status = "HTTP " + std::to_string(reply.status);
    if (reply.status != 200 && reply.status != 422)
        return NotRevealedNow{unreachable(reply).reason};
    if (!reply.json) return NotRevealedNow{status + ", no JSON"};
    const auto code = code_of(reply);
    if (!code) return NotRevealedNow{status + ", no code"};
    if (is_already_revealed(*code)) return domain::ShareRevealed{tx_hash_of(reply), true};
    if (*code == 0 && reply.status == 200) return domain::ShareRevealed{tx_hash_of(reply), false};

    std::string text = status + ", code " + std::to_string(*code);
    if (const auto name = name_of_code(*code); !name.empty()) {
        text.append(" (").append(name).append(")");
    }
    const std::string log = client.presentable(text_of(jsonrpc::member(*reply.json, "log")));
    if (!log.empty()) text.append(": ").append(log);
    return NotRevealedNow{std::move(text)};
}

}  // namespace chains::votes::rest

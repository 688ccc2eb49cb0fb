#include "chains/votes/rest/rest_reveal.hpp"

#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "chains/jsonrpc/decode.hpp"

namespace chains::votes::rest {
namespace {

constexpr std::size_t tx_hash_bytes_max = 128;

std::string text_of(const jsonrpc::Json& value) {
    return value.is_string() ? value.get<std::string>() : std::string();
}

// Nobody answers for the chain there, or it asks for time.
bool is_out_of_reach(const RestReply& reply) {
    const int status = reply.status;
    if (status == 404) return !is_not_found(reply);
    return status == 429 || status == 502 || status == 503 || status == 504;
}

// "nullifier already spent", and what other versions may make of it.
bool is_about_spent_nullifier(const std::string& log) {
    const std::string text = base::lower_case(log);
    const auto says = [&text](std::string_view word) { return text.find(word) != text.npos; };
    return says("spent") || (says("nullifier") && (says("already") || says("duplicate") ||
                                                   says("used") || says("exists")));
}

// Numbers of other modules mean other things. Who names none is taken for the votes'.
bool is_of_votes(const std::string& codespace, const std::string& votes_codespace) {
    return codespace.empty() || codespace == votes_codespace;
}

// It is full, or holds the reveal already (cosmos-sdk types/errors, 20 and 19).
bool is_about_mempool(std::int64_t code, const std::string& codespace) {
    return codespace == "sdk" && (code == 19 || code == 20);
}

// It is stored and served: nothing but a word.
std::string tx_hash_of(const RestReply& reply) {
    std::string hash = text_of(jsonrpc::member(*reply.json, "tx_hash"));
    const auto is_digit_or_letter = [](char c) { return base::is_digit(c) || base::is_letter(c); };
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

RevealOutcome read_reveal(const RestReply& reply, const RestClient& client,
                          const std::string& votes_codespace) {
    if (is_out_of_reach(reply)) return unreachable(reply);
    const std::string status = "HTTP " + std::to_string(reply.status);
    if (reply.status != 200 && reply.status != 422)
        return NotRevealedNow{unreachable(reply).reason};
    if (!reply.json) return NotRevealedNow{status + ", no JSON"};
    const auto code = code_of(reply);
    if (!code) return NotRevealedNow{status + ", no code"};
    if (*code == 0 && reply.status == 200) return domain::ShareRevealed{tx_hash_of(reply), false};

    const std::string codespace = text_of(jsonrpc::member(*reply.json, "codespace"));
    const std::string log = text_of(jsonrpc::member(*reply.json, "log"));
    const bool of_votes = is_of_votes(codespace, votes_codespace);
    const bool spent = is_already_revealed(*code);
    if (spent && of_votes && (log.empty() || is_about_spent_nullifier(log))) {
        return domain::ShareRevealed{tx_hash_of(reply), true};
    }
    std::string text = status + ", code " + std::to_string(*code);
    if (!of_votes) {
        text.append(" of ").append(client.presentable(codespace));
    } else if (const auto name = name_of_code(*code); !name.empty()) {
        text.append(" (").append(name).append(")");
    }
    if (const std::string said = client.presentable(log); !said.empty()) {
        text.append(": ").append(said);
    }
    if ((of_votes && is_about_closed_round(*code)) || is_about_mempool(*code, codespace)) {
        return engine::Unreachable{std::move(text)};
    }
    return NotRevealedNow{std::move(text), spent};
}

}  // namespace chains::votes::rest

#include "chains/jsonrpc/replies.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "chains/jsonrpc/node_error.hpp"
#include "chains/jsonrpc/parse.hpp"
#include "chains/jsonrpc/reply_class.hpp"
#include "chains/jsonrpc/retry_after.hpp"
#include "net/transport_error.hpp"

namespace chains::jsonrpc {
namespace {

TransportError garbled(std::string text = "no JSON-RPC") {
    return net::transport_error(TransportError::Kind::garbled, std::move(text));
}

bool is_success(int status) {
    return status >= 200 && status < 300;
}

bool is_client_error(int status) {
    return status >= 400 && status < 500;
}

bool asks_to_wait(const net::ClientResponse& response) {
    return response.status == 429 || (response.status == 503 && response.retry_after);
}

// The longer of what the header and the words say; words may name less than a second.
TransportError wait_for(const net::ClientResponse& response, domain::Timestamp now,
                        std::optional<domain::Milliseconds> said = std::nullopt) {
    constexpr domain::Milliseconds wait_min{100};
    if (!said) return net::throttled(throttle_wait(response.retry_after, now));
    auto wait = std::max(*said, wait_min);
    if (response.retry_after) wait = std::max(wait, throttle_wait(response.retry_after, now));
    return net::throttled(wait);
}

// A body that is no JSON-RPC under a status of the door: nobody behind it has seen the request. One
// under 5xx may have been taken.
TransportError http_status(int status) {
    return net::transport_error(
        turns_away(status) ? TransportError::Kind::unsent : TransportError::Kind::garbled,
        "HTTP " + std::to_string(status));
}

TransportError no_reply_in(const net::ClientResponse& response, domain::Timestamp now) {
    if (asks_to_wait(response)) return wait_for(response, now);
    return is_success(response.status) ? garbled() : http_status(response.status);
}

// The member when it is there and not null.
Json* present(Json& object, const char* name) {
    const auto found = object.find(name);
    return found == object.end() || found->is_null() ? nullptr : &*found;
}

// Nobody behind the door has seen the request: another URL may take it.
TransportError at_the_door(const NodeError& error, int status) {
    std::string text = "refused at the provider's door";
    if (!is_success(status)) text += ", HTTP " + std::to_string(status);
    return net::transport_error(TransportError::Kind::unsent,
                                text + ": " + shortened(error.message));
}

// What an error means where it stands; the error itself when it is the node's answer.
Answer judge(NodeError error, const net::ClientResponse& response, domain::Timestamp now) {
    const ReplyMeaning meaning = classify(error);
    switch (meaning.reply_class) {
        case ReplyClass::throttled:
            return wait_for(response, now, meaning.wait);
        case ReplyClass::front_door:
            return asks_to_wait(response) ? wait_for(response, now, meaning.wait)
                                          : at_the_door(error, response.status);
        case ReplyClass::not_understood:
        case ReplyClass::pool_busy:
            if (asks_to_wait(response)) return wait_for(response, now, meaning.wait);
            if (is_front_door(response.status)) return at_the_door(error, response.status);
            break;
        case ReplyClass::timed_out:
            if (asks_to_wait(response)) return wait_for(response, now);
            // It may have been taken.
            if (is_front_door(response.status)) {
                return net::transport_error(
                    TransportError::Kind::timed_out,
                    "HTTP " + std::to_string(response.status) + ": " + shortened(error.message));
            }
            break;
        case ReplyClass::sender_forbidden:
        case ReplyClass::balance_too_low:
            if (turns_away(response.status)) return at_the_door(error, response.status);
            break;
        default:
            break;
    }
    return error;
}

Answer read_error(const Json& error, const net::ClientResponse& response, const Reading& reading) {
    auto read = read_node_error(error, reading.secrets);
    if (!read) return no_reply_in(response, reading.now);
    return judge(std::move(*read), response, reading.now);
}

// Of a reply object whose id is right.
Answer read_outcome(Json& reply, const net::ClientResponse& response, const Reading& reading) {
    const auto result = reply.find("result");
    if (const Json* const error = present(reply, "error")) {
        if (result != reply.end() && !result->is_null()) return garbled();
        return read_error(*error, response, reading);
    }
    if (asks_to_wait(response)) return wait_for(response, reading.now);
    if (!is_success(response.status)) return http_status(response.status);
    if (result == reply.end()) return garbled();
    return Answer(std::in_place_type<Json>, std::move(*result));
}

// Relays between client and node turn 7 into "7" (field report 100).
std::optional<std::uint64_t> id_of(Json& reply) {
    const Json* const id = reply.is_object() ? present(reply, "id") : nullptr;
    if (id == nullptr) return std::nullopt;
    if (id->is_number_unsigned()) return id->get<std::uint64_t>();
    if (!id->is_string()) return std::nullopt;
    const auto& text = id->get_ref<const std::string&>();
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || std::to_string(number) != text) return std::nullopt;
    return number;
}

// The call it answers, counted from the first; nothing when it is none of ours.
std::optional<std::size_t> place_of(Json& reply, const Reading& reading, std::size_t count) {
    const auto id = id_of(reply);
    if (!id) return std::nullopt;
    const auto offset = *id - reading.first_id;  // wraps round below the first
    if (offset >= count) return std::nullopt;
    if (reading.has_text_ids != nullptr && reply["id"].is_string()) *reading.has_text_ids = true;
    return offset;
}

// Of several calls: the one error for all of them is an item, with the id of the first.
bool is_error_for_all(Json& replies) {
    return replies.is_array() && replies.size() == 1 && replies.front().is_object() &&
           present(replies.front(), "error") != nullptr;
}

// Each of them says that there are too many.
bool refuse_batch(Json& replies, const Reading& reading) {
    return std::ranges::all_of(replies, [&](Json& reply) {
        const Json* const error = reply.is_object() ? present(reply, "error") : nullptr;
        const auto read =
            error != nullptr ? read_node_error(*error, reading.secrets) : std::nullopt;
        return read && classify(*read).reply_class == ReplyClass::query_too_large;
    });
}

}  // namespace

std::string write_request(std::span<const Call* const> calls, std::uint64_t first_id) {
    Json all = Json::array();
    for (const Call* const call : calls) {
        all.push_back({{"jsonrpc", "2.0"},
                       {"id", first_id++},
                       {"method", call->method},
                       {"params", call->params}});
    }
    const Json& request = all.size() == 1 ? all.front() : all;
    return request.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Answer read_reply(net::ClientResponse response, const Reading& reading) {
    const TransportError no_reply = no_reply_in(response, reading.now);
    auto reply = parse(std::move(response.body));
    if (!reply || !reply->is_object()) return no_reply;
    // Who could not read the request does not know its id (JSON-RPC 2.0, 5).
    const bool is_anonymous =
        present(*reply, "id") == nullptr && present(*reply, "error") != nullptr;
    if (!is_anonymous && !place_of(*reply, reading, 1)) {
        return is_success(response.status) ? garbled("wrong id") : no_reply;
    }
    return read_outcome(*reply, response, reading);
}

std::optional<std::vector<Answer>> read_replies(net::ClientResponse response, std::size_t count,
                                                const Reading& reading) {
    const auto all = [&](TransportError problem) {
        return std::vector<Answer>(count, std::move(problem));
    };
    auto replies = parse(std::move(response.body));
    if (replies && is_error_for_all(*replies)) *replies = Json(std::move(replies->front()));
    if (replies && replies->is_object()) {
        if (const Json* const error = present(*replies, "error")) {
            auto read = read_node_error(*error, reading.secrets);
            if (read && classify(*read).reply_class != ReplyClass::not_understood) {
                const Answer judged = judge(*std::move(read), response, reading.now);
                if (const auto* problem = std::get_if<TransportError>(&judged))
                    return all(*problem);
                return std::nullopt;
            }
            if (asks_to_wait(response)) return all(wait_for(response, reading.now));
            if (read) return std::nullopt;
        }
    }
    // Items of an array are read one by one, whatever the status says.
    const bool has_items = replies && replies->is_array() && !replies->empty();
    if (has_items && refuse_batch(*replies, reading)) return std::nullopt;
    if (!has_items && asks_to_wait(response)) return all(wait_for(response, reading.now));
    if (is_client_error(response.status) && response.status != 429) return std::nullopt;
    if (!has_items && !is_success(response.status)) return all(http_status(response.status));
    if (!replies || !replies->is_array()) return all(garbled());

    std::vector<Answer> answers = all(garbled("no answer to one call of several"));
    std::vector<bool> answered(count, false);
    for (Json& reply : *replies) {
        const auto place = place_of(reply, reading, count);
        if (!place) continue;
        if (answered[*place]) {
            answers[*place] = garbled("two answers to one call");
            continue;
        }
        answered[*place] = true;
        answers[*place] = read_outcome(reply, response, reading);
    }
    return answers;
}

}  // namespace chains::jsonrpc

#include "chains/jsonrpc/replies.hpp"

#include <utility>

#include "chains/jsonrpc/node_error.hpp"
#include "chains/jsonrpc/parse.hpp"
#include "chains/jsonrpc/retry_after.hpp"
#include "chains/jsonrpc/trouble.hpp"

namespace chains::jsonrpc {
namespace {

Trouble garbled(std::string text = "no JSON-RPC") {
    return trouble(Trouble::Kind::garbled, std::move(text));
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

Trouble wait_for(const net::ClientResponse& response, domain::Timestamp now) {
    return throttled(throttle_wait(response.retry_after, now));
}

Trouble http_status(int status) {
    return garbled("HTTP " + std::to_string(status));
}

// The member when it is there and not null.
Json* present(Json& object, const char* name) {
    const auto found = object.find(name);
    return found == object.end() || found->is_null() ? nullptr : &*found;
}

Answer read_error(const Json& error, const net::ClientResponse& response, const Reading& reading) {
    auto read = read_node_error(error, reading.secrets);
    if (!read) return is_success(response.status) ? garbled() : http_status(response.status);
    if (is_throttling(*read)) return wait_for(response, reading.now);
    return std::move(*read);
}

// Of a reply object whose id is right.
Answer read_outcome(Json& reply, const net::ClientResponse& response, const Reading& reading) {
    const auto result = reply.find("result");
    if (const Json* const error = present(reply, "error")) {
        if (result != reply.end() && !result->is_null()) return garbled();
        return read_error(*error, response, reading);
    }
    if (!is_success(response.status)) return http_status(response.status);
    if (result == reply.end()) return garbled();
    return Answer(std::in_place_type<Json>, std::move(*result));
}

// The call it answers, counted from the first; nothing when it is none of ours.
std::optional<std::size_t> place_of(Json& reply, std::uint64_t first_id, std::size_t count) {
    const Json* const id = reply.is_object() ? present(reply, "id") : nullptr;
    if (id == nullptr || !id->is_number_unsigned()) return std::nullopt;
    const auto offset = id->get<std::uint64_t>() - first_id;  // wraps round below the first
    if (offset >= count) return std::nullopt;
    return offset;
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
    if (asks_to_wait(response)) return wait_for(response, reading.now);
    const Trouble no_reply = is_success(response.status) ? garbled() : http_status(response.status);
    auto reply = parse(std::move(response.body));
    if (!reply || !reply->is_object()) return no_reply;
    // Who could not read the request does not know its id (JSON-RPC 2.0, 5).
    const bool is_anonymous =
        present(*reply, "id") == nullptr && present(*reply, "error") != nullptr;
    if (!is_anonymous && !place_of(*reply, reading.first_id, 1)) {
        return is_success(response.status) ? garbled("wrong id") : no_reply;
    }
    return read_outcome(*reply, response, reading);
}

std::optional<std::vector<Answer>> read_replies(net::ClientResponse response, std::size_t count,
                                                const Reading& reading) {
    const auto all = [&](Trouble trouble) {
        return std::vector<Answer>(count, std::move(trouble));
    };
    if (asks_to_wait(response)) return all(wait_for(response, reading.now));
    auto replies = parse(std::move(response.body));
    if (replies && replies->is_object()) {
        if (const Json* const error = present(*replies, "error")) {
            const auto read = read_node_error(*error, reading.secrets);
            if (read && is_throttling(*read)) return all(wait_for(response, reading.now));
            if (read) return std::nullopt;
        }
    }
    if (is_client_error(response.status)) return std::nullopt;
    if (!is_success(response.status)) return all(http_status(response.status));
    if (!replies || !replies->is_array()) return all(garbled());

    std::vector<Answer> answers = all(garbled("no answer to one call of several"));
    std::vector<bool> answered(count, false);
    for (Json& reply : *replies) {
        const auto place = place_of(reply, reading.first_id, count);
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

#include "api/ended_request.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "domain/bytes.hpp"
#include "domain/time.hpp"
#include "engine/request_ids.hpp"

namespace api {

namespace {

nlohmann::ordered_json transactions_of(const store::EndedRequest& request) {
    auto transactions = nlohmann::ordered_json::array();
    for (const store::Attempt& attempt : request.attempts) {
        nlohmann::ordered_json one{{"hash", "0x" + domain::to_hex(attempt.hash)},
                                   {"nonce", attempt.nonce},
                                   {"signed_ms", domain::unix_ms(attempt.at)}};
        if (attempt.block) one["block"] = *attempt.block;
        if (attempt.charge.gas) one["gas_used"] = *attempt.charge.gas;
        if (attempt.charge.gas_price) one["gas_price_wei"] = *attempt.charge.gas_price;
        transactions.push_back(std::move(one));
    }
    return transactions;
}

std::string client_text(std::int64_t client) {
    domain::Bytes bytes;
    domain::append_big_endian(bytes, static_cast<std::uint64_t>(client), sizeof(client));
    return domain::to_hex(bytes);
}

}  // namespace

std::string json_line(const store::EndedRequest& request,
                      const std::function<std::string(std::int64_t)>& client_name) {
    const store::Row& row = request.row;
    nlohmann::ordered_json line{
        {"job_id", domain::to_string(row.id)},
        {"kind", domain::to_string(row.kind)},
        {"status", domain::to_string(row.status)},
        {"accepted_ms", domain::unix_ms(engine::RequestIds::given_out(row.id))},
        {"ended_ms", domain::unix_ms(row.since)}};
    if (row.client != 0) {
        std::string name = client_name(row.client);
        line["client"] = name.empty() ? client_text(row.client) : std::move(name);
    }
    if (request.round_id) line["round_id"] = domain::to_hex(*request.round_id);
    if (request.failure) {
        line["reason"] = domain::to_string(request.failure->reason);
        line["text"] = request.failure->text;
        if (request.failure->selector) line["selector"] = *request.failure->selector;
    }
    if (request.reference) line["reference"] = "0x" + domain::to_hex(*request.reference);
    if (!request.attempts.empty()) line["transactions"] = transactions_of(request);
    return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace api

#include "api/admin/answer_texts.hpp"

#include <iterator>

#include "api/admin/times.hpp"
#include "base/sanitize.hpp"

namespace api::admin {

std::string text_in(const Json& json, const char* name, std::size_t bytes_max) {
    const auto found = json.find(name);
    if (found == json.end() || found->is_null()) return {};
    return base::sanitize(found->is_string() ? found->get<std::string>() : found->dump(),
                          {.bytes_max = bytes_max});
}

std::int64_t number_in(const Json& json, const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_number() ? found->get<std::int64_t>() : 0;
}

std::string span_in(const Json& json, const char* name) {
    return span_text(std::chrono::seconds{number_in(json, name)});
}

std::string size_text(std::int64_t bytes) {
    constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB"};
    std::size_t unit = 0;
    std::int64_t tenths = bytes * 10;
    while (tenths >= 10'000 && unit + 1 < std::size(units)) {
        tenths /= 1'000;
        ++unit;
    }
    std::string text = std::to_string(tenths / 10);
    if (tenths < 1'000 && unit > 0) text += "." + std::to_string(tenths % 10);
    return text + " " + units[unit];
}

std::string error_in(const Json& job, std::size_t bytes_max) {
    const auto error = job.find("error");
    if (error == job.end()) return {};
    return text_in(*error, "reason") + ": " + text_in(*error, "text", bytes_max);
}

std::string counts_text(const Json& counts) {
    return "accepted " + text_in(counts, "accepted") + ", completed " +
           text_in(counts, "completed") + ", failed " + text_in(counts, "failed") + ", timed out " +
           text_in(counts, "timed_out");
}

std::string posts_text(const Json& counts) {
    std::string text;
    for (const auto& [name, count] : counts.items()) {
        if (count == 0) continue;
        text += (text.empty() ? "" : ", ") + count.dump() + " " + name;
    }
    std::ranges::replace(text, '_', ' ');
    return text.empty() ? "none" : text;
}

std::string client_text(const Json& client) {
    const std::string in_work = text_in(client, "in_work") + " in work";
    const auto posts = client.find("last_hour");
    return posts == client.end() ? in_work
                                 : in_work + "; posts of the last hour: " + posts_text(*posts);
}

std::string chain_text(const Json& chain) {
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    if (chain.contains("head_lag_blocks")) {
        add("read up to " + text_in(chain, "head_lag_blocks") + " blocks behind the head");
    }
    if (chain.contains("signer_balance")) {
        add("signer has " + text_in(chain, "signer_balance") + " coins");
    }
    if (chain.contains("signer_pending")) {
        add(text_in(chain, "signer_pending") + " of its transactions are not included yet");
    }
    for (const Json& signer : chain.value("signers", Json::array())) {
        std::string one = "signer " + text_in(signer, "account");
        if (signer.contains("balance")) one += " has " + text_in(signer, "balance") + " coins";
        if (signer.contains("pending")) {
            one += " and " + text_in(signer, "pending") + " transactions not included yet";
        }
        add(one);
    }
    return text;
}

std::string node_text(const Json& node) {
    const std::string place = "node " + text_in(node, "node") + " of the book " +
                              text_in(node, "book") + ", epoch " + text_in(node, "epoch");
    if (text_in(node, "role") == "owner") return place + ", owner";
    const std::string owner = text_in(node, "owner");
    return place + ", follows " + (owner.empty() ? "nobody" : owner) + ", " +
           text_in(node, "entries_behind") + " entries behind";
}

}  // namespace api::admin

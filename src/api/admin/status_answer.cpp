#include "api/admin/status_answer.hpp"

#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "api/admin/times.hpp"
#include "api/cluster_member.hpp"
#include "api/envelope.hpp"

namespace api::admin {

namespace {

using Json = nlohmann::ordered_json;

std::int64_t whole_seconds(domain::Nanoseconds span) {
    return std::max<std::int64_t>(std::chrono::floor<std::chrono::seconds>(span).count(), 0);
}

Json in_work(const store::Backlog& backlog, domain::Timestamp now, bool with_shares) {
    Json all = Json::array();
    for (const domain::Kind kind : domain::kinds) {
        if (kind == domain::Kind::share && !with_shares) continue;
        for (const domain::Status status : domain::statuses) {
            const std::uint64_t count = backlog.count.at(kind, status);
            const auto oldest = backlog.oldest.at(kind, status);
            if (count == 0 || !oldest) continue;
            all.push_back({{"kind", domain::to_string(kind)},
                           {"status", domain::to_string(status)},
                           {"count", count},
                           {"oldest_seconds", whole_seconds(now - *oldest)}});
        }
    }
    return all;
}

Json json_of(const SubmissionCounts& counts) {
    Json json = Json::object();
    for (std::size_t i = 0; i < counts.size(); ++i) {
        json[std::string(submission_names.at(i))] = counts.at(i);
    }
    return json;
}

Json clients_of(const store::Backlog& backlog, const StatusSources& sources) {
    constexpr std::size_t shown_max = 10;
    const ClientTraffic* traffic = sources.live ? &sources.live->clients : nullptr;
    std::vector<ClientActivity> all =
        client_activity(traffic, backlog.of_client, sources.client_name);
    all.resize(std::min(all.size(), shown_max));
    Json clients = Json::array();
    for (const ClientActivity& one : all) {
        Json& client = clients.emplace_back(Json{{"client", one.name}, {"in_work", one.in_work}});
        if (traffic == nullptr) continue;
        client["last_hour"] = json_of(one.last_hour);
        client["since_start"] = json_of(one.since_start);
    }
    return clients;
}

Json json_of(const RecentRates::Counts& counts) {
    return {{"accepted", counts.accepted},
            {"completed", counts.completed},
            {"failed", counts.failed},
            {"timed_out", counts.timed_out}};
}

Json queues_of(const engine::Gates::Depths& depths, const engine::Tuning& tuning) {
    return {{"readiness",
             {{"public_decrypt", depths.readiness.public_decrypt},
              {"user_decrypt", depths.readiness.user_decrypt}}},
            {"sending",
             {{"input_proof", depths.sending.input_proof},
              {"public_decrypt", depths.sending.public_decrypt},
              {"user_decrypt", depths.sending.user_decrypt}}},
            {"per_second",
             {{"input_proof", tuning.per_seconds.input_proof},
              {"public_decrypt", tuning.per_seconds.public_decrypt},
              {"user_decrypt", tuning.per_seconds.user_decrypt}}}};
}

Json chain_of(const LiveSources& live) {
    Json chain = Json::object();
    const engine::ChainReadings readings = live.chain();
    if (readings.head_lag) chain["head_lag_blocks"] = *readings.head_lag;
    if (readings.signer_balance) chain["signer_balance"] = *readings.signer_balance;
    if (readings.signer_nonce_distance) chain["signer_pending"] = *readings.signer_nonce_distance;
    for (const engine::SignerReadings& one : readings.signers) {
        Json signer{{"account", one.account}};
        if (one.balance) signer["balance"] = *one.balance;
        if (one.nonce_distance) signer["pending"] = *one.nonce_distance;
        if (one.problem) signer["problem"] = *one.problem;
        chain["signers"].push_back(std::move(signer));
    }
    return chain;
}

std::string seconds_text(domain::Nanoseconds span) {
    return std::to_string(whole_seconds(span)) + " s";
}

Json alerts_of(const LiveSources& live, const store::Backlog& backlog, domain::Timestamp now,
               bool with_shares) {
    constexpr domain::Milliseconds late = std::chrono::minutes{1};
    Json alerts = Json::array();
    if (backlog.held > 0) {
        alerts.push_back(std::to_string(backlog.held) +
                         " requests are held: another process may have sent them; look on the "
                         "chain, then release or cancel them");
    }
    if (with_shares && backlog.earliest_scheduled && now - *backlog.earliest_scheduled > late) {
        alerts.push_back("a vote share is " + seconds_text(now - *backlog.earliest_scheduled) +
                         " late");
    }
    for (const engine::Dependency& dependency : live.dependencies()) {
        if (!dependency.ok) alerts.push_back(dependency.name + " is not well");
    }
    if (const auto problem = live.chain_problem()) {
        alerts.push_back(*problem);
        return alerts;
    }
    for (const engine::SignerReadings& one : live.chain().signers) {
        if (one.problem) alerts.push_back(one.account + ": " + *one.problem);
    }
    return alerts;
}

// What keeps the node, or the book, from going on.
void add_alerts_of(const cluster::NodeState& node, Json& alerts) {
    if (!node.reason.empty()) alerts.push_back("the node does not go on: " + node.reason);
    if (!node.reaches_database) {
        alerts.push_back("the database of the cluster is not reached" +
                         (node.database_problem.empty() ? "" : ": " + node.database_problem));
    }
    if (!node.disk_problem.empty()) alerts.push_back("the disk: " + node.disk_problem);
    if (node.journal.one_disk) {
        alerts.push_back(*node.journal.one_disk + ": nothing is accepted until it has a standby");
    }
}

std::uint64_t bytes_of(const std::filesystem::path& file) {
    std::error_code error;
    const auto size = std::filesystem::file_size(file, error);
    return error ? 0 : static_cast<std::uint64_t>(size);
}

Json disk_of(const std::filesystem::path& directory) {
    Json disk{{"database_bytes", bytes_of(directory / "posthouse.db")},
              {"log_bytes", bytes_of(directory / "posthouse.db-wal")}};
    std::error_code error;
    const std::filesystem::space_info space = std::filesystem::space(directory, error);
    if (!error) disk["free_bytes"] = space.available;
    return disk;
}

}  // namespace

net::HttpResponse status_answer(const StatusSources& sources) {
    const domain::Timestamp now = sources.clock.wall();
    Json body{{"at", utc_text(now)},
              {"version", sources.version},
              {"role", sources.role},
              {"data_dir", sources.directory.string()},
              {"running", sources.live.has_value()}};
    if (sources.live) {
        body["pid"] = ::getpid();
        body["running_seconds"] = whole_seconds(sources.clock.monotonic() - sources.live->started);
    }
    const store::Backlog backlog = sources.backlog();
    body["in_work"] = in_work(backlog, now, sources.with_shares);
    body["held"] = backlog.held;
    body["clients"] = clients_of(backlog, sources);
    if (sources.live) {
        const LiveSources& live = *sources.live;
        body["queues"] = queues_of(live.depths(), live.tuning());
        body["last_minute"] = json_of(live.rates.last_minute());
        body["last_hour"] = json_of(live.rates.last_hour());
        body["minutes"] = Json::array();
        for (const auto& counts : live.rates.minutes()) body["minutes"].push_back(json_of(counts));
        body["chain"] = chain_of(live);
        body["paused"] = Json::array();
        for (const domain::Family family : live.paused()) {
            body["paused"].push_back(domain::to_string(family));
        }
        body["log_level"] = live.log_level();
    }
    body["disk"] = disk_of(sources.directory);
    if (sources.live) body["alerts"] = alerts_of(*sources.live, backlog, now, sources.with_shares);
    if (sources.node) {
        const cluster::NodeState node = sources.node();
        body["cluster"] = cluster_member(node, now);
        if (!sources.live) body["alerts"] = Json::array();
        add_alerts_of(node, body["alerts"]);
    }
    return admin_answer(200, body);
}

}  // namespace api::admin

#include "commands/drill/report.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "config/amounts.hpp"
#include "domain/keccak.hpp"
#include "platform/log.hpp"

namespace commands::drill {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t violations_shown = 20;

std::string milliseconds(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), value < 10 ? "%.2f ms" : "%.0f ms", value);
    return text.data();
}

std::string line(const std::string& what, const std::string& value) {
    return what + ": " + value + "\n";
}

std::string line(const std::string& what, std::uint64_t value) {
    return line(what, std::to_string(value));
}

std::string in_words(const Percentiles& figures) {
    if (figures.count == 0) return "not measured";
    return milliseconds(figures.p50) + " (p50), " + milliseconds(figures.p99) + " (p99), " +
           milliseconds(figures.max) + " (max) of " + std::to_string(figures.count);
}

std::string in_words(const Trial& trial, const std::string& done) {
    return trial.not_tried.empty() ? done : "not tried, because " + trial.not_tried;
}

Json json_of(const Percentiles& figures) {
    if (figures.count == 0) return nullptr;
    return {
        {"count", figures.count}, {"p50", figures.p50}, {"p99", figures.p99}, {"max", figures.max}};
}

Json json_of(const Trial& trial) {
    if (!trial.not_tried.empty()) return {{"tried", false}, {"because", trial.not_tried}};
    return {{"tried", true}, {"times", trial.times}};
}

std::string_view name_of(FlushVerdict::Trust trust) {
    switch (trust) {
        case FlushVerdict::Trust::plausible:
            return "plausible";
        case FlushVerdict::Trust::not_seen:
            return "not_seen";
        case FlushVerdict::Trust::doubtful:
            break;
    }
    return "doubtful";
}

// `3 lost, 1 included twice`
std::string wrongs(const Counts& counts) {
    std::string text;
    const auto add = [&text](std::uint64_t count, const std::string& what) {
        if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + what;
    };
    add(counts.lost, "lost");
    add(counts.included_twice, "included twice");
    add(counts.early_shares, "revealed too early");
    add(counts.violations.size(), "otherwise wrong");
    return text;
}

std::string violations_text(const Counts& counts) {
    std::string text = line("violations", counts.violations.size());
    const std::size_t shown = std::min(counts.violations.size(), violations_shown);
    for (std::size_t i = 0; i < shown; ++i) {
        text += "  " + platform::printable(counts.violations[i]) + "\n";
    }
    const std::size_t rest = counts.violations.size() - shown;
    return rest > 0 ? text + "  and " + std::to_string(rest) + " more\n" : text;
}

std::string counts_text(const Counts& counts) {
    return line("accepted", std::to_string(counts.accepted) + " (" +
                                std::to_string(counts.completed) + " completed, " +
                                std::to_string(counts.failed) + " failed; asked again " +
                                std::to_string(counts.asked_again) + ", told to come later " +
                                std::to_string(counts.later) + ", not answered " +
                                std::to_string(counts.unanswered) + ")") +
           line("lost", counts.lost) + line("included twice", counts.included_twice) +
           line("early shares",
                std::to_string(counts.early_shares) + " of " + std::to_string(counts.shares)) +
           violations_text(counts);
}

std::string trials_text(const Report& report) {
    return line("kill -9", std::to_string(report.kills_under_load) + " under load, " +
                               std::to_string(report.kills_during_start) + " during the start") +
           line("stopped for a while", report.pauses) +
           line("full disk", in_words(report.full_disk, "tried, on a small disk in memory")) +
           line("clock steps", in_words(report.clock_steps, "tried"));
}

// In whole coins: gas is paid in them.
std::string coins(chains::jsonrpc::Wei amount) {
    return config::format_amount(amount, config::ether_decimals);
}

std::string chain_text(const ChainFigures& chain) {
    return line("chain", std::to_string(chain.chain_id) + ", blocks " +
                             std::to_string(chain.first_block) + " to " +
                             std::to_string(chain.last_block)) +
           line("signer", domain::checksummed(chain.signer) + ", nonces from " +
                              std::to_string(chain.nonce_before) + " up to " +
                              std::to_string(chain.nonce_after)) +
           line("transactions", std::to_string(chain.transactions) + " (" +
                                    std::to_string(chain.reverted) + " reverted, " +
                                    std::to_string(chain.fillers) + " without content)") +
           line("waiting for the chain", chain.waiting) +
           line("fees", coins(chain.fees) + " for " + std::to_string(chain.gas_used) + " gas");
}

Json json_of(const ChainFigures& chain) {
    return {{"chain_id", chain.chain_id},         {"signer", domain::checksummed(chain.signer)},
            {"requests_max", chain.requests_max}, {"first_block", chain.first_block},
            {"last_block", chain.last_block},     {"nonce_before", chain.nonce_before},
            {"nonce_after", chain.nonce_after},   {"transactions", chain.transactions},
            {"reverted", chain.reverted},         {"without_content", chain.fillers},
            {"waiting", chain.waiting},           {"gas_used", chain.gas_used},
            {"fees_ether", coins(chain.fees)}};
}

Json json_of(const Counts& counts) {
    return {{"accepted", counts.accepted},
            {"completed", counts.completed},
            {"failed", counts.failed},
            {"lost", counts.lost},
            {"included_twice", counts.included_twice},
            {"shares", counts.shares},
            {"early_shares", counts.early_shares},
            {"violations", counts.violations},
            {"asked_again", counts.asked_again},
            {"told_later", counts.later},
            {"unanswered", counts.unanswered}};
}

}  // namespace

void measure_disk(const std::filesystem::path& directory, Report& report) {
    report.flush = measure_flushes(directory);
    report.device = device_of(directory);
    report.flush_verdict = judge_flushes(report.flush, report.device);
}

std::string verdict_of(const Report& report) {
    const Counts& counts = report.counts;
    if (counts.accepted == 0) return "bad: nothing was accepted, so nothing was tested";
    if (!is_good(counts)) {
        return "bad: " + wrongs(counts) +
               "; do not trust this machine with requests before you know why";
    }
    std::string text = "good: all " + std::to_string(counts.accepted) +
                       " promises were kept, none twice and none early";
    if (report.chain && report.chain->transactions == 0) {
        text +=
            "; but no transaction reached the chain, so not much was tested: see posthouse "
            "doctor";
    }
    if (report.flush_verdict.trust == FlushVerdict::Trust::doubtful) {
        return text + "; but flushes are doubtful, so a power cut may take what was promised";
    }
    if (!report.power_cut_safe) {
        text += "; but storage.synchronous is normal, so a power cut may take the newest";
    }
    return text;
}

std::string as_text(const Report& report) {
    return line("drill", std::to_string(report.rounds) + " rounds, seed " +
                             std::to_string(report.seed) + ", in " +
                             platform::printable(report.directory.string())) +
           counts_text(report.counts) + (report.chain ? chain_text(*report.chain) : "") +
           trials_text(report) + line("restart to ready", in_words(report.restart)) +
           line("commit latency, idle", in_words(report.commit_idle)) +
           line("commit latency, under load", in_words(report.commit_load)) +
           line("flush", in_words(report.flush)) +
           line("does the disk flush", report.flush_verdict.words) +
           line("verdict", verdict_of(report));
}

std::string as_json(const Report& report) {
    Json json{{"seed", report.seed},
              {"rounds", report.rounds},
              {"directory", platform::printable(report.directory.string())}};
    json.update(json_of(report.counts));
    json.update({{"kills_under_load", report.kills_under_load},
                 {"kills_during_start", report.kills_during_start},
                 {"pauses", report.pauses},
                 {"full_disk", json_of(report.full_disk)},
                 {"clock_steps", json_of(report.clock_steps)},
                 {"restart_ms", json_of(report.restart)},
                 {"commit_idle_ms", json_of(report.commit_idle)},
                 {"commit_load_ms", json_of(report.commit_load)},
                 {"flush_ms", json_of(report.flush)},
                 {"device", report.device.name},
                 {"write_cache", report.device.write_cache},
                 {"flush", name_of(report.flush_verdict.trust)},
                 {"flush_words", report.flush_verdict.words},
                 {"good", is_good(report.counts)},
                 {"verdict", verdict_of(report)}});
    if (report.chain) json["chain"] = json_of(*report.chain);
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace commands::drill

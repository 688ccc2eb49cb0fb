#include "api/admin/job_query.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <set>
#include <string>

#include "api/access/client_keys.hpp"
#include "api/router.hpp"
#include "base/text.hpp"
#include "domain/request_id.hpp"

namespace api::admin {

namespace {

using Problem = std::optional<std::string>;

constexpr std::int64_t older_seconds_max = 10LL * 365 * 86'400;

template <typename Values>
std::string names_of(const Values& values) {
    std::string names;
    for (const auto value : values) {
        names += (names.empty() ? "" : ", ") + std::string(domain::to_string(value));
    }
    return names;
}

Problem read_kind(std::string_view text, store::JobFilter& filter) {
    filter.kind = domain::kind_from(text);
    if (filter.kind) return std::nullopt;
    return "no such kind; allowed: " + names_of(domain::kinds);
}

Problem read_status(std::string_view text, store::JobFilter& filter) {
    filter.unfinished = text == "unfinished";
    filter.status = domain::status_from(text);
    if (filter.unfinished || filter.status) return std::nullopt;
    return "no such status; allowed: unfinished, " + names_of(domain::statuses);
}

Problem read_label(std::string_view text, store::JobFilter& filter) {
    filter.reason = domain::reason_from(text);
    if (filter.reason) return std::nullopt;
    return "no such reason; `posthouse job ID` shows those that are stored";
}

Problem read_older(std::string_view text, domain::Timestamp now, store::JobFilter& filter) {
    const auto seconds = base::number_in<std::int64_t>(text);
    if (!seconds || *seconds < 0 || *seconds > older_seconds_max) {
        return "no time; allowed: whole seconds";
    }
    filter.accepted_before = now - std::chrono::seconds{*seconds};
    return std::nullopt;
}

Problem read_limit(std::string_view text, store::JobFilter& filter) {
    const auto limit = base::number_in<std::size_t>(text);
    if (!limit || *limit < 1 || *limit > jobs_per_page_max) {
        return "out of range; allowed: 1 to " + std::to_string(jobs_per_page_max);
    }
    filter.limit = *limit;
    return std::nullopt;
}

Problem read_before(std::string_view text, store::JobFilter& filter) {
    const domain::ParsedId id = domain::parse_request_id(text);
    if (id.form != domain::UuidForm::ours) return "no job id; allowed: `next` of the page before";
    filter.below = id.id.sequence;
    return std::nullopt;
}

Problem read_part(std::string_view name, std::string_view value, domain::Timestamp now,
                  store::JobFilter& filter) {
    if (name == "kind") return read_kind(value, filter);
    if (name == "status") return read_status(value, filter);
    if (name == "label") return read_label(value, filter);
    if (name == "older") return read_older(value, now, filter);
    if (name == "limit") return read_limit(value, filter);
    if (name == "before") return read_before(value, filter);
    if (name != "client") {
        return "no such filter; allowed: kind, status, client, older, label, limit, before";
    }
    // `-` is how those without a key are shown.
    filter.client = value == "-" ? 0 : static_cast<std::int64_t>(access::client_named(value).id);
    return std::nullopt;
}

}  // namespace

std::variant<store::JobFilter, AdminError> read_job_query(std::string_view query,
                                                          domain::Timestamp now) {
    constexpr std::size_t shown_max = 40;
    store::JobFilter filter;
    std::set<std::string, std::less<>> seen;
    while (const auto part = take_query_part(query)) {
        const std::string name = percent_decoded(part->name);
        const std::string value = percent_decoded(part->value);
        Problem problem = read_part(name, value, now, filter);
        if (!problem && !seen.insert(name).second) problem = "twice; allowed: once";
        if (problem) return AdminError{name.substr(0, shown_max) + ": " + *problem};
    }
    return filter;
}

}  // namespace api::admin

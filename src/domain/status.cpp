#include "domain/status.hpp"

#include <algorithm>
#include <cstddef>

namespace domain {
namespace {

constexpr std::array<std::string_view, statuses.size()> status_names{
    "queued",    "processing", "tx_in_flight", "receipt_received",
    "completed", "timed_out",  "failure"};

}  // namespace

std::string_view to_string(Status status) {
    return status_names.at(static_cast<std::size_t>(status));
}

std::optional<Status> status_from(std::string_view text) {
    const auto found =
        std::ranges::find(statuses, text, [](Status status) { return to_string(status); });
    if (found == statuses.end()) return std::nullopt;
    return *found;
}

}  // namespace domain

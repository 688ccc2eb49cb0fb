#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace domain {

// Names are stored, logged and served (relayer-api 3.1).
enum class Status {
    queued,
    processing,
    tx_in_flight,
    receipt_received,
    completed,
    timed_out,
    failure,
};

inline constexpr std::array statuses{
    Status::queued,    Status::processing, Status::tx_in_flight, Status::receipt_received,
    Status::completed, Status::timed_out,  Status::failure};

[[nodiscard]] constexpr bool is_terminal(Status status) {
    return status == Status::completed || status == Status::timed_out || status == Status::failure;
}

[[nodiscard]] std::string_view to_string(Status status);
[[nodiscard]] std::optional<Status> status_from(std::string_view text);

}  // namespace domain

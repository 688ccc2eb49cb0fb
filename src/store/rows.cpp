#include "store/rows.hpp"

namespace store {

Lane ended_lane(domain::Family family) {
    switch (family) {
        case domain::Family::input_proof:
            return Lane::ended_input_proof;
        case domain::Family::public_decrypt:
            return Lane::ended_public_decrypt;
        case domain::Family::user_decrypt:
            return Lane::ended_user_decrypt;
        case domain::Family::share:
            return Lane::ended_share;
    }
    return Lane::ended_share;
}

bool may_stand_in(Lane lane, domain::Kind kind, domain::Status status) {
    using domain::Status;
    const bool is_share = kind == domain::Kind::share;
    switch (lane) {
        case Lane::schedule:
            return is_share && status == Status::queued;
        case Lane::gate:
            return !is_share && !domain::is_terminal(status) && status != Status::receipt_received;
        case Lane::timer:
            return !domain::is_terminal(status);
        case Lane::ended_input_proof:
        case Lane::ended_public_decrypt:
        case Lane::ended_user_decrypt:
        case Lane::ended_share:
            return domain::is_terminal(status) && lane == ended_lane(domain::family_of(kind));
    }
    return false;
}

const char* name_of(OwnTransaction::Purpose purpose) {
    return purpose == OwnTransaction::Purpose::filler ? "filler" : "approval";
}

const char* name_of(OwnFate fate) {
    if (fate == OwnFate::included) return "included";
    return fate == OwnFate::reverted ? "reverted" : "replaced";
}

std::string cursor_of_mark(std::string_view name) {
    return "mark " + std::string(name);
}

std::optional<std::string> problem_of(const Row& row) {
    if (!domain::is_valid(row.id)) return "its id is none of ours";
    if (row.kind == domain::Kind::input_proof && row.status == domain::Status::queued) {
        return "an input proof is never queued";
    }
    if (!may_stand_in(row.schedule.lane, row.kind, row.status)) {
        return std::string(to_string(row.kind)) + " with status " +
               std::string(to_string(row.status)) + " stands in lane " +
               std::to_string(static_cast<int>(row.schedule.lane));
    }
    if (domain::unix_ms(row.schedule.wake) < 0) return "its wake is before 1970";
    const auto is_ancient = [](const std::optional<domain::Timestamp>& time) {
        return time && domain::unix_ms(*time) < 0;
    };
    if (is_ancient(row.schedule.deadline)) return "its deadline is before 1970";
    if (is_ancient(row.schedule.unreached_since) || is_ancient(row.schedule.refused_since)) {
        return "it waits for nodes since before 1970";
    }
    if (row.round && row.kind != domain::Kind::share) return "a round of what is no share";
    return std::nullopt;
}

}  // namespace store

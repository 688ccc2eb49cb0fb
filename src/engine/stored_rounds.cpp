#include "engine/stored_rounds.hpp"

#include <string>
#include <variant>

#include "store/errors.hpp"

namespace engine {

RoundAnswer StoredRounds::find(const domain::Bytes32& round_id) {
    try {
        if (const auto vote_end = reader_.vote_end(round_id)) return Round{*vote_end};
    } catch (const store::StorageError& error) {
        RoundAnswer answer = chain_.find(round_id);
        if (auto* unreachable = std::get_if<Unreachable>(&answer)) {
            unreachable->reason += std::string("; stored rounds: ") + error.what();
        }
        return answer;
    }
    return chain_.find(round_id);
}

}  // namespace engine

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

}  // namespace store

#include "engine/request_ids.hpp"

#include <algorithm>
#include <cassert>

namespace engine {

namespace {
constexpr int counter_bits = 12;
constexpr std::uint64_t random_mask = (std::uint64_t{1} << 62) - 1;
}  // namespace

domain::RequestId RequestIds::next(domain::Timestamp now) {
    const std::int64_t first_of_now = std::max<std::int64_t>(domain::unix_ms(now), 0)
                                      << counter_bits;
    const std::int64_t before = last_;
    last_ = std::max(first_of_now, last_ + 1);
    const domain::RequestId id{last_, static_cast<std::int64_t>(random_.next() & random_mask)};
    assert(id.sequence > before && domain::is_valid(id));
    return id;
}

domain::Timestamp RequestIds::given_out(const domain::RequestId& id) {
    return domain::from_unix_ms(id.sequence >> counter_bits);
}

}  // namespace engine

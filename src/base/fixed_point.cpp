#include "base/fixed_point.hpp"

#include <algorithm>
#include <cstddef>

namespace base {

std::string fixed_point(Wide amount, unsigned decimals) {
    std::string out;
    for (Wide left = amount; left > 0; left /= 10) {
        out += static_cast<char>('0' + static_cast<char>(left % 10));
    }
    out.resize(std::max<std::size_t>(out.size(), decimals + 1), '0');
    std::ranges::reverse(out);
    out.insert(out.size() - decimals, ".");
    out.resize(out.find_last_not_of('0') + 1);
    if (out.ends_with('.')) out.pop_back();
    return out;
}

}  // namespace base

#pragma once

#include <cstddef>

namespace net {

// Bytes that went through a socket in one go, and why no more did.
struct Transfer {
    enum class Stop {
        full,               // all there was room for; there may be more
        blocked,            // the socket has to become ready in this direction first
        blocked_by_output,  // a read that has to send something before it can go on (TLS)
        ended,              // the peer sends nothing more
        broken,             // nothing goes through any more
    };

    std::size_t bytes = 0;
    Stop stop = Stop::full;
};

}  // namespace net

#pragma once

#include <string>

#include "api/access/authenticator.hpp"
#include "api/router.hpp"

namespace api {

// What the head of a request told, once; it goes with the request to its answer. Whether the key
// was taken away meanwhile is the one thing that is asked again.
struct Ticket {
    const Route* route = nullptr;  // nothing: no such path, or not with this method
    access::Pass pass;
    std::string call_id;  // the requestId of the answer
};

}  // namespace api

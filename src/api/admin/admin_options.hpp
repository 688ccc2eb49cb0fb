#pragma once

#include <string>

namespace api::admin {

// The listener of the admin interface; Options::admin_enabled says whether there is one.
struct AdminOptions {
    std::string host = "127.0.0.1";
    int port = 3001;  // 0: any free one

    // What a client must show; not empty. Secret.
    std::string token;
    // Where main finds the token instead: a path, or `credential:NAME` for a credential of systemd.
    std::string token_file;
};

}  // namespace api::admin

#pragma once

#include <string>

namespace api::access {

// Who may come in. The names in brackets are the configuration's keys.
struct Options {
    // What X-Helper-Token must equal [helper.api_token]. Without it and without share_tokens_file
    // everybody may come in. Secret.
    std::string share_api_token;

    // Keys of relayer clients and of wallets, a path or `credential:NAME`; empty: none
    // [http.client_keys_file, helper.api_tokens_file]. The tokens come beside share_api_token.
    std::string client_keys_file;
    std::string share_tokens_file;
    // Where systemd puts credentials; empty: there are none.
    std::string credentials_directory;
};

}  // namespace api::access

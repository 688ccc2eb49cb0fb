#pragma once

#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "net/client.hpp"
#include "store/options.hpp"

namespace commands {

// Where the process that runs on a data directory answers commands of this machine. Only its owner
// and root are let in.
[[nodiscard]] std::filesystem::path admin_socket(const store::Options& options);

// Nothing of what was asked reached the process.
class NotAsked : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// How commands talk to that process: the routes of the admin interface, without a token. One
// thread.
class AdminClient {
public:
    explicit AdminClient(const store::Options& options);

    // Whether somebody listens there; nobody does before it is ready and once it stops. Throws
    // std::runtime_error when the place can not be asked, such as for lack of permission.
    [[nodiscard]] bool finds_process() const;

    // Throws std::runtime_error when nobody does: `verb` is done by the running process.
    void require_process(std::string_view verb) const;

    // An answer of any status. Throws NotAsked, or std::runtime_error when there is none.
    [[nodiscard]] net::ClientResponse get(std::string_view target);
    // `json` is the body.
    [[nodiscard]] net::ClientResponse post(std::string_view target, std::string_view json = "{}");

private:
    [[nodiscard]] net::ClientResponse ask(const net::ClientRequest& request);

    const std::filesystem::path file_;
    net::Client client_;
};

}  // namespace commands

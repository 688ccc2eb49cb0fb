#pragma once

#include <cstdint>

#include "api/client_traffic.hpp"
#include "api/router.hpp"
#include "domain/kind.hpp"
#include "domain/time.hpp"
#include "net/http_message.hpp"

namespace api {

enum class SignatureOutcome { accepted, rejected, host_call_failed };

// Port: who counts what the HTTP interface does. Any thread; must be quick and must not throw.
class HttpObserver {
public:
    virtual ~HttpObserver() = default;
    // Of the routes of the relayer API only (relayer-api 10).
    virtual void arrived(const Route&, const net::HttpRequest&) {}
    virtual void answered(const Route&, int /*status*/, domain::Nanoseconds /*took*/) {}
    // Each POST of the relayer API that was answered, by the id of the client; 0: nobody known.
    virtual void submitted(std::int64_t /*client*/, Submission) {}
    // Each 202 of a POST, before margin and clamp.
    virtual void estimated(domain::Family, std::uint64_t /*raw_eta_ms*/) {}
    virtual void signature_checked(SignatureOutcome) {}
    // A poll's look into the database.
    virtual void looked_up(domain::Family, domain::Nanoseconds /*took*/, bool /*failed*/) {}
};

}  // namespace api

#include "api/admin/job_routes.hpp"

#include <string>
#include <utility>

#include "api/envelope.hpp"
#include "store/errors.hpp"

namespace api::admin {

namespace {

constexpr std::string_view jobs_path = "/admin/jobs";

// The database can not be read: the answer says why, as it is told to operators only.
template <typename Answer>
void respond_with(const net::Respond& respond, Answer answer) {
    net::HttpResponse response;
    try {
        response = answer();
    } catch (const store::StorageError& error) {
        response = admin_error(500, error.what());
    }
    respond(std::move(response));
}

}  // namespace

std::vector<AdminRoute> job_routes(JobAnswers& jobs, const StatusSources& status) {
    const auto list = [&jobs](const net::HttpRequest& request, const net::Respond& respond) {
        respond_with(respond, [&] { return jobs.list(request.query); });
    };
    const auto one = [&jobs](const net::HttpRequest& request, const net::Respond& respond) {
        respond_with(respond, [&] { return jobs.find(request.path.substr(jobs_path.size() + 1)); });
    };
    const auto screen = [&status](const net::HttpRequest&, const net::Respond& respond) {
        respond_with(respond, [&] { return status_answer(status); });
    };
    return {{std::string(jobs_path), "GET, HEAD", list},
            {std::string(jobs_path) + "/*", "GET, HEAD", one},
            {"/admin/status", "GET, HEAD", screen}};
}

}  // namespace api::admin

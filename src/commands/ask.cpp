#include "commands/ask.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "api/admin/job_answers.hpp"
#include "api/admin/screens.hpp"
#include "api/admin/status_answer.hpp"
#include "commands/admin_client.hpp"
#include "commands/build_info.hpp"
#include "commands/client_names.hpp"
#include "commands/directory_owner.hpp"
#include "commands/role.hpp"
#include "platform/real_clock.hpp"
#include "store/file_locks.hpp"
#include "store/job_reader.hpp"
#include "store/owner_lock.hpp"
#include "store/reader.hpp"

namespace commands {

namespace {

using About = config::Ask::About;

// A process that starts or stops holds the directory and does not answer.
void require_nobody(const std::filesystem::path& directory) {
    if (!store::is_held_elsewhere(directory / "posthouse.lock")) return;
    throw std::runtime_error("the process on " + directory.string() +
                             " does not answer: it starts or stops; try again in a moment");
}

net::HttpResponse answer_of_files(const config::Settings& settings, const config::Ask& command) {
    const platform::RealClock clock;
    const bool with_shares = settings.engine.shares.expose_timing;
    const auto client_name = client_names(settings);
    if (command.about == About::status) {
        store::Reader reader(settings.store, 1);
        return api::admin::status_answer({clock, build_version, role_of(settings), with_shares,
                                          settings.store.directory,
                                          [&reader] { return reader.backlog(); }, client_name});
    }
    store::JobReader reader(settings.store);
    api::admin::JobAnswers jobs(reader, {clock, with_shares, client_name});
    const std::string_view target = command.target;
    if (command.about == About::job) return jobs.find(target.substr(target.rfind('/') + 1));
    const std::size_t query = target.find('?');
    return jobs.list(query == target.npos ? std::string_view{} : target.substr(query + 1));
}

net::ClientResponse answer_without_process(const config::Settings& settings,
                                           const config::Ask& command) {
    const std::filesystem::path& directory = settings.store.directory;
    become_owner_of(directory);
    if (!std::filesystem::exists(store::database_path(settings.store))) {
        throw std::runtime_error("no process runs on " + directory.string() +
                                 ", and there is no database; name another --data-dir");
    }
    require_nobody(directory);
    const store::OwnerLock lock(directory);
    net::HttpResponse response = answer_of_files(settings, command);
    return {response.status, std::move(response.body), std::nullopt};
}

std::string screen_of(About about, std::string_view json) {
    if (about == About::jobs) return api::admin::jobs_screen(json);
    return about == About::job ? api::admin::job_screen(json) : api::admin::status_screen(json);
}

}  // namespace

int ask(const config::Settings& settings, const config::Ask& command, std::ostream& out,
        std::ostream& errors) {
    AdminClient client(settings.store);
    const net::ClientResponse response = client.finds_process()
                                             ? client.get(command.target)
                                             : answer_without_process(settings, command);
    if (response.status != 200) {
        errors << "posthouse: " << api::admin::error_screen(response.body) << "\n";
        return EXIT_FAILURE;
    }
    out << (command.json ? response.body + "\n" : screen_of(command.about, response.body));
    return EXIT_SUCCESS;
}

}  // namespace commands

#include "commands/cluster_members.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <thread>
#include <variant>

#include "api/admin/cluster_route.hpp"
#include "api/admin/screens.hpp"
#include "commands/admin_client.hpp"
#include "commands/cluster_book.hpp"
#include "platform/log.hpp"
#include "platform/real_clock.hpp"

namespace commands {

namespace {

std::string names_of(const std::vector<cluster::Node>& nodes) {
    std::string names;
    for (const cluster::Node& node : nodes) {
        names += (names.empty() ? "" : ", ") + platform::printable(node.name);
    }
    return names.empty() ? "it has none" : "it has " + names;
}

bool lives(const std::optional<BookSight>& book, const std::string& node) {
    return book && std::ranges::any_of(book->nodes, [&node](const NodeSight& sight) {
               return sight.node.name == node && sight.lives;
           });
}

}  // namespace

int cluster_step_down(const config::Settings& settings, std::ostream& out) {
    AdminClient client(settings.store);
    client.require_process("step-down");
    const net::ClientResponse response = client.post(api::admin::step_down_target);
    if (response.status != 200) {
        throw std::runtime_error("not stepped down: " + api::admin::error_screen(response.body));
    }
    out << "stepped down: this node follows now, and another one takes the book\n";
    return EXIT_SUCCESS;
}

bool forget_node(cluster::Database& database, Watching watching, const std::string& book,
                 const std::string& node) {
    const auto owner = found_in(database.read_owner());
    if (!owner) throw no_such_book(book);
    if (owner->epoch != 0 && owner->node == node) {
        throw std::runtime_error("not forgotten: " + node + " owns the book " + book +
                                 "; stop it, and when another node has taken the book, forget it");
    }
    watching.nodes_too = true;
    const bool is_alive = lives(look_at_book(database, watching), node);
    const auto forgotten = database.forget(node);
    if (const auto* unavailable = std::get_if<cluster::Unavailable>(&forgotten)) {
        throw NoAnswerOfDatabase(unavailable->reason);
    }
    if (const auto* unknown = std::get_if<cluster::Unknown>(&forgotten)) {
        throw NoAnswerOfDatabase(unknown->reason + "; posthouse cluster status shows whether " +
                                 node + " is still there");
    }
    if (std::holds_alternative<cluster::Absent>(forgotten)) {
        throw std::runtime_error("the book " + book + " has no node " + node + "; " +
                                 names_of(found_in(database.nodes())));
    }
    return is_alive;
}

int cluster_forget(const config::Settings& settings, const std::string& node, std::ostream& out) {
    const cluster::Options& options = require_cluster(settings);
    BookConnection connection(options);
    const platform::RealClock clock;
    const Watching watching{
        clock, [](domain::Milliseconds time) { std::this_thread::sleep_for(time); }, options.lease};
    if (forget_node(connection.database(), watching, options.book, node)) {
        out << "warning: " << node
            << " lives: within a lease it is one of the nodes again. Stop it, then forget it\n";
        return EXIT_SUCCESS;
    }
    out << "forgotten: " << node
        << "; the journal is not kept for it any more. Should it come back, it is one of the nodes "
           "again, with a snapshot if need be\n";
    return EXIT_SUCCESS;
}

}  // namespace commands

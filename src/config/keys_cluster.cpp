#include <algorithm>
#include <string>

#include "base/text.hpp"
#include "config/keys.hpp"
#include "net/url.hpp"

namespace config {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t name_bytes_max = 63;

// The table is there from its first key on.
cluster::Options& table_in(Settings& settings) {
    if (!settings.cluster) settings.cluster.emplace();
    return *settings.cluster;
}

const cluster::Options& table_in(const Settings& settings) {
    static const cluster::Options defaults;
    return settings.cluster ? *settings.cluster : defaults;
}

#define OF_CLUSTER(member) ([](auto& s) -> auto& { return table_in(s).member; })

bool is_of_book_name(char c) {
    return (base::is_letter(c) && c >= 'a') || base::is_digit(c) || c == '-' || c == '_';
}

bool is_of_node_name(char c) {
    return base::is_letter(c) || base::is_digit(c) || c == '-' || c == '_' || c == '.';
}

ValueType<std::string> name_type(const std::string& characters, bool (*is_one)(char)) {
    ValueType<std::string> type = text("1 to 63 " + characters, 1, name_bytes_max);
    type.read = [read = type.read, is_one](const Node& node) -> Reading<std::string> {
        Reading<std::string> reading = read(node);
        const auto* name = std::get_if<std::string>(&reading);
        if (name != nullptr && !std::ranges::all_of(*name, is_one)) {
            return Problem{in_quotes(*name) + " holds other characters", {}, {}};
        }
        return reading;
    };
    return type;
}

// Every path below it is ours to say. Not shown in errors: somebody may write a password into it.
ValueType<std::string> node_url() {
    ValueType<std::string> type = url({"http", "https"});
    type.allowed = "http://HOST:PORT or https://HOST:PORT";
    type.read = [read = type.read](const Node& node) -> Reading<std::string> {
        Reading<std::string> reading = read(node);
        const auto* place = std::get_if<std::string>(&reading);
        if (place == nullptr) return reading;
        if (!net::parse_url(*place).value().credentials.empty()) {
            return Problem{"has a user in it; nodes know each other by key_file", {}, {}};
        }
        const std::size_t host = place->find("://") + 3;
        if (place->find_first_of("/?#", host) != std::string::npos) {
            return Problem{"has something behind the host and the port, be it a /", {}, {}};
        }
        return reading;
    };
    return type;
}

// Written in MiB, kept in bytes.
ValueType<std::int64_t> mebibytes(std::int64_t min, std::int64_t max) {
    const ValueType<std::int64_t> number = whole_number(min, max);
    return {number.allowed,
            [read = number.read](const Node& node) {
                auto reading = read(node);
                if (auto* value = std::get_if<std::int64_t>(&reading)) *value *= mebibyte;
                return reading;
            },
            [show = number.show](const std::int64_t& bytes) { return show(bytes / mebibyte); }};
}

}  // namespace

std::vector<Key> cluster_keys() {
    using cluster::Durability;
    const auto durabilities =
        choice<Durability>({{"standby", Durability::standby}, {"storage", Durability::storage}});
    return with_effect(
        Effect::makes_node,
        {hidden(without_default(
             key("cluster.database", secret("a connection string of libpq, at most 4096 bytes"),
                 OF_CLUSTER(database),
                 "The table makes this machine a node of several that keep one book in this "
                 "PostgreSQL. Name all of its hosts. Better kept in the environment when it holds "
                 "a password."),
             "\"host=db-a,db-b dbname=posthouse user=posthouse target_session_attrs=read-write "
             "sslmode=verify-full\"")),
         key("cluster.name", name_type("lower case letters, digits, - and _", is_of_book_name),
             OF_CLUSTER(book), "Which book; several may live in one database."),
         without_default(
             key("cluster.node", name_type("letters, digits, ., - and _", is_of_node_name),
                 OF_CLUSTER(node),
                 "The name of this node, which no other of the book has. Without it the host's."),
             "\"a\""),
         without_default(key("cluster.url", node_url(), OF_CLUSTER(url),
                             "Where the other nodes reach this one."),
                         "\"https://a.internal:3000\""),
         without_default(
             key("cluster.key_file", secret("a path or credential:NAME, at most 4096 bytes", 1),
                 OF_CLUSTER(key_file),
                 "A file with 32 bytes or 64 hexadecimal digits, the same for all nodes: it seals "
                 "what lies in the database, and nodes know each other by it. Others than its "
                 "owner and group may not use it."),
             "\"/etc/posthouse/cluster.key\""),
         key("cluster.other_key_file",
             secret("a path or credential:NAME, at most 4096 bytes; empty: none"),
             OF_CLUSTER(other_key_file),
             "Another such file, whose key opens and is believed as well: for the time in which "
             "the key changes."),
         key("cluster.ca_file", text("a path or credential:NAME; empty: the system's", 0, 4'096),
             OF_CLUSTER(ca_file),
             "Whose certificates the other nodes have, as PEM, where their url is https."),
         key("cluster.lease", duration(1s, 60s), OF_CLUSTER(lease.length),
             "How long a node owns the book after it was heard of last; another takes its place a "
             "tenth later. The same for all nodes."),
         key("cluster.durability", durabilities, OF_CLUSTER(durability),
             "standby: what is accepted is on the disks of the primary and of a synchronous "
             "standby, or it is not accepted. storage: the database replicates below us."),
         key("cluster.snapshot_every", mebibytes(1, 1'048'576), OF_CLUSTER(snapshot_every_bytes),
             "A new snapshot lies in the database whenever the journal has grown by so much; what "
             "is older than the one before goes.",
             "MiB")});
}

}  // namespace config

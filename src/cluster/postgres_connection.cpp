#include "cluster/postgres_connection.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstring>
#include <stdexcept>

#include "base/sanitize.hpp"
#include "base/text.hpp"

namespace cluster::postgres {

namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

// Behind what a write returns, and asked again after it: in force when it began, and when it was
// acknowledged. Those who wait for a standby are let go when the settings name none any more.
constexpr std::string_view durability =
    ", coalesce(current_setting('synchronous_commit', true), '')"
    ", coalesce(current_setting('synchronous_standby_names', true), '')";
constexpr std::string_view durability_columns = "tt";

constexpr Statement durability_after{"durability", "select 1::bigint", "i"};

// The role or the database may have other defaults. Warnings must come; nobody may cancel.
constexpr Statement settings_of_ours{
    "settings",
    "select pg_backend_pid()::bigint,"
    " set_config('client_min_messages', 'warning', false),"
    " set_config('synchronous_commit', 'on', false),"
    " set_config('default_transaction_isolation', 'read committed', false),"
    " set_config('statement_timeout', '0', false),"
    " set_config('lock_timeout', $1, false),"
    " set_config('idle_in_transaction_session_timeout', $2, false),"
    " set_config('search_path', 'pg_catalog', false)",
    "ittttttt"};

struct OptionsFree {
    void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

std::vector<std::string> parts_of(const std::string& list) {
    std::vector<std::string> parts(1);
    for (const char c : list) {
        if (c == ',') {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

bool names_a_host(const std::string& setting) {
    return setting == "host" || setting == "hostaddr" || setting == "port";
}

// In a URI the first @ or / ends what is thought to be user and password, whatever was meant: what
// is left of a password would be told as a name that is not found.
bool is_cut_wrong(const std::string& database, const Settings& settings) {
    const bool is_uri =
        database.starts_with("postgresql://") || database.starts_with("postgres://");
    return std::ranges::any_of(settings, [&database, is_uri](const auto& setting) {
        const auto& [name, value] = setting;
        if (name == "port") {
            const std::string_view port = base::trimmed(value);
            return !port.empty() && !base::number_in<std::uint16_t>(port);
        }
        const bool is_name = names_a_host(name) || name == "dbname";
        // One that is written as it is, and not as %40.
        return is_uri && is_name && value.find('@') != std::string::npos &&
               database.find(value) != std::string::npos;
    });
}

Oid type_of(char column) {
    if (column == 'i') return Parameter::integer_type;
    return column == 't' ? Parameter::text_type : Parameter::bytes_type;
}

// Of a column whose values all have the same; 0: any.
int size_of(char column) {
    switch (column) {
        case 'i':
            return 8;
        case 'h':
            return 32;
        case 'u':
            return 16;
        default:
            return 0;
    }
}

bool has_columns(const PGresult* result, std::string_view columns) {
    if (!std::cmp_equal(PQnfields(result), columns.size())) return false;
    for (int column = 0; column < PQnfields(result); ++column) {
        const char letter = columns[static_cast<std::size_t>(column)];
        if (PQftype(result, column) != type_of(letter) || PQfformat(result, column) != 1) {
            return false;
        }
        const int size = size_of(letter);
        for (int row = 0; row < PQntuples(result); ++row) {
            if (PQgetisnull(result, row, column) != 0) return false;
            if (size != 0 && PQgetlength(result, row, column) != size) return false;
        }
    }
    return true;
}

std::string_view field_of(const PGresult* result, int field) {
    const char* const text = PQresultErrorField(result, field);
    return text == nullptr ? std::string_view{} : std::string_view(text);
}

std::string in_milliseconds(domain::Milliseconds time) {
    return std::to_string(time.count()) + " ms";
}

}  // namespace

Parameter::Parameter(std::int64_t value) : type_(integer_type) {
    const auto bits = static_cast<std::uint64_t>(value);
    for (std::size_t byte = 0; byte < integer_.size(); ++byte) {
        integer_[byte] = static_cast<std::uint8_t>(bits >> (8 * (integer_.size() - 1 - byte)));
    }
}

std::int64_t Rows::changed() const {
    return base::number_in<std::int64_t>(PQcmdTuples(result_.get())).value_or(0);
}

domain::ByteView Rows::view(int row, int column) const {
    return {reinterpret_cast<const std::uint8_t*>(PQgetvalue(result_.get(), row, column)),
            static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

std::int64_t Rows::integer(int row, int column) const {
    std::uint64_t bits = 0;
    for (const std::uint8_t byte : view(row, column)) bits = bits << 8U | byte;
    return static_cast<std::int64_t>(bits);
}

std::string Rows::text(int row, int column) const {
    const domain::ByteView bytes = view(row, column);
    return {bytes.begin(), bytes.end()};
}

domain::Bytes Rows::bytes(int row, int column) const {
    const domain::ByteView bytes = view(row, column);
    return {bytes.begin(), bytes.end()};
}

domain::Bytes32 Rows::bytes32(int row, int column) const {
    domain::Bytes32 bytes{};
    assert(view(row, column).size() == bytes.size());
    std::ranges::copy(view(row, column), bytes.begin());
    return bytes;
}

std::array<std::uint8_t, 16> Rows::bytes16(int row, int column) const {
    std::array<std::uint8_t, 16> bytes{};
    assert(view(row, column).size() == bytes.size());
    std::ranges::copy(view(row, column), bytes.begin());
    return bytes;
}

// What one call sends, and what came of it. Each part ends with a point where the server commits.
struct Connection::Exchange {
    std::size_t parts = 1;  // the statement; of a write, the question behind it
    bool prepares = false;  // the statement, in its own part

    std::array<Result, 2> answers{};  // the last of each part
    std::size_t results = 0;          // of the part that goes on
    std::optional<Rejected> rejected{};
    bool is_prepared = true;
};

Connection::Connection(PostgresOptions options, const base::StopToken& stop)
    : options_(std::move(options)), stop_(stop), hosts_(hosts_in(options_.database)) {
    if (hosts_.empty()) throw std::invalid_argument("is no connection string of libpq");
    for (const Settings& host : hosts_) {
        if (!is_cut_wrong(options_.database, host)) continue;
        throw std::invalid_argument(
            "has a host, a port or a database name that can not be; in a URI an @ in the user or "
            "the password is written %40, and a / is written %2F");
    }
    assert(options_.timeout.count() > 0);
    for (const auto& [name, value] : hosts_.front()) {
        if (name == "password" || name == "sslpassword") secrets_.push_back(value);
    }
}

Reply Connection::run(const Statement& statement, std::initializer_list<Parameter> parameters) {
    return ask(statement, parameters, false);
}

Reply Connection::write(const Statement& statement, std::initializer_list<Parameter> parameters) {
    return ask(statement, parameters, true);
}

Reply Connection::ask(const Statement& statement, std::initializer_list<Parameter> parameters,
                      bool is_write) {
    const base::Deadline deadline = std::chrono::steady_clock::now() + options_.timeout;
    if (!is_alive()) {
        if (auto problem = connect(deadline)) return Rejected{*std::move(problem)};
    }
    warning_.clear();

    Exchange exchange{.parts = is_write ? 2U : 1U};
    std::string columns(statement.columns);
    std::string sql = statement.sql;
    bool sent = false;
    if (is_write) {
        sql += durability;
        columns += durability_columns;
        Exchange after;
        sent = queue(statement, sql, parameters, exchange) &&
               queue(durability_after, std::string(durability_after.sql).append(durability), {},
                     after);
    } else {
        sent = queue(statement, sql, parameters, exchange);
    }
    if (!sent) return lose(PQerrorMessage(handle_.get()));
    if (auto problem = collect(exchange, deadline)) return lose(*std::move(problem));
    if (!warning_.empty()) return lose("the server warned: " + warning_);
    if (!exchange.is_prepared) prepared_.erase(statement.name);
    if (exchange.rejected) return *std::move(exchange.rejected);

    if (!has_columns(exchange.answers[0].get(), columns)) {
        return lose("the tables in the database are not as this version makes them");
    }
    Rows rows(std::move(exchange.answers[0]));
    if (!is_write || rows.count() == 0) return rows;
    const Rows after(std::move(exchange.answers[1]));
    if (after.count() != 1) return lose("the server does not answer as PostgreSQL does");
    const int last = static_cast<int>(columns.size()) - 1;
    rows.standbys = std::min(standbys_in(rows.text(0, last - 1), rows.text(0, last)),
                             standbys_in(after.text(0, 1), after.text(0, 2)));
    return rows;
}

// Also for one that was closed while nobody asked: then nothing is open, and another one serves.
bool Connection::is_alive() {
    if (!handle_) return false;
    // The first may find the server's last words, the second that nothing follows.
    for (int times = 0; times < 2; ++times) {
        if (PQconsumeInput(handle_.get()) == 0) return false;
        static_cast<void>(PQisBusy(handle_.get()));
    }
    return PQstatus(handle_.get()) == CONNECTION_OK;
}

// Each host has its part of what is left, since one that is gone may not answer at all; and of that
// each of its addresses.
std::optional<std::string> Connection::connect(base::Deadline deadline) {
    std::string problem;
    const std::size_t first = preferred_;
    for (std::size_t tried = 0; tried < hosts_.size(); ++tried) {
        const std::size_t host = (first + tried) % hosts_.size();
        const auto now = std::chrono::steady_clock::now();
        const auto left = static_cast<std::int64_t>(hosts_.size() - tried);
        auto failed = connect_to_any(places_of(hosts_[host]), now + (deadline - now) / left);
        if (!failed) {
            preferred_ = host;
            ++count_;
            return std::nullopt;
        }
        if (!problem.empty()) problem += "; ";
        problem += *failed;
        if (stop_.stop_requested()) break;
    }
    return problem;
}

std::optional<std::string> Connection::connect_to_any(const std::vector<Settings>& places,
                                                      base::Deadline deadline) {
    std::string problem;
    for (std::size_t tried = 0; tried < places.size() && !stop_.stop_requested(); ++tried) {
        const auto now = std::chrono::steady_clock::now();
        const auto left = static_cast<std::int64_t>(places.size() - tried);
        handle_.reset();
        prepared_.clear();
        const auto failed = connect_to(places[tried], now + (deadline - now) / left);
        if (!failed) return std::nullopt;
        handle_.reset();
        if (!problem.empty()) problem += "; ";
        problem += *failed;
    }
    return problem.empty() ? "stopped" : problem;
}

std::optional<std::string> Connection::connect_to(const Settings& host, base::Deadline deadline) {
    const std::string timeout = std::to_string(options_.timeout.count());
    std::vector<const char*> names{"fallback_application_name", "target_session_attrs",
                                   "tcp_user_timeout",          "keepalives_idle",
                                   "keepalives_interval",       "keepalives_count"};
    std::vector<const char*> values{"posthouse", "read-write", timeout.c_str(), "5", "1", "3"};
    for (const auto& [name, value] : host) {
        names.push_back(name.c_str());
        values.push_back(value.c_str());
    }
    names.insert(names.end(), {"client_encoding", nullptr});
    values.insert(values.end(), {"UTF8", nullptr});

    handle_.reset(PQconnectStartParams(names.data(), values.data(), 0));
    if (!handle_) throw std::bad_alloc();
    PGconn* const connection = handle_.get();
    PQsetNoticeReceiver(connection, note_warning, this);
    PostgresPollingStatusType status =
        PQstatus(connection) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
    while (status != PGRES_POLLING_OK) {
        if (status == PGRES_POLLING_FAILED) return presentable(PQerrorMessage(connection));
        const short events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        switch (stop_.wait(PQsocket(connection), events, deadline)) {
            case base::Wait::timed_out:
                return "no connection within " + in_milliseconds(options_.timeout);
            case base::Wait::stopped:
                return "stopped";
            case base::Wait::ready:
                break;
        }
        status = PQconnectPoll(connection);
    }
    if (PQsetnonblocking(connection, 1) != 0 || PQenterPipelineMode(connection) != 1) {
        return presentable(PQerrorMessage(connection));
    }
    return set_up(deadline);
}

std::optional<std::string> Connection::set_up(base::Deadline deadline) {
    // Half: whoever waits for a lock learns that nothing was written before our own time is over.
    const std::string for_locks =
        std::to_string(std::max<std::int64_t>(options_.timeout.count() / 2, 1));
    const std::string for_idle = std::to_string(options_.timeout.count());
    Exchange exchange;
    if (!queue(settings_of_ours, settings_of_ours.sql, {for_locks, for_idle}, exchange)) {
        return presentable(PQerrorMessage(handle_.get()));
    }
    if (auto problem = collect(exchange, deadline)) return presentable(*problem);
    if (exchange.rejected) return exchange.rejected->reason;
    if (!has_columns(exchange.answers[0].get(), settings_of_ours.columns)) {
        return "the server does not answer as PostgreSQL does";
    }
    // A pooler tells a process of its own. Behind it another server process may run each of our
    // transactions, without what was set here.
    const Rows rows(std::move(exchange.answers[0]));
    if (rows.integer(0, 0) != PQbackendPID(handle_.get())) {
        return "a pooler such as PgBouncer stands before the server; connect to the server itself";
    }
    return std::nullopt;
}

bool Connection::queue(const Statement& statement, const std::string& sql,
                       std::initializer_list<Parameter> parameters, Exchange& exchange) {
    std::vector<Oid> types;
    std::vector<const char*> values;
    std::vector<int> lengths;
    const std::vector<int> formats(parameters.size(), 1);
    for (const Parameter& parameter : parameters) {
        const domain::ByteView bytes = parameter.bytes();
        types.push_back(parameter.type());
        // No address would mean null.
        values.push_back(bytes.empty() ? "" : reinterpret_cast<const char*>(bytes.data()));
        lengths.push_back(static_cast<int>(bytes.size()));
    }
    const int count = static_cast<int>(parameters.size());
    PGconn* const connection = handle_.get();
    exchange.prepares = !prepared_.contains(statement.name);
    if (exchange.prepares) {
        if (PQsendPrepare(connection, statement.name, sql.c_str(), count, types.data()) != 1) {
            return false;
        }
        prepared_.insert(statement.name);
    }
    return PQsendQueryPrepared(connection, statement.name, count, values.data(), lengths.data(),
                               formats.data(), 1) == 1 &&
           PQpipelineSync(connection) == 1;
}

// A statement is over when its part is: the server says `INSERT 0 1` before it commits, and what
// goes wrong in the commit comes behind that.
std::optional<std::string> Connection::collect(Exchange& exchange, base::Deadline deadline) {
    bool was_end = false;
    for (std::size_t part = 0; part < exchange.parts;) {
        if (auto problem = wait_for_result(deadline)) return problem;
        Result result(PQgetResult(handle_.get()));
        if (!result) {
            // One ends the results of a statement; a second one, everything.
            if (was_end || PQstatus(handle_.get()) != CONNECTION_OK) {
                return "the connection broke: " + std::string(PQerrorMessage(handle_.get()));
            }
            was_end = true;
            continue;
        }
        was_end = false;
        const ExecStatusType status = PQresultStatus(result.get());
        if (status == PGRES_PIPELINE_SYNC) {
            ++part;
            exchange.results = 0;
        } else if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) {
            ++exchange.results;
            exchange.answers[part] = std::move(result);
        } else if (status != PGRES_PIPELINE_ABORTED) {
            const std::string_view code = field_of(result.get(), PG_DIAG_SQLSTATE);
            const std::string reason(field_of(result.get(), PG_DIAG_MESSAGE_PRIMARY));
            const std::size_t before = exchange.prepares ? 1 : 0;
            const bool is_certain =
                part == 0 && exchange.results <= before && code != "40003" &&
                field_of(result.get(), PG_DIAG_SEVERITY_NONLOCALIZED) == "ERROR";
            if (!is_certain) {
                return reason.empty() ? PQresultErrorMessage(result.get()) : reason;
            }
            exchange.rejected = Rejected{presentable(reason), std::string(code)};
            exchange.is_prepared = exchange.results == before;
        }
    }
    return std::nullopt;
}

std::optional<std::string> Connection::wait_for_result(base::Deadline deadline) {
    PGconn* const connection = handle_.get();
    for (;;) {
        const int unsent = PQflush(connection);
        if (unsent < 0) return PQerrorMessage(connection);
        if (PQisBusy(connection) == 0) return std::nullopt;
        const auto events = static_cast<short>(unsent == 0 ? POLLIN : POLLIN | POLLOUT);
        switch (stop_.wait(PQsocket(connection), events, deadline)) {
            case base::Wait::timed_out:
                return "no answer within " + in_milliseconds(options_.timeout);
            case base::Wait::stopped:
                return "stopped";
            case base::Wait::ready:
                break;
        }
        if (PQconsumeInput(connection) == 0) return PQerrorMessage(connection);
    }
}

Lost Connection::lose(std::string reason) {
    reason = presentable(reason);
    handle_.reset();
    prepared_.clear();
    return {std::move(reason)};
}

// Whatever is not known to be harmless counts, such as what libpq itself has to say.
void Connection::note_warning(void* self, const PGresult* notice) {
    const std::string_view severity = field_of(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    for (const std::string_view harmless : {"NOTICE", "INFO", "LOG", "DEBUG"}) {
        if (severity == harmless) return;
    }
    const std::string_view said = field_of(notice, PG_DIAG_MESSAGE_PRIMARY);
    auto& warning = static_cast<Connection*>(self)->warning_;
    warning = said.empty() ? "without a word" : std::string(said);
}

std::string Connection::presentable(std::string_view text) const {
    const std::string line = base::sanitize(text, {.bytes_max = 300, .secrets = secrets_});
    return std::string(base::trimmed(line));
}

unsigned standbys_in(std::string_view synchronous_commit,
                     std::string_view synchronous_standby_names) {
    // The others let go of us before a standby has it on disk.
    if (synchronous_commit != "on" && synchronous_commit != "remote_apply") return 0;
    const std::string names = base::lower_case(base::trimmed(synchronous_standby_names));
    std::string_view rest = names;
    if (rest.empty()) return 0;
    // FIRST 2 (a, b), ANY 2 (a, b), 2 (a, b); a list alone means one of them.
    for (const std::string_view method : {"first ", "any "}) {
        if (rest.starts_with(method)) rest = base::trimmed(rest.substr(method.size()));
    }
    const auto count = base::number_in<unsigned>(base::trimmed(rest.substr(0, rest.find('('))));
    return rest.find('(') == std::string_view::npos ? 1 : count.value_or(1);
}

std::vector<Settings> places_of(const Settings& host) {
    std::string name;
    for (const auto& [setting, value] : host) {
        if (setting == "hostaddr" && !value.empty()) return {host};
        if (setting == "host") name = value;
    }
    const bool is_name = !name.empty() && name[0] != '/' && name[0] != '@';
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (!is_name || ::getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0) return {host};
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, ::freeaddrinfo);
    std::vector<Settings> places;
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
        std::array<char, NI_MAXHOST> text{};
        if (::getnameinfo(each->ai_addr, each->ai_addrlen, text.data(), text.size(), nullptr, 0,
                          NI_NUMERICHOST) != 0) {
            continue;
        }
        places.push_back(host);
        places.back().emplace_back("hostaddr", text.data());
    }
    if (places.empty()) places.push_back(host);
    return places;
}

std::vector<Settings> hosts_in(const std::string& database) {
    char* complaint = nullptr;  // may say a password again
    const std::unique_ptr<PQconninfoOption, OptionsFree> options(
        PQconninfoParse(database.c_str(), &complaint));
    PQfreemem(complaint);
    if (!options) return {};

    Settings common;
    std::vector<std::pair<std::string, std::vector<std::string>>> lists;
    std::size_t hosts = 1;
    for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
        if (option->val == nullptr) continue;
        if (names_a_host(option->keyword)) {
            lists.emplace_back(option->keyword, parts_of(option->val));
            hosts = std::max(hosts, lists.back().second.size());
        } else {
            common.emplace_back(option->keyword, option->val);
        }
    }
    std::vector<Settings> found(hosts, common);
    for (const auto& [name, parts] : lists) {
        // One port is that of all hosts.
        if (parts.size() != 1 && parts.size() != hosts) return {};
        for (std::size_t host = 0; host < hosts; ++host) {
            found[host].emplace_back(name, parts[parts.size() == 1 ? 0 : host]);
        }
    }
    return found;
}

}  // namespace cluster::postgres

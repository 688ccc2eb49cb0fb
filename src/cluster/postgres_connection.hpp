#pragma once

#include <libpq-fe.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/stop_token.hpp"
#include "cluster/postgres_options.hpp"
#include "domain/bytes.hpp"

// libpq, for the sources of PostgresDatabase only.
namespace cluster::postgres {

// What is asked, and what columns come back, a letter each: i bigint, t text, b bytea, h bytea of
// 32 bytes, u bytea of 16 bytes. Nothing else is taken from a server, and no null.
struct Statement {
    const char* name;
    const char* sql;
    std::string_view columns = {};
};

// Of a statement; texts and bytes are not copied.
class Parameter {
public:
    Parameter(std::int64_t value);
    Parameter(std::string_view value) : type_(text_type), bytes_(as_bytes(value)) {}
    Parameter(const std::string& value) : Parameter(std::string_view(value)) {}
    Parameter(domain::ByteView value) : type_(bytes_type), bytes_(value) {}
    Parameter(const domain::Bytes32& value) : Parameter(domain::ByteView(value)) {}
    Parameter(const std::array<std::uint8_t, 16>& value) : Parameter(domain::ByteView(value)) {}

    [[nodiscard]] Oid type() const { return type_; }
    [[nodiscard]] domain::ByteView bytes() const {
        return type_ == integer_type ? domain::ByteView(integer_) : bytes_;
    }

    static constexpr Oid integer_type = 20;
    static constexpr Oid text_type = 25;
    static constexpr Oid bytes_type = 17;

private:
    static domain::ByteView as_bytes(std::string_view text) {
        return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
    }

    Oid type_;
    std::array<std::uint8_t, 8> integer_{};
    domain::ByteView bytes_;
};

struct ResultFree {
    void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, ResultFree>;

// What came back; columns are as the statement says.
class Rows {
public:
    explicit Rows(Result result) : result_(std::move(result)) {}

    [[nodiscard]] int count() const { return PQntuples(result_.get()); }
    [[nodiscard]] std::int64_t changed() const;  // rows that were written

    [[nodiscard]] std::int64_t integer(int row, int column) const;
    [[nodiscard]] std::string text(int row, int column) const;
    [[nodiscard]] domain::Bytes bytes(int row, int column) const;
    [[nodiscard]] domain::Bytes32 bytes32(int row, int column) const;
    [[nodiscard]] std::array<std::uint8_t, 16> bytes16(int row, int column) const;

    unsigned standbys = 0;  // of a write; see Taken

private:
    [[nodiscard]] domain::ByteView view(int row, int column) const;

    Result result_;
};

// Nothing was written and nothing will be.
struct Rejected {
    std::string reason;
    std::string code{};  // SQLSTATE; empty: the server was not asked
};
// It may have been written, or may still be. The connection is closed.
struct Lost {
    std::string reason;
};
using Reply = std::variant<Rows, Rejected, Lost>;

// One connection. Every statement is a transaction of its own. A time-out closes the connection and
// cancels nothing: a cancelled wait for a standby would say that all is well. One thread.
class Connection {
public:
    // Throws std::invalid_argument, without the text, when the options have no connection string
    // that can be used.
    // `stop` outlives it, and ends every call.
    Connection(PostgresOptions options, const base::StopToken& stop);
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // Within the options' time-out, connecting included. The statement is prepared when it is new.
    [[nodiscard]] Reply run(const Statement& statement,
                            std::initializer_list<Parameter> parameters);
    // The same for what must be on a standby's disk: `Rows::standbys` is set. The statement ends
    // with a list of what it returns.
    [[nodiscard]] Reply write(const Statement& statement,
                              std::initializer_list<Parameter> parameters);

    [[nodiscard]] const PostgresOptions& options() const { return options_; }
    [[nodiscard]] std::uint64_t count() const { return count_; }  // connections so far

private:
    struct Close {
        void operator()(PGconn* connection) const { PQfinish(connection); }
    };
    using Handle = std::unique_ptr<PGconn, Close>;
    using Setting = std::pair<std::string, std::string>;

    struct Exchange;

    static void note_warning(void* self, const PGresult* notice);

    [[nodiscard]] Reply ask(const Statement& statement, std::initializer_list<Parameter> parameters,
                            bool is_write);
    [[nodiscard]] std::optional<std::string> connect(base::Deadline deadline);
    [[nodiscard]] std::optional<std::string> connect_to_any(
        const std::vector<std::vector<Setting>>& places, base::Deadline deadline);
    [[nodiscard]] std::optional<std::string> connect_to(const std::vector<Setting>& host,
                                                        base::Deadline deadline);
    [[nodiscard]] std::optional<std::string> set_up(base::Deadline deadline);
    [[nodiscard]] bool is_alive();
    [[nodiscard]] bool queue(const Statement& statement, const std::string& sql,
                             std::initializer_list<Parameter> parameters, Exchange& exchange);
    [[nodiscard]] std::optional<std::string> collect(Exchange& exchange, base::Deadline deadline);
    [[nodiscard]] std::optional<std::string> wait_for_result(base::Deadline deadline);
    [[nodiscard]] Lost lose(std::string reason);
    [[nodiscard]] std::string presentable(std::string_view text) const;

    const PostgresOptions options_;
    const base::StopToken& stop_;
    std::vector<std::vector<Setting>> hosts_;  // what tells libpq of each
    std::size_t preferred_ = 0;                // the one that served last
    std::vector<std::string> secrets_;

    Handle handle_;
    std::set<std::string_view> prepared_;
    std::string warning_;  // of the call that goes on
    std::uint64_t count_ = 0;
};

// Of these two settings: how many standbys have a transaction on disk when it is acknowledged.
[[nodiscard]] unsigned standbys_in(std::string_view synchronous_commit,
                                   std::string_view synchronous_standby_names);

// The settings of libpq for each host of a connection string, without the others' hosts. Empty:
// this is no connection string.
[[nodiscard]] std::vector<std::vector<std::pair<std::string, std::string>>> hosts_in(
    const std::string& database);

// The same for each address that the host's name has now; the name stays, for TLS. libpq itself
// leaves an address that does not answer only when its own time is over. Blocks as the system's
// resolver does.
[[nodiscard]] std::vector<std::vector<std::pair<std::string, std::string>>> places_of(
    const std::vector<std::pair<std::string, std::string>>& host);

}  // namespace cluster::postgres

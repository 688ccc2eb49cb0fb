#include "net/local_socket.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "net/client.hpp"
#include "net/echo_application.hpp"
#include "net/http_server.hpp"
#include "support/temp_directory.hpp"

namespace net {
namespace {

using namespace std::chrono_literals;

HttpOptions at(const std::filesystem::path& file) {
    HttpOptions options;
    options.socket_file = file;
    options.workers = 2;
    return options;
}

ClientResult ask(const std::filesystem::path& file, const ClientRequest& request) {
    Client client(at_socket_file(file.string()), std::size_t{1} << 20U, nullptr);
    return client.exchange(request, 10s);
}

std::string answer_of(const ClientResult& result) {
    const auto* response = std::get_if<ClientResponse>(&result);
    return response != nullptr ? response->body : std::get<TransportError>(result).text;
}

// What a child process of user `uid` reads after it has connected; empty: the end.
std::string heard_by(uid_t uid, const std::filesystem::path& file) {
    const pid_t child = ::fork();
    if (child == 0) {
        if (::setuid(uid) != 0) ::_exit(3);
        const base::Descriptor socket = connect_to_file(file);
        if (!socket.is_open()) ::_exit(2);
        const std::string request = "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL);
        char byte = 0;
        for (int tries = 0; tries < 5'000; ++tries) {
            const auto count = ::recv(socket.get(), &byte, 1, MSG_DONTWAIT);
            if (count == 1) ::_exit(0);
            if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) ::_exit(1);
            ::usleep(1'000);
        }
        ::_exit(4);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    const std::vector<std::string> meanings{"an answer", "the end", "no connection", "no such user",
                                            "nothing"};
    return WIFEXITED(status) ? meanings.at(static_cast<std::size_t>(WEXITSTATUS(status)))
                             : "a signal";
}

TEST_CASE("a server on a socket file answers clients of this machine") {
    const support::TempDirectory directory;
    const std::filesystem::path file = directory.file("x.sock");
    EchoApplication application;
    HttpServer server(at(file), application);
    server.start();
    CHECK(server.port() == 0);
    CHECK(answer_of(ask(file, {.method = "GET", .target = "/a?n=1"})) == "GET /a?n=1 ");
    CHECK(answer_of(ask(file, {.method = "POST", .target = "/b", .body = "{}"})) == "POST /b? {}");

    Client client(at_socket_file(file.string()), std::size_t{16} << 20U, nullptr);
    for (int round = 0; round < 50; ++round) {
        const std::string target = "/" + std::to_string(round);
        CHECK(answer_of(client.exchange({.method = "GET", .target = target}, 10s)) ==
              "GET " + target + "? ");
    }
    CHECK(answer_of(client.exchange({.method = "GET", .target = "/large"}, 10s)).size() ==
          EchoApplication::large_bytes);
    CHECK(server.counts().connections == 1);
    CHECK(server.drain(10s));
}

TEST_CASE("the socket file is its owner's alone, and goes with the server") {
    const support::TempDirectory directory;
    const std::filesystem::path file = directory.file("x.sock");
    const mode_t before = ::umask(0);
    {
        EchoApplication application;
        const HttpServer server(at(file), application);
        struct stat facts {};
        REQUIRE(::stat(file.c_str(), &facts) == 0);
        CHECK(S_ISSOCK(facts.st_mode));
        CHECK((facts.st_mode & 07777U) == 0600);
    }
    ::umask(before);
    CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("a socket that was left behind is replaced, a file of somebody else is not") {
    const support::TempDirectory directory;
    const std::filesystem::path file = directory.file("x.sock");
    static_cast<void>(listen_on_file(file));
    CHECK(answer_of(ask(file, {.method = "GET"})) == "Connection refused");
    EchoApplication application;
    {
        HttpServer server(at(file), application);
        server.start();
        CHECK(answer_of(ask(file, {.method = "GET"})) == "GET /? ");
    }
    CHECK(answer_of(ask(file, {.method = "GET"})) == "No such file or directory");

    std::ofstream(file) << "precious";
    const std::string reason =
        "cannot listen on " + file.string() + ": there is a file that is no socket; move it away";
    CHECK_THROWS_WITH_AS(HttpServer(at(file), application), reason.c_str(), std::runtime_error);
    CHECK(std::filesystem::file_size(file) == 8);
}

TEST_CASE("a path may be longer than an address") {
    const support::TempDirectory directory;
    for (const std::size_t length : {40U, 100U, 107U, 108U, 109U, 240U}) {
        CAPTURE(length);
        std::filesystem::path deep = directory.path();
        if (length > 107) deep /= std::string(200, 'd');
        std::filesystem::create_directories(deep);
        const std::size_t rest =
            length > deep.string().size() + 1 ? length - deep.string().size() - 1 : std::size_t{10};
        const std::filesystem::path file = deep / std::string(rest, 's');
        EchoApplication application;
        HttpServer server(at(file), application);
        server.start();
        CHECK(std::filesystem::is_socket(file));
        CHECK(answer_of(ask(file, {.method = "GET"})) == "GET /? ");
    }
    const std::filesystem::path file = directory.path() / std::string(200, 's');
    EchoApplication application;
    const std::string reason = "cannot listen on " + file.string() + ": File name too long";
    CHECK_THROWS_WITH_AS(HttpServer(at(file), application), reason.c_str(), std::runtime_error);
    CHECK(answer_of(ask(file, {.method = "GET"})) == "File name too long");
}

TEST_CASE("only the owner and root are answered, whatever the file allows") {
    if (::geteuid() != 0) {
        MESSAGE("skipped, because only root can be somebody else");
        return;
    }
    const support::TempDirectory directory;
    const std::filesystem::path file = directory.file("x.sock");
    EchoApplication application;
    HttpServer server(at(file), application);
    server.start();
    constexpr uid_t nobody = 65'534;
    CHECK(::chmod(directory.path().c_str(), 0755) == 0);
    CHECK(heard_by(0, file) == "an answer");
    CHECK(heard_by(nobody, file) == "no connection");
    CHECK(::chmod(file.c_str(), 0666) == 0);
    CHECK(heard_by(nobody, file) == "the end");
    CHECK(server.counts().connections_refused == 1);
    CHECK(heard_by(0, file) == "an answer");
}

}  // namespace
}  // namespace net

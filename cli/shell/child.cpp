#include "shell/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "shell/interrupt.hpp"
#include "zonal/error.hpp"

namespace zonal::cli {
namespace {

[[noreturn]] void fail(const char* call) {
    throw Error(std::string("starting a program: ") + call + ": " + std::generic_category().message(errno));
}

/// Closes it at the end.
class Descriptor {
  public:
    explicit Descriptor(int number, const char* call) : number_(number) {
        if (number < 0) fail(call);
    }
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }
    void close() {
        if (number_ >= 0) ::close(std::exchange(number_, -1));
    }

  private:
    int number_;
};

/// A file in memory: no program that reads slowly or not at all can block its writer.
class MemoryFile : public Descriptor {
  public:
    explicit MemoryFile(const char* name) : Descriptor(memfd_create(name, MFD_CLOEXEC), "memfd_create") {}

    void write(std::string_view text) const {
        while (!text.empty()) {
            const auto count = ::write(number(), text.data(), text.size());
            if (count < 0 && errno != EINTR) fail("write");
            if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
        }
    }

    std::string read() const {
        std::string text(static_cast<std::size_t>(lseek(number(), 0, SEEK_END)), '\0');
        std::size_t have = 0;
        while (have < text.size()) {
            const auto count =
                pread(number(), text.data() + have, text.size() - have, static_cast<off_t>(have));
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) break;
            have += static_cast<std::size_t>(count);
        }
        text.resize(have);
        return text;
    }
};

/// Both ends of a pipe.
struct Pipe {
    explicit Pipe(std::pair<int, int> ends) : out(ends.first, "pipe2"), in(ends.second, "pipe2") {}
    static Pipe make() {
        std::array<int, 2> ends = {-1, -1};
        if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe2");
        return Pipe({ends[0], ends[1]});
    }
    Descriptor out, in;  ///< read from, written to
};

/// After fork(), with calls alone that are safe there: other threads may have held locks.
[[noreturn]] void become(char* const* arguments, pid_t parent, int input, int output, int errors,
                         int failure) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    setpgid(0, 0);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGXFSZ}) signal(number, SIG_DFL);
    if (dup2(input, 0) >= 0 && dup2(output, 1) >= 0 && dup2(errors, 2) >= 0) execvp(arguments[0], arguments);
    const int reason = errno;
    if (write(failure, &reason, sizeof reason) < 0) _exit(126);
    _exit(127);
}

/// Ends a program that is still at work when nobody waits for it any more.
class Child {
  public:
    explicit Child(pid_t id) : id_(id) {}
    ~Child() {
        if (id_ <= 0) return;
        kill(id_, SIGKILL);
        wait();
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    int wait() {
        int status = 0;
        while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
        }
        id_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

  private:
    pid_t id_;
};

std::string read_all(int descriptor) {
    constexpr int step = 20;  // ms, in which a signal is seen
    std::string text;
    std::array<char, 65536> piece{};
    for (;;) {
        stop_if_interrupted();
        pollfd wanted = {descriptor, POLLIN, 0};
        if (poll(&wanted, 1, step) <= 0) continue;
        const auto count = read(descriptor, piece.data(), piece.size());
        if (count == 0) return text;
        if (count > 0) text.append(piece.data(), static_cast<std::size_t>(count));
    }
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& command, const std::vector<std::string_view>& input) {
    std::vector<std::string> words = command;
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const MemoryFile request("request"), errors("errors");
    for (const auto part : input) request.write(part);
    lseek(request.number(), 0, SEEK_SET);
    auto output = Pipe::make(), failure = Pipe::make();
    const pid_t parent = getpid(), id = fork();
    if (id < 0) fail("fork");
    if (id == 0)
        become(arguments.data(), parent, request.number(), output.in.number(), errors.number(),
               failure.in.number());
    Child child(id);
    output.in.close();
    failure.in.close();
    ChildResult result;
    result.output = read_all(output.out.number());
    result.exit_code = child.wait();
    int reason = 0;
    result.started = read(failure.out.number(), &reason, sizeof reason) == 0;
    result.errors = errors.read();
    return result;
}

}  // namespace zonal::cli

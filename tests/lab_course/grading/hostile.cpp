// A program that does harm, each kind by its name: hostile KIND [ARGUMENT]. It prints what came of
// it.

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

void say(const char* what, long result) {
    std::printf("%s: %s\n", what, result < 0 ? std::strerror(errno) : "done");
    std::fflush(stdout);
}

void fill(const std::string& path) {
    const int file = open(path.c_str(), O_CREAT | O_WRONLY, 0644);
    if (file < 0) return say("open", -1);
    const std::vector<char> block(1 << 16, 'x');
    while (write(file, block.data(), block.size()) > 0) {
    }
    say("write", -1);
}

void fillManyFiles(const std::string& folder) {
    const std::vector<char> block(1 << 12, 'x');
    for (int i = 0;; ++i) {
        const int file = open((folder + "/" + std::to_string(i)).c_str(), O_CREAT | O_WRONLY, 0644);
        if (file < 0) return say("open", -1);
        if (write(file, block.data(), block.size()) < 0) return say("write", -1);
        close(file);
    }
}

void makeEmptyFiles(const std::string& folder) {
    for (int i = 0;; ++i) {
        const int file = open((folder + "/" + std::to_string(i)).c_str(), O_CREAT, 0644);
        if (file < 0) return say("open", -1);
        close(file);
    }
}

// No name leads to them once they are removed.
void fillRemovedFiles(const std::string& folder) {
    const std::vector<char> block(1 << 16, 'x');
    for (;;) {
        const int file = open((folder + "/x").c_str(), O_CREAT | O_WRONLY, 0644);
        if (file < 0) return say("open", -1);
        unlink((folder + "/x").c_str());
        for (int i = 0; i < 10; ++i) {
            if (write(file, block.data(), block.size()) < 0) return say("write", -1);
        }
    }
}

void eat(int kind) {
    constexpr size_t kSize = 1 << 24;
    for (;;) {
        void* memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return say("mmap", -1);
        std::memset(memory, 1, kSize);
    }
}

// Memory that is in use, though in no table of pages: no more than 400 MB.
void eatUnseen(int kind, int file) {
    constexpr size_t kSize = 1 << 24;
    for (size_t i = 0; i < 25; ++i) {
        void* memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, kind, file, 0);
        if (memory == MAP_FAILED) return say("mmap", -1);
        std::memset(memory, 1, kSize);
        madvise(memory, kSize, MADV_DONTNEED);
    }
    say("mmap", 0);
}

[[noreturn]] void stay() {
    for (;;) pause();
}

void forkForEver() {
    while (fork() >= 0) {
    }
    say("fork", -1);
    stay();
}

void forkMany() {
    for (int i = 0; i < 100; ++i) {
        if (fork() == 0) stay();
    }
    stay();
}

void startThreads() {
    try {
        for (int i = 0; i < 100; ++i) std::thread(stay).detach();
        stay();
    } catch (const std::exception&) {
        stay();
    }
}

// The first thread has ended, which is what tables of processes show.
void goOnWithoutHead(const std::function<void()>& rest) {
    std::thread(rest).detach();
    syscall(SYS_exit, 0);
}

// Twice forked, in a session of its own, without the pipe that its parent printed to.
void leaveADaemon() {
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            for (int i = 0; i < 3; ++i) close(i);
            stay();
        }
        _exit(0);
    }
    wait(nullptr);
    say("daemon", 0);
}

void readFile(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY);
    if (file < 0) return say("open", -1);
    char text[100];
    say("read", read(file, text, sizeof(text)));
}

void writeFile(const std::string& path) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT, 0644);
    if (file < 0) return say("open", -1);
    say("write", write(file, "x", 1));
}

void connectTo(const std::string& port) {
    const int end = socket(AF_INET, SOCK_STREAM, 0);
    if (end < 0) return say("socket", -1);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(std::stoi(port)));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    say("connect", connect(end, reinterpret_cast<sockaddr*>(&address), sizeof(address)));
}

void endOthers(const std::string& process) {
    say("kill", kill(std::stoi(process), SIGKILL));
    say("kill parent", kill(getppid(), SIGKILL));
    kill(-1, SIGKILL);
    say("kill all", 0);
}

// A file that runs with its owner's rights, whoever starts it.
void setUser(const std::string& path) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT, 0644);
    say("chmod", chmod(path.c_str(), 04755));
    say("fchmod", fchmod(file, 02755));
    say("fchmodat", fchmodat(AT_FDCWD, path.c_str(), 06755, 0));
    say("open", open((path + "2").c_str(), O_WRONLY | O_CREAT, 04755));
    say("mknod", mknod((path + "3").c_str(), S_IFREG | 04755, 0));
    say("harmless", chmod(path.c_str(), 0755));
}

void otherCalls() {
    say("fork", syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    say("clone3", syscall(SYS_clone3, nullptr, 0));
    say("unshare", unshare(CLONE_NEWUSER));
    say("namespace", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
    say("ptrace", ptrace(PTRACE_TRACEME, 0, nullptr, nullptr));
    say("mount", mount("none", "/tmp", "tmpfs", 0, nullptr));
    say("keyctl", syscall(SYS_keyctl, 0, 0, 0, 0, 0));
    say("bpf", syscall(SYS_bpf, 0, nullptr, 0));
    say("userfaultfd", syscall(SYS_userfaultfd, 0));
    say("io_uring", syscall(SYS_io_uring_setup, 1, nullptr));
    say("perf", syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0));
    say("memfd", syscall(SYS_memfd_create, "x", 0));
    say("vmsplice", vmsplice(1, nullptr, 0, 0));
    say("socketpair", [] {
        int ends[2];
        return socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    }());
}

}  // namespace

int main(int count, char** words) {
    const std::string argument = count > 2 ? words[2] : "";
    const std::map<std::string, std::function<void()>> kinds = {
        {"spin",
         [] {
             for (volatile int i = 0;; i = i + 1) {
             }
         }},
        {"sleep",
         [] {
             say("sleeps", 0);
             stay();
         }},
        {"eat headless", [] { goOnWithoutHead([] { eat(MAP_PRIVATE); }); }},
        {"sleep headless", [] { goOnWithoutHead(stay); }},
        {"fork", forkForEver},
        {"many", forkMany},
        {"threads", startThreads},
        {"fill", [&] { fill(argument); }},
        {"files", [&] { fillManyFiles(argument); }},
        {"empty files", [&] { makeEmptyFiles(argument); }},
        {"removed files", [&] { fillRemovedFiles(argument); }},
        {"eat", [] { eat(MAP_PRIVATE); }},
        {"eat shared", [] { eat(MAP_SHARED); }},
        {"eat unseen", [] { eatUnseen(MAP_SHARED | MAP_ANONYMOUS, -1); }},
        {"eat zeros", [] { eatUnseen(MAP_SHARED, open("/dev/zero", O_RDWR)); }},
        {"print",
         [] {
             while (std::puts("All ok") >= 0) {
             }
         }},
        {"read", [&] { readFile(argument); }},
        {"write", [&] { writeFile(argument); }},
        {"connect", [&] { connectTo(argument); }},
        {"end others", [&] { endOthers(argument); }},
        {"daemon", leaveADaemon},
        {"set user", [&] { setUser(argument); }},
        {"calls", otherCalls},
        {"crash", [] { std::raise(SIGSEGV); }},
        {"ask", [] { std::printf("%zd bytes\n", read(0, std::vector<char>(9).data(), 9)); }},
    };
    kinds.at(words[1])();
}

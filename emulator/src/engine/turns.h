// The OS threads of a grid that run one at a time: each hands over to another, chosen by the seed.
#pragma once

#include <semaphore.h>

#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace emu {

class Turns {
  public:
    // `start` starts the OS thread with a number; that calls begin(), does its work, and calls
    // end(). Number 0 is the caller, whose turn it is. There may be `most` of them.
    Turns(unsigned most, std::function<std::thread(unsigned)> start);
    ~Turns();
    Turns(const Turns&) = delete;
    Turns& operator=(const Turns&) = delete;

    void begin(unsigned number);

    // The rest is called by the OS thread whose turn it is. Starts one more, unless there are as
    // many as there may be.
    void add();
    // It is the turn of another one. Returns when the caller has its next turn.
    void pass();
    void end();
    // The same of number 0, which waits for all others to end.
    void endAll();

  private:
    struct Member {
        sem_t turn;
        std::thread thread;
    };

    static void await(sem_t& semaphore);

    std::function<std::thread(unsigned)> start_;
    std::vector<std::unique_ptr<Member>> members_;  // stay in place: begin() looks at any time
    std::vector<unsigned> waiting_;                 // numbers of those that wait for a turn
    unsigned running_ = 0;
    sem_t over_;
};

}  // namespace emu

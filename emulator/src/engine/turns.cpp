#include "turns.h"

#include <utility>

#include "schedule.h"

namespace emu {

Turns::Turns(unsigned most, std::function<std::thread(unsigned)> start) : start_(std::move(start)) {
    sem_init(&over_, 0, 0);
    members_.reserve(most);
    members_.push_back(std::make_unique<Member>());
    sem_init(&members_[0]->turn, 0, 0);
}

Turns::~Turns() {
    for (const auto& member : members_) sem_destroy(&member->turn);
    sem_destroy(&over_);
}

void Turns::await(sem_t& semaphore) {
    while (sem_wait(&semaphore) != 0) {  // a signal came
    }
}

void Turns::add() {
    if (members_.size() == members_.capacity()) return;
    const auto number = static_cast<unsigned>(members_.size());
    members_.push_back(std::make_unique<Member>());
    sem_init(&members_[number]->turn, 0, 0);
    waiting_.push_back(number);
    members_[number]->thread = start_(number);
}

void Turns::begin(unsigned number) {
    await(members_[number]->turn);
}

void Turns::pass() {
    if (waiting_.empty()) return;
    Member& self = *members_[running_];
    const auto next = schedule->below(static_cast<unsigned>(waiting_.size()));
    std::swap(waiting_[next], running_);
    sem_post(&members_[running_]->turn);
    await(self.turn);
}

void Turns::end() {
    if (waiting_.empty()) {
        sem_post(&over_);
        return;
    }
    const auto next = schedule->below(static_cast<unsigned>(waiting_.size()));
    running_ = waiting_[next];
    waiting_[next] = waiting_.back();
    waiting_.pop_back();
    sem_post(&members_[running_]->turn);
}

void Turns::endAll() {
    end();
    await(over_);
    for (const auto& member : members_) {
        if (member->thread.joinable()) member->thread.join();
    }
}

}  // namespace emu

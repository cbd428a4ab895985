#include "ladder.cuh"

#include "block_shape.cuh"
#include "format.h"

namespace lab {

Name::Name(const char* kernel) : kernel(kernel) {}
Name::Name(std::string kernel, std::string parameters)
    : kernel(std::move(kernel)), parameters(std::move(parameters)) {}

Ladder::Ladder(Exercise& exercise, Launch poison, Launch before)
    : exercise_(exercise), before_([poison = std::move(poison), before = std::move(before)] {
          poison();
          if (before) before();
      }) {}

void Ladder::rung(const Name& name, dim3 grid, dim3 block, const Work& work, const Check& check,
                  const Launch& launch) {
    if (exercise_.selected(name.kernel)) run(name, shape(grid), shape(block), work, check, launch);
}

void Ladder::peer(const Name& name, const Work& work, const Check& check, const Launch& launch) {
    if (exercise_.peerSelected(name.kernel)) run(name, "-", "-", work, check, launch);
}

void Ladder::host(const Name& name, const Work& work, const Check& check) {
    if (exercise_.selected(name.kernel)) print(name, "-", "-", work, {}, check({}));
}

void Ladder::again() const {
    again_();
}

void Ladder::announceFastest() {
    const bool sameBlock = fastest_.block == first_.block;
    if (fastest_.kernel.empty() || (fastest_.kernel == first_.kernel && sameBlock)) return;
    const auto nameOf = [&](const Timed& rung) {
        return rung.kernel + (sameBlock || rung.block == "-" ? "" : " (block " + rung.block + ")");
    };
    std::string text = "fastest: " + nameOf(fastest_);
    for (const Timed& other : {first_, peer_}) {
        if (other.time == 0) continue;
        text += formatted("\n         %.2f times as fast as %s", other.time / fastest_.time,
                          nameOf(other).c_str());
    }
    exercise_.note(text, Style::kGood);
}

void Ladder::run(const Name& name, const std::string& grid, const std::string& block,
                 const Work& work, const Check& check, const Launch& launch) {
    const Statistics time = exercise_.measure()(name.kernel, before_, launch);
    again_ = [&] { Measure::once(name.kernel, before_, launch); };
    const Finding finding = check(time);
    again_ = nullptr;
    if (first_.time == 0) first_ = {name.kernel, block, time.median};
    // A race that was lucky is not right.
    if (exercise_.timesCount() && finding.ok()) {
        Timed& best = grid == "-" ? peer_ : fastest_;
        if (best.slowerThan(time.median)) best = {name.kernel, block, time.median};
    }
    print(name, grid, block, work, time, finding);
}

void Ladder::print(const Name& name, const std::string& grid, const std::string& block,
                   const Work& work, const Statistics& time, const Finding& finding) {
    Row row;
    row.kernel = name.kernel;
    row.grid = grid;
    row.block = block;
    row.parameters = name.parameters;
    row.work = work;
    row.baseline = first_.time;
    row.time = time;
    row.finding = finding;
    exercise_.row(std::move(row));
}

}  // namespace lab

#include "ladder.cuh"

namespace lab {

Name::Name(const char* kernel) : kernel(kernel) {}
Name::Name(std::string kernel, std::string parameters)
    : kernel(std::move(kernel)), parameters(std::move(parameters)) {}

void Fastest::add(const Timed& row, bool library, bool right) {
    if (first_.time == 0) first_ = row;
    Timed& best = library ? library_ : kernel_;
    if (right && (best.time == 0 || row.time < best.time)) best = row;
}

std::string Fastest::text() const {
    const bool sameBlock = kernel_.block == first_.block;
    if (kernel_.time == 0 || (kernel_.kernel == first_.kernel && sameBlock)) return "";
    const auto nameOf = [&](const Timed& row) {
        return row.kernel + (sameBlock || row.block == "-" ? "" : " (block " + row.block + ")");
    };
    std::string text = "fastest: " + nameOf(kernel_);
    for (const Timed& other : {first_, library_}) {
        if (other.time == 0) continue;
        text += formatted("\n         %.2f times as fast as %s", other.time / kernel_.time,
                          nameOf(other).c_str());
    }
    return text;
}

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

void Ladder::host(const Name& name, const Work& work, const Check& check,
                  const std::function<void()>& compute) {
    if (!exercise_.selected(name.kernel)) return;
    const Statistics time = exercise_.measure().onHost(compute);
    print(name, "-", "-", work, time, check(time));
}

void Ladder::again() const {
    again_();
}

void Ladder::announceFastest() {
    const std::string text = fastest_.text();
    if (!text.empty()) exercise_.note(text, Style::kGood);
}

void Ladder::run(const Name& name, const std::string& grid, const std::string& block,
                 const Work& work, const Check& check, const Launch& launch) {
    const Statistics time = exercise_.measure()(name.kernel, before_, launch);
    again_ = [&] { Measure::once(name.kernel, before_, launch); };
    const Finding finding = check(time);
    again_ = nullptr;
    // A race that was lucky is not right.
    const bool right = exercise_.timesCount() && finding.ok();
    fastest_.add({name.kernel, block, time.median}, grid == "-", right);
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
    row.baseline = fastest_.baseline();
    row.time = time;
    row.finding = finding;
    exercise_.row(std::move(row));
}

}  // namespace lab

#include "profile_csv.h"

#include <unistd.h>

#include <algorithm>
#include <iomanip>
#include <locale>
#include <sstream>

#include "access_pattern.h"
#include "emu/limits.h"
#include "engine/occupancy.h"
#include "engine/output_file.h"
#include "engine/program_symbols.h"
#include "instrument/record/program_code.h"

namespace emu {
namespace {

// What is counted of the basic blocks.
struct BranchCounts {
    uint64_t branches = 0, divergent = 0;
    double instructions = 0, laneInstructions = 0;  // in bytes of machine code
};

uint64_t timesTrue(const BasicBlockCounts& counts, const BasicBlock& code) {
    uint64_t times = 0;
    for (const auto& [successor, count] : counts.successors) {
        if ((successor == code.target) == code.jumpsIfTrue) times += count;
    }
    return times;
}

// Branches as nvcc -G makes them: one at the end of each basic block (a loop's step is one), and of
// a conditional one a second one for the lanes for which the condition holds. (The last block of a
// kernel ends it.)
BranchCounts branchesOf(const LaunchCounts& counts) {
    BranchCounts sum;
    sum.branches = counts.loopSteps + counts.divisions;
    sum.divergent = counts.divergentDivisions;
    for (const auto& [place, block] : counts.basicBlocks) {
        const BasicBlock code = basicBlockAt(place);
        const bool ends = block.successors.size() == 1 && block.successors[0].first == 0;
        if (!ends && !code.endsWithCall) sum.branches += block.executions;
        if (code.conditional) {
            sum.branches += timesTrue(block, code);
        } else {
            sum.branches += block.divergent;
        }
        sum.divergent += block.divergent;
        const double weight = std::max<uint32_t>(code.bytes, 1);
        sum.instructions += weight * static_cast<double>(block.executions);
        sum.laneInstructions += weight * static_cast<double>(block.lanes);
    }
    return sum;
}

double ratio(double a, double b) {
    return b == 0 ? 0 : a / b;
}

// Resident warps, of the most an SM holds [%]: by block size and shared memory.
double theoreticalOccupancy(const Grid& grid) {
    const dim3& block = grid.config.block;
    const auto threads = static_cast<int>(block.x * block.y * block.z);
    const size_t shared =
        grid.config.dynamicShared + (grid.call.id != nullptr ? staticSharedOf(grid.call.id) : 0);
    const int warps = (threads + kWarpSize - 1) / kWarpSize * maxBlocksPerSm(threads, shared);
    return 100.0 * warps * kWarpSize / kMaxThreadsPerSm;
}

struct Metric {
    const char* name;
    const char* unit;
    double value;
    bool whole;
};

std::vector<Metric> metricsOf(const Grid& grid, const LaunchCounts& counts) {
    const BranchCounts branch = branchesOf(counts);
    const double branches = static_cast<double>(branch.branches);
    const double divergent = static_cast<double>(branch.divergent);
    const double lanes = ratio(branch.laneInstructions, branch.instructions);
    const auto efficiency = [](const AccessCounts& access) {
        return 100 * ratio(static_cast<double>(access.bytes),
                           static_cast<double>(access.sectors) * kSectorSize);
    };
    const auto perRequest = [](const AccessCounts& access) {
        return ratio(static_cast<double>(access.sectors), static_cast<double>(access.requests));
    };
    const CopyCounts& copies = counts.copies;
    const AccessCounts &loads = counts.globalLoads, &stores = counts.globalStores;
    // ncu takes asynchronous copies for loads, but not in the efficiency.
    AccessCounts reads = loads;
    reads.requests += copies.requests;
    reads.sectors += copies.requested;
    const AccessCounts &sharedLoads = counts.sharedLoads, &sharedStores = counts.sharedStores;
    AccessCounts shared = sharedLoads;
    shared.add(sharedStores);
    shared.add(counts.sharedAtomics);
    shared.bytes += copies.sharedBytes;
    shared.wavefronts += copies.wavefronts;
    const double sharedEfficiency =
        100 * ratio(static_cast<double>(shared.bytes),
                    static_cast<double>(shared.wavefronts) * kWavefrontSize);
    const auto whole = [](uint64_t value) { return static_cast<double>(value); };
    return {
        {"smsp__sass_branch_targets.sum", "", branches, true},
        {"smsp__sass_branch_targets_threads_divergent.sum", "", divergent, true},
        {"smsp__sass_average_branch_targets_threads_uniform.pct", "%",
         100 * ratio(branches - divergent, branches), false},
        {"smsp__thread_inst_executed_per_inst_executed.ratio", "", lanes, false},
        {"smsp__thread_inst_executed_per_inst_executed.pct", "%", 100 * lanes / kWarpSize, false},
        {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "%", efficiency(loads),
         false},
        {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", "%", efficiency(stores),
         false},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "", whole(reads.requests), true},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "", whole(stores.requests), true},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", whole(reads.sectors), true},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sector", whole(stores.sectors), true},
        {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "sector",
         perRequest(reads), false},
        {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", "sector",
         perRequest(stores), false},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "",
         whole(counts.globalAtomics.requests), true},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "sector",
         whole(counts.globalAtomics.sectors), true},
        {"smsp__inst_executed_op_shared_ld.sum", "inst", whole(sharedLoads.requests), true},
        {"smsp__inst_executed_op_shared_st.sum", "inst", whole(sharedStores.requests), true},
        {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "", whole(sharedLoads.wavefronts),
         true},
        {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "", whole(sharedStores.wavefronts),
         true},
        {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "",
         whole(sharedLoads.conflicts), true},
        {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "",
         whole(sharedStores.conflicts), true},
        {"smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct", "%", sharedEfficiency,
         false},
        {"smsp__inst_executed_op_ldgsts.sum", "inst", whole(copies.instructions), true},
        {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ldgsts.pct", "%",
         100 * ratio(static_cast<double>(copies.bytes),
                     static_cast<double>(copies.sectors) * kSectorSize),
         false},
        {"smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum", "",
         whole(copies.conflicts), true},
        {"smsp__inst_executed_op_texture.sum", "inst", whole(counts.textureReads), true},
        {"smsp__inst_executed_op_surface_ld.sum", "inst", whole(counts.surfaceReads), true},
        {"smsp__inst_executed_op_surface_st.sum", "inst", whole(counts.surfaceWrites), true},
        // Not of ncu's: no counter of the GPU has them alone.
        {"emulator__barriers.sum", "", whole(counts.barriers), true},
        {"emulator__bytes_in_flight.max", "byte", whole(counts.bytesInFlight), true},
        {"emulator__critical_path.max", "", whole(counts.criticalPath), true},
        {"sm__maximum_warps_per_active_cycle_pct", "%", theoreticalOccupancy(grid), false},
    };
}

std::string shape(const dim3& size) {
    return "(" + std::to_string(size.x) + ", " + std::to_string(size.y) + ", " +
           std::to_string(size.z) + ")";
}

std::string number(const Metric& metric) {
    std::ostringstream text;
    text.imbue(std::locale::classic());  // whatever the program has chosen
    text << std::fixed << std::setprecision(metric.whole ? 0 : 2) << metric.value;
    return text.str();
}

// A template argument as ncu writes it: 16, not 16u; 1, not true.
std::string argumentInNcu(std::string argument) {
    const size_t first = std::min(argument.find_first_not_of(' '), argument.size());
    if (argument.compare(first, std::string::npos, "true") == 0)
        return argument.replace(first, 4, "1");
    if (argument.compare(first, std::string::npos, "false") == 0)
        return argument.replace(first, 5, "0");
    const size_t last = argument.find_last_not_of("ul");
    if (last != std::string::npos && argument[last] >= '0' && argument[last] <= '9')
        argument.resize(last + 1);
    return argument;
}

std::string programName() {
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
    std::string name(path, length > 0 ? static_cast<size_t>(length) : 0);
    return name.substr(name.rfind('/') + 1);
}

const char* const kColumns[] = {"ID",      "Process ID", "Process Name", "Host Name", "Kernel Name",
                                "Context", "Stream",     "Block Size",   "Grid Size", "Device",
                                "CC"};

std::string joined(const std::vector<std::string>& cells) {
    std::string line;
    for (const std::string& cell : cells) line += (line.empty() ? "" : ",") + quoted(cell);
    return line + "\n";
}

// The lines above the launches: names and units.
std::string header() {
    std::vector<std::string> names(std::begin(kColumns), std::end(kColumns));
    std::vector<std::string> units(names.size());
    for (const Metric& metric : metricsOf(Grid({}, {}), {})) {
        names.emplace_back(metric.name);
        units.emplace_back(metric.unit);
    }
    return joined(names) + joined(units);
}

}  // namespace

std::string nameInNcu(const void* function, const std::string& launched) {
    const std::string name = functionName(function);
    std::string result;
    size_t begin = 0;
    for (size_t end; (end = name.find_first_of("<,>", begin)) != std::string::npos;
         begin = end + 1) {
        const std::string word = name.substr(begin, end - begin);
        result += (name[end] == '<' ? word : argumentInNcu(word)) + name[end];
    }
    result += name.substr(begin);
    return result.empty() ? launched : result;
}

void ProfileCsv::add(const Grid& grid, const LaunchCounts& counts) {
    std::vector<std::string> cells = {std::to_string(rows_.size()),
                                      std::to_string(getpid()),
                                      programName(),
                                      "127.0.0.1",
                                      nameInNcu(grid.call.id, grid.call.name),
                                      "1",
                                      "7",
                                      shape(grid.config.block),
                                      shape(grid.config.grid),
                                      "0",
                                      "9.0"};
    for (const Metric& metric : metricsOf(grid, counts)) cells.push_back(number(metric));
    rows_.push_back(joined(cells));
}

ProfileCsv::~ProfileCsv() {
    std::string text = header();
    for (const std::string& row : rows_) text += row;
    writeOutput(path_, text, "profile", "CUDA_EMULATOR_PROFILE");
}

}  // namespace emu

#include "sim/timing.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

namespace sim {
namespace {

// --- dav-2201 vector instructions, in cycles ---
// The throughputs are those of the vendor's table of theoretical performance; the fixed part is
// what fits published measurements on a 910B3. An instruction pays it unless the pipe is still
// busy with one that it does not depend on.
struct Cost {
    std::string_view api;
    double fixed;
    double step16;  // for each step of 256 bytes of 16-bit lanes
    double step32;
};
constexpr Cost kUsual = {"", 22, 1, 1};
constexpr Cost kCosts[] = {
    {"Exp", 35, 4, 2},
    {"Ln", 35, 4, 2},
    {"Sqrt", 35, 4, 2},
    {"Div", 30, 4, 2},
    {"Axpy", 24, 2, 2},
    {"MulAddDst", 24, 2, 2},
    {"Cast", 27, 1, 1},
    {"Duplicate", 24, 1, 1},
    {"Copy", 24, 1, 1},
    {"Compare", 36, 1, 1},
    {"CompareScalar", 36, 1, 1},
    {"Compares", 36, 1, 1},
    {"Select", 27, 1, 1},
    {"WholeReduceSum", 46, 7, 7},
    {"WholeReduceMax", 46, 7, 7},
    {"WholeReduceMin", 46, 7, 7},
    {"RepeatReduceSum", 46, 7, 7},
    {"BlockReduceSum", 38, 7, 1},
    {"BlockReduceMax", 31, 7, 1},
    {"BlockReduceMin", 31, 7, 1},
    // Sequences of instructions.
    {"ReduceSum", 138, 8, 8},
    {"ReduceMax", 138, 8, 8},
    {"ReduceMin", 138, 8, 8},
    {"Gather", 24, 25.6, 12.8},  // 5 lanes in a cycle, whatever the type
    {"Gatherb", 24, 3, 3},
    {"GatherMask", 34, 14, 14},
    {"Brcb", 18, 1, 1},
    {"Sort32", 21, 16, 16},   // a step is 32 pairs
    {"MrgSort", 20, 16, 16},  // a step is 32 pairs
};
constexpr double kBackToBack = 2;  // the fixed part of an independent instruction
// A count whose bytes are no multiple of 256 takes another path.
constexpr double kOddCount = 16;
constexpr uint32_t kBankGroups = 16;    // of 32 bytes side by side
constexpr uint32_t kBankBytes = 65536;  // addresses with other upper bits are in other banks
constexpr double kReadWriteConflict = 1.6;

// --- dav-3510 ---
// The start and drain of a vector function; a memory-level instruction is one of its own.
constexpr double kFunctionStart = 35;

// Loads and stores of registers, of 256 bytes: two loads or one store in a cycle.
constexpr double kRegisterLoad = 0.5;
constexpr double kRegisterStore = 1;

// --- scalar unit ---
constexpr double kLoad = 20;     // from a load to its use
constexpr double kStore = 12;    // with the address arithmetic and the loop around it
constexpr double kMiss = 540;    // a load from global memory that the data cache misses: 300 ns
constexpr double kIssue = 2;     // an instruction for another pipe
constexpr double kHandOff = 20;  // the scalar unit waits for another pipe

// --- DMA ---
constexpr double kDmaLatency = 150;  // an idle pipe starts
constexpr double kDmaIssue = 14;     // a busy one goes on
constexpr double kBurst = 0.5;       // each row
constexpr double kDmaBytes = 23;     // in a cycle, of one core

const Cost &CostOf(const char *api) {
    // The names are literals: their addresses are few, and comparing them is cheap.
    static thread_local std::unordered_map<const char *, const Cost *> known;
    const Cost *&cost = known[api];
    if (cost == nullptr) {
        const auto *found = std::find_if(std::begin(kCosts), std::end(kCosts),
                                         [api](const Cost &c) { return c.api == api; });
        cost = found == std::end(kCosts) ? &kUsual : found;
    }
    return *cost;
}

// Whether an instruction belongs to a vector function, which is issued as a whole.
bool InFunction(const char *api) { return std::strncmp(api, "Reg::", 5) == 0; }

// The bank groups that a step of an operand touches, and how often the busiest.
struct Groups {
    uint32_t bits = 0;
    uint32_t worst = 1;
};
Groups GroupsOf(const Walk &walk, uint32_t repeat) {
    Groups out;
    uint32_t uses[kBankGroups] = {};
    const uint32_t blocks = walk.blockStride == 0 ? 1 : 8;
    for (uint32_t i = 0; i < blocks; ++i) {
        const uint32_t group =
            (walk.address / 32 + repeat * walk.repeatStride + i * walk.blockStride) % kBankGroups;
        out.bits |= 1U << group;
        out.worst = std::max(out.worst, ++uses[group]);
    }
    return out;
}

}  // namespace

void Usage::Add(const Usage &other) {
    for (int pipe = 0; pipe < kPipes; ++pipe) {
        busy[pipe] += other.busy[pipe];
        instructions[pipe] += other.instructions[pipe];
    }
    bytesIn += other.bytesIn;
    bytesOut += other.bytesOut;
    ubBytes = std::max(ubBytes, other.ubBytes);
}

void Timing::Begin(Pipe pipe, const char *api, Loc loc) {
    Settle();
    open_ = true;
    pipe_ = pipe;
    api_ = api;
    loc_ = loc;
    depends_ = 0;
    repeats_ = 0;
    width_ = 4;
    extra_ = 0;
    longest_ = 0;
    globalBytes_ = 0;
    bursts_ = 0;
    walkCount_ = 0;
    if (pipe == Pipe::V) {
        extra_ = registers_;
        registers_ = 0;
    }
}

void Timing::Operands(const Walk *walks, uint32_t number) {
    walkCount_ = std::min<uint32_t>(number, 4);
    std::copy(walks, walks + walkCount_, walks_);
}

void Timing::BeginFunction() { registers_ += kFunctionStart; }

void Timing::OddCount() { extra_ += npuArch_ == 2201 ? kOddCount : 0; }

void Timing::Global(uint64_t bytes, bool write, bool cached) {
    (write ? usage_.bytesOut : usage_.bytesIn) += bytes;
    globalBytes_ += bytes;
    ++bursts_;
    if (pipe_ == Pipe::S && !write && !cached) {
        extra_ += kMiss;
    }
}

// The mean factor by which conflicts in the banks of the Unified Buffer slow the steps down.
double Timing::BankConflicts() const {
    const uint32_t steps = std::min<uint32_t>(repeats_, kBankGroups);  // then it starts again
    double sum = 0;
    for (uint32_t step = 0; step < steps; ++step) {
        double cycles = 1;
        uint32_t read = 0;
        for (uint32_t i = 0; i < walkCount_; ++i) {
            const Groups groups = GroupsOf(walks_[i], step);
            cycles = std::max<double>(cycles, groups.worst);
            if (!walks_[i].write) {
                cycles = (read & groups.bits) != 0 ? std::max(cycles, 2.0) : cycles;
                read |= groups.bits;
            }
        }
        // The result of a step is written during the next one: a destination that lies as a source
        // does is out of its way.
        for (uint32_t i = 0; i < walkCount_; ++i) {
            for (uint32_t k = 0; k < walkCount_; ++k) {
                const Walk &to = walks_[i];
                const Walk &from = walks_[k];
                const bool apart = (to.address - from.address) / 32 % 8 != 0;
                if (to.write && !from.write && apart &&
                    to.address / kBankBytes == from.address / kBankBytes) {
                    cycles = std::max(cycles, kReadWriteConflict);
                }
            }
        }
        sum += cycles;
    }
    return steps == 0 ? 1 : sum / steps;
}

double Timing::Cycles(bool overlaps) const {
    switch (pipe_) {
        case Pipe::S: {
            const bool store = std::strncmp(api_, "Set", 3) == 0;
            return (store ? kStore : kLoad) + extra_;
        }
        case Pipe::MTE2:
        case Pipe::MTE3:
            return (overlaps ? kDmaIssue : kDmaLatency) + bursts_ * kBurst +
                   static_cast<double>(globalBytes_) / kDmaBytes + extra_;
        default:
            break;
    }
    if (InFunction(api_)) {
        const bool load = std::strstr(api_, "Load") != nullptr;
        return (load ? kRegisterLoad : kRegisterStore) + extra_;
    }
    const Cost &cost = CostOf(api_);
    // Count forms access each operand at once.
    const auto repeats = repeats_ != 0 ? repeats_ : static_cast<uint32_t>((longest_ + 255) / 256);
    const double step = width_ <= 2 ? cost.step16 : cost.step32;
    if (npuArch_ == 3510) {
        return kFunctionStart + repeats * step + extra_;
    }
    return (overlaps ? kBackToBack : cost.fixed) + repeats * step * BankConflicts() + extra_;
}

void Timing::Settle() {
    if (!open_) {
        return;
    }
    open_ = false;
    const int p = static_cast<int>(pipe_);
    double &scalar = until_[static_cast<int>(Pipe::S)];
    double begin = until_[p];
    bool overlaps = (drained_ >> p & 1) == 0;
    drained_ &= ~(1U << p);
    for (int other = 0; other < kPipes; ++other) {
        if ((depends_ >> other & 1) == 0) {
            continue;
        }
        if (other == p) {
            overlaps = false;
        } else if (until_[other] > begin) {
            begin = until_[other] + (pipe_ == Pipe::S ? kHandOff : 0);
        }
    }
    const double issue = pipe_ == Pipe::S || InFunction(api_) ? 0 : kIssue;
    if (pipe_ != Pipe::S) {
        scalar += issue;
        if (scalar > begin) {
            begin = scalar;
            overlaps = false;
        }
    }
    const double cycles = Cycles(overlaps);
    until_[p] = begin + cycles;
    usage_.busy[p] += cycles;
    usage_.busy[static_cast<int>(Pipe::S)] += issue;
    ++usage_.instructions[p];
    if (trace != nullptr) {
        trace->push_back({pipe_, api_, loc_, begin, until_[p]});
    }
}

double Timing::Until(Pipe pipe) {
    Settle();
    return until_[static_cast<int>(pipe)];
}

void Timing::Wait(Pipe pipe, double cycle) {
    Settle();
    double &until = until_[static_cast<int>(pipe)];
    if (cycle > until) {
        until = cycle + (pipe == Pipe::S ? kHandOff : 0);
        Drain(pipe);
    }
}

double Timing::End() {
    Settle();
    return *std::max_element(std::begin(until_), std::end(until_));
}

}  // namespace sim

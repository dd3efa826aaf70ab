#include "launch.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>

#include "sim_runtime.h"

namespace sim {
namespace {

constexpr size_t kStackBytes = 256 * 1024;
constexpr int kVectorCoreException = 507035;
constexpr int kCrossFlags = 16;
constexpr int kCrossFlagLimit = 15;

// Stacks of fibers, each above a page that faults. Kept by the thread for its next launch.
class Stacks {
public:
    ~Stacks() {
        for (char *stack : all_) {
            munmap(stack, kStackBytes + Page());
        }
    }
    char *Get(size_t index) {
        while (all_.size() <= index) {
            void *memory = mmap(nullptr, kStackBytes + Page(), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (memory == MAP_FAILED) {
                throw Violation{"[launch] no memory for the stacks of the kernel's blocks"};
            }
            mprotect(memory, Page(), PROT_NONE);
            all_.push_back(static_cast<char *>(memory));
        }
        return all_[index] + Page();
    }

private:
    static size_t Page() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
    std::vector<char *> all_;
};

// While blocks run on this thread, a signal that one of them raises ends the launch and not the
// process. Other threads' signals go where they went before.
class Signals {
public:
    explicit Signals(Grid &grid) {
        static std::mutex mutex;
        const std::lock_guard<std::mutex> lock(mutex);
        for (const int number : kNumbers) {
            struct sigaction now = {};
            sigaction(number, nullptr, &now);
            if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == Handle) {
                continue;
            }
            previous_[number] = now;
            struct sigaction action = {};
            action.sa_sigaction = Handle;
            // An overrun of the block's stack leaves no room for the handler on it.
            action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
            sigaction(number, &action, nullptr);
        }
        stack_.ss_sp = memory_;
        stack_.ss_size = sizeof(memory_);
        sigaltstack(&stack_, &previousStack_);
        running_ = &grid;
    }
    Signals(const Signals &) = delete;
    Signals &operator=(const Signals &) = delete;
    ~Signals() {
        running_ = nullptr;
        sigaltstack(&previousStack_, nullptr);
    }

private:
    static constexpr int kNumbers[] = {SIGFPE, SIGSEGV, SIGBUS, SIGILL, SIGABRT};

    static void Handle(int number, siginfo_t *info, void *context) {
        if (running_ != nullptr && currentCore != nullptr &&
            (info->si_code > 0 || number == SIGABRT)) {
            running_->Abandon(number);
        }
        const struct sigaction &action = previous_[number];
        if ((action.sa_flags & SA_SIGINFO) != 0) {
            action.sa_sigaction(number, info, context);
        } else if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) {
            action.sa_handler(number);
        } else {
            // The instruction is executed again, and ends the process as it would have.
            sigaction(number, &action, nullptr);
        }
    }

    static inline struct sigaction previous_[NSIG];
    static inline thread_local Grid *running_ = nullptr;
    stack_t stack_ = {};
    stack_t previousStack_ = {};
    char memory_[64 * 1024];
};

struct Task {
    KernelInfo kernel;
    uint32_t blocks;
    void (*run)(void *);
    void (*drop)(void *);
    void *closure;
};

std::string CheckLaunch(const Task &task, const SimSocProfile *profile) {
    char text[512] = "";
    if (profile == nullptr) {
        return simProfileError();
    }
    if (task.blocks == 0 || task.blocks > 65535) {
        std::snprintf(text, sizeof(text),
                      "[launch] kernel %s is launched with %u blocks, allowed are 1 to 65535, at "
                      "%s:%d",
                      task.kernel.name, task.blocks, task.kernel.file, task.kernel.line);
    } else if (task.kernel.npuArch != profile->npuArch) {
        std::snprintf(text, sizeof(text),
                      "[launch] kernel %s was compiled for dav-%d, but the device %s is dav-%d",
                      task.kernel.name, task.kernel.npuArch, profile->name, profile->npuArch);
    }
    return text;
}

int RunTask(void *argument, char *message, size_t capacity) {
    const std::unique_ptr<Task> task(static_cast<Task *>(argument));
    std::string failure;
    try {
        const SimSocProfile *profile = simProfile();
        failure = CheckLaunch(*task, profile);
        if (failure.empty()) {
            Grid(task->kernel, task->blocks, *profile, task->run, task->closure).Run();
        }
    } catch (const Violation &violation) {
        failure = violation.text;
    }
    task->drop(task->closure);
    if (failure.empty()) {
        return 0;
    }
    std::snprintf(message, capacity, "%s", failure.c_str());
    return kVectorCoreException;
}

}  // namespace

void LaunchErased(const KernelInfo &kernel, uint32_t blocks, void *stream, void (*run)(void *),
                  void (*drop)(void *), void *closure) {
    auto task = std::make_unique<Task>(Task{kernel, blocks, run, drop, closure});
    if (simStreamEnqueue(stream, RunTask, task.get()) == 0) {
        static_cast<void>(task.release());
    } else {
        // As with a stub of the device compiler, there is no way to return the error; the runtime
        // keeps it for aclGetRecentErrMsg.
        drop(closure);
    }
}

void Grid::Run() {
    static thread_local Stacks stacks;
    const Signals signals(*this);
    fibers_.resize(blocks);
    crossFlags_.assign(static_cast<size_t>(blocks) * kCrossFlags, 0);
    crossSets_ = crossFlags_;
    crossSetAt_.assign(kCrossFlags, {nullptr, 0});
    known_.resize(blocks);
    flagKnown_.resize(kCrossFlags);
    uint32_t started = 0;
    uint32_t finished = 0;
    while (finished < blocks && failure_.empty()) {
        bool progress = false;
        // The blocks that wait go first: their memory is freed before more is taken.
        for (uint32_t i = 0; i < blocks && failure_.empty(); ++i) {
            Fiber &fiber = fibers_[i];
            if (fiber.done || !fiber.waitsFor.empty()) {
                continue;
            }
            if (i >= started) {
                fiber.core = std::make_unique<Core>(*this, i, profile.ubBytes);
                fiber.core->order.timing.trace = estimate_.Trace(fiber.spans);
                // A block that never waits gives its stack to the next one.
                Start(fiber, stacks.Get(i - finished));
                started = i + 1;
            }
            Resume(fiber);
            progress = true;
            if (fiber.done) {
                estimate_.AddBlock(i, fiber.core->order.timing, fiber.spans);
                fiber.core.reset();
                ++finished;
            }
        }
        if (!progress) {
            failure_ = std::string("[sync] kernel ") + kernel.name + " hangs: " + [this] {
                for (uint32_t i = 0; i < blocks; ++i) {
                    if (!fibers_[i].done) {
                        return "block " + std::to_string(i) + " waits for " + fibers_[i].waitsFor;
                    }
                }
                return std::string();
            }();
        }
    }
    currentCore = nullptr;
    if (!failure_.empty()) {
        throw Violation{failure_};
    }
    estimate_.Publish();
}

void Grid::Start(Fiber &fiber, char *stack) {
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stack;
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = &scheduler_;
    // makecontext passes int arguments only.
    const auto self = reinterpret_cast<uintptr_t>(this);
    makecontext(&fiber.context, reinterpret_cast<void (*)()>(&Grid::FiberMain), 2,
                static_cast<unsigned>(self), static_cast<unsigned>(self >> 32));
}

void Grid::FiberMain(unsigned low, unsigned high) {
    auto *self = reinterpret_cast<Grid *>(static_cast<uintptr_t>(high) << 32 | low);
    Fiber &fiber = *self->running_;
    try {
        self->run_(self->closure_);
        fiber.core->CheckExit();
        self->CrossFlagsAtExit(*fiber.core);
    } catch (const Violation &violation) {
        self->failure_ = violation.text;
    } catch (const std::exception &error) {
        self->failure_ = std::string("[assert] kernel ") + self->kernel.name + ", block " +
                         std::to_string(fiber.core->Block()) + " throws: " + error.what();
    } catch (...) {
        self->failure_ = std::string("[assert] kernel ") + self->kernel.name + " throws";
    }
    fiber.done = true;
}

void Grid::Abandon(int signal) {
    const Touch &last = currentCore->order.Current();
    const char *what = signal == SIGFPE    ? "divides an integer by zero"
                       : signal == SIGILL  ? "executes an illegal instruction"
                       : signal == SIGABRT ? "aborts"
                                           : "accesses memory that is not there, by a pointer";
    char text[512];
    std::snprintf(text, sizeof(text), "[fault] kernel %s, block %u: %s, after %s:%d (%s)",
                  kernel.name, currentCore->Block(), what,
                  last.loc.file == nullptr ? kernel.file : last.loc.file,
                  last.loc.file == nullptr ? kernel.line : last.loc.line,
                  last.api == nullptr ? "the kernel's start" : last.api);
    failure_ = text;
    running_->done = true;
    // What the block holds on its stack is given up; the core's memory is not there.
    setcontext(&scheduler_);
    std::abort();
}

void Grid::Resume(Fiber &fiber) {
    running_ = &fiber;
    currentCore = fiber.core.get();
    swapcontext(&scheduler_, &fiber.context);
}

void Grid::Block(const std::string &waitsFor) {
    Fiber &self = *running_;
    self.waitsFor = waitsFor;
    while (!self.waitsFor.empty()) {
        swapcontext(&self.context, &scheduler_);
    }
}

bool Grid::FindAllocation(const void *address, uint64_t bytes) {
    const auto *a = static_cast<const uint8_t *>(address);
    const auto holds = [&] {
        const auto *base = static_cast<const uint8_t *>(lastAllocation_.base);
        return base != nullptr && a >= base && a + bytes <= base + lastAllocation_.bytes;
    };
    return holds() || (simFindAllocation(address, &lastAllocation_) != 0 && holds());
}

void Grid::TouchGm(const Core &core, uint64_t begin, uint64_t end, bool write) {
    if (blocks == 1) {
        return;
    }
    const Touch &now = core.order.Current();
    const bool atomic = write && core.atomic != Core::Atomic::None;
    const auto check = [&](const BlockTouch(&others)[2], bool otherWrites) {
        for (const BlockTouch &other : others) {
            if (!Ordered(core, other)) {
                core.Fail(Check::GmOverlap, now.api, now.loc,
                          "%s %llu bytes of global memory that block %u %s at %s:%d (%s), with no "
                          "SyncAll, and no flag set behind that, between",
                          write ? "writes" : "reads", static_cast<unsigned long long>(end - begin),
                          other.block, otherWrites ? "writes" : "reads", other.touch.loc.file,
                          other.touch.loc.line, other.touch.api);
            }
        }
    };
    const auto record = [&](BlockTouch(&last)[2]) {
        if (last[0].block != core.Block()) {
            last[1] = last[0];
        }
        last[0] = {core.Block(), now};
    };
    gm_.ForEach(begin, end, [&](GmUse &use) {
        if (!(atomic && use.atomic)) {
            check(use.writes, true);
        }
        if (write) {
            check(use.reads, false);
            use.atomic = atomic && use.atomic;
        }
        record(write ? use.writes : use.reads);
    });
}

void Grid::TouchCaches(const Core &core, uint64_t begin, uint64_t end, bool write) {
    const Touch &now = core.order.Current();
    const bool scalar = now.pipe == Pipe::S;
    for (Fiber &fiber : fibers_) {
        // What a core's own scalar unit does, its cache knows.
        if (fiber.core != nullptr && !(scalar && fiber.core.get() == &core)) {
            fiber.core->OthersTouchGm(core, begin, end, write);
        }
    }
    if (blocks == 1 || !write || (!scalar && scalarLines_.empty())) {
        return;
    }
    for (uint64_t line = begin / kCacheLine; line <= (end - 1) / kCacheLine; ++line) {
        const auto found = scalarLines_.find(line);
        if (found != scalarLines_.end() && !Ordered(core, found->second)) {
            const BlockTouch &other = found->second;
            core.Fail(Check::Dcache, now.api, now.loc,
                      "writes to a cache line of 64 bytes that block %u writes by its scalar unit "
                      "at %s:%d (%s): one of the two is lost when the line is written back",
                      other.block, other.touch.loc.file, other.touch.loc.line, other.touch.api);
        }
        if (scalar) {
            scalarLines_[line] = {core.Block(), now};
        }
    }
}

void Grid::CheckAllRun(const Core &core, const char *api, Loc loc) const {
    if (blocks > static_cast<uint32_t>(profile.aivCores)) {
        core.Fail(Check::Sync, api, loc,
                  "%u blocks wait for each other, but %s has %d vector cores: a hang", blocks,
                  profile.name, profile.aivCores);
    }
}

void Grid::Tell(Core &core, Pipe pipe, Known &told) const {
    told.resize(blocks);
    const Known &known = known_[core.Block()];
    for (size_t other = 0; other < known.size(); ++other) {
        told[other].Join(known[other]);
    }
    told[core.Block()].Join(core.order.Finished(pipe));
}

void Grid::Learn(Core &core, const Known &told) {
    Known &known = known_[core.Block()];
    known.resize(blocks);
    double cycle = 0;
    for (size_t other = 0; other < told.size(); ++other) {
        known[other].Join(told[other]);
        cycle = std::max(cycle, told[other].cycle);
    }
    core.order.WaitForAll(cycle);
}

bool Grid::Ordered(const Core &core, const BlockTouch &other) const {
    if (other.touch.number == 0 || other.block == core.Block()) {
        return true;
    }
    const Known &known = known_[core.Block()];
    return !known.empty() &&
           known[other.block].known[static_cast<int>(other.touch.pipe)] >= other.touch.number;
}

void Grid::SyncAll(Core &core, const char *api, Loc loc) {
    CheckAllRun(core, api, loc);
    released_ = std::max(released_, core.order.timing.End());
    if (++arrived_ < blocks) {
        char text[256];
        std::snprintf(text, sizeof(text), "the other blocks at %s:%d (%s)", loc.file, loc.line,
                      api);
        Block(text);
        core.order.WaitForAll(released_);
        return;
    }
    core.order.WaitForAll(released_);
    arrived_ = 0;
    gm_ = {};
    scalarLines_.clear();
    Wake("the other blocks");
}

void Grid::Wake(const std::string &prefix) {
    for (Fiber &fiber : fibers_) {
        if (fiber.waitsFor.rfind(prefix, 0) == 0) {
            fiber.waitsFor.clear();
        }
    }
}

void Grid::CrossSet(Core &core, Pipe pipe, int32_t id, const char *api, Loc loc) {
    CheckAllRun(core, api, loc);
    if (id < 0 || id >= kCrossFlags) {
        core.Fail(Check::EventPair, api, loc, "flag id %d, allowed are 0 to %d", id,
                  kCrossFlags - 1);
        return;
    }
    const auto at = [id](uint32_t block) { return static_cast<size_t>(block) * kCrossFlags + id; };
    Tell(core, pipe, flagKnown_[static_cast<size_t>(id)]);
    ++crossSets_[at(core.Block())];
    crossSetAt_[static_cast<size_t>(id)] = loc;
    // The counters rise when the last block has set the flag.
    for (uint32_t block = 0; block < blocks; ++block) {
        if (crossSets_[at(block)] == 0) {
            return;
        }
    }
    for (uint32_t block = 0; block < blocks; ++block) {
        --crossSets_[at(block)];
        int &flag = crossFlags_[at(block)];
        if (++flag > kCrossFlagLimit) {
            core.Fail(Check::EventPair, api, loc,
                      "flag %d of block %u was set %d times without a "
                      "wait, its counter holds %d",
                      id, block, flag, kCrossFlagLimit);
        }
        const std::string name = "flag " + std::to_string(id) + " ";
        if (fibers_[block].waitsFor.rfind(name, 0) == 0) {
            fibers_[block].waitsFor.clear();
        }
    }
}

void Grid::CrossWait(Core &core, int32_t id, const char *api, Loc loc) {
    if (id < 0 || id >= kCrossFlags) {
        core.Fail(Check::EventPair, api, loc, "flag id %d, allowed are 0 to %d", id,
                  kCrossFlags - 1);
        return;
    }
    int &flag = crossFlags_[static_cast<size_t>(core.Block()) * kCrossFlags + id];
    while (flag == 0) {
        char text[256];
        std::snprintf(text, sizeof(text), "flag %d at %s:%d (%s)", id, loc.file, loc.line, api);
        Block(text);
    }
    --flag;
    Learn(core, flagKnown_[static_cast<size_t>(id)]);
}

void Grid::AwaitGm(Core &core, const std::function<bool()> &ready, const char *api, Loc loc) {
    CheckAllRun(core, api, loc);
    while (!ready()) {
        char text[256];
        std::snprintf(text, sizeof(text), "a word of global memory at %s:%d (%s)", loc.file,
                      loc.line, api);
        Block(text);
    }
    Learn(core, wordKnown_);
}

void Grid::SignalGm(Core &core) {
    Tell(core, Pipe::S, wordKnown_);
    Wake("a word of global memory");
}

void Grid::CrossFlagsAtExit(const Core &core) const {
    for (size_t id = 0; id < kCrossFlags; ++id) {
        if (crossFlags_[static_cast<size_t>(core.Block()) * kCrossFlags + id] != 0) {
            core.Fail(Check::EventPair, "CrossCoreSetFlag", crossSetAt_[id],
                      "flag %zu is still set at the end of the kernel", id);
        }
    }
}

}  // namespace sim

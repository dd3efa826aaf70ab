#include "launch.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <exception>

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
            Grid(task->kernel, task->blocks, task->run, task->closure).Run(*profile);
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

void Grid::Run(const SimSocProfile &profile) {
    static thread_local Stacks stacks;
    fibers_.resize(blocks);
    crossFlags_.assign(static_cast<size_t>(blocks) * kCrossFlags, 0);
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
                // A block that never waits gives its stack to the next one.
                Start(fiber, stacks.Get(i - finished));
                started = i + 1;
            }
            Resume(fiber);
            progress = true;
            if (fiber.done) {
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
        fiber.core->FlagsAtExit();
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
    if (blocks == 1 || ordersByFlags_) {
        return;
    }
    const auto self = static_cast<int64_t>(core.Block());
    const bool atomic = write && core.atomic != Core::Atomic::None;
    gm_.ForEach(begin, end, [&](GmUse &use) {
        const bool othersWrite = use.writer != GmUse::kNobody && use.writer != self;
        const bool othersRead = use.reader != GmUse::kNobody && use.reader != self;
        if ((othersWrite && !(atomic && use.atomic)) || (write && othersRead)) {
            const Touch &other = othersWrite ? use.write : use.read;
            const int64_t block = othersWrite ? use.writer : use.reader;
            const std::string who =
                block == GmUse::kSeveral ? "other blocks" : "block " + std::to_string(block);
            core.Fail(Check::GmOverlap, core.order.Current().api, core.order.Current().loc,
                      "%s %llu bytes of global memory that %s %s at %s:%d (%s), with no SyncAll "
                      "between",
                      write ? "writes" : "reads", static_cast<unsigned long long>(end - begin),
                      who.c_str(), othersWrite ? "writes" : "reads", other.loc.file, other.loc.line,
                      other.api);
        }
        if (write) {
            use.atomic = atomic && (use.writer == GmUse::kNobody || use.atomic);
            use.writer =
                use.writer == GmUse::kNobody || use.writer == self ? self : GmUse::kSeveral;
            use.write = core.order.Current();
        } else {
            use.reader =
                use.reader == GmUse::kNobody || use.reader == self ? self : GmUse::kSeveral;
            use.read = core.order.Current();
        }
    });
}

void Grid::SyncAll(Core &core, const char *api, Loc loc) {
    static_cast<void>(core);
    if (++arrived_ < blocks) {
        char text[256];
        std::snprintf(text, sizeof(text), "the other blocks at %s:%d (%s)", loc.file, loc.line,
                      api);
        Block(text);
        return;
    }
    arrived_ = 0;
    gm_ = {};
    Wake("the other blocks");
}

void Grid::Wake(const std::string &prefix) {
    for (Fiber &fiber : fibers_) {
        if (fiber.waitsFor.rfind(prefix, 0) == 0) {
            fiber.waitsFor.clear();
        }
    }
}

void Grid::CrossSet(Core &core, int32_t id, const char *api, Loc loc) {
    ordersByFlags_ = true;
    if (id < 0 || id >= kCrossFlags) {
        core.Fail(Check::EventPair, api, loc, "flag id %d, allowed are 0 to %d", id,
                  kCrossFlags - 1);
        return;
    }
    for (uint32_t block = 0; block < blocks; ++block) {
        int &flag = crossFlags_[static_cast<size_t>(block) * kCrossFlags + id];
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
}

void Grid::AwaitGm(const std::function<bool()> &ready, const char *api, Loc loc) {
    ordersByFlags_ = true;
    while (!ready()) {
        char text[256];
        std::snprintf(text, sizeof(text), "a word of global memory at %s:%d (%s)", loc.file,
                      loc.line, api);
        Block(text);
    }
}

void Grid::SignalGm() {
    ordersByFlags_ = true;
    Wake("a word of global memory");
}

}  // namespace sim

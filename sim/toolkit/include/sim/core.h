// One simulated vector core while it runs one block: its memory, registers and checks.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/builtins.h"
#include "sim/order.h"
#include "sim/special.h"

namespace sim {

SIM_API const char *PipeName(Pipe pipe);

// The checks, each with the name that users read and may switch off.
enum class Check : uint8_t {
    UbExtent,
    UbAlign,
    GmExtent,
    UninitRead,
    Race,
    GmOverlap,
    Dcache,
    QueueState,
    QueueLeak,
    EventPair,
    Mask,
    MaskMode,
    Repeat,
    Overlap,
    DmaParams,
    CastMode,
    GatherOffset,
    AtomicLeft,
    VfOrder,
    Sync,
    Launch,
    Assert,
    Fault,
    kCount
};
SIM_API const char *CheckName(Check check);

// Thrown through the kernel by a failed check; the launch turns it into the stream's error.
struct SIM_API Violation {
    std::string text;
};

constexpr uint32_t kBlockBytes = 32;    // unit of UB addresses and strides
constexpr uint32_t kRepeatBytes = 256;  // one vector instruction step
constexpr uint32_t kCacheLine = 64;     // of the scalar unit's data cache
constexpr int kEvents = 8;              // flags between each two pipes

// Its address stands for a type.
template <typename T>
inline constexpr char kTypeTag = 0;

struct Grid;  // what the blocks of one launch share

class SIM_API Core {
public:
    Core(Grid &grid, uint32_t block, uint64_t ubBytes);
    Core(const Core &) = delete;
    Core &operator=(const Core &) = delete;
    ~Core();

    // Ends the kernel with a message for the user. Does nothing if the check is switched off.
    __attribute__((format(printf, 5, 6))) void Fail(Check check, const char *api, Loc loc,
                                                    const char *format, ...) const;
    bool Enabled(Check check) const { return (enabledChecks_ >> static_cast<int>(check) & 1) != 0; }

    // --- Unified Buffer ---
    uint8_t *Ub() const { return ub_; }
    uint64_t UbBytes() const { return ubBytes_; }
    // What of it a kernel may use.
    uint64_t UsableUbBytes() const { return usableUbBytes_; }
    bool InUb(const void *address, uint64_t bytes) const {
        const auto *a = static_cast<const uint8_t *>(address);
        return a >= ub_ && a + bytes <= ub_ + ubBytes_;
    }
    // An instruction begins on `pipe`; the accesses that follow are its own.
    void Begin(Pipe pipe, const char *api, Loc loc) {
        order.Begin(pipe, api, loc);
        if (saturates_ && pipe == Pipe::V) {
            RefuseSaturation(api, loc);
        }
        if (--callsLeft_ == 0) {
            FailEndless();
        }
    }
    // It reads or writes the bytes [offset, offset + bytes).
    void ReadUb(uint32_t offset, uint64_t bytes);
    void WriteUb(uint32_t offset, uint64_t bytes);
    void ForgetUb(uint32_t offset, uint64_t bytes);
    bool WrittenUb(uint32_t offset, uint64_t bytes) const {
        return std::memchr(initialised_ + offset, 0, bytes) == nullptr;
    }
    // How many of the bytes from `offset` on are alike: all written, or none of them.
    uint32_t UbRun(uint32_t offset, uint32_t bytes, bool &written) const;
    // It reads or writes [address, address + bytes) of global memory.
    void TouchGm(const void *address, uint64_t bytes, bool write);
    // DataCacheCleanAndInvalid of the line that holds `address`, of all lines if it is null.
    void CleanCache(const void *address);
    // Another core, or this one by DMA, accesses global memory: what the data cache makes of it.
    void OthersTouchGm(const Core &other, uint64_t begin, uint64_t end, bool write);

    Order order;

    // --- registers ---
    uint64_t mask[2] = {~uint64_t{0}, ~uint64_t{0}};  // low, high
    bool counterMode = false;
    // The kernel set the mask or the counter mode for instructions that follow ...
    void KeepMask(uint64_t low, uint64_t high, bool counter) {
        mask[0] = low;
        mask[1] = high;
        counterMode = counter;
        maskKept_ = counter || low != ~uint64_t{0} || high != ~uint64_t{0};
        maskLost_ = {};
    }
    // ... and this count-form instruction leaves neither.
    void LoseMask() {
        if (maskKept_) {
            maskLost_ = order.Current();
        }
        mask[0] = mask[1] = ~uint64_t{0};
        counterMode = false;
        maskKept_ = false;
    }
    // Fails if an instruction with its own mask (`own`), or with the registers', is given now.
    void CheckMaskMode(bool own, const char *api, Loc loc) const;
    uint32_t mergedPairs[4] = {};  // of each list, by the last MrgSort
    SpecialRegisters special;
    enum class Atomic : uint8_t { None, Add, Max, Min } atomic = Atomic::None;
    Loc atomicSet = {nullptr, 0};
    const void *atomicType = nullptr;              // &kTypeTag of it
    uint64_t Control() const { return control_; }  // CTRL
    bool Control(int bit) const { return (control_ >> bit & 1) != 0; }
    void SetControl(uint64_t value);
    uint32_t addressRegister = 0;  // AR: bytes that StoreUnAlign stored of what Squeeze left
    int32_t squeezed = -1;         // bytes of the last Squeeze, until they are stored

    // --- events ---
    void SetFlag(Pipe from, Pipe to, int32_t id, const char *api, Loc loc);
    void WaitFlag(Pipe from, Pipe to, int32_t id, const char *api, Loc loc);
    // Fails if the block leaves flags or modes behind.
    void CheckExit() const;

    // --- identity and scheduling ---
    uint32_t Block() const { return block_; }
    uint32_t Blocks() const;
    const KernelInfo &Kernel() const;
    double ClockMhz() const;
    void SyncAll(const char *api, Loc loc);
    // SyncAll by counters in global memory, which must begin as zeros.
    void SyncAllBy(const void *counters, uint64_t bytes, const char *api, Loc loc);
    // The flag is set when all that `pipe` was given is complete.
    void CrossSet(Pipe pipe, int32_t id, const char *api, Loc loc);
    void CrossWait(int32_t id, const char *api, Loc loc);
    // Lets other blocks run until ready(), which looks at a word that another block writes.
    void AwaitGm(const std::function<bool()> &ready, const char *api, Loc loc);
    // This block wrote such a word.
    void SignalGm();

    void *pipe = nullptr;  // the live AscendC::TPipe
    bool mixed = false;    // KERNEL_TYPE_MIX_*: hard SyncAll is legal

private:
    Grid &grid_;
    uint32_t block_;
    uint64_t ubBytes_;
    uint64_t usableUbBytes_;
    uint64_t enabledChecks_;
    uint64_t callsLeft_;
    uint8_t *ub_;
    uint8_t *initialised_;  // one byte for each byte of ub_
    Touch maskLost_;        // by which instruction
    bool maskKept_ = false;

    struct Line {
        bool dirty = false;
        Touch touched;  // when it was loaded or written
        Touch changed;  // by whom, behind the cache's back
    };
    std::unordered_map<uint64_t, Line> cache_;  // by line number
    // Returns whether all bytes were in the cache.
    bool TouchCache(uint64_t begin, uint64_t end, bool write);

    void FailRace(const Race &race, const char *memory, uint64_t begin, uint64_t end,
                  bool write) const;

    [[noreturn]] void FailEndless() const;
    void RefuseSaturation(const char *api, Loc loc) const;

    uint64_t control_ = 0;
    bool saturates_ = false;  // in arithmetic

    struct Flag {
        Loc set = {nullptr, 0};  // line 0 = not set
        Clock clock;
    };
    Flag flags_[kPipes][kPipes][kEvents];
};

// The core that the calling thread simulates.
extern SIM_API thread_local Core *currentCore;
inline Core &ThisCore() { return *currentCore; }

}  // namespace sim

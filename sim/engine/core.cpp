#include "sim/core.h"

#include <algorithm>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string_view>

#include "launch.h"
#include "sim/cast.h"
#include "sim/control.h"
#include "sim_runtime.h"

namespace sim {

thread_local Core *currentCore = nullptr;

const char *PipeName(Pipe pipe) {
    static const char *const names[] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX", "ALL"};
    return names[static_cast<int>(pipe)];
}

const char *CheckName(Check check) {
    static const char *const names[] = {
        "ub-extent", "ub-align",    "gm-extent",  "uninit-read", "race",          "gm-overlap",
        "dcache",    "queue-state", "queue-leak", "event-pair",  "mask",          "mask-mode",
        "repeat",    "overlap",     "dma-params", "cast-mode",   "gather-offset", "atomic-left",
        "vf-order",  "sync",        "launch",     "assert",      "fault"};
    static_assert(sizeof(names) / sizeof(*names) == static_cast<size_t>(Check::kCount),
                  "one name for each check");
    return names[static_cast<int>(check)];
}

const char *RoundModeName(RoundMode mode) {
    static const char *const names[] = {"CAST_NONE", "CAST_RINT",   "CAST_FLOOR",
                                        "CAST_CEIL", "CAST_ROUND",  "CAST_TRUNC",
                                        "CAST_ODD",  "CAST_HYBRID", "UNKNOWN"};
    return names[static_cast<int>(mode)];
}

namespace {

uint64_t EnabledChecks() {
    static const uint64_t enabled = [] {
        const char *off = std::getenv("AMCT_SIM_CHECKS_OFF");
        std::string_view list = off == nullptr ? "" : off;
        uint64_t bits = ~uint64_t{0};
        while (!list.empty()) {
            const size_t comma = list.find(',');
            const std::string_view name = list.substr(0, comma);
            for (int check = 0; check < static_cast<int>(Check::kCount); ++check) {
                if (name == "all" || name == CheckName(static_cast<Check>(check))) {
                    bits &= ~(uint64_t{1} << check);
                }
            }
            list = comma == std::string_view::npos ? "" : list.substr(comma + 1);
        }
        return bits;
    }();
    return enabled;
}

}  // namespace

namespace {

// The instructions of one block after which it counts as an endless loop: minutes of simulation.
uint64_t CallLimit() {
    constexpr uint64_t usual = 100'000'000;
    const char *text = std::getenv("AMCT_SIM_MAX_CALLS");
    const uint64_t asked = text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
    return asked != 0 ? asked : usual;
}

// --cce-auto-sync of the device compiler, on unless the environment says otherwise.
bool AutoSync() {
    static const bool on = [] {
        const char *text = std::getenv("AMCT_SIM_AUTO_SYNC");
        return text == nullptr || std::string_view(text) != "off";
    }();
    return on;
}

bool StopsAtFault() {
    static const bool on = [] {
        const char *text = std::getenv("AMCT_SIM_STOP");
        return text != nullptr && std::string_view(text) != "" && std::string_view(text) != "0";
    }();
    return on;
}

}  // namespace

// The compiler keeps the top of UB on 2201 (the 248 KB that the platform reports for 3510 are
// already without it).
constexpr uint64_t kReservedUbBytes = 8 * 1024;

Core::Core(Grid &grid, uint32_t block, uint64_t ubBytes)
    : order(grid.kernel.npuArch, AutoSync() || grid.kernel.npuArch == 3510, AutoSync()),
      grid_(grid),
      block_(block),
      ubBytes_(ubBytes),
      usableUbBytes_(grid.kernel.npuArch == 2201 ? ubBytes - kReservedUbBytes : ubBytes),
      enabledChecks_(EnabledChecks()),
      callsLeft_(CallLimit()),
      // Addresses of UB are multiples of 32 if the offset is.
      ub_(static_cast<uint8_t *>(std::aligned_alloc(512, (ubBytes + 511) / 512 * 512))),
      initialised_(static_cast<uint8_t *>(std::calloc(ubBytes, 1))) {
    // What nobody wrote is NaN in each float format.
    std::memset(ub_, 0xFF, ubBytes);
    SetControl(grid.kernel.npuArch == 3510 ? kControlOfTPipe | kKeepsInfinity : kKeepsInfinity);
}

Core::~Core() {
    std::free(ub_);
    std::free(initialised_);
}

void Core::Fail(Check check, const char *api, Loc loc, const char *format, ...) const {
    if (!Enabled(check)) {
        return;
    }
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    char text[1024];
    std::snprintf(text, sizeof(text), "[%s] kernel %s, block %u: %s, at %s:%d (%s)",
                  CheckName(check), Kernel().name, block_, what, loc.file, loc.line, api);
    if (StopsAtFault()) {
        std::fprintf(stderr, "%s\n", text);
        std::raise(SIGTRAP);
    }
    throw Violation{text};
}

void Core::FailRace(const Race &race, const char *memory, uint64_t begin, uint64_t end,
                    bool write) const {
    const Touch &now = order.Current();
    const Touch &before = *race.earlier;
    if (now.pipe == before.pipe) {
        Fail(Check::Race, now.api, now.loc,
             "%s %s bytes [%llu, %llu) that an earlier instruction of the same pipe %s at %s:%d "
             "(%s): "
             "PipeBarrier<PIPE_%s> is missing",
             write ? "writes" : "reads", memory, static_cast<unsigned long long>(begin),
             static_cast<unsigned long long>(end), race.earlierWrites ? "writes" : "reads",
             before.loc.file, before.loc.line, before.api, PipeName(now.pipe));
        return;
    }
    Fail(
        Check::Race, now.api, now.loc,
        "pipe %s %s %s bytes [%llu, %llu) that pipe %s %s at %s:%d (%s): nothing orders the two, a "
        "flag %s_%s or a queue is missing",
        PipeName(now.pipe), write ? "writes" : "reads", memory,
        static_cast<unsigned long long>(begin), static_cast<unsigned long long>(end),
        PipeName(before.pipe), race.earlierWrites ? "writes" : "reads", before.loc.file,
        before.loc.line, before.api, PipeName(before.pipe), PipeName(now.pipe));
}

void Core::SetControl(uint64_t value) {
    control_ = value;
    saturates_ = (value & kKeepsInfinity) == 0 || (value & kSaturatesIntegers) != 0;
}

// Arithmetic that saturates is not simulated; casts and instructions of registers follow CTRL, and
// to those that move data it is all the same.
void Core::RefuseSaturation(const char *api, Loc loc) const {
    static const char *const allowed[] = {"Cast", "DataCopy", "Copy",    "Duplicate",
                                          "Brcb", "Gather",   "Gatherb", "GatherMask",
                                          "And",  "Or",       "Not"};
    const std::string_view name = api;
    const bool follows =
        std::any_of(std::begin(allowed), std::end(allowed), [&](auto a) { return name == a; });
    if (follows || name.substr(0, 5) == "Reg::") {
        return;
    }
    char text[512];
    std::snprintf(text, sizeof(text),
                  "[launch] kernel %s, block %u: arithmetic that saturates (CTRL[48] = %d, "
                  "CTRL[53] = %d) is not simulated, only casts are, at %s:%d (%s)",
                  Kernel().name, block_, Control(48) ? 1 : 0, Control(53) ? 1 : 0, loc.file,
                  loc.line, api);
    throw Violation{text};
}

void Core::FailEndless() const {
    char text[512];
    std::snprintf(text, sizeof(text),
                  "[sync] kernel %s, block %u: an endless loop? It has executed %llu instructions, "
                  "AMCT_SIM_MAX_CALLS allows no more, at %s:%d (%s)",
                  Kernel().name, block_, static_cast<unsigned long long>(CallLimit()),
                  order.Current().loc.file, order.Current().loc.line, order.Current().api);
    throw Violation{text};
}

void Core::ReadUb(uint32_t offset, uint64_t bytes) {
    order.timing.Local(offset + bytes, bytes);
    if (Enabled(Check::Race)) {
        const Race race = order.TouchUb(offset, offset + bytes, false);
        if (race.earlier != nullptr) {
            FailRace(race, "UB", offset, offset + bytes, false);
        }
    }
    if (!Enabled(Check::UninitRead)) {
        return;
    }
    const auto *begin = initialised_ + offset;
    if (const void *hole = std::memchr(begin, 0, bytes)) {
        const auto at = static_cast<const uint8_t *>(hole) - initialised_;
        Fail(Check::UninitRead, order.Current().api, order.Current().loc,
             "reads UB bytes [%u, %llu), but nothing was written to byte %lld", offset,
             static_cast<unsigned long long>(offset + bytes), static_cast<long long>(at));
    }
}

void Core::WriteUb(uint32_t offset, uint64_t bytes) {
    order.timing.Local(offset + bytes, bytes);
    if (Enabled(Check::Race)) {
        const Race race = order.TouchUb(offset, offset + bytes, true);
        if (race.earlier != nullptr) {
            FailRace(race, "UB", offset, offset + bytes, true);
        }
    }
    std::memset(initialised_ + offset, 1, bytes);
}

uint32_t Core::UbRun(uint32_t offset, uint32_t bytes, bool &written) const {
    const uint8_t *begin = initialised_ + offset;
    written = *begin != 0;
    const void *end = std::memchr(begin, written ? 0 : 1, bytes);
    return end == nullptr ? bytes
                          : static_cast<uint32_t>(static_cast<const uint8_t *>(end) - begin);
}

void Core::ForgetUb(uint32_t offset, uint64_t bytes) {
    std::memset(initialised_ + offset, 0, bytes);
}

void Core::TouchGm(const void *address, uint64_t bytes, bool write) {
    if (bytes == 0) {
        return;
    }
    const Touch &now = order.Current();
    if (!grid_.FindAllocation(address, bytes)) {
        SimAllocation allocation{};
        if (simFindAllocation(address, &allocation) != 0) {
            const auto offset = static_cast<const uint8_t *>(address) -
                                static_cast<const uint8_t *>(allocation.base);
            Fail(Check::GmExtent, now.api, now.loc,
                 "accesses bytes [%lld, %lld) of a device allocation of %llu bytes",
                 static_cast<long long>(offset), static_cast<long long>(offset + bytes),
                 static_cast<unsigned long long>(allocation.bytes));
        } else {
            Fail(Check::GmExtent, now.api, now.loc,
                 "accesses %llu bytes at %p, which is no device memory",
                 static_cast<unsigned long long>(bytes), address);
        }
    }
    const auto begin = reinterpret_cast<uint64_t>(address);
    if (Enabled(Check::Race)) {
        const Race race = order.TouchGm(begin, begin + bytes, write);
        if (race.earlier != nullptr) {
            FailRace(race, "GM", begin, begin + bytes, write);
        }
    }
    if (Enabled(Check::GmOverlap)) {
        grid_.TouchGm(*this, begin, begin + bytes, write);
    }
    const bool cached = now.pipe == Pipe::S && TouchCache(begin, begin + bytes, write);
    order.timing.Global(bytes, write, cached);
    if (Enabled(Check::Dcache)) {
        grid_.TouchCaches(*this, begin, begin + bytes, write);
    }
}

bool Core::TouchCache(uint64_t begin, uint64_t end, bool write) {
    bool all = true;
    for (uint64_t line = begin / kCacheLine; line <= (end - 1) / kCacheLine; ++line) {
        const auto [found, inserted] = cache_.try_emplace(line);
        Line &entry = found->second;
        all = all && !inserted;
        if (entry.changed.number != 0) {
            Fail(Check::Dcache, order.Current().api, order.Current().loc,
                 "%s global memory through the data cache, which holds what it read at %s:%d; it "
                 "was changed since, at %s:%d (%s): DataCacheCleanAndInvalid is missing",
                 write ? "writes" : "reads", entry.touched.loc.file, entry.touched.loc.line,
                 entry.changed.loc.file, entry.changed.loc.line, entry.changed.api);
        }
        if (inserted || (write && !entry.dirty)) {
            entry.touched = order.Current();
        }
        entry.dirty = entry.dirty || write;
    }
    return all;
}

void Core::OthersTouchGm(const Core &other, uint64_t begin, uint64_t end, bool write) {
    if (cache_.empty()) {
        return;
    }
    const Touch &now = other.order.Current();
    const uint64_t last = (end - 1) / kCacheLine;
    const auto touch = [&](Line &line) {
        if (line.dirty) {
            other.Fail(Check::Dcache, now.api, now.loc,
                       "%s global memory in a cache line of 64 bytes that block %u writes at %s:%d "
                       "(%s) and has not cleaned: DataCacheCleanAndInvalid is missing there%s",
                       write ? "writes" : "reads", block_, line.touched.loc.file,
                       line.touched.loc.line, line.touched.api,
                       write ? ", or two blocks share the line" : "");
        }
        if (write) {
            line.changed = now;
        }
    };
    if (last - begin / kCacheLine < cache_.size()) {
        for (uint64_t line = begin / kCacheLine; line <= last; ++line) {
            const auto found = cache_.find(line);
            if (found != cache_.end()) {
                touch(found->second);
            }
        }
        return;
    }
    for (auto &[line, entry] : cache_) {
        if (line >= begin / kCacheLine && line <= last) {
            touch(entry);
        }
    }
}

void Core::CleanCache(const void *address) {
    if (address == nullptr) {
        cache_.clear();
    } else {
        cache_.erase(reinterpret_cast<uint64_t>(address) / kCacheLine);
    }
}

void Core::CheckMaskMode(bool own, const char *api, Loc loc) const {
    if (own && counterMode) {
        Fail(Check::MaskMode, api, loc,
             "sets a mask of its own while SetMaskCount is in force: SetMaskNorm is missing");
    }
    if (!own && maskLost_.number != 0) {
        Fail(Check::MaskMode, api, loc,
             "relies on a mask that %s at %s:%d has reset, as every count form does", maskLost_.api,
             maskLost_.loc.file, maskLost_.loc.line);
    }
}

void Core::SetFlag(Pipe from, Pipe to, int32_t id, const char *api, Loc loc) {
    if (id < 0 || id >= kEvents) {
        Fail(Check::EventPair, api, loc, "event id %d, allowed are 0 to %d", id, kEvents - 1);
        return;
    }
    Flag &flag = flags_[static_cast<int>(from)][static_cast<int>(to)][id];
    if (flag.set.line != 0) {
        Fail(Check::EventPair, api, loc,
             "flag %s_%s %d is set again before it was waited for; first set at %s:%d",
             PipeName(from), PipeName(to), id, flag.set.file, flag.set.line);
    }
    flag = {loc, order.Finished(from)};
}

void Core::WaitFlag(Pipe from, Pipe to, int32_t id, const char *api, Loc loc) {
    if (id < 0 || id >= kEvents) {
        Fail(Check::EventPair, api, loc, "event id %d, allowed are 0 to %d", id, kEvents - 1);
        return;
    }
    Flag &flag = flags_[static_cast<int>(from)][static_cast<int>(to)][id];
    if (flag.set.line == 0) {
        Fail(Check::EventPair, api, loc, "waits for flag %s_%s %d, which was not set: a hang",
             PipeName(from), PipeName(to), id);
    }
    flag.set.line = 0;
    order.Acquire(to, flag.clock);
}

void Core::CheckExit() const {
    if (atomic != Atomic::None) {
        Fail(Check::AtomicLeft, "SetAtomic", atomicSet,
             "atomic copies are still on at the end of the kernel: SetAtomicNone is missing");
    }
    for (int from = 0; from < kPipes; ++from) {
        for (int to = 0; to < kPipes; ++to) {
            for (int id = 0; id < kEvents; ++id) {
                const Loc &flag = flags_[from][to][id].set;
                if (flag.line != 0) {
                    Fail(Check::EventPair, "SetFlag", flag,
                         "flag %s_%s %d is still set at the end of the kernel",
                         PipeName(static_cast<Pipe>(from)), PipeName(static_cast<Pipe>(to)), id);
                }
            }
        }
    }
}

uint32_t Core::Blocks() const { return grid_.blocks; }
const KernelInfo &Core::Kernel() const { return grid_.kernel; }
double Core::ClockMhz() const { return grid_.profile.clockMhz; }

void Core::SyncAll(const char *api, Loc loc) {
    order.Barrier(Pipe::ALL);
    grid_.SyncAll(*this, api, loc);
}
void Core::SyncAllBy(const void *counters, uint64_t bytes, const char *api, Loc loc) {
    const auto *begin = static_cast<const uint8_t *>(counters);
    if (std::any_of(begin, begin + bytes, [](uint8_t b) { return b != 0; })) {
        Fail(Check::Sync, api, loc, "the workspace in global memory does not begin as zeros");
    }
    SyncAll(api, loc);
}
void Core::CrossSet(Pipe pipe, int32_t id, const char *api, Loc loc) {
    grid_.CrossSet(*this, pipe, id, api, loc);
}
void Core::CrossWait(int32_t id, const char *api, Loc loc) {
    grid_.CrossWait(*this, id, api, loc);
    order.Barrier(Pipe::ALL);
}
void Core::AwaitGm(const std::function<bool()> &ready, const char *api, Loc loc) {
    grid_.AwaitGm(*this, ready, api, loc);
    order.Barrier(Pipe::ALL);
}
void Core::SignalGm() {
    order.Barrier(Pipe::ALL);
    grid_.SignalGm(*this);
}

}  // namespace sim

// Loads and stores of vector registers, from and to the Unified Buffer.
#pragma once

#include "sim/reg.h"

namespace AscendC {
namespace Reg {

enum class LoadDist {
    DIST_NORM,
    DIST_BRC_B8,
    DIST_BRC_B16,
    DIST_BRC_B32,
    DIST_US_B8 = 6,
    DIST_US_B16,
    DIST_DS_B8,
    DIST_DS_B16,
    DIST_BDINTLV,
    DIST_DINTLV_B8,
    DIST_DINTLV_B16,
    DIST_UNPACK_B8,
    DIST_UNPACK_B16,
    DIST_BLK,
    DIST_E2B_B16,
    DIST_E2B_B32,
    DIST_UNPACK_B32,
    DIST_DINTLV_B32,
    DIST_UNPACK4_B8
};
enum class StoreDist {
    DIST_NORM_B8,
    DIST_NORM_B16,
    DIST_NORM_B32,
    DIST_FIRST_ELEMENT_B8,
    DIST_FIRST_ELEMENT_B16,
    DIST_FIRST_ELEMENT_B32,
    DIST_PACK_B16,
    DIST_PACK_B32,
    DIST_INTLV_B8,
    DIST_INTLV_B16,
    DIST_PACK_B64,
    DIST_INTLV_B32,
    DIST_PACK4_B32,
    DIST_NORM = 16
};

}  // namespace Reg
}  // namespace AscendC

namespace sim {

using AscendC::Reg::LoadDist;
using AscendC::Reg::MaskReg;
using AscendC::Reg::StoreDist;

// --- which byte goes where ---

enum class Spread : uint8_t {
    Norm,
    Broadcast,
    Up,
    Down,
    Unpack,
    Unpack4,
    Block,
    ElementToBlock,
    Deinterleave,
    None
};

struct LoadShape {
    Spread spread;
    uint32_t unit;       // bytes of an element
    uint32_t bytes;      // that are read
    uint32_t alignment;  // of the address
};

constexpr LoadShape ShapeOf(LoadDist dist) {
    switch (dist) {
        case LoadDist::DIST_NORM:
            return {Spread::Norm, 1, 256, 32};
        case LoadDist::DIST_BRC_B8:
            return {Spread::Broadcast, 1, 1, 1};
        case LoadDist::DIST_BRC_B16:
            return {Spread::Broadcast, 2, 2, 2};
        case LoadDist::DIST_BRC_B32:
            return {Spread::Broadcast, 4, 4, 4};
        case LoadDist::DIST_US_B8:
            return {Spread::Up, 1, 128, 32};
        case LoadDist::DIST_US_B16:
            return {Spread::Up, 2, 128, 32};
        case LoadDist::DIST_DS_B8:
            return {Spread::Down, 1, 512, 32};
        case LoadDist::DIST_DS_B16:
            return {Spread::Down, 2, 512, 32};
        case LoadDist::DIST_UNPACK_B8:
            return {Spread::Unpack, 1, 128, 32};
        case LoadDist::DIST_UNPACK_B16:
            return {Spread::Unpack, 2, 128, 32};
        case LoadDist::DIST_UNPACK_B32:
            return {Spread::Unpack, 4, 128, 32};
        case LoadDist::DIST_UNPACK4_B8:
            return {Spread::Unpack4, 1, 64, 32};
        case LoadDist::DIST_BLK:
            return {Spread::Block, 1, 32, 32};
        case LoadDist::DIST_E2B_B16:
            return {Spread::ElementToBlock, 2, 16, 16};
        case LoadDist::DIST_E2B_B32:
            return {Spread::ElementToBlock, 4, 32, 32};
        case LoadDist::DIST_DINTLV_B8:
            return {Spread::Deinterleave, 1, 512, 32};
        case LoadDist::DIST_DINTLV_B16:
            return {Spread::Deinterleave, 2, 512, 32};
        case LoadDist::DIST_DINTLV_B32:
            return {Spread::Deinterleave, 4, 512, 32};
        case LoadDist::DIST_BDINTLV:
            break;
    }
    return {Spread::None, 0, 0, 0};
}

// The byte of the Unified Buffer that byte `at` of destination register `which` comes from;
// -1 = it becomes 0.
constexpr int32_t SourceOf(const LoadShape &shape, uint32_t at, uint32_t which) {
    const uint32_t n = shape.unit;
    const uint32_t element = at / n;
    const uint32_t inside = at % n;
    switch (shape.spread) {
        case Spread::Norm:
            return static_cast<int32_t>(at);
        case Spread::Broadcast:
            return static_cast<int32_t>(inside);
        case Spread::Up:
            return static_cast<int32_t>(element / 2 * n + inside);
        case Spread::Down:
            return static_cast<int32_t>(element * 2 * n + inside);
        case Spread::Unpack:
            return element % 2 == 0 ? static_cast<int32_t>(element / 2 * n + inside) : -1;
        case Spread::Unpack4:
            return at % 4 == 0 ? static_cast<int32_t>(at / 4) : -1;
        case Spread::Block:
            return static_cast<int32_t>(at % kBlockBytes);
        case Spread::ElementToBlock:
            return static_cast<int32_t>(at / kBlockBytes * n + inside);
        case Spread::Deinterleave:
            return static_cast<int32_t>((element * 2 + which) * n + inside);
        case Spread::None:
            break;
    }
    return -1;
}

// --- access to the Unified Buffer ---

// The offset of an address of a vector function, checked.
inline uint32_t Locate(const void *address, uint64_t bytes, uint32_t alignment, bool write,
                       const char *api, Loc loc) {
    Core &core = ThisCore();
    if (VectorFunction::current == nullptr) {
        core.Fail(Check::VfOrder, api, loc,
                  "is not inside of a vector function: __simd_vf__ or __VEC_SCOPE__ is missing");
    }
    const auto base = reinterpret_cast<uintptr_t>(core.Ub());
    const uintptr_t offset = reinterpret_cast<uintptr_t>(address) - base;
    if (!core.InUb(address, bytes)) {
        if (offset < core.UbBytes()) {
            core.Fail(Check::UbExtent, api, loc,
                      "%s UB bytes [%llu, %llu), the Unified Buffer ends at %llu",
                      write ? "writes" : "reads", static_cast<unsigned long long>(offset),
                      static_cast<unsigned long long>(offset + bytes),
                      static_cast<unsigned long long>(core.UbBytes()));
        } else {
            core.Fail(Check::UbExtent, api, loc,
                      "%s %llu bytes at %p, outside of the Unified Buffer",
                      write ? "writes" : "reads", static_cast<unsigned long long>(bytes), address);
        }
        throw Violation{"outside of the Unified Buffer"};
    }
    if (offset % alignment != 0) {
        core.Fail(Check::UbAlign, api, loc, "UB address %llu is not a multiple of %u",
                  static_cast<unsigned long long>(offset), alignment);
    }
    return static_cast<uint32_t>(offset);
}

// Calls use(first, bytes) for each run of bytes in [0, bytes) that `wanted` holds for.
template <typename Wanted, typename Use>
void ForRuns(uint32_t bytes, Wanted wanted, Use use) {
    for (uint32_t at = 0; at < bytes;) {
        uint32_t end = at;
        while (end < bytes && wanted(end)) {
            ++end;
        }
        if (end > at) {
            use(at, end - at);
        }
        at = end + 1;
    }
}

// Bytes that a load reads, on their way to registers.
class Loaded {
public:
    Loaded(const char *api, Loc loc) : api_(api), loc_(loc) { ThisCore().Begin(Pipe::V, api, loc); }

    // Reads UB bytes [offset, offset + bytes) to place `at`. What nobody wrote is not read: it
    // becomes undefined lanes.
    void Read(uint32_t at, uint32_t offset, uint32_t bytes, const Register *destination) {
        Core &core = ThisCore();
        std::memcpy(bytes_ + at, core.Ub() + offset, bytes);
        for (uint32_t done = 0; done < bytes;) {
            bool written = true;
            const uint32_t run = core.Enabled(Check::UninitRead)
                                     ? core.UbRun(offset + done, bytes - done, written)
                                     : bytes;
            if (written) {
                core.ReadUb(offset + done, run);
                if (VectorFunction::current != nullptr) {
                    past_.Join(
                        VectorFunction::current->Load(offset + done, run, destination, api_, loc_));
                }
            } else {
                std::memset(undefined_ + at + done, 1, run);
            }
            done += run;
        }
    }
    // Byte i of the register is place source(i), or 0 if that is negative.
    template <typename Source>
    void To(Register &dst, Source source) const {
        Register out = Register::Zero();
        for (uint32_t i = 0; i < kVectorBytes; ++i) {
            const int32_t from = source(i);
            if (from >= 0) {
                out.bytes[i] = bytes_[from];
                if (undefined_[from] != 0) {
                    out.undefined.Set(i);
                }
            }
        }
        out.origin = loc_;
        out.past = past_;
        dst = out;
    }
    uint8_t Byte(uint32_t at) const { return bytes_[at]; }
    const Past &After() const { return past_; }
    bool Undefined(uint32_t at) const { return undefined_[at] != 0; }

private:
    const char *api_;
    Loc loc_;
    uint8_t bytes_[2 * kVectorBytes];
    uint8_t undefined_[2 * kVectorBytes] = {};
    Past past_;
};

// An undefined lane is about to matter.
inline void FailUndefined(const Register &reg, const char *does, const char *api, Loc loc) {
    if (reg.origin.line == 0) {
        ThisCore().Fail(Check::UninitRead, api, loc, "%s lanes of a register that nothing wrote",
                        does);
        return;
    }
    ThisCore().Fail(Check::UninitRead, api, loc,
                    "%s lanes that come from UB bytes that nobody wrote, loaded at %s:%d", does,
                    reg.origin.file, reg.origin.line);
}

// Writes bytes of registers. from(i) is the byte of `source` that goes to offset + i; only those
// are written that active(i) holds for.
template <typename Active, typename From>
void StoreBytes(uint32_t offset, uint32_t bytes, const Register &source, const Past &mask,
                Active active, From from, const char *api, Loc loc) {
    Core &core = ThisCore();
    Past past = source.past;
    past.Join(mask);
    ForRuns(bytes, active, [&](uint32_t first, uint32_t count) {
        core.WriteUb(offset + first, count);
        if (VectorFunction::current != nullptr) {
            VectorFunction::current->Store(offset + first, count, &source, past, api, loc);
        }
        for (uint32_t i = first; i < first + count; ++i) {
            const uint32_t byte = from(i);
            if (source.undefined.Get(byte)) {
                FailUndefined(source, "stores", api, loc);
            }
            core.Ub()[offset + i] = source.bytes[byte];
        }
    });
}

template <LoadDist dist>
void LoadOne(Register &dst, const void *address, const char *api, Loc loc) {
    static constexpr LoadShape shape = ShapeOf(dist);
    static_assert(shape.spread != Spread::None, "LoadAlign: this LoadDist is not simulated");
    static_assert(shape.spread != Spread::Deinterleave,
                  "LoadAlign: DIST_DINTLV fills two registers");
    const uint32_t offset = Locate(address, shape.bytes, shape.alignment, false, api, loc);
    Loaded loaded(api, loc);
    loaded.Read(0, offset, shape.bytes, &dst);
    loaded.To(dst, [](uint32_t i) { return SourceOf(shape, i, 0); });
}

template <LoadDist dist>
void LoadTwo(Register &dst0, Register &dst1, const void *address, const char *api, Loc loc) {
    static constexpr LoadShape shape = ShapeOf(dist);
    static_assert(shape.spread == Spread::Deinterleave,
                  "LoadAlign: two registers are filled by DIST_DINTLV_B8, B16 and B32");
    const uint32_t offset = Locate(address, shape.bytes, shape.alignment, false, api, loc);
    Loaded loaded(api, loc);
    loaded.Read(0, offset, shape.bytes, &dst0);
    loaded.To(dst0, [](uint32_t i) { return SourceOf(shape, i, 0); });
    loaded.To(dst1, [](uint32_t i) { return SourceOf(shape, i, 1); });
}

template <StoreDist dist, typename T>
void StoreOne(const void *address, const Register &src, const MaskReg &mask, const char *api,
              Loc loc) {
    constexpr bool first = dist == StoreDist::DIST_FIRST_ELEMENT_B8 ||
                           dist == StoreDist::DIST_FIRST_ELEMENT_B16 ||
                           dist == StoreDist::DIST_FIRST_ELEMENT_B32;
    constexpr bool norm = dist == StoreDist::DIST_NORM || dist == StoreDist::DIST_NORM_B8 ||
                          dist == StoreDist::DIST_NORM_B16 || dist == StoreDist::DIST_NORM_B32;
    // Bytes of a source lane.
    constexpr uint32_t lane =
        dist == StoreDist::DIST_NORM                                                  ? sizeof(T)
        : dist == StoreDist::DIST_NORM_B8 || dist == StoreDist::DIST_FIRST_ELEMENT_B8 ? 1
        : dist == StoreDist::DIST_NORM_B16 || dist == StoreDist::DIST_FIRST_ELEMENT_B16 ||
                dist == StoreDist::DIST_PACK_B16
            ? 2
        : dist == StoreDist::DIST_PACK_B64 ? 8
                                           : 4;
    // Of these, so many are stored.
    constexpr uint32_t kept = norm || first                       ? lane
                              : dist == StoreDist::DIST_PACK4_B32 ? 1
                                                                  : lane / 2;
    static_assert(dist != StoreDist::DIST_INTLV_B8 && dist != StoreDist::DIST_INTLV_B16 &&
                      dist != StoreDist::DIST_INTLV_B32,
                  "StoreAlign: DIST_INTLV stores two registers");
    constexpr uint32_t bytes = first ? lane : kVectorBytes / lane * kept;
    const auto active = [&](uint32_t i) { return first || mask.Get(i / kept * lane); };
    // Bytes beyond the last active one are not touched, so they may be outside.
    uint32_t end = 0;
    ForRuns(bytes, active, [&](uint32_t at, uint32_t count) { end = at + count; });
    const uint32_t offset = Locate(address, end, first ? lane : kBlockBytes, true, api, loc);
    ThisCore().Begin(Pipe::V, api, loc);
    StoreBytes(
        offset, bytes, src, mask.past, active,
        [](uint32_t i) { return i / kept * lane + i % kept; }, api, loc);
}

template <StoreDist dist>
void StoreTwo(const void *address, const Register &src0, const Register &src1, const char *api,
              Loc loc) {
    constexpr uint32_t n = dist == StoreDist::DIST_INTLV_B8    ? 1
                           : dist == StoreDist::DIST_INTLV_B16 ? 2
                           : dist == StoreDist::DIST_INTLV_B32 ? 4
                                                               : 0;
    static_assert(n != 0, "StoreAlign: two registers are stored by DIST_INTLV_B8, B16 and B32");
    const uint32_t offset = Locate(address, 2 * kVectorBytes, kBlockBytes, true, api, loc);
    ThisCore().Begin(Pipe::V, api, loc);
    for (uint32_t which = 0; which < 2; ++which) {
        StoreBytes(
            offset, 2 * kVectorBytes, which == 0 ? src0 : src1, {},
            [&](uint32_t i) { return i / n % 2 == which; },
            [](uint32_t i) { return i / n / 2 * n + i % n; }, api, loc);
    }
}

// Eight blocks of 32 bytes, `stride` blocks apart; those without an active lane are left out.
template <typename T>
bool BlockActive(const MaskReg &mask, uint32_t block) {
    for (uint32_t at = block * kBlockBytes; at < (block + 1) * kBlockBytes; at += sizeof(T)) {
        if (mask.Get(at)) {
            return true;
        }
    }
    return false;
}

template <typename T>
void LoadBlocks(Register &dst, const uint8_t *address, uint32_t stride, const MaskReg &mask,
                const char *api, Loc loc) {
    Loaded loaded(api, loc);
    for (uint32_t block = 0; block < kVectorBytes / kBlockBytes; ++block) {
        if (BlockActive<T>(mask, block)) {
            const uint32_t offset = Locate(address + uint64_t{block} * stride * kBlockBytes,
                                           kBlockBytes, kBlockBytes, false, api, loc);
            loaded.Read(block * kBlockBytes, offset, kBlockBytes, &dst);
        }
    }
    loaded.To(dst, [&](uint32_t i) {
        return BlockActive<T>(mask, i / kBlockBytes) ? static_cast<int32_t>(i) : -1;
    });
    dst.past.Join(mask.past);
}

template <typename T>
void StoreBlocks(const uint8_t *address, const Register &src, uint32_t stride, const MaskReg &mask,
                 const char *api, Loc loc) {
    ThisCore().Begin(Pipe::V, api, loc);
    for (uint32_t block = 0; block < kVectorBytes / kBlockBytes; ++block) {
        if (!BlockActive<T>(mask, block)) {
            continue;
        }
        const uint32_t offset = Locate(address + uint64_t{block} * stride * kBlockBytes,
                                       kBlockBytes, kBlockBytes, true, api, loc);
        const uint32_t start = block * kBlockBytes;
        StoreBytes(
            offset, kBlockBytes, src, mask.past,
            [&](uint32_t i) { return mask.Get(start + i / sizeof(T) * sizeof(T)); },
            [&](uint32_t i) { return start + i; }, api, loc);
    }
}

enum class MaskCopy : uint8_t { Norm, Up, Down };

inline void LoadMask(MaskReg &mask, const void *address, MaskCopy copy, const char *api, Loc loc) {
    const uint32_t bytes = copy == MaskCopy::Norm ? 32 : copy == MaskCopy::Up ? 16 : 64;
    const uint32_t offset = Locate(address, bytes, std::min(bytes, kBlockBytes), false, api, loc);
    Loaded loaded(api, loc);
    loaded.Read(0, offset, bytes, nullptr);
    MaskReg out;
    for (uint32_t bit = 0; bit < kVectorBytes; ++bit) {
        const uint32_t from = copy == MaskCopy::Norm ? bit
                              : copy == MaskCopy::Up ? bit / 2
                                                     : 2 * bit;
        if (loaded.Undefined(from / 8)) {
            ThisCore().Fail(Check::UninitRead, api, loc,
                            "loads a mask from UB bytes [%u, %u), but nothing was written to byte "
                            "%u",
                            offset, offset + bytes, offset + from / 8);
        }
        if ((loaded.Byte(from / 8) >> (from % 8) & 1) != 0) {
            out.Set(bit);
        }
    }
    out.past = loaded.After();
    mask = out;
}

inline void StoreMask(const void *address, const MaskReg &mask, MaskCopy copy, const char *api,
                      Loc loc) {
    const uint32_t bytes = copy == MaskCopy::Norm ? 32 : 16;
    const uint32_t offset = Locate(address, bytes, bytes, true, api, loc);
    Register packed = Register::Zero();
    packed.past = mask.past;
    for (uint32_t bit = 0; bit < 8 * bytes; ++bit) {
        if (mask.Get(copy == MaskCopy::Norm ? bit : 2 * bit)) {
            packed.bytes[bit / 8] |= static_cast<uint8_t>(1U << (bit % 8));
        }
    }
    ThisCore().Begin(Pipe::V, api, loc);
    StoreBytes(
        offset, bytes, packed, {}, [](uint32_t) { return true; }, [](uint32_t i) { return i; }, api,
        loc);
}

}  // namespace sim

namespace AscendC {
namespace Reg {

// Holds what is not a whole block of 32 bytes, between accesses of consecutive addresses.
struct UnalignReg {
    UnalignReg() = default;
    UnalignReg(const UnalignReg &) = delete;
    UnalignReg &operator=(const UnalignReg &) = delete;
    ~UnalignReg() {
        if (pending != 0 && sim::VectorFunction::current != nullptr) {
            sim::VectorFunction::current->Lose(lastStore);
        }
    }

    const uint8_t *next = nullptr;  // an address in the block that is held for loads
    uint8_t *tail = nullptr;        // where the stored bytes go on
    uint32_t pending = 0;           // bytes before `tail` that are held back
    sim::Register held;             // the last block: byte i of it is byte i of the register
    sim::Loc lastStore = {nullptr, 0};
};
// The core has four for loads and four for stores; the compiler knows no other place for more.
enum class UnalignUse : uint8_t { Load, Store };
template <UnalignUse use>
struct CountedUnalignReg : UnalignReg {
    CountedUnalignReg(sim::Loc loc = sim::Loc::Here()) {
        if (function_ != nullptr && ++function_->unaligned[static_cast<int>(use)] > 4) {
            sim::ThisCore().Fail(sim::Check::VfOrder, "UnalignReg", loc,
                                 "a fifth unaligned register for %s is in use, the core has 4",
                                 use == UnalignUse::Load ? "loads" : "stores");
        }
    }
    ~CountedUnalignReg() {
        if (function_ != nullptr) {
            --function_->unaligned[static_cast<int>(use)];
        }
    }

private:
    sim::VectorFunction *const function_ = sim::VectorFunction::current;
};
using UnalignRegForLoad = CountedUnalignReg<UnalignUse::Load>;
using UnalignRegForStore = CountedUnalignReg<UnalignUse::Store>;

namespace detail {

inline uintptr_t BlockOf(const void *address) {
    const auto ub = reinterpret_cast<uintptr_t>(sim::ThisCore().Ub());
    return (reinterpret_cast<uintptr_t>(address) - ub) / sim::kBlockBytes;
}

inline void LoadUnaligned(sim::Register &dst, UnalignReg &held, const void *address,
                          uint64_t advance, const char *api, sim::Loc loc) {
    if (held.next == nullptr || BlockOf(held.next) != BlockOf(address)) {
        sim::ThisCore().Fail(sim::Check::VfOrder, api, loc,
                             "the unaligned register does not hold the block of this address: "
                             "LoadUnAlignPre is missing");
    }
    const uint32_t offset = sim::Locate(address, sim::kVectorBytes, 1, false, api, loc);
    sim::Loaded loaded(api, loc);
    loaded.Read(0, offset, sim::kVectorBytes, &dst);
    loaded.To(dst, [](uint32_t i) { return static_cast<int32_t>(i); });
    held.next = static_cast<const uint8_t *>(address) + advance;
}

// Stores the held bytes and the first `bytes` of `src`, but for the last part of a block.
inline void StoreUnaligned(uint8_t *address, const sim::Register &src, uint32_t bytes,
                           UnalignReg &held, const char *api, sim::Loc loc) {
    if (bytes > sim::kVectorBytes) {
        sim::ThisCore().Fail(sim::Check::UbExtent, api, loc, "stores %u bytes of a register of 256",
                             bytes);
        bytes = sim::kVectorBytes;
    }
    if (held.pending != 0 && held.tail != address) {
        sim::ThisCore().Fail(sim::Check::VfOrder, api, loc,
                             "does not go on where the store before it ended: StoreUnAlignPost is "
                             "missing there");
        held.pending = 0;
    }
    uint8_t *const start = address - held.pending;
    const uint32_t total = held.pending + bytes;
    const uint32_t offset = sim::Locate(start, total, 1, true, api, loc);
    const uint32_t end = (offset + total) / sim::kBlockBytes * sim::kBlockBytes;
    const uint32_t whole = end > offset ? end - offset : 0;
    sim::ThisCore().Begin(sim::Pipe::V, api, loc);
    const uint32_t before = held.pending;
    const auto every = [](uint32_t) { return true; };
    if (whole != 0) {
        sim::StoreBytes(
            offset, before, held.held, {}, every, [](uint32_t i) { return i; }, api, loc);
        sim::StoreBytes(
            offset + before, whole - before, src, {}, every, [](uint32_t i) { return i; }, api,
            loc);
    }
    sim::Register rest = whole != 0 ? src : held.held;
    const uint32_t skipped = whole != 0 ? whole - before : 0;
    const uint32_t kept = whole != 0 ? 0 : before;
    for (uint32_t i = kept; i < total - whole; ++i) {
        const uint32_t from = i - kept + skipped;
        rest.bytes[i] = src.bytes[from];
        if (src.undefined.Get(from)) {
            sim::FailUndefined(src, "stores", api, loc);
        }
    }
    rest.undefined = sim::Bits256{};
    rest.past.Join(src.past);
    held.held = rest;
    held.pending = total - whole;
    held.tail = address + bytes;
    held.lastStore = loc;
}

inline void StoreHeld(uint8_t *address, UnalignReg &held, const char *api, sim::Loc loc) {
    if (held.pending != 0 && held.tail != address) {
        sim::ThisCore().Fail(sim::Check::VfOrder, api, loc,
                             "the address is not where the last store ended");
    }
    const uint32_t bytes = held.pending;
    held.pending = 0;
    sim::ThisCore().Begin(sim::Pipe::V, api, loc);
    if (bytes != 0) {
        const uint32_t offset = sim::Locate(address - bytes, bytes, 1, true, api, loc);
        sim::StoreBytes(
            offset, bytes, held.held, {}, [](uint32_t) { return true; },
            [](uint32_t i) { return i; }, api, loc);
    }
}

template <typename T>
T *Offset(T *address, AddrReg offset) {
    return reinterpret_cast<T *>(reinterpret_cast<uintptr_t>(address) + offset.bytes);
}
template <typename T>
uint8_t *Bytes(T *address) {
    return reinterpret_cast<uint8_t *>(address);
}
constexpr sim::MaskCopy LoadCopy(MaskDist dist) {
    return dist == MaskDist::DIST_NORM ? sim::MaskCopy::Norm
           : dist == MaskDist::DIST_US ? sim::MaskCopy::Up
                                       : sim::MaskCopy::Down;
}
template <typename T, typename E>
constexpr bool kFits = sizeof(T) == sizeof(E);

}  // namespace detail

#define SIM_REG_LOC sim::Loc loc = sim::Loc::Here()
#define SIM_FITS(api) \
    static_assert(detail::kFits<T, E>, api ": the pointer's type is not the register's")

// --- aligned: each form at an address, at an address that moves on, and with an offset ---

template <typename T, LoadDist dist = LoadDist::DIST_NORM, typename E>
void LoadAlign(RegTensor<E> &dst, __ubuf__ T *src, SIM_REG_LOC) {
    SIM_FITS("LoadAlign");
    sim::LoadOne<dist>(dst, src, "Reg::LoadAlign", loc);
}
template <typename T, PostLiteral post, LoadDist dist = LoadDist::DIST_NORM, typename E>
void LoadAlign(RegTensor<E> &dst, __ubuf__ T *&src, int32_t stride, SIM_REG_LOC) {
    SIM_FITS("LoadAlign");
    constexpr bool update = post == PostLiteral::POST_MODE_UPDATE;
    sim::LoadOne<dist>(dst, update ? src : src + stride, "Reg::LoadAlign", loc);
    src += update ? stride : 0;
}
template <typename T, LoadDist dist = LoadDist::DIST_NORM, typename E>
void LoadAlign(RegTensor<E> &dst, __ubuf__ T *src, AddrReg offset, SIM_REG_LOC) {
    SIM_FITS("LoadAlign");
    sim::LoadOne<dist>(dst, detail::Offset(src, offset), "Reg::LoadAlign", loc);
}
template <typename T, LoadDist dist, typename E>
void LoadAlign(RegTensor<E> &dst0, RegTensor<E> &dst1, __ubuf__ T *src, SIM_REG_LOC) {
    SIM_FITS("LoadAlign");
    sim::LoadTwo<dist>(dst0, dst1, src, "Reg::LoadAlign", loc);
}
template <typename T, PostLiteral post, LoadDist dist, typename E>
void LoadAlign(RegTensor<E> &dst0, RegTensor<E> &dst1, __ubuf__ T *&src, int32_t stride,
               SIM_REG_LOC) {
    SIM_FITS("LoadAlign");
    constexpr bool update = post == PostLiteral::POST_MODE_UPDATE;
    sim::LoadTwo<dist>(dst0, dst1, update ? src : src + stride, "Reg::LoadAlign", loc);
    src += update ? stride : 0;
}
template <typename T, LoadDist dist, typename E>
void LoadAlign(RegTensor<E> &dst0, RegTensor<E> &dst1, __ubuf__ T *src, AddrReg offset,
               SIM_REG_LOC) {
    SIM_FITS("LoadAlign");
    sim::LoadTwo<dist>(dst0, dst1, detail::Offset(src, offset), "Reg::LoadAlign", loc);
}
template <typename T, StoreDist dist = StoreDist::DIST_NORM, typename E>
void StoreAlign(__ubuf__ T *dst, RegTensor<E> &src, MaskReg &mask, SIM_REG_LOC) {
    SIM_FITS("StoreAlign");
    sim::StoreOne<dist, E>(dst, src, mask, "Reg::StoreAlign", loc);
}
template <typename T, PostLiteral post, StoreDist dist = StoreDist::DIST_NORM, typename E>
void StoreAlign(__ubuf__ T *&dst, RegTensor<E> &src, int32_t stride, MaskReg &mask, SIM_REG_LOC) {
    SIM_FITS("StoreAlign");
    constexpr bool update = post == PostLiteral::POST_MODE_UPDATE;
    sim::StoreOne<dist, E>(update ? dst : dst + stride, src, mask, "Reg::StoreAlign", loc);
    dst += update ? stride : 0;
}
template <typename T, StoreDist dist = StoreDist::DIST_NORM, typename E>
void StoreAlign(__ubuf__ T *dst, RegTensor<E> &src, AddrReg offset, MaskReg &mask, SIM_REG_LOC) {
    SIM_FITS("StoreAlign");
    sim::StoreOne<dist, E>(detail::Offset(dst, offset), src, mask, "Reg::StoreAlign", loc);
}
template <typename T, StoreDist dist, typename E>
void StoreAlign(__ubuf__ T *dst, RegTensor<E> &src0, RegTensor<E> &src1, MaskReg &, SIM_REG_LOC) {
    SIM_FITS("StoreAlign");
    sim::StoreTwo<dist>(dst, src0, src1, "Reg::StoreAlign", loc);
}
template <typename T, StoreDist dist, typename E>
void StoreAlign(__ubuf__ T *dst, RegTensor<E> &src0, RegTensor<E> &src1, AddrReg offset, MaskReg &,
                SIM_REG_LOC) {
    SIM_FITS("StoreAlign");
    sim::StoreTwo<dist>(detail::Offset(dst, offset), src0, src1, "Reg::StoreAlign", loc);
}

// --- eight blocks at a stride ---

template <typename T, DataCopyMode mode, typename E>
void LoadAlign(RegTensor<E> &dst, __ubuf__ T *src, uint32_t stride, MaskReg &mask, SIM_REG_LOC) {
    SIM_FITS("LoadAlign");
    sim::LoadBlocks<T>(dst, detail::Bytes(src), stride, mask, "Reg::LoadAlign", loc);
}
template <typename T, DataCopyMode mode, PostLiteral post, typename E>
void LoadAlign(RegTensor<E> &dst, __ubuf__ T *&src, uint32_t stride, uint32_t repeatStride,
               MaskReg &mask, SIM_REG_LOC) {
    SIM_FITS("LoadAlign");
    constexpr bool update = post == PostLiteral::POST_MODE_UPDATE;
    const uint32_t step = repeatStride * sim::kBlockBytes / sizeof(T);
    sim::LoadBlocks<T>(dst, detail::Bytes(update ? src : src + step), stride, mask,
                       "Reg::LoadAlign", loc);
    src += update ? step : 0;
}
template <typename T, DataCopyMode mode, typename E>
void StoreAlign(__ubuf__ T *dst, RegTensor<E> &src, uint32_t stride, MaskReg &mask, SIM_REG_LOC) {
    SIM_FITS("StoreAlign");
    sim::StoreBlocks<T>(detail::Bytes(dst), src, stride, mask, "Reg::StoreAlign", loc);
}
template <typename T, DataCopyMode mode, PostLiteral post, typename E>
void StoreAlign(__ubuf__ T *&dst, RegTensor<E> &src, uint32_t stride, uint32_t repeatStride,
                MaskReg &mask, SIM_REG_LOC) {
    SIM_FITS("StoreAlign");
    constexpr bool update = post == PostLiteral::POST_MODE_UPDATE;
    const uint32_t step = repeatStride * sim::kBlockBytes / sizeof(T);
    sim::StoreBlocks<T>(detail::Bytes(update ? dst : dst + step), src, stride, mask,
                        "Reg::StoreAlign", loc);
    dst += update ? step : 0;
}

// --- masks ---

template <typename T, MaskDist dist = MaskDist::DIST_NORM>
void LoadAlign(MaskReg &mask, __ubuf__ T *src, SIM_REG_LOC) {
    sim::LoadMask(mask, src, detail::LoadCopy(dist), "Reg::LoadAlign", loc);
}
template <typename T, PostLiteral post, MaskDist dist = MaskDist::DIST_NORM>
void LoadAlign(MaskReg &mask, __ubuf__ T *&src, int32_t stride, SIM_REG_LOC) {
    constexpr bool update = post == PostLiteral::POST_MODE_UPDATE;
    sim::LoadMask(mask, update ? src : src + stride, detail::LoadCopy(dist), "Reg::LoadAlign", loc);
    src += update ? stride : 0;
}
template <typename T, MaskDist dist = MaskDist::DIST_NORM>
void LoadAlign(MaskReg &mask, __ubuf__ T *src, AddrReg offset, SIM_REG_LOC) {
    LoadAlign<T, dist>(mask, detail::Offset(src, offset), loc);
}
template <typename T, MaskDist dist = MaskDist::DIST_NORM>
void StoreAlign(__ubuf__ T *dst, MaskReg &mask, SIM_REG_LOC) {
    static_assert(dist != MaskDist::DIST_DS, "StoreAlign: masks are stored by DIST_NORM and PACK");
    sim::StoreMask(dst, mask, detail::LoadCopy(dist), "Reg::StoreAlign", loc);
}
template <typename T, PostLiteral post, MaskDist dist = MaskDist::DIST_NORM>
void StoreAlign(__ubuf__ T *&dst, MaskReg &mask, int32_t stride, SIM_REG_LOC) {
    constexpr bool update = post == PostLiteral::POST_MODE_UPDATE;
    StoreAlign<T, dist>(update ? dst : dst + stride, mask, loc);
    dst += update ? stride : 0;
}
template <typename T, MaskDist dist = MaskDist::DIST_NORM>
void StoreAlign(__ubuf__ T *dst, MaskReg &mask, AddrReg offset, SIM_REG_LOC) {
    StoreAlign<T, dist>(detail::Offset(dst, offset), mask, loc);
}

// --- unaligned ---

template <typename T>
void LoadUnAlignPre(UnalignRegForLoad &held, __ubuf__ T *src, SIM_REG_LOC) {
    sim::Locate(src, 1, 1, false, "Reg::LoadUnAlignPre", loc);
    held.next = detail::Bytes(src);
}
template <typename T>
void LoadUnAlignPre(UnalignRegForLoad &held, __ubuf__ T *src, AddrReg &offset, SIM_REG_LOC) {
    LoadUnAlignPre(held, detail::Offset(src, offset), loc);
}
template <typename T, PostLiteral post = PostLiteral::POST_MODE_UPDATE, typename E>
void LoadUnAlign(RegTensor<E> &dst, UnalignRegForLoad &held, __ubuf__ T *&src, uint32_t stride,
                 SIM_REG_LOC) {
    SIM_FITS("LoadUnAlign");
    static_assert(post == PostLiteral::POST_MODE_UPDATE, "LoadUnAlign: POST_MODE_UPDATE only");
    detail::LoadUnaligned(dst, held, src, uint64_t{stride} * sizeof(T), "Reg::LoadUnAlign", loc);
    src += stride;
}
template <typename T, typename E>
void LoadUnAlign(RegTensor<E> &dst, UnalignRegForLoad &held, __ubuf__ T *src, SIM_REG_LOC) {
    SIM_FITS("LoadUnAlign");
    detail::LoadUnaligned(dst, held, src, sim::kVectorBytes, "Reg::LoadUnAlign", loc);
}
template <typename T, typename E>
void LoadUnAlign(RegTensor<E> &dst, UnalignRegForLoad &held, __ubuf__ T *&src, AddrReg &offset,
                 uint32_t, SIM_REG_LOC) {
    SIM_FITS("LoadUnAlign");
    detail::LoadUnaligned(dst, held, detail::Offset(src, offset), sim::kVectorBytes,
                          "Reg::LoadUnAlign", loc);
}
template <typename T, typename E>
void Load(RegTensor<E> &dst, __ubuf__ T *src, SIM_REG_LOC) {
    UnalignRegForLoad held;
    LoadUnAlignPre(held, src, loc);
    LoadUnAlign(dst, held, src, loc);
}

template <typename T, PostLiteral post = PostLiteral::POST_MODE_UPDATE, typename E>
void StoreUnAlign(__ubuf__ T *&dst, RegTensor<E> &src, UnalignRegForStore &held, uint32_t count,
                  SIM_REG_LOC) {
    SIM_FITS("StoreUnAlign");
    static_assert(post == PostLiteral::POST_MODE_UPDATE, "StoreUnAlign: POST_MODE_UPDATE only");
    detail::StoreUnaligned(detail::Bytes(dst), src, count * static_cast<uint32_t>(sizeof(T)), held,
                           "Reg::StoreUnAlign", loc);
    dst += count;
}
template <typename T, PostLiteral post = PostLiteral::POST_MODE_UPDATE>
void StoreUnAlignPost(__ubuf__ T *&dst, UnalignRegForStore &held, int32_t stride, SIM_REG_LOC) {
    detail::StoreHeld(detail::Bytes(dst), held, "Reg::StoreUnAlignPost", loc);
    dst += stride;
}
// What Squeeze with STORE_REG left, behind what was stored since ClearSpr.
template <typename T, PostLiteral post = PostLiteral::POST_MODE_UPDATE, typename E>
void StoreUnAlign(__ubuf__ T *dst, RegTensor<E> &src, UnalignRegForStore &held, SIM_REG_LOC) {
    SIM_FITS("StoreUnAlign");
    static_assert(post == PostLiteral::POST_MODE_UPDATE,
                  "StoreUnAlign: POST_MODE_NORMAL is not simulated");
    sim::Core &core = sim::ThisCore();
    if (core.squeezed < 0) {
        core.Fail(sim::Check::VfOrder, "Reg::StoreUnAlign", loc,
                  "no Squeeze<GatherMaskMode::STORE_REG> since the last one");
    }
    const auto bytes = static_cast<uint32_t>(std::max(core.squeezed, 0));
    detail::StoreUnaligned(detail::Bytes(dst) + core.addressRegister, src, bytes, held,
                           "Reg::StoreUnAlign", loc);
    core.addressRegister += bytes;
    core.squeezed = -1;
}
template <typename T>
void StoreUnAlignPost(__ubuf__ T *dst, UnalignRegForStore &held, SIM_REG_LOC) {
    detail::StoreHeld(detail::Bytes(dst) + sim::ThisCore().addressRegister, held,
                      "Reg::StoreUnAlignPost", loc);
}
template <typename T, typename E>
void Store(__ubuf__ T *dst, RegTensor<E> &src, uint32_t count, SIM_REG_LOC) {
    UnalignRegForStore held;
    StoreUnAlign(dst, src, held, count, loc);
    StoreUnAlignPost(dst, held, 0, loc);
}
template <typename T, typename E>
void Store(__ubuf__ T *dst, RegTensor<E> &src, SIM_REG_LOC) {
    Store(dst, src, RegTensor<E>::kLanes, loc);
}

template <SpecialPurposeReg spr>
int64_t GetSpr() {
    return sim::ThisCore().addressRegister;
}
template <SpecialPurposeReg spr>
void ClearSpr() {
    sim::ThisCore().addressRegister = 0;
    sim::ThisCore().squeezed = -1;
}

// --- scattered elements ---

namespace detail {
template <typename I>
uint32_t IndexAt(const RegTensor<I> &index, uint32_t lane, const char *api, sim::Loc loc) {
    if (index.undefined.Any() && index.undefined.Get(lane * sizeof(I))) {
        sim::FailUndefined(index, "takes indices from", api, loc);
    }
    return static_cast<uint32_t>(index.template Get<I>(lane));
}
template <typename T, typename I>
constexpr bool kIndexFits =
    sizeof(T) <= 2 ? std::is_same_v<I, uint16_t> : std::is_same_v<I, uint32_t>;

inline uint32_t LocateIndexed(const void *base, uint64_t at, uint64_t bytes, bool write,
                              const char *api, sim::Loc loc) {
    sim::Core &core = sim::ThisCore();
    const uint32_t start = sim::Locate(base, 0, sim::kBlockBytes, write, api, loc);
    if (start + at + bytes > core.UbBytes()) {
        core.Fail(sim::Check::GatherOffset, api, loc,
                  "an index leads to UB bytes [%llu, %llu), the Unified Buffer ends at %llu",
                  static_cast<unsigned long long>(start + at),
                  static_cast<unsigned long long>(start + at + bytes),
                  static_cast<unsigned long long>(core.UbBytes()));
        throw sim::Violation{"outside of the Unified Buffer"};
    }
    return start + static_cast<uint32_t>(at);
}
}  // namespace detail

// dst[i] = base[index[i]]; bytes widen to 16 bits by zeros.
template <typename D = DefaultType, typename T, typename I = DefaultType, typename E, typename X>
void Gather(RegTensor<E> &dst, __ubuf__ T *base, RegTensor<X> &index, MaskReg &mask, SIM_REG_LOC) {
    static_assert(sizeof(E) == sizeof(T) || (sizeof(T) == 1 && sizeof(E) == 2),
                  "Gather: elements of the register's type, or of 8 bits to 16");
    static_assert(sizeof(E) == 2 || sizeof(E) == 4, "Gather: registers of 16 or 32 bits");
    static_assert(detail::kIndexFits<E, X>,
                  "Gather: the indices are uint16_t for 8 and 16 bits, uint32_t for 32");
    sim::Loaded loaded("Reg::Gather", loc);
    for (uint32_t lane = 0; lane < RegTensor<E>::kLanes; ++lane) {
        if (mask.Lane<E>(lane)) {
            const uint64_t at =
                uint64_t{detail::IndexAt(index, lane, "Reg::Gather", loc)} * sizeof(T);
            loaded.Read(lane * sizeof(E),
                        detail::LocateIndexed(base, at, sizeof(T), false, "Reg::Gather", loc),
                        sizeof(T), &dst);
        }
    }
    const sim::Past past = index.past;
    loaded.To(dst, [&](uint32_t i) {
        return mask.Lane<E>(i / sizeof(E)) && i % sizeof(E) < sizeof(T) ? static_cast<int32_t>(i)
                                                                        : -1;
    });
    dst.past.Join(past);
    dst.past.Join(mask.past);
}

// Block i of 32 bytes from byte offset index[i], for the first eight indices.
template <typename T, typename E, typename X>
void GatherB(RegTensor<E> &dst, __ubuf__ T *base, RegTensor<X> &index, MaskReg &mask, SIM_REG_LOC) {
    static_assert(std::is_same_v<X, uint32_t>, "GatherB: the offsets are uint32_t");
    sim::Loaded loaded("Reg::GatherB", loc);
    for (uint32_t block = 0; block < sim::kVectorBytes / sim::kBlockBytes; ++block) {
        if (!sim::BlockActive<E>(mask, block)) {
            continue;
        }
        const uint32_t at = detail::IndexAt(index, block, "Reg::GatherB", loc);
        if (at % sim::kBlockBytes != 0) {
            sim::ThisCore().Fail(sim::Check::GatherOffset, "Reg::GatherB", loc,
                                 "offset %u is not a multiple of 32", at);
        }
        loaded.Read(block * sim::kBlockBytes,
                    detail::LocateIndexed(base, at, sim::kBlockBytes, false, "Reg::GatherB", loc),
                    sim::kBlockBytes, &dst);
    }
    const sim::Past past = index.past;
    loaded.To(dst, [&](uint32_t i) {
        return mask.Lane<E>(i / sizeof(E)) ? static_cast<int32_t>(i) : -1;
    });
    dst.past.Join(past);
    dst.past.Join(mask.past);
}

// base[index[i]] = src[i]; of two lanes with one index, the higher one stays.
template <typename T, typename E, typename X>
void Scatter(__ubuf__ T *base, RegTensor<E> &src, RegTensor<X> &index, MaskReg &mask, SIM_REG_LOC) {
    static_assert(sizeof(T) == sizeof(E) || (sizeof(T) == 1 && sizeof(E) == 2),
                  "Scatter: the pointer's type is not the register's");
    static_assert(sizeof(E) == 2 || sizeof(E) == 4, "Scatter: registers of 16 or 32 bits");
    static_assert(detail::kIndexFits<E, X>,
                  "Scatter: the indices are uint16_t for 8 and 16 bits, uint32_t for 32");
    sim::ThisCore().Begin(sim::Pipe::V, "Reg::Scatter", loc);
    sim::Past past = mask.past;
    past.Join(index.past);
    for (uint32_t lane = 0; lane < RegTensor<E>::kLanes; ++lane) {
        if (mask.Lane<E>(lane)) {
            const uint64_t at =
                uint64_t{detail::IndexAt(index, lane, "Reg::Scatter", loc)} * sizeof(T);
            sim::StoreBytes(
                detail::LocateIndexed(base, at, sizeof(T), true, "Reg::Scatter", loc), sizeof(T),
                src, past, [](uint32_t) { return true; },
                [&](uint32_t i) { return lane * static_cast<uint32_t>(sizeof(E)) + i; },
                "Reg::Scatter", loc);
        }
    }
}

// --- the older names of these ---

namespace detail {
template <typename T>
constexpr bool kOnRegisters = std::is_base_of_v<sim::Register, T> || std::is_same_v<T, MaskReg> ||
                              std::is_base_of_v<UnalignReg, T>;
template <typename... T>
using WithRegisters = std::enable_if_t<(kOnRegisters<std::decay_t<T>> || ...)>;
}  // namespace detail

#define SIM_FORWARD(Name, ...)                      \
    if constexpr (std::is_same_v<T, DefaultType>) { \
        Name(__VA_ARGS__, loc);                     \
    } else {                                        \
        Name<T, modes...>(__VA_ARGS__, loc);        \
    }
// OldName stands for Store if its first argument is an address, and else for Load.
#define SIM_OLD_NAME(OldName, Load, Store)                                                 \
    template <typename T = DefaultType, auto... modes, typename A, typename B,             \
              typename = detail::WithRegisters<A, B>>                                      \
    void OldName(A &&a, B &&b, SIM_REG_LOC) {                                              \
        if constexpr (std::is_pointer_v<std::decay_t<A>>) {                                \
            SIM_FORWARD(Store, a, b)                                                       \
        } else {                                                                           \
            SIM_FORWARD(Load, a, b)                                                        \
        }                                                                                  \
    }                                                                                      \
    template <typename T = DefaultType, auto... modes, typename A, typename B, typename C, \
              typename = detail::WithRegisters<A, B, C>>                                   \
    void OldName(A &&a, B &&b, C &&c, SIM_REG_LOC) {                                       \
        if constexpr (std::is_pointer_v<std::decay_t<A>>) {                                \
            SIM_FORWARD(Store, a, b, c)                                                    \
        } else {                                                                           \
            SIM_FORWARD(Load, a, b, c)                                                     \
        }                                                                                  \
    }                                                                                      \
    template <typename T = DefaultType, auto... modes, typename A, typename B, typename C, \
              typename D, typename = detail::WithRegisters<A, B, C, D>>                    \
    void OldName(A &&a, B &&b, C &&c, D &&d, SIM_REG_LOC) {                                \
        if constexpr (std::is_pointer_v<std::decay_t<A>>) {                                \
            SIM_FORWARD(Store, a, b, c, d)                                                 \
        } else {                                                                           \
            SIM_FORWARD(Load, a, b, c, d)                                                  \
        }                                                                                  \
    }                                                                                      \
    template <typename T = DefaultType, auto... modes, typename A, typename B, typename C, \
              typename D, typename E, typename = detail::WithRegisters<A, B, C, D, E>>     \
    void OldName(A &&a, B &&b, C &&c, D &&d, E &&e, SIM_REG_LOC) {                         \
        if constexpr (std::is_pointer_v<std::decay_t<A>>) {                                \
            SIM_FORWARD(Store, a, b, c, d, e)                                              \
        } else {                                                                           \
            SIM_FORWARD(Load, a, b, c, d, e)                                               \
        }                                                                                  \
    }

SIM_OLD_NAME(DataCopy, LoadAlign, StoreAlign)
SIM_OLD_NAME(DataCopyUnAlign, LoadUnAlign, StoreUnAlign)
SIM_OLD_NAME(DataCopyUnAlignPre, LoadUnAlignPre, LoadUnAlignPre)
SIM_OLD_NAME(DataCopyUnAlignPost, StoreUnAlignPost, StoreUnAlignPost)
SIM_OLD_NAME(DataCopyGather, Gather, Gather)
SIM_OLD_NAME(DataCopyGatherB, GatherB, GatherB)
SIM_OLD_NAME(DataCopyScatter, Scatter, Scatter)
#undef SIM_OLD_NAME
#undef SIM_FORWARD

}  // namespace Reg
}  // namespace AscendC

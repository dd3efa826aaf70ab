// Vector registers of dav-3510 and the vector functions that use them ("Reg", once "MicroAPI").
#pragma once

#include <cstring>
#include <exception>
#include <vector>

#include "sim/cast.h"
#include "sim/compare.h"
#include "sim/reduce.h"

namespace sim {

constexpr uint32_t kVectorBytes = 256;

// One bit for each byte of a register.
struct Bits256 {
    uint64_t word[4] = {};

    static Bits256 All() { return {{~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}}}; }
    bool Get(uint32_t bit) const { return (word[bit / 64] >> (bit % 64) & 1) != 0; }
    void Set(uint32_t bit) { word[bit / 64] |= uint64_t{1} << (bit % 64); }
    bool Any() const { return (word[0] | word[1] | word[2] | word[3]) != 0; }
    template <typename F>
    static Bits256 Map(F f, const Bits256 &a, const Bits256 &b) {
        Bits256 out;
        for (int i = 0; i < 4; ++i) {
            out.word[i] = f(a.word[i], b.word[i]);
        }
        return out;
    }
    Bits256 operator&(const Bits256 &b) const {
        return Map([](uint64_t x, uint64_t y) { return x & y; }, *this, b);
    }
    Bits256 operator|(const Bits256 &b) const {
        return Map([](uint64_t x, uint64_t y) { return x | y; }, *this, b);
    }
    Bits256 operator^(const Bits256 &b) const {
        return Map([](uint64_t x, uint64_t y) { return x ^ y; }, *this, b);
    }
    Bits256 operator~() const { return *this ^ All(); }
};

// The first bit of each lane of `bytes` bytes, in all of its bits.
inline Bits256 SpreadLanes(const Bits256 &bits, uint32_t bytes) {
    Bits256 out;
    for (uint32_t bit = 0; bit < kVectorBytes; ++bit) {
        if (bits.Get(bit - bit % bytes)) {
            out.Set(bit);
        }
    }
    return out;
}

// Which accesses of its vector function are complete when a register is.
struct Past {
    uint32_t load = 0;   // this load, and those before it
    uint32_t store = 0;  // this store, and those before it
    void Join(const Past &other) {
        load = std::max(load, other.load);
        store = std::max(store, other.store);
    }
};

// The contents of a vector register. Lanes that no instruction defined may be computed with, since
// tails are; they may not be stored or decide anything.
struct Register {
    alignas(32) uint8_t bytes[kVectorBytes];
    Bits256 undefined = Bits256::All();
    Loc origin = {nullptr, 0};  // the load that left bytes undefined; none = nothing was loaded
    Past past;

    Register() { std::memset(bytes, 0xFF, sizeof(bytes)); }
    static Register Zero() {
        Register out;
        std::memset(out.bytes, 0, sizeof(out.bytes));
        out.undefined = Bits256{};
        return out;
    }
    template <typename T>
    T Get(uint32_t lane) const {
        T value;
        std::memcpy(&value, bytes + lane * sizeof(T), sizeof(T));
        return value;
    }
    template <typename T>
    void Set(uint32_t lane, T value) {
        std::memcpy(bytes + lane * sizeof(T), &value, sizeof(T));
    }
    // The result depends on `source`.
    void Follow(const Register &source) {
        past.Join(source.past);
        if (source.undefined.Any()) {
            origin = source.origin;
        }
    }
};

// A vector function while it runs. Its loads and stores reach the Unified Buffer in program order
// only where registers or LocalMemBar order them.
class VectorFunction {
public:
    VectorFunction() : outer_(current), begin_(clock) {
        current = outer_ == nullptr ? this : outer_;
        if (outer_ == nullptr) {
            ThisCore().order.timing.BeginFunction();
        }
    }
    VectorFunction(const VectorFunction &) = delete;
    VectorFunction &operator=(const VectorFunction &) = delete;
    ~VectorFunction() noexcept(false) {
        current = outer_;
        if (lost_.line != 0 && std::uncaught_exceptions() == 0) {
            ThisCore().Fail(Check::VfOrder, "StoreUnAlign", lost_,
                            "the last bytes are never stored: StoreUnAlignPost is missing");
        }
    }

    Past Load(uint32_t offset, uint32_t bytes, const Register *destination, const char *api,
              Loc loc) {
        const uint16_t site = Site(api, loc);
        ++clock;
        for (uint32_t at = offset; at < offset + bytes; ++at) {
            Cell &cell = CellAt(at);
            if (cell.store > std::max(begin_, storeLoad_) &&
                cell.storedFrom != Identity(destination)) {
                Fail(at, "reads", "stores", cell.storeSite, "VEC_STORE, MemType::VEC_LOAD", api,
                     loc);
            }
            cell.load = clock;
            cell.loadSite = site;
        }
        return {clock, storeLoad_};
    }
    void Store(uint32_t offset, uint32_t bytes, const Register *source, const Past &past,
               const char *api, Loc loc) {
        const uint16_t site = Site(api, loc);
        ++clock;
        for (uint32_t at = offset; at < offset + bytes; ++at) {
            Cell &cell = CellAt(at);
            if (cell.load > std::max({begin_, loadStore_, past.load})) {
                Fail(at, "writes", "loads", cell.loadSite, "VEC_LOAD, MemType::VEC_STORE", api,
                     loc);
            }
            if (cell.store > std::max({begin_, storeStore_, past.store}) &&
                cell.storedFrom != Identity(source)) {
                Fail(at, "writes", "stores", cell.storeSite, "VEC_STORE, MemType::VEC_STORE", api,
                     loc);
            }
            cell.store = clock;
            cell.storeSite = site;
            cell.storedFrom = Identity(source);
        }
    }
    void Barrier(bool storeLoad, bool loadStore, bool storeStore) {
        if (loadStore) {
            storeStore_ = std::max(storeStore_, storeLoad_);
            loadStore_ = clock;
        }
        if (storeLoad) storeLoad_ = clock;
        if (storeStore) storeStore_ = clock;
    }
    void Lose(Loc loc) { lost_ = loc; }

    uint32_t unaligned[2] = {};  // registers in use, for loads and for stores

    // The one that the calling thread runs.
    static inline thread_local VectorFunction *current = nullptr;

private:
    // The last accesses of one byte.
    struct Cell {
        uint32_t store = 0;
        uint32_t load = 0;
        uint32_t storedFrom = 0;
        uint16_t storeSite = 0;
        uint16_t loadSite = 0;
    };
    struct CallSite {
        const char *api;
        Loc loc;
    };
    static uint32_t Identity(const Register *r) {
        return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(r));
    }
    static Cell &CellAt(uint32_t at) {
        static thread_local std::vector<Cell> cells;
        if (at >= cells.size()) {
            cells.resize(std::max<size_t>(at + 1, ThisCore().UbBytes()));
        }
        return cells[at];
    }
    uint16_t Site(const char *api, Loc loc) {
        for (size_t i = 0; i < sites_.size(); ++i) {
            if (sites_[i].loc.line == loc.line && sites_[i].loc.file == loc.file) {
                return static_cast<uint16_t>(i);
            }
        }
        sites_.push_back({api, loc});
        return static_cast<uint16_t>(sites_.size() - 1);
    }
    void Fail(uint32_t at, const char *now, const char *before, uint16_t site, const char *barrier,
              const char *api, Loc loc) const {
        const CallSite &earlier = sites_[site];
        ThisCore().Fail(Check::VfOrder, api, loc,
                        "%s UB byte %u that the same vector function %s at %s:%d (%s): nothing "
                        "orders the two, LocalMemBar<MemType::%s> is missing",
                        now, at, before, earlier.loc.file, earlier.loc.line, earlier.api, barrier);
    }

    // Counts loads and stores; cells of earlier functions are older than begin_.
    static inline thread_local uint32_t clock = 0;

    VectorFunction *outer_;
    uint32_t begin_;
    uint32_t storeLoad_ = 0;
    uint32_t loadStore_ = 0;
    uint32_t storeStore_ = 0;
    Loc lost_ = {nullptr, 0};
    std::vector<CallSite> sites_;
};

}  // namespace sim

// `__simd_vf__` functions get theirs by the compiler driver.
#define __VEC_SCOPE__ if (::sim::VectorFunction simVectorFunction{}; true)

namespace AscendC {

enum class SpecialPurposeReg : uint8_t { AR };

namespace Reg {

enum class RegLayout { UNKNOWN = -1, ZERO, ONE, TWO, THREE };
enum class SatMode { UNKNOWN = -1, NO_SAT, SAT };
enum class IndexOrder { INCREASE_ORDER, DECREASE_ORDER };
enum class MaskMergeMode { UNKNOWN, MERGING, ZEROING };
enum class HistogramsBinType { BIN0, BIN1 };
enum class HistogramsType { FREQUENCY, ACCUMULATE };
enum class HighLowPart { LOWEST, HIGHEST };
enum class PostLiteral { POST_MODE_NORMAL, POST_MODE_UPDATE };
enum class DataCopyMode { DATA_BLOCK_COPY };
enum class GatherMaskMode { NO_STORE_REG, STORE_REG };
enum class PairReduce { SUM };
enum class MemType { VEC_STORE, VEC_LOAD, SCALAR_STORE, SCALAR_LOAD, VEC_ALL, SCALAR_ALL };
enum class MaskDist { DIST_NORM, DIST_US, DIST_DS, DIST_PACK = DIST_US };
using AscendC::ReduceType;

struct DefaultType {};
struct RegTrait {
    int REG_NUM = 1;
};
inline constexpr RegTrait RegTraitNumOne = {1};
inline constexpr RegTrait RegTraitNumTwo = {2};

template <typename T, const RegTrait &regTrait = RegTraitNumOne>
struct RegTensor : sim::Register {
    static_assert(regTrait.REG_NUM == 1, "RegTensor: RegTraitNumTwo is not simulated");
    using ActualT = T;
    static constexpr RegTrait trait = regTrait;
    static constexpr uint32_t kLanes = sim::kVectorBytes / sizeof(T);
};

// A bit for each byte of a register; the lowest of a lane counts.
struct MaskReg : sim::Bits256 {
    sim::Past past;
    MaskReg() = default;
    MaskReg(const sim::Bits256 &bits, const sim::Past &after = {}) : Bits256(bits), past(after) {}
    template <typename T>
    bool Lane(uint32_t lane) const {
        return Get(lane * sizeof(T));
    }
    template <typename T>
    void SetLane(uint32_t lane) {
        for (uint32_t i = 0; i < sizeof(T); ++i) {
            Set(lane * sizeof(T) + i);
        }
    }
};

// An offset into the Unified Buffer.
struct AddrReg {
    uint32_t bytes = 0;
};
namespace detail {
template <typename T, typename... Rest>
uint32_t OffsetOf(uint16_t index, uint32_t stride, Rest... rest) {
    const uint32_t bytes = index * stride * static_cast<uint32_t>(sizeof(T));
    if constexpr (sizeof...(rest) != 0) {
        return bytes + OffsetOf<T>(rest...);
    }
    return bytes;
}
}  // namespace detail
template <typename T>
AddrReg CreateAddrReg(uint16_t i0, uint32_t s0) {
    return {detail::OffsetOf<T>(i0, s0)};
}
template <typename T>
AddrReg CreateAddrReg(uint16_t i0, uint32_t s0, uint16_t i1, uint32_t s1) {
    return {detail::OffsetOf<T>(i0, s0, i1, s1)};
}
template <typename T>
AddrReg CreateAddrReg(uint16_t i0, uint32_t s0, uint16_t i1, uint32_t s1, uint16_t i2,
                      uint32_t s2) {
    return {detail::OffsetOf<T>(i0, s0, i1, s1, i2, s2)};
}
template <typename T>
AddrReg CreateAddrReg(uint16_t i0, uint32_t s0, uint16_t i1, uint32_t s1, uint16_t i2, uint32_t s2,
                      uint16_t i3, uint32_t s3) {
    return {detail::OffsetOf<T>(i0, s0, i1, s1, i2, s2, i3, s3)};
}

// --- masks ---

enum class MaskPattern {
    ALL,
    VL1,
    VL2,
    VL3,
    VL4,
    VL8,
    VL16,
    VL32,
    VL64,
    VL128,
    M3,
    M4,
    H,
    Q,
    ALLF = 15
};

template <typename T, MaskPattern pattern = MaskPattern::ALL,
          const RegTrait &regTrait = RegTraitNumOne>
MaskReg CreateMask() {
    static_assert(regTrait.REG_NUM == 1, "CreateMask: RegTraitNumTwo is not simulated");
    constexpr uint32_t lanes = sim::kVectorBytes / sizeof(T);
    constexpr uint32_t counts[] = {lanes, 1,   2,     3,     4,         8,         16, 32,
                                   64,    128, lanes, lanes, lanes / 2, lanes / 4, 0,  0};
    constexpr uint32_t step = pattern == MaskPattern::M3 ? 3 : pattern == MaskPattern::M4 ? 4 : 1;
    MaskReg out;
    for (uint32_t lane = 0; lane < lanes; lane += step) {
        if (lane < counts[static_cast<int>(pattern)]) {
            out.SetLane<T>(lane);
        }
    }
    return out;
}

// The first `count` lanes, as far as there are so many; the others are left in `count`.
template <typename T, const RegTrait &regTrait = RegTraitNumOne>
MaskReg UpdateMask(uint32_t &count) {
    static_assert(regTrait.REG_NUM == 1, "UpdateMask: RegTraitNumTwo is not simulated");
    constexpr uint32_t lanes = sim::kVectorBytes / sizeof(T);
    MaskReg out;
    for (uint32_t lane = 0; lane < lanes && lane < count; ++lane) {
        out.SetLane<T>(lane);
    }
    count -= std::min(count, lanes);
    return out;
}

// What SetVectorMask set.
template <typename T>
MaskReg MoveMask() {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "MoveMask: types of 16 and 32 bits");
    const sim::Core &core = sim::ThisCore();
    MaskReg out;
    for (uint32_t lane = 0; lane < sim::kVectorBytes / sizeof(T); ++lane) {
        if ((core.mask[lane / 64] >> (lane % 64) & 1) != 0) {
            out.SetLane<T>(lane);
        }
    }
    return out;
}

namespace detail {
template <typename... M>
sim::Past PastOf(const M &...masks) {
    sim::Past past;
    (past.Join(masks.past), ...);
    return past;
}
}  // namespace detail

inline void Not(MaskReg &dst, MaskReg &src, MaskReg &mask) {
    dst = {~src & mask, detail::PastOf(src, mask)};
}
inline void And(MaskReg &dst, MaskReg &a, MaskReg &b, MaskReg &mask) {
    dst = {a & b & mask, detail::PastOf(a, b, mask)};
}
inline void Or(MaskReg &dst, MaskReg &a, MaskReg &b, MaskReg &mask) {
    dst = {(a | b) & mask, detail::PastOf(a, b, mask)};
}
inline void Xor(MaskReg &dst, MaskReg &a, MaskReg &b, MaskReg &mask) {
    dst = {(a ^ b) & mask, detail::PastOf(a, b, mask)};
}
inline void Select(MaskReg &dst, MaskReg &a, MaskReg &b, MaskReg &mask) {
    dst = {(a & mask) | (b & ~mask), detail::PastOf(a, b, mask)};
}
inline void Move(MaskReg &dst, MaskReg &src, MaskReg &mask) {
    dst = {src & mask, detail::PastOf(src, mask)};
}
inline void Move(MaskReg &dst, MaskReg &src) { dst = src; }

// Each second bit, to one half.
template <HighLowPart part = HighLowPart::LOWEST>
void Pack(MaskReg &dst, MaskReg &src) {
    MaskReg out({}, src.past);
    for (uint32_t bit = 0; bit < 128; ++bit) {
        if (src.Get(2 * bit)) {
            out.Set(bit + (part == HighLowPart::HIGHEST ? 128 : 0));
        }
    }
    dst = out;
}
// One half, with a 0 behind each bit.
template <HighLowPart part = HighLowPart::LOWEST>
void UnPack(MaskReg &dst, MaskReg &src) {
    MaskReg out({}, src.past);
    for (uint32_t bit = 0; bit < 128; ++bit) {
        if (src.Get(bit + (part == HighLowPart::HIGHEST ? 128 : 0))) {
            out.Set(2 * bit);
        }
    }
    dst = out;
}
// Lane by lane of T.
template <typename T>
void Interleave(MaskReg &dst0, MaskReg &dst1, MaskReg &src0, MaskReg &src1) {
    MaskReg out[2] = {{{}, detail::PastOf(src0, src1)}, {{}, detail::PastOf(src0, src1)}};
    for (uint32_t bit = 0; bit < 512; ++bit) {
        const uint32_t lane = bit / sizeof(T);
        const uint32_t from = lane / 2 * sizeof(T) + bit % sizeof(T);
        if ((lane % 2 == 0 ? src0 : src1).Get(from)) {
            out[bit / 256].Set(bit % 256);
        }
    }
    dst0 = out[0];
    dst1 = out[1];
}
template <typename T>
void DeInterleave(MaskReg &dst0, MaskReg &dst1, MaskReg &src0, MaskReg &src1) {
    MaskReg out[2] = {{{}, detail::PastOf(src0, src1)}, {{}, detail::PastOf(src0, src1)}};
    for (uint32_t bit = 0; bit < 512; ++bit) {
        const uint32_t lane = bit / sizeof(T);
        const uint32_t to = lane / 2 * sizeof(T) + bit % sizeof(T);
        if ((bit < 256 ? src0 : src1).Get(bit % 256)) {
            out[lane % 2].Set(to);
        }
    }
    dst0 = out[0];
    dst1 = out[1];
}

// The names of these before masks were overloads.
inline void MaskNot(MaskReg &dst, MaskReg &src, MaskReg &mask) { Not(dst, src, mask); }
inline void MaskAnd(MaskReg &dst, MaskReg &a, MaskReg &b, MaskReg &mask) { And(dst, a, b, mask); }
inline void MaskOr(MaskReg &dst, MaskReg &a, MaskReg &b, MaskReg &mask) { Or(dst, a, b, mask); }
inline void MaskXor(MaskReg &dst, MaskReg &a, MaskReg &b, MaskReg &mask) { Xor(dst, a, b, mask); }
inline void MaskSel(MaskReg &dst, MaskReg &a, MaskReg &b, MaskReg &mask) {
    Select(dst, a, b, mask);
}
inline void MaskMov(MaskReg &dst, MaskReg &src) { Move(dst, src); }
inline void MaskMov(MaskReg &dst, MaskReg &src, MaskReg &mask) { Move(dst, src, mask); }
template <HighLowPart part = HighLowPart::LOWEST>
void MaskPack(MaskReg &dst, MaskReg &src) {
    Pack<part>(dst, src);
}
template <HighLowPart part = HighLowPart::LOWEST>
void MaskUnPack(MaskReg &dst, MaskReg &src) {
    UnPack<part>(dst, src);
}
template <typename T>
void MaskInterleave(MaskReg &dst0, MaskReg &dst1, MaskReg &src0, MaskReg &src1) {
    Interleave<T>(dst0, dst1, src0, src1);
}
template <typename T>
void MaskDeInterleave(MaskReg &dst0, MaskReg &dst1, MaskReg &src0, MaskReg &src1) {
    DeInterleave<T>(dst0, dst1, src0, src1);
}

// --- order within a vector function ---

template <MemType from, MemType to>
void LocalMemBar() {
    constexpr bool all = from == MemType::VEC_ALL && to == MemType::VEC_ALL;
    constexpr bool storeLoad = from == MemType::VEC_STORE && to == MemType::VEC_LOAD;
    constexpr bool loadStore = from == MemType::VEC_LOAD && to == MemType::VEC_STORE;
    constexpr bool storeStore = from == MemType::VEC_STORE && to == MemType::VEC_STORE;
    constexpr bool scalarFrom = from == MemType::SCALAR_STORE || from == MemType::SCALAR_LOAD ||
                                from == MemType::SCALAR_ALL;
    constexpr bool scalarTo =
        to == MemType::SCALAR_STORE || to == MemType::SCALAR_LOAD || to == MemType::SCALAR_ALL;
    static_assert(all || storeLoad || loadStore || storeStore || scalarFrom != scalarTo,
                  "LocalMemBar: this pair of MemTypes does not exist");
    if (sim::VectorFunction::current != nullptr) {
        sim::VectorFunction::current->Barrier(all || storeLoad, all || loadStore,
                                              all || storeStore);
    }
}

}  // namespace Reg

namespace MicroAPI = Reg;

}  // namespace AscendC

// Runs a vector function.
template <auto function, typename... Arguments>
void asc_vf_call(Arguments... arguments) {
    function(arguments...);
}

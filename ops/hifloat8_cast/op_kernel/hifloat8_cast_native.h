// By the casts of dav-3510.
//
// UB budget, T = tileLength:
//
//   encode  inQueue   2 * 2T   double buffer
//           outQueue  2 * 1T   double buffer
//           sum       0 + 6T
//
//   decode  inQueue   2 * 1T   double buffer
//           outQueue  2 * 2T   double buffer
//           sum       0 + 6T
#pragma once

#include "hifloat8_cast_share.h"

namespace hifloat8_cast {

constexpr Needs kNeeds{{0, 6}, {0, 6}, false};

// Casts keep Inf and NaN, whatever the mode that the launch finds; ended by the mode before.
class KeepSpecialValues {
public:
    __aicore__ inline KeepSpecialValues() : before_(GetCtrlSpr<60, 60>()) {
        SetCtrlSpr<60, 60>(0);  // each cast's own SatMode decides
    }
    __aicore__ inline ~KeepSpecialValues() { SetCtrlSpr<60, 60>(before_); }

private:
    int64_t before_;
};

constexpr Reg::CastTrait kWiden{Reg::RegLayout::ZERO, Reg::SatMode::UNKNOWN,
                                Reg::MaskMergeMode::ZEROING, RoundMode::UNKNOWN};
constexpr Reg::CastTrait kRound{Reg::RegLayout::ZERO, Reg::SatMode::NO_SAT,
                                Reg::MaskMergeMode::ZEROING, RoundMode::CAST_ROUND};
constexpr Reg::CastTrait kNearest{Reg::RegLayout::ZERO, Reg::SatMode::NO_SAT,
                                  Reg::MaskMergeMode::ZEROING, RoundMode::CAST_RINT};
constexpr float kGreatest = 32768.0F;

// Elements of T that one register holds: bfloat16 is computed with as float.
template <typename T>
__aicore__ constexpr uint32_t Lanes() {
    return IsSameType<T, half>::value ? 128 : 64;
}
template <typename T>
__aicore__ inline uint16_t StepsOf(uint32_t count) {
    return static_cast<uint16_t>((count + Lanes<T>() - 1) / Lanes<T>());
}

// Finite values beyond the greatest HiFloat8 become it; Inf and NaN stay.
template <typename T>
__simd_callee__ inline void ClampFinite(Reg::RegTensor<T> &x, Reg::MaskReg &lanes) {
    Reg::RegTensor<T> clamped;
    Reg::RegTensor<T> magnitude;
    Reg::MaskReg infinite;
    Reg::Mins(clamped, x, static_cast<T>(kGreatest), lanes);
    Reg::Maxs(clamped, clamped, static_cast<T>(-kGreatest), lanes);
    Reg::Abs(magnitude, x, lanes);
    Reg::Compares<T, CMPMODE::EQ>(infinite, magnitude, static_cast<T>(INFINITY), lanes);
    Reg::Select(x, x, clamped, infinite);
}

// Without saturation the cast makes them Inf.
template <typename T, bool saturate>
__simd_vf__ inline void EncodeTile(__ubuf__ hifloat8_t *codes, __ubuf__ T *values, uint32_t count,
                                   uint16_t steps) {
    Reg::RegTensor<T> x;
    Reg::RegTensor<hifloat8_t> code;
    for (uint16_t i = 0; i < steps; ++i) {
        if constexpr (IsSameType<T, half>::value) {
            Reg::MaskReg lanes = Reg::UpdateMask<half>(count);
            Reg::LoadAlign(x, values + i * Lanes<T>());
            if constexpr (saturate) {
                ClampFinite(x, lanes);
            }
            Reg::Cast<hifloat8_t, half, kRound>(code, x, lanes);
            Reg::StoreAlign<hifloat8_t, Reg::StoreDist::DIST_PACK_B16>(codes + i * Lanes<T>(), code,
                                                                       lanes);
        } else {
            // There is no cast from bfloat16; each value is in the low half of a 32-bit lane.
            Reg::RegTensor<float> wide;
            Reg::MaskReg lanes = Reg::UpdateMask<float>(count);
            Reg::LoadAlign<T, Reg::LoadDist::DIST_UNPACK_B16>(x, values + i * Lanes<T>());
            Reg::Cast<float, T, kWiden>(wide, x, lanes);
            if constexpr (saturate) {
                ClampFinite(wide, lanes);
            }
            Reg::Cast<hifloat8_t, float, kRound>(code, wide, lanes);
            Reg::StoreAlign<hifloat8_t, Reg::StoreDist::DIST_PACK4_B32>(codes + i * Lanes<T>(),
                                                                        code, lanes);
        }
    }
}

template <typename T>
__simd_vf__ inline void DecodeTile(__ubuf__ T *values, __ubuf__ hifloat8_t *codes, uint32_t count,
                                   uint16_t steps) {
    Reg::RegTensor<hifloat8_t> code;
    Reg::RegTensor<T> x;
    for (uint16_t i = 0; i < steps; ++i) {
        if constexpr (IsSameType<T, half>::value) {
            Reg::MaskReg lanes = Reg::UpdateMask<half>(count);
            Reg::LoadAlign<hifloat8_t, Reg::LoadDist::DIST_UNPACK_B8>(code, codes + i * Lanes<T>());
            Reg::Cast<half, hifloat8_t, kWiden>(x, code, lanes);
            Reg::StoreAlign(values + i * Lanes<T>(), x, lanes);
        } else {
            Reg::RegTensor<float> wide;
            Reg::MaskReg lanes = Reg::UpdateMask<float>(count);
            Reg::LoadAlign<hifloat8_t, Reg::LoadDist::DIST_UNPACK4_B8>(code,
                                                                       codes + i * Lanes<T>());
            Reg::Cast<float, hifloat8_t, kWiden>(wide, code, lanes);
            Reg::Cast<T, float, kNearest>(x, wide, lanes);
            Reg::StoreAlign<T, Reg::StoreDist::DIST_PACK_B32>(values + i * Lanes<T>(), x, lanes);
        }
    }
}

// Moves tiles of In to tiles of Out; Tile is what happens to one.
template <typename In, typename Out, typename Tile>
__aicore__ inline void Stream(GM_ADDR x, GM_ADDR y, const HiFloat8CastTiling &tiling, Tile tile) {
    const KeepSpecialValues mode;
    const Share share(tiling);
    TPipe pipe;
    TQue<TPosition::VECIN, 1> inQueue;
    TQue<TPosition::VECOUT, 1> outQueue;
    pipe.InitBuffer(inQueue, kBuffers, tiling.tileLength * sizeof(In));
    pipe.InitBuffer(outQueue, kBuffers, tiling.tileLength * sizeof(Out));
    GlobalTensor<In> from;
    GlobalTensor<Out> to;
    from.SetGlobalBuffer(reinterpret_cast<__gm__ In *>(x), tiling.elements);
    to.SetGlobalBuffer(reinterpret_cast<__gm__ Out *>(y), tiling.elements);
    for (uint64_t offset = share.begin; offset < share.end; offset += share.LengthAt(offset)) {
        const uint32_t count = share.LengthAt(offset);
        LocalTensor<In> in = inQueue.AllocTensor<In>();
        CopyIn(in, from[offset], count);
        inQueue.EnQue(in);
        in = inQueue.DeQue<In>();
        LocalTensor<Out> out = outQueue.AllocTensor<Out>();
        tile(out, in, count);
        inQueue.FreeTensor(in);
        outQueue.EnQue(out);
        out = outQueue.DeQue<Out>();
        CopyOut(to[offset], out, count);
        outQueue.FreeTensor(out);
    }
}

template <typename T>
class Encoder {
public:
    __aicore__ inline Encoder(GM_ADDR x, GM_ADDR, GM_ADDR y, const HiFloat8CastTiling &tiling)
        : x_(x), y_(y), tiling_(tiling) {}
    __aicore__ inline void Run() {
        if (tiling_.saturate) {
            Run<true>();
        } else {
            Run<false>();
        }
    }

private:
    template <bool saturate>
    __aicore__ inline void Run() {
        Stream<T, uint8_t>(x_, y_, tiling_, [](auto &out, auto &in, uint32_t count) {
            asc_vf_call<EncodeTile<T, saturate>>(
                reinterpret_cast<__ubuf__ hifloat8_t *>(out.GetPhyAddr()),
                reinterpret_cast<__ubuf__ T *>(in.GetPhyAddr()), count, StepsOf<T>(count));
        });
    }
    GM_ADDR x_;
    GM_ADDR y_;
    const HiFloat8CastTiling &tiling_;
};

template <typename T>
class Decoder {
public:
    __aicore__ inline Decoder(GM_ADDR x, GM_ADDR, GM_ADDR y, const HiFloat8CastTiling &tiling)
        : x_(x), y_(y), tiling_(tiling) {}
    __aicore__ inline void Run() {
        Stream<uint8_t, T>(x_, y_, tiling_, [](auto &out, auto &in, uint32_t count) {
            asc_vf_call<DecodeTile<T>>(reinterpret_cast<__ubuf__ T *>(out.GetPhyAddr()),
                                       reinterpret_cast<__ubuf__ hifloat8_t *>(in.GetPhyAddr()),
                                       count, StepsOf<T>(count));
        });
    }

private:
    GM_ADDR x_;
    GM_ADDR y_;
    const HiFloat8CastTiling &tiling_;
};

}  // namespace hifloat8_cast

// float16 or bfloat16 to MX: the greatest magnitude of each block, its scale, then its elements.
//
// In a step of 256 elements, words of two elements go to two registers in turn. So each 32 bytes
// of either register are of one MX block, which is what reductions and broadcasts work by, and the
// codes meet again in the order of the elements.
#pragma once

#include "mx_quant_share.h"

namespace mx_quant {

// The exponent of the greatest power of two that the format has, in place in a bfloat16.
template <typename Q>
__aicore__ constexpr uint16_t GreatestExponent() {
    const uint16_t exponent = kFp4<Q> ? 2 : IsSameType<Q, fp8_e4m3fn_t>::value ? 8 : 15;
    return static_cast<uint16_t>(exponent << 7);
}

// Magnitudes compare as the integers that their bits are; Inf and NaN are the greatest.
__simd_vf__ inline void MaximaTile(__ubuf__ uint16_t *maxima, __ubuf__ uint32_t *values,
                                   uint32_t words, uint16_t steps) {
    Reg::RegTensor<uint32_t> even, odd;
    Reg::RegTensor<uint16_t> magnitude;
    Reg::UnalignRegForStore held;
    Reg::Duplicate(magnitude, static_cast<uint16_t>(0x7FFF));
    for (uint16_t i = 0; i < steps; ++i) {
        Reg::MaskReg lanes = Reg::UpdateMask<uint32_t>(words);
        Reg::LoadAlign<uint32_t, Reg::LoadDist::DIST_DINTLV_B32>(even, odd,
                                                                 values + i * (kStep / 2));
        Reg::And(As<uint16_t>(even), As<uint16_t>(even), magnitude, lanes);
        Reg::And(As<uint16_t>(odd), As<uint16_t>(odd), magnitude, lanes);
        Reg::Max(As<uint16_t>(even), As<uint16_t>(even), As<uint16_t>(odd), lanes);
        Reg::ReduceDataBlock<ReduceType::MAX>(As<uint16_t>(odd), As<uint16_t>(even), lanes);
        Reg::StoreUnAlign(maxima, As<uint16_t>(odd), held, kStep / kMxBlock);
    }
    Reg::StoreUnAlignPost(maxima, held, 0);
}

// The scale is 2^X, X = the exponent of the greatest magnitude - that of the format, from -127 on;
// its byte is X + 127. `factors` has the maxima, and then 2^-X as bfloat16: 0 where the block has
// an Inf or a NaN.
template <typename T>
__simd_vf__ inline void ScaleTile(__ubuf__ uint8_t *scales, __ubuf__ uint16_t *factors,
                                  uint16_t greatest, uint32_t blocks, uint16_t steps) {
    constexpr uint16_t kExponent = 0x7F80;
    Reg::RegTensor<uint16_t> value, scale, factor, exponent, shift, top, zero, nan;
    Reg::MaskReg special;
    Reg::Duplicate(exponent, kExponent);
    Reg::Duplicate(shift, greatest);
    Reg::Duplicate(top, static_cast<uint16_t>(254 << 7));
    Reg::Duplicate(zero, static_cast<uint16_t>(0));
    Reg::Duplicate(nan, static_cast<uint16_t>(0xFF));
    for (uint16_t i = 0; i < steps; ++i) {
        Reg::MaskReg lanes = Reg::UpdateMask<uint16_t>(blocks);
        Reg::LoadAlign(value, factors + i * 128);
        if constexpr (IsSameType<T, half>::value) {
            // Subnormal numbers get the exponent that they have.
            Reg::Cast<bfloat16_t, half,
                      kTrait<Reg::RegLayout::UNKNOWN, Reg::SatMode::NO_SAT, RoundMode::CAST_TRUNC>>(
                As<bfloat16_t>(value), As<half>(value), lanes);
        }
        Reg::And(value, value, exponent, lanes);
        Reg::Compares<uint16_t, CMPMODE::EQ>(special, value, kExponent, lanes);
        Reg::Max(value, value, shift, lanes);
        Reg::Sub(value, value, shift, lanes);
        Reg::ShiftRights(scale, value, static_cast<int16_t>(7), lanes);
        Reg::Select(scale, nan, scale, special);
        Reg::Sub(factor, top, value, lanes);
        Reg::Select(factor, zero, factor, special);
        Reg::StoreAlign(factors + i * 128, factor, lanes);
        Reg::StoreAlign<uint8_t, Reg::StoreDist::DIST_PACK_B16>(scales + i * 128,
                                                                As<uint8_t>(scale), lanes);
    }
}

// One byte of each word of codes: of the element in one half of each word of values. The product is
// exact, but for what is far below the least FP8. Blocks that are not finite become zeros.
template <typename T, typename Q, Reg::RegLayout half, Reg::RegLayout byte>
__simd_callee__ inline void Fp8Bytes(Reg::RegTensor<uint32_t> &codes,
                                     Reg::RegTensor<uint32_t> &values,
                                     Reg::RegTensor<float> &factor, Reg::MaskReg &finite,
                                     Reg::MaskReg &lanes) {
    Reg::RegTensor<float> wide;
    Reg::Cast<float, T, kWiden<half>>(wide, As<T>(values), lanes);
    Reg::Mul(wide, wide, factor, finite);
    Reg::Cast<Q, float, kTrait<byte, Reg::SatMode::SAT, RoundMode::CAST_RINT>>(As<Q>(codes), wide,
                                                                               lanes);
}

template <typename T, typename Q>
__simd_vf__ inline void Fp8Tile(__ubuf__ uint32_t *codes, __ubuf__ uint32_t *values,
                                __ubuf__ uint16_t *factors, uint32_t words, uint16_t steps) {
    using Reg::RegLayout;
    Reg::RegTensor<uint32_t> even, odd, factor, high, code0, code1, code2, code3;
    Reg::MaskReg finite;
    Reg::Duplicate(high, 0xFFFF0000U);
    for (uint16_t i = 0; i < steps; ++i) {
        Reg::MaskReg lanes = Reg::UpdateMask<uint32_t>(words);
        Reg::LoadAlign<uint32_t, Reg::LoadDist::DIST_DINTLV_B32>(even, odd,
                                                                 values + i * (kStep / 2));
        Reg::LoadAlign<uint16_t, Reg::LoadDist::DIST_E2B_B16>(As<uint16_t>(factor),
                                                              factors + i * (kStep / kMxBlock));
        Reg::And(factor, factor, high, lanes);  // bfloat16 twice becomes float
        Reg::Compares<uint32_t, CMPMODE::NE>(finite, factor, 0U, lanes);
        Fp8Bytes<T, Q, RegLayout::ZERO, RegLayout::ZERO>(code0, even, As<float>(factor), finite,
                                                         lanes);
        Fp8Bytes<T, Q, RegLayout::ONE, RegLayout::ONE>(code1, even, As<float>(factor), finite,
                                                       lanes);
        Fp8Bytes<T, Q, RegLayout::ZERO, RegLayout::TWO>(code2, odd, As<float>(factor), finite,
                                                        lanes);
        Fp8Bytes<T, Q, RegLayout::ONE, RegLayout::THREE>(code3, odd, As<float>(factor), finite,
                                                         lanes);
        Reg::Or(code0, code0, code1, lanes);
        Reg::Or(code2, code2, code3, lanes);
        Reg::Or(code0, code0, code2, lanes);
        Reg::StoreAlign(codes + i * (kStep / 4), code0, lanes);
    }
}

// The codes of a register of values, in one byte of each word.
template <typename T, RoundMode round, Reg::RegLayout byte>
__simd_callee__ inline void Fp4Bytes(Reg::RegTensor<uint32_t> &codes,
                                     Reg::RegTensor<uint32_t> &values,
                                     Reg::RegTensor<uint16_t> &factor, Reg::MaskReg &finite,
                                     Reg::MaskReg &lanes) {
    Reg::RegTensor<bfloat16_t> x;
    Reg::MaskReg some;
    if constexpr (IsSameType<T, half>::value) {
        // To odd: a last bit that stands for all bits that are lost lets FP4 round as if from x.
        Reg::RegTensor<half> back;
        Reg::RegTensor<uint16_t> one;
        Reg::Cast<bfloat16_t, half,
                  kTrait<Reg::RegLayout::UNKNOWN, Reg::SatMode::NO_SAT, RoundMode::CAST_TRUNC>>(
            x, As<half>(values), lanes);
        Reg::Cast<half, bfloat16_t,
                  kTrait<Reg::RegLayout::UNKNOWN, Reg::SatMode::NO_SAT, RoundMode::CAST_RINT>>(
            back, x, lanes);
        Reg::Compare<half, CMPMODE::NE>(some, back, As<half>(values), lanes);
        Reg::Duplicate(one, static_cast<uint16_t>(1));
        Reg::Or(one, As<uint16_t>(x), one, lanes);
        Reg::Select(As<uint16_t>(x), one, As<uint16_t>(x), some);
        Reg::Mul(x, x, As<bfloat16_t>(factor), finite);
    } else {
        Reg::Mul(x, As<T>(values), As<bfloat16_t>(factor), finite);
        if constexpr (round == RoundMode::CAST_FLOOR) {
            // A negative product may be too small for bfloat16; its floor is not zero.
            Reg::RegTensor<bfloat16_t> low;
            Reg::Compares<T, CMPMODE::LT>(some, As<T>(values), static_cast<T>(0.0F), finite);
            Reg::Mins(low, x, static_cast<T>(-0.0625F), finite);
            Reg::Select(x, low, x, some);
        }
    }
    Reg::Cast<fp4x2_e2m1_t, bfloat16_t, kTrait<byte, Reg::SatMode::SAT, round>>(
        As<fp4x2_e2m1_t>(codes), x, lanes);
}

template <typename T, RoundMode round>
__simd_vf__ inline void Fp4Tile(__ubuf__ uint16_t *codes, __ubuf__ uint32_t *values,
                                __ubuf__ uint16_t *factors, uint32_t words, uint16_t steps) {
    Reg::RegTensor<uint32_t> even, odd, code0, code1;
    Reg::RegTensor<uint16_t> factor;
    Reg::MaskReg finite;
    for (uint16_t i = 0; i < steps; ++i) {
        Reg::MaskReg lanes = Reg::UpdateMask<uint32_t>(words);
        Reg::LoadAlign<uint32_t, Reg::LoadDist::DIST_DINTLV_B32>(even, odd,
                                                                 values + i * (kStep / 2));
        Reg::LoadAlign<uint16_t, Reg::LoadDist::DIST_E2B_B16>(factor,
                                                              factors + i * (kStep / kMxBlock));
        Reg::Compares<uint16_t, CMPMODE::NE>(finite, factor, static_cast<uint16_t>(0), lanes);
        Fp4Bytes<T, round, Reg::RegLayout::ZERO>(code0, even, factor, finite, lanes);
        Fp4Bytes<T, round, Reg::RegLayout::ONE>(code1, odd, factor, finite, lanes);
        Reg::Or(code0, code0, code1, lanes);
        Reg::StoreAlign<uint16_t, Reg::StoreDist::DIST_PACK_B32>(codes + i * (kStep / 4),
                                                                 As<uint16_t>(code0), lanes);
    }
}

template <typename T, typename Q>
class Quantizer {
public:
    __aicore__ inline Quantizer(GM_ADDR x, GM_ADDR y, GM_ADDR scale, const MxQuantTiling &tiling)
        : tiling_(tiling) {
        const uint64_t elements = tiling.rows * tiling.columns;
        const uint64_t scales = tiling.rows * RoundUp(tiling.columns, uint64_t{kGroup}) / kMxBlock;
        x_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(x), elements);
        y_.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t *>(y), CodeBytes<Q>(elements));
        scale_.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t *>(scale), scales);
        const uint32_t length = TileLength(tiling);
        pipe_.InitBuffer(valueQueue_, kBuffers, length * sizeof(T));
        pipe_.InitBuffer(codeQueue_, kBuffers, CodeBytes<Q>(length));
        pipe_.InitBuffer(scaleQueue_, kBuffers, ScaleBytes(length));
        pipe_.InitBuffer(factorBuffer_, FactorBytes(length));
    }

    __aicore__ inline void Run() {
        const OwnSaturation mode;
        ForTiles(tiling_, [this](const Tile &tile) {
            LocalTensor<T> values = valueQueue_.template AllocTensor<T>();
            CopyRowsIn(values, x_[tile.element], tile.rows, tile.columns, tile.width);
            valueQueue_.EnQue(values);
            Quantize(tile);
            LocalTensor<uint8_t> scales = scaleQueue_.template DeQue<uint8_t>();
            CopyRowsOut(scale_[tile.scale], scales, 1, tile.Scales(),
                        RoundUp(tile.Scales(), static_cast<uint32_t>(ONE_BLK_SIZE)));
            scaleQueue_.FreeTensor(scales);
            LocalTensor<uint8_t> codes = codeQueue_.template DeQue<uint8_t>();
            CopyRowsOut(y_[CodeBytes<Q>(tile.element)], codes, tile.rows,
                        CodeBytes<Q>(tile.columns), CodeBytes<Q>(tile.width));
            codeQueue_.FreeTensor(codes);
        });
    }

private:
    __aicore__ inline void Quantize(const Tile &tile) {
        LocalTensor<T> values = valueQueue_.template DeQue<T>();
        LocalTensor<uint8_t> codes = codeQueue_.template AllocTensor<uint8_t>();
        LocalTensor<uint8_t> scales = scaleQueue_.template AllocTensor<uint8_t>();
        auto *words = reinterpret_cast<__ubuf__ uint32_t *>(values.GetPhyAddr());
        auto *factors = Address<uint16_t>(factorBuffer_.Get<uint8_t>());
        const uint32_t lanes = tile.Elements() / 4;
        const uint16_t steps = Steps(tile.Elements(), kStep);
        ZeroPadding(values, tile.rows, tile.columns, tile.width);
        asc_vf_call<MaximaTile>(factors, words, lanes, steps);
        asc_vf_call<ScaleTile<T>>(Address<uint8_t>(scales), factors, GreatestExponent<Q>(),
                                  tile.Scales(), Steps(tile.Scales(), 128));
        scaleQueue_.EnQue(scales);
        if constexpr (!kFp4<Q>) {
            asc_vf_call<Fp8Tile<T, Q>>(Address<uint32_t>(codes), words, factors, lanes, steps);
        } else if (tiling_.roundMode == kRint) {
            asc_vf_call<Fp4Tile<T, RoundMode::CAST_RINT>>(Address<uint16_t>(codes), words, factors,
                                                          lanes, steps);
        } else if (tiling_.roundMode == kRound) {
            asc_vf_call<Fp4Tile<T, RoundMode::CAST_ROUND>>(Address<uint16_t>(codes), words, factors,
                                                           lanes, steps);
        } else {
            asc_vf_call<Fp4Tile<T, RoundMode::CAST_FLOOR>>(Address<uint16_t>(codes), words, factors,
                                                           lanes, steps);
        }
        valueQueue_.FreeTensor(values);
        codeQueue_.EnQue(codes);
    }

    const MxQuantTiling &tiling_;
    TPipe pipe_;
    TQue<TPosition::VECIN, 1> valueQueue_;
    TQue<TPosition::VECOUT, 1> codeQueue_;
    TQue<TPosition::VECOUT, 1> scaleQueue_;
    TBuf<TPosition::VECCALC> factorBuffer_;
    GlobalTensor<T> x_;
    GlobalTensor<uint8_t> y_;
    GlobalTensor<uint8_t> scale_;
};

}  // namespace mx_quant

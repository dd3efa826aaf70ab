#pragma once
#include <cstdint>

struct ScaleTiling {
    uint32_t length;
    uint32_t tile;
    float factor;
};

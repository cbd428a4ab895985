// The types that an element of a texture may have, and the channels of each.
#pragma once

#include <type_traits>

#include "emu/texture_types.h"
#include "emu/vector_types.h"

namespace emu {

template <class Channel, int kChannels>
struct Channels {
    using Type = Channel;
    static constexpr int kCount = kChannels;
    static constexpr int kBits = 8 * static_cast<int>(sizeof(Channel));
    static constexpr cudaChannelFormatDesc kDesc = {
        kBits, kChannels > 1 ? kBits : 0, kChannels > 2 ? kBits : 0, kChannels > 3 ? kBits : 0,
        std::is_floating_point<Channel>::value ? cudaChannelFormatKindFloat
        : std::is_signed<Channel>::value       ? cudaChannelFormatKindSigned
                                               : cudaChannelFormatKindUnsigned};
};

// Of any other type.
template <class T>
struct ChannelsOf {
    static constexpr cudaChannelFormatDesc kDesc = {0, 0, 0, 0, cudaChannelFormatKindNone};
};

#define EMU_CHANNELS(NAME, CHANNEL)                       \
    template <>                                           \
    struct ChannelsOf<CHANNEL> : Channels<CHANNEL, 1> {}; \
    template <>                                           \
    struct ChannelsOf<NAME##1> : Channels<CHANNEL, 1> {}; \
    template <>                                           \
    struct ChannelsOf<NAME##2> : Channels<CHANNEL, 2> {}; \
    template <>                                           \
    struct ChannelsOf<NAME##4> : Channels<CHANNEL, 4> {};
template <>
struct ChannelsOf<char> : Channels<char, 1> {};
EMU_CHANNELS(char, signed char)
EMU_CHANNELS(uchar, unsigned char)
EMU_CHANNELS(short, short)
EMU_CHANNELS(ushort, unsigned short)
EMU_CHANNELS(int, int)
EMU_CHANNELS(uint, unsigned int)
EMU_CHANNELS(float, float)
#undef EMU_CHANNELS

}  // namespace emu

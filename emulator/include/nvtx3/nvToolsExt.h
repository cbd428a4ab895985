// NVTX, by which programs tell a profiler what they are doing. Its ranges are in the recording of
// what ran when, if there is one; nothing else happens, as on a GPU without a profiler.
#pragma once

#include <stdint.h>

#include "emu/api/ranges.h"

#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE (static_cast<uint16_t>(sizeof(nvtxEventAttributes_t)))

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st* nvtxDomainHandle_t;

enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 };
enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN = 0,
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_MESSAGE_TYPE_UNICODE = 2
};
enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN = 0,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    NVTX_PAYLOAD_TYPE_INT32 = 5,
    NVTX_PAYLOAD_TYPE_FLOAT = 6
};

union nvtxMessageValue_t {
    const char* ascii;
    const wchar_t* unicode;
};
union nvtxPayloadValue_t {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
    uint32_t uiValue;
    int32_t iValue;
    float fValue;
};
struct nvtxEventAttributes_t {
    uint16_t version;
    uint16_t size;
    uint32_t category;
    int32_t colorType;  // an nvtxColorType_t
    uint32_t color;
    int32_t payloadType;  // an nvtxPayloadType_t
    int32_t reserved0;
    nvtxPayloadValue_t payload;
    int32_t messageType;  // an nvtxMessageType_t
    nvtxMessageValue_t message;
};

inline void nvtxInitialize(const void*) {}

// The depth that NVTX answers without a profiler.
#define NVTX_NO_PUSH_POP_TRACKING (-2)

inline void nvtxMarkA(const char*) {}
inline void nvtxMarkW(const wchar_t*) {}
inline void nvtxMarkEx(const nvtxEventAttributes_t*) {}
inline int nvtxRangePushA(const char* message) {
    emu::rangePushed(message);
    return NVTX_NO_PUSH_POP_TRACKING;
}
inline int nvtxRangePushW(const wchar_t* message) {
    emu::rangePushed(message);
    return NVTX_NO_PUSH_POP_TRACKING;
}
inline int nvtxRangePushEx(const nvtxEventAttributes_t* event) {
    const bool wide = event->messageType == NVTX_MESSAGE_TYPE_UNICODE;
    return wide ? nvtxRangePushW(event->message.unicode) : nvtxRangePushA(event->message.ascii);
}
inline int nvtxRangePop() {
    emu::rangePopped();
    return NVTX_NO_PUSH_POP_TRACKING;
}
inline nvtxRangeId_t nvtxRangeStartA(const char* message) {
    return emu::rangeStarted(message);
}
inline nvtxRangeId_t nvtxRangeStartW(const wchar_t* message) {
    return emu::rangeStarted(message);
}
inline nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t* event) {
    const bool wide = event->messageType == NVTX_MESSAGE_TYPE_UNICODE;
    return wide ? nvtxRangeStartW(event->message.unicode) : nvtxRangeStartA(event->message.ascii);
}
inline void nvtxRangeEnd(nvtxRangeId_t number) {
    emu::rangeEnded(number);
}
inline void nvtxNameCategoryA(uint32_t, const char*) {}
inline void nvtxNameOsThreadA(uint32_t, const char*) {}

inline nvtxDomainHandle_t nvtxDomainCreateA(const char*) {
    return nullptr;
}
inline void nvtxDomainDestroy(nvtxDomainHandle_t) {}
inline void nvtxDomainMarkEx(nvtxDomainHandle_t, const nvtxEventAttributes_t*) {}
inline int nvtxDomainRangePushEx(nvtxDomainHandle_t, const nvtxEventAttributes_t* event) {
    return nvtxRangePushEx(event);
}
inline int nvtxDomainRangePop(nvtxDomainHandle_t) {
    return nvtxRangePop();
}
inline nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t,
                                            const nvtxEventAttributes_t* event) {
    return nvtxRangeStartEx(event);
}
inline void nvtxDomainRangeEnd(nvtxDomainHandle_t, nvtxRangeId_t number) {
    nvtxRangeEnd(number);
}

#define nvtxMark nvtxMarkA
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxDomainCreate nvtxDomainCreateA

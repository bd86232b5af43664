/* SPDX-License-Identifier: MIT */
/*
 * Every NVTX call through NVTX's own headers; compiled by tests/agent/nvtx.sh
 * where there are some, as C and as C++.
 */
#include <string.h>

#include <nvtx3/nvToolsExt.h>

static void domains(void)
{
	nvtxDomainHandle_t d = nvtxDomainCreateA("domain a");
	nvtxDomainHandle_t w = nvtxDomainCreateW(L"domain w");
	nvtxStringHandle_t s = nvtxDomainRegisterStringW(d, L"registered w");
	nvtxEventAttributes_t a;
	nvtxRangeId_t r;

	memset(&a, 0, sizeof(a));
	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.category = 3;
	a.colorType = NVTX_COLOR_ARGB;
	a.color = 0xFF0000FF;
	a.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
	a.payload.dValue = 1.5;
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = s;
	nvtxDomainNameCategoryA(d, 3, "category a");
	nvtxDomainNameCategoryW(w, 4, L"category w");
	nvtxDomainMarkEx(d, &a);
	nvtxDomainRangePushEx(d, &a);
	r = nvtxDomainRangeStartEx(w, &a);
	nvtxDomainRangeEnd(w, r);
	nvtxDomainRangePop(d);
	a.size = 32; /* a program of an older NVTX: no message */
	nvtxDomainMarkEx(d, &a);
	nvtxDomainDestroy(d);
}

int main(void)
{
	nvtxEventAttributes_t a;
	nvtxRangeId_t r, w, x;

	nvtxInitialize(NULL);
	memset(&a, 0, sizeof(a));
	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.messageType = NVTX_MESSAGE_TYPE_UNICODE;
	a.message.unicode = L"ex";
	a.payloadType = NVTX_PAYLOAD_TYPE_INT32;
	a.payload.iValue = -1;
	nvtxNameCategoryA(1, "one");
	nvtxNameCategoryW(2, L"two");
	nvtxNameOsThreadA(12345, "a thread");
	nvtxNameOsThreadW(12346, L"another");
	nvtxMarkEx(&a);
	nvtxMarkA("mark a");
	nvtxMarkW(L"mark w");
	nvtxRangePushEx(&a);
	nvtxRangePushA("push a");
	nvtxRangePushW(L"push w");
	r = nvtxRangeStartEx(&a);
	x = nvtxRangeStartA("start a");
	w = nvtxRangeStartW(L"start w");
	nvtxRangeEnd(r);
	nvtxRangeEnd(x);
	nvtxRangeEnd(w);
	nvtxRangePop();
	nvtxRangePop();
	nvtxRangePop();
	domains();
	return 0;
}
